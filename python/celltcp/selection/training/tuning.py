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

#: Candidate margins: minimum expected relative gain of a switch of a running connection. 1: never.
MARGINS = (0.0, 0.02, 0.05, 1.0)
#: Margin of the running model while start trees are compared.
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
    start_trees: Sequence[FittedTree],
    running: FittedTree | KnnModel,
    policy_text: Callable[[Sequence[FittedTree | KnnModel]], str],
    bench: TuningBench,
) -> tuple[FittedTree, FittedTree | KnnModel]:
    """Returns the best tree for the start, and the model for running connections with the best margin.

    First each start tree is tried, then, with the best one, each margin of the running model; for kNN
    also each number of standard errors. Best is the lowest mean regret in full runs, of the candidates
    with which no family of networks is significantly worse than with the default CCA.

    Args:
        start_trees: trees for new connections.
        running: model for running connections.
        policy_text: returns the text of a policy file with these models.
        bench: networks and engine of the trials.
    """
    running_models = [
        variant
        for margin in MARGINS
        for variant in (
            running.with_margin(margin).gain_variants()
            if isinstance(running, KnnModel)
            else [running.with_margin(margin)]
        )
    ]
    trials = len(start_trees) + len(running_models)

    def best(
        candidates: Mapping[str, tuple[FittedTree, FittedTree | KnnModel]], done: int
    ) -> tuple[FittedTree, FittedTree | KnnModel]:
        def report(share: float) -> None:
            if bench.progress:
                bench.progress((done + share * len(candidates)) / trials)

        requirement = running.requirement
        flows = {
            label: selector_flow(policy_text(models), requirement)
            for label, models in candidates.items()
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

    trial_running = running.with_margin(TRIAL_MARGIN)
    start, _ = best({f"start {n}": (tree, trial_running) for n, tree in enumerate(start_trees)}, 0)
    return best(
        {f"flight {n:02}": (start, model) for n, model in enumerate(running_models)}, len(start_trees)
    )


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
    # Importing scipy takes longer than a dry run.
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
