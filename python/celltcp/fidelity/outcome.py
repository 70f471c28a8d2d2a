"""JSON types of a comparison of the engines."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict, get_args

from celltcp.results.json_fields import (
    Cca,
    FirstSeed,
    Interval,
    KernelVersion,
    Number,
    Runs,
    ScenarioHash,
    Version,
)

#: A compared metric.
Metric = Literal["goodput_mbps", "rtt_mean_ms", "rtt_p95_ms", "retransmitted_percent", "completion_s"]
#: The compared metrics, in the order of the table.
METRICS: tuple[Metric, ...] = get_args(Metric)


class EngineDifference(TypedDict):
    """Metric under both engines: means over the runs, and their difference."""

    native: Number
    kernel: Number
    difference_percent: Annotated[Number, "In %."]
    ci95_percent: Annotated[Number, "Half width of its 95 % interval, %."]
    band_percent: Annotated[Number, "Allowed difference, %."]


class MetricDifferences(TypedDict, total=False):
    """Metrics under both engines."""

    goodput_mbps: Annotated[EngineDifference, "Goodput in Mbit/s."]
    rtt_mean_ms: Annotated[EngineDifference, "Mean RTT in ms."]
    rtt_p95_ms: Annotated[EngineDifference, "95th percentile of the RTT in ms."]
    retransmitted_percent: Annotated[EngineDifference, "Share of segments sent again in %."]
    completion_s: Annotated[EngineDifference, "Mean time until a connection is complete in s."]


class JudgementRow(MetricDifferences):
    """Judgement of a CCA in a case."""

    case: str
    group: str
    cca: Cca
    scenario_hash: ScenarioHash
    cwnd_distance: Interval
    runs: Runs
    within: bool
    outside: Annotated[list[str], "Metrics outside of their band."]
    undecided: Annotated[list[str], "Metrics whose interval reaches back into the band."]
    open: bool
    cause: str | None


class FidelityOutcome(TypedDict):
    """Outcome of celltcp fidelity."""

    version: Version
    kernel_version: KernelVersion
    runs: Runs
    seed: FirstSeed
    cases: Annotated[list[JudgementRow], "A judgement per case and CCA."]
    distribution: NotRequired[
        Annotated[dict[str, object], "With --random: the distribution of the differences."]
    ]
