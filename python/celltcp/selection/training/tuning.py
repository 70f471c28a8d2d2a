"""Tuning: the start and the margins of a policy, set by whole runs on held-out networks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from celltcp.campaign.engines import Engine
from celltcp.campaign.run import Workers
from celltcp.selection.candidates import DEFAULT
from celltcp.selection.training.families import Network
from celltcp.selection.training.fit import FittedTree
from celltcp.selection.training.full_runs import regret, selecting, staying, whole_runs
from celltcp.selection.training.knn_weights import KnnModel

#: Margins that are tried in flight; with 1 nothing is ever changed.
MARGINS = (0.0, 0.02, 0.05, 1.0)
#: Margin in flight while starts are tried.
MEANWHILE = 0.02
#: Probability of finding harm by chance in any of the families.
_CHANCE = 0.05


@dataclass(frozen=True)
class TuningBench:
    """Networks and engine on which trees are tried."""

    networks: Sequence[Network]
    engine: Engine
    workers: Workers = None
    progress: Callable[[float], None] | None = None


def tune(
    starts: Sequence[FittedTree],
    flight: FittedTree | KnnModel,
    text: Callable[[Sequence[FittedTree | KnnModel]], str],
    bench: TuningBench,
) -> tuple[FittedTree, FittedTree | KnnModel]:
    """Returns the start, and what decides in flight with the margin, that do best in whole runs.

    First each start is tried, then, with the best one, each margin in flight, for moments with
    several standard errors. Best is the least
    mean loss against the best of all that were tried on each network, of those with which no
    family of networks is surely worse off than with the default as a fixed CCA.

    Args:
        starts: trees for new connections.
        flight: the tree for those that run, or what makes their moments alike.
        text: the policy file of some of them.
        bench: the networks and the engine to try them on.
    """
    flights = [
        each
        for margin in MARGINS
        for each in (
            flight.with_margin(margin).gain_variants()
            if isinstance(flight, KnnModel)
            else [flight.with_margin(margin)]
        )
    ]
    shares = len(starts), len(flights)

    def best(
        candidates: Mapping[str, tuple[FittedTree, FittedTree | KnnModel]], done: int
    ) -> tuple[FittedTree, FittedTree | KnnModel]:
        def report(share: float) -> None:
            if bench.progress:
                bench.progress((done + share * len(candidates)) / sum(shares))

        wanted = flight.requirement
        flows = {label: selecting(text(trees), wanted) for label, trees in candidates.items()}
        measures = whole_runs(
            bench.networks,
            {**flows, DEFAULT: staying(DEFAULT)},
            [wanted],
            bench.engine,
            workers=bench.workers,
            progress=report,
        )
        return candidates[best_without_harm(measures[wanted])]

    meanwhile = flight.with_margin(MEANWHILE)
    start, _ = best({f"start {n}": (each, meanwhile) for n, each in enumerate(starts)}, 0)
    return best({f"flight {n:02}": (start, each) for n, each in enumerate(flights)}, shares[0])


def best_without_harm(measures: pd.DataFrame) -> str:
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
    """Returns whether a family of networks is surely worse off than with the default.

    The more families are looked at, the surer it must be of each (Bonferroni).
    """
    # Its import takes longer than a dry run.
    from scipy.stats import ttest_1samp

    families = measures[measures[DEFAULT] > 0].groupby(level="family")
    with warnings.catch_warnings():
        # One network alone has no interval, and equal measures have no spread.
        warnings.simplefilter("ignore", RuntimeWarning)
        return any(
            ttest_1samp(family[label] / family[DEFAULT], 1.0, alternative="less").pvalue
            < _CHANCE / len(families)
            for _, family in families
        )
