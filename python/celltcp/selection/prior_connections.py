"""History: earlier connections to a destination, for policies with a memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import Job
from celltcp.results.tables import frame
from celltcp.scenarios.cca_mix import parse_flow_cca
from celltcp.scenarios.scenarios import ScenarioSource
from celltcp.selection.candidates import HISTORY

#: Offset of the seeds of earlier connections from those of evaluated runs.
SEED_OFFSET = 1_000_000

#: Window of the delivery rate at the end of a connection, s.
_LAST_S = 1.0


@dataclass(frozen=True)
class PriorConnection:
    """Measures of a connection to the destination at its end."""

    cca: str
    #: Lowest RTT, ms.
    rtt_ms: float
    #: Delivery rate at the end, Mbit/s.
    rate_mbps: float
    #: Capacity as estimated by the sender at the end, Mbit/s.
    capacity_mbps: float
    #: Size of the bottleneck's buffer as estimated by the sender, segments.
    buffer_segments: float
    #: Retransmitted share of the delivered data.
    retransmitted: float


def prior_jobs(
    source: ScenarioSource, candidates: Sequence[str], count: int, seed: int, engine: Engine
) -> list[Job]:
    """Returns earlier connections: the candidates in turn, each with a seed of its own.

    They keep their CCA while estimators run, so that their results at the end are like those of
    connections with a selector.
    """
    jobs = []
    for index in range(count):
        cca = f"auto:policy=fixed,cca={candidates[index % len(candidates)]}"
        jobs.append(Job(index, cca, seed + SEED_OFFSET + index, source.scenario.with_cca(cca), engine))
    return jobs


def prior_connections(tables: dict[str, pa.Table], jobs: Sequence[Job]) -> list[PriorConnection]:
    """Returns the measures of the connections of these jobs at their ends, in their order."""
    flows, slots = frame(tables["flows"]), frame(tables["slots"])
    estimates = frame(tables["estimates"]) if "estimates" in tables else None
    result = []
    for job in jobs:
        flow = flows[flows["run"] == job.number].iloc[0]
        result.append(final_measures(parse_flow_cca(job.cca).parameters["cca"], flow, slots, estimates))
    return result


def final_measures(
    cca: str, flow: pd.Series, slots: pd.DataFrame, estimates: pd.DataFrame | None
) -> PriorConnection:
    """Returns the measures of a connection at its end.

    Args:
        cca: its congestion control at the end.
        flow: its row of `flows`.
        slots: the slots of all.
        estimates: the estimates of all, if the engine records them.
    """
    mine = _of(slots, flow)
    last = mine[mine["t_s"] > mine["t_s"].max() - _LAST_S]
    estimates = None if estimates is None else _of(estimates, flow)
    view = {} if estimates is None or estimates.empty else dict(estimates.iloc[-1])
    delivered = flow["segments"] - flow["retransmissions"]
    return PriorConnection(
        cca,
        float(flow["rtt_min_ms"]),
        float(last["goodput_mbps"].mean()),
        float(view.get("capacity_mbps", 0.0)),
        float(view.get("buffer_segments", 0.0)),
        float(flow["retransmissions"] / max(delivered, 1)),
    )


def remembering(source: ScenarioSource, memory: str) -> ScenarioSource:
    """Returns the scenario with this memory in it, under the name that policies are given."""
    return source.changed(f"selection.{HISTORY}={json.dumps(memory)}")


def destination_of(source: ScenarioSource) -> str:
    """Returns the node at which the first flow ends, which is the destination in memories."""
    return str(json.loads(source.scenario.to_json())["flows"][0]["to"])


def _of(table: pd.DataFrame, flow: pd.Series) -> pd.DataFrame:
    """Returns the rows of a connection."""
    selected: pd.DataFrame = table[(table["run"] == flow["run"]) & (table["flow"] == flow["flow"])]
    return selected
