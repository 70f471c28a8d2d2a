"""Tuning of a policy by full runs on held-out networks: its start tree and its margins."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

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
from celltcp.selection.training.knn_weights import GAIN_ERRORS, KnnModel

#: Candidate margins: minimum expected relative gain of a switch in flight; with 1 there is none.
MARGINS = (0.0, 0.02, 0.05, 1.0)
#: Margin of the flight model while start trees are compared.
TRIAL_MARGIN = 0.02
#: Significance level of harm in any family (family-wise error rate).
_ALPHA = 0.05

Model = FittedTree | KnnModel


def tune(
    start_trees: Sequence[FittedTree],
    flight: Model,
    policy_text: Callable[[Sequence[Model]], str],
    networks: Sequence[Network],
    engine: Engine,
    workers: Workers,
    progress: Callable[[float], None] | None,
) -> tuple[FittedTree, Model]:
    """Returns the best tree for the start, and the flight model with the best margin.

    First each start tree is tried, then, with the best one, each margin of the flight model; for kNN
    also each number of standard errors. The best candidate has the lowest mean regret in full runs of
    those with which no family of networks is significantly worse than with the default CCA.
    """
    requirement = flight.requirement
    flights: list[Model] = []
    for margin in MARGINS:
        if isinstance(flight, KnnModel):
            flights += [replace(flight, margin=margin, sure=sure) for sure in GAIN_ERRORS]
        else:
            flights.append(replace(flight, margin=margin))

    def best(candidates: Mapping[str, tuple[FittedTree, Model]], done: int) -> tuple[FittedTree, Model]:
        def report(share: float) -> None:
            if progress:
                count = len(start_trees) + len(flights)
                progress((done + share * len(candidates)) / count)

        flows = {
            label: selector_flow(policy_text(models), requirement)
            for label, models in candidates.items()
        }
        flows[DEFAULT] = fixed_cca_flow(DEFAULT)
        measures = full_run_measures(
            networks, flows, [requirement], engine, workers=workers, progress=report
        )
        return candidates[best_without_harm(measures[requirement])]

    trial_flight = replace(flight, margin=TRIAL_MARGIN)
    start, _ = best({f"start {n}": (tree, trial_flight) for n, tree in enumerate(start_trees)}, 0)
    return best({f"flight {n:02}": (start, model) for n, model in enumerate(flights)}, len(start_trees))


def best_without_harm(measures: pd.DataFrame) -> str:
    """Returns the candidate with the lowest mean regret of those that harm no family.

    If all harm a family, it is the one with the lowest mean regret.

    Args:
        measures: measures by family and network (rows), of candidates and the default CCA (columns).
    """
    regrets = regret(measures)
    del regrets[DEFAULT]
    harmless = [label for label in regrets if not _harms(measures, label)]
    return min(harmless or regrets, key=lambda label: (regrets[label], label))


def _harms(measures: pd.DataFrame, label: str) -> bool:
    """Returns whether a family of networks is significantly worse than with the default CCA.

    The significance level is divided by the number of families (Bonferroni).
    """
    # The import of scipy takes longer than a dry run.
    from scipy.stats import ttest_1samp

    families = measures[measures[DEFAULT] > 0].groupby(level="family")
    with warnings.catch_warnings():
        # A single network, or equal measures, have no variance.
        warnings.simplefilter("ignore", RuntimeWarning)
        return any(
            ttest_1samp(family[label] / family[DEFAULT], 1.0, alternative="less").pvalue
            < _ALPHA / len(families)
            for _, family in families
        )
