"""Margins: the gain that a change must promise, found by whole runs on held-out networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from celltcp.campaign import Workers
from celltcp.engines import Engine
from celltcp.selection.candidates import DEFAULT
from celltcp.selection.training.families import Network
from celltcp.selection.training.fit import Grown
from celltcp.selection.training.paths import fixed
from celltcp.selection.training.whole_runs import regret, selecting, whole_runs

#: Margins that are tried for the tree of the start and that in flight; with 1 nothing is ever changed.
START_MARGINS = (0.0, 0.03)
FLIGHT_MARGINS = (0.0, 0.02, 0.05, 1.0)
#: Standard errors by which a family of networks may not be worse off than with the default.
_SURE = 2.0


@dataclass(frozen=True)
class Bench:
    """Networks and engine on which margins are tried."""

    networks: Sequence[Network]
    engine: Engine
    workers: Workers = None
    progress: Callable[[float], None] | None = None


def with_margins(
    start: Grown, flight: Grown, text: Callable[[Sequence[Grown]], str], bench: Bench
) -> tuple[Grown, Grown]:
    """Returns the trees of a requirement with the margins that do best in whole runs.

    Of those with which no family of networks is surely worse off than with the default as a fixed
    CCA, the pair with the least mean loss against the best of all that were tried on each network.

    Args:
        start: the tree for new connections.
        flight: the tree for those that run.
        text: the policy file of some trees.
        bench: the networks and the engine to try them on.
    """
    pairs = {
        f"{first}/{then}": (start.with_margin(first), flight.with_margin(then))
        for first in START_MARGINS
        for then in FLIGHT_MARGINS
    }
    flows = {label: selecting(text(trees), start.requirement) for label, trees in pairs.items()}
    measures = whole_runs(
        bench.networks,
        {**flows, DEFAULT: fixed(DEFAULT)},
        [start.requirement],
        bench.engine,
        workers=bench.workers,
        progress=bench.progress,
    )[start.requirement]
    return pairs[best_harmless(measures)]


def best_harmless(measures: pd.DataFrame) -> str:
    """Returns the candidate with the least mean loss that harms no family; the default is left out.

    Args:
        measures: by family and network (rows), of each candidate and of the default (columns). Where
            the default is not among those to choose from, all may harm; then that is not looked at.
    """
    losses = regret(measures)
    del losses[DEFAULT]
    harmless = [label for label in losses if not _harms(measures, label)]
    return min(harmless or losses, key=lambda label: (losses[label], label))


def _harms(measures: pd.DataFrame, label: str) -> bool:
    """Returns whether a family of networks is surely worse off than with the default."""
    for _, family in measures[measures[DEFAULT] > 0].groupby(level="family"):
        gain = (family[label] / family[DEFAULT] - 1.0).to_numpy()
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
        if gain.mean() < -_SURE * error:
            return True
    return False
