"""Prior connections to a destination, whose measures policies with a memory get."""

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

#: Offset of the seeds of prior connections from those of evaluated runs.
SEED_OFFSET = 1_000_000

#: Window of the goodput at the end of a connection, s.
_FINAL_WINDOW_S = 1.0


@dataclass(frozen=True)
class PriorConnection:
    """Measures of a connection to the destination at its end."""

    cca: str
    #: Minimum RTT, ms.
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
    """Returns runs of prior connections: the candidates in turn, each run with its own seed.

    They keep their CCA, but have estimators, so that they have the same measures as connections with a
    selector.
    """
    jobs = []
    for index in range(count):
        cca = f"auto:policy=fixed,cca={candidates[index % len(candidates)]}"
        jobs.append(Job(index, cca, seed + SEED_OFFSET + index, source.scenario.with_cca(cca), engine))
    return jobs


def prior_connections(tables: dict[str, pa.Table], jobs: Sequence[Job]) -> list[PriorConnection]:
    """Returns the measures of the connections of these jobs, in their order."""
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
        slots: slots of all connections.
        estimates: estimates of all connections, if the engine records them.
    """
    own_slots = _rows_of(slots, flow)
    final_slots = own_slots[own_slots["t_s"] > own_slots["t_s"].max() - _FINAL_WINDOW_S]
    estimates = None if estimates is None else _rows_of(estimates, flow)
    last_estimate = {} if estimates is None or estimates.empty else dict(estimates.iloc[-1])
    delivered = flow["segments"] - flow["retransmissions"]
    return PriorConnection(
        cca,
        float(flow["rtt_min_ms"]),
        float(final_slots["goodput_mbps"].mean()),
        float(last_estimate.get("capacity_mbps", 0.0)),
        float(last_estimate.get("buffer_segments", 0.0)),
        float(flow["retransmissions"] / max(delivered, 1)),
    )


def with_memory(source: ScenarioSource, memory: str) -> ScenarioSource:
    """Returns the scenario with the text of a memory, which policies refer to as `HISTORY`."""
    return source.changed(f"selection.{HISTORY}={json.dumps(memory)}")


def destination_of(source: ScenarioSource) -> str:
    """Returns the receiver of the first flow, which is the destination in memories."""
    return str(json.loads(source.scenario.to_json())["flows"][0]["to"])


def _rows_of(table: pd.DataFrame, flow: pd.Series) -> pd.DataFrame:
    selected: pd.DataFrame = table[(table["run"] == flow["run"]) & (table["flow"] == flow["flow"])]
    return selected
