"""Tuning of a policy by full runs on held-out networks: its initial CCA and its margins."""

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
from celltcp.selection.training.full_runs import (
    fixed_cca_flow,
    full_run_measures,
    regret,
    selector_flow,
)
from celltcp.selection.training.knn_weights import KnnModel

#: Candidate margins in flight; with 1 the policy never switches.
MARGINS = (0.0, 0.02, 0.05, 1.0)
#: Margin in flight in the trials of the start.
TRIAL_MARGIN = 0.02
#: Significance level of harm in any family (family-wise error rate).
_ALPHA = 0.05


@dataclass(frozen=True)
class TuningBench:
    """Networks and engine of the trials."""

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
    """Returns the best model for the start, and the model in flight with the best margin.

    First each start is tried, then, with the best one, each margin in flight; for kNN also each number
    of standard errors. Best is the lowest mean regret in full runs, of the candidates with which no
    family of networks is significantly worse than with the default CCA.

    Args:
        starts: trees for new connections.
        flight: model for running connections.
        text: returns the text of a policy file with these models.
        bench: networks and engine of the trials.
    """
    flights = [
        variant
        for margin in MARGINS
        for variant in (
            flight.with_margin(margin).gain_variants()
            if isinstance(flight, KnnModel)
            else [flight.with_margin(margin)]
        )
    ]
    trials = len(starts) + len(flights)

    def best(
        candidates: Mapping[str, tuple[FittedTree, FittedTree | KnnModel]], done: int
    ) -> tuple[FittedTree, FittedTree | KnnModel]:
        def report(share: float) -> None:
            if bench.progress:
                bench.progress((done + share * len(candidates)) / trials)

        requirement = flight.requirement
        flows = {
            label: selector_flow(text(models), requirement) for label, models in candidates.items()
        }
        measures = full_run_measures(
            bench.networks,
            {**flows, DEFAULT: fixed_cca_flow(DEFAULT)},
            [requirement],
            bench.engine,
            workers=bench.workers,
            progress=report,
        )
        return candidates[best_without_harm(measures[requirement])]

    trial_flight = flight.with_margin(TRIAL_MARGIN)
    start, _ = best({f"start {n}": (tree, trial_flight) for n, tree in enumerate(starts)}, 0)
    return best({f"flight {n:02}": (start, model) for n, model in enumerate(flights)}, len(starts))


def best_without_harm(measures: pd.DataFrame) -> str:
    """Returns the candidate with the lowest mean regret of those that harm no family.

    Args:
        measures: by family and network (rows), of each candidate and of the default CCA (columns). If
            all candidates harm a family, harm is ignored.
    """
    regrets = regret(measures)
    del regrets[DEFAULT]
    harmless = [label for label in regrets if not _harms(measures, label)]
    return min(harmless or regrets, key=lambda label: (regrets[label], label))


def _harms(measures: pd.DataFrame, label: str) -> bool:
    """Returns whether a family of networks is significantly worse than with the default CCA.

    The significance level is divided by the number of families (Bonferroni).
    """
    # Its import takes longer than a dry run.
    from scipy.stats import ttest_1samp

    families = measures[measures[DEFAULT] > 0].groupby(level="family")
    with warnings.catch_warnings():
        # One network alone has no interval, and equal measures have no spread.
        warnings.simplefilter("ignore", RuntimeWarning)
        return any(
            ttest_1samp(family[label] / family[DEFAULT], 1.0, alternative="less").pvalue
            < _ALPHA / len(families)
            for _, family in families
        )
