"""Full runs of policies and of fixed CCAs on random networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Job
from celltcp.campaign.run import Workers, run_jobs
from celltcp.selection.slot_measures import MEASURED_COLUMNS, first_flow_slots
from celltcp.selection.training.counterfactual import batches, columns_by_run, network_parts
from celltcp.selection.training.families import Network
from celltcp.selection.training.fit import score_of
from celltcp.selection.training.moment_features import RUN_S, fixed_flow_toml

#: Function that returns the flow of a scenario (TOML) for a network.
Flow = Callable[[Network], str]


def selector_flow(policy: str, requirement: str) -> Flow:
    """Returns a flow with a selector: the policy with this text, for a requirement."""
    return lambda network: (
        f"""
[[flows]]
cca = {{ name = "auto", policy = "candidate", requirement = "{network.requirement(requirement)}" }}
[selection]
candidate = '''{policy}'''
"""
    )


def fixed_cca_flow(cca: str) -> Flow:
    """Returns a flow with a fixed CCA, the same for all networks."""
    return lambda _: fixed_flow_toml(cca)


def full_run_measures(
    networks: Sequence[Network],
    flows: Mapping[str, Flow],
    requirements: Sequence[str],
    engine: Engine,
    *,
    workers: Workers,
    progress: Callable[[float], None] | None,
) -> dict[str, pd.DataFrame]:
    """Returns the measures of full runs, a table per requirement.

    Rows are networks (family, number), columns the labels of `flows`.
    """
    cases = [(network, label) for network in networks for label in flows]
    rows = []
    for batch in batches(cases, workers, progress):
        jobs = [
            Job(run, label, network.seed, network.scenario(flows[label](network), RUN_S), engine)
            for run, (network, label) in enumerate(batch)
        ]
        tables = run_jobs(jobs, workers=workers, tables=("slots",))
        slots = columns_by_run(first_flow_slots(tables["slots"]), MEASURED_COLUMNS)
        for run, (network, label) in enumerate(batch):
            parts = network_parts(network, slots[run])
            for requirement in requirements:
                measure = score_of(parts, requirement, network.fair_share)
                rows.append((network.family, network.number, label, requirement, measure))
    table = pd.DataFrame(rows, columns=["family", "network", "label", "requirement", "measure"])
    return {
        str(requirement): measured.pivot_table(
            index=["family", "network"], columns="label", values="measure"
        )
        for requirement, measured in table.groupby("requirement")
    }


def regret(measures: pd.DataFrame) -> dict[str, float]:
    """Returns the mean regret of each column, relative to the best of each row."""
    best = measures.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        regrets = 1.0 - measures.div(best, axis=0)
    means = regrets.fillna(0.0).mean()
    return {str(label): float(mean) for label, mean in means.items()}
