"""JSON of an explanation of results: types, and the row of a congestion control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from celltcp.comparison.metrics import CWND_MAX, CWND_MEAN, WINDOWS
from celltcp.results.json_fields import Cca, FlowName, Number, ScenarioName, Seed, Version
from celltcp.results.limit_fields import LimitShares

if TYPE_CHECKING:
    from celltcp.comparison.explanation.explained_cca import ExplainedCca


class CauseRow(TypedDict):
    """Cause of the metrics of a congestion control."""

    cause: Annotated[str, "Name of the cause."]
    weight: Annotated[float, "Share of the time or of the capacity that it took, from 0 to 1."]
    text: Annotated[str, "Sentence with the metrics that show it."]


class EventRow(TypedDict):
    """Loss recovery, time-out or outage of a flow."""

    seed: Seed
    t_s: Annotated[float, "Time since the start of the run, s."]
    kind: Annotated[str, "Reason of the drops, probe, timeout, needless, hidden or outage."]
    text: Annotated[str, "Description, with its metrics."]
    connection: Annotated[
        int | None, "Number of the connection in its run; null for an outage, which all have."
    ]


class CcaExplanation(TypedDict):
    """Explanation of a flow under a congestion control: standing, limits, causes, longest events."""

    cca: Cca
    flow: FlowName
    goodput_mbps: Annotated[Number, "Mean goodput, Mbit/s."]
    rtt_mean_ms: Annotated[Number, "Mean RTT, ms."]
    ranking: Annotated[str, "Metric by which congestion controls rank for the flow."]
    value: Annotated[Number, "Its mean."]
    used_share: Annotated[Number, "Share of the capacity left by others that it used, from 0 to 1."]
    leader: Annotated[str | None, "The leading congestion control; null for that one itself."]
    leader_value: Annotated[Number, "Mean of the metric under it."]
    as_good: Annotated[
        bool | None, "Whether it is as good as the leader; null for that itself, or if undecided."
    ]
    goodput_difference_mbps: Annotated[
        Number, "Paired difference of the goodput to it, Mbit/s; null by the metric of an application."
    ]
    rtt_difference_ms: Annotated[
        Number, "Paired difference of the mean RTT to it, ms; null by the metric of an application."
    ]
    cwnd_mean_segments: Annotated[Number, WINDOWS[CWND_MEAN]]
    cwnd_max_segments: Annotated[Number, WINDOWS[CWND_MAX]]
    recovery_interval_s: Annotated[
        Number, "Mean time between successive recoveries after the start-up, s; null for few of them."
    ]
    limits: Annotated[
        LimitShares,
        "Shares of the time of the flow, from 0 to 1. They add up to 1 where the engine reports all.",
    ]
    causes: list[CauseRow]
    events: Annotated[
        list[EventRow], "Events that took most time in the run with the worst value, in order of time."
    ]


class RemedyRow(TypedDict):
    """A change to try next."""

    cause: Annotated[str, "Name of the cause that it is for."]
    options: Annotated[str, "Options of celltcp compare that try it, after the scenario or results."]
    text: Annotated[str, "What it is meant to avoid, and where Linux has the setting."]
    trial: Annotated[
        str | None, "Metrics before and after in short runs of celltcp explain; null without any."
    ]


class BestTriedRow(TypedDict):
    """The best congestion control with a remedy, of all that was compared or tried."""

    need: Annotated[str, "What it is best for: the first need that a remedy helps."]
    metric: Annotated[str, "Metric by which it is best."]
    cca: Cca
    options: Annotated[str, "Options of celltcp compare with it, after the scenario or results."]
    text: Annotated[str, "The metric with it, and of the CCA to set without it, and with it if tried."]


class AlternativeRow(TypedDict):
    """An alternative for the first need that a remedy helps: a CCA, alone or with a remedy."""

    places: Annotated[list[str], "Where it is set, such as sender, router or base station."]
    cca: Cca
    options: Annotated[str, "Options of celltcp compare with it, after the scenario or results."]
    runs: Annotated[int, "Number of runs of the metrics: the first ones."]
    recommended: Annotated[
        bool, "Whether it has the largest gain less losses at its place, and no row beats it."
    ]
    metrics: Annotated[
        dict[str, Number], "Mean by metric and flow, such as response_p95_s:game: of the need first."
    ]
    lines: Annotated[list[str], "Lines that set it, each with its host."]


class SettingRow(TypedDict):
    """Lines that set a congestion control on Linux."""

    cca: Annotated[str, "Congestion control, and the flow that it is for, if there are several."]
    need: Annotated[str, "What it is best for."]
    lines: Annotated[list[str], "Commands on the host that sends."]


class LeastTimeRow(TypedDict):
    """Least time of the transfer under test on its path, under any congestion control."""

    bytes: Annotated[float, "Bytes of the transfer, with all parts that start together."]
    total_s: Annotated[float, "Least time from the request to the last byte, s."]
    first_byte_s: Annotated[float, "Part of it until the first byte, s."]
    slow_start_s: Annotated[float, "Part in which a window that doubles leaves capacity unused, s."]
    full_rate_s: Annotated[float, "Part at the capacity, s."]
    outage_s: Annotated[float, "Part of that in outages of the link, s."]


class ExplainedResults(TypedDict):
    """Explanation of a comparison or of a run."""

    version: Version
    scenario: ScenarioName
    ccas: Annotated[list[CcaExplanation], "Explanation of each flow and CCA."]
    remedies: Annotated[
        list[RemedyRow], "What to try next, the most promising first; three at most, and a pair."
    ]
    best_tried: Annotated[BestTriedRow | None, "Null if no remedy beats the best CCA alone."]
    alternatives: Annotated[
        list[AlternativeRow],
        "Alternatives that no other one at the same place beats, after the default CCA alone.",
    ]
    settings: Annotated[
        list[SettingRow], "The best CCA, or that of each flow with an application; none if undecided."
    ]
    plots: Annotated[list[str], "Options of celltcp show that draw the causes."]
    notes: Annotated[
        list[str], "Facts that limit the explanation, such as tables that the results lack."
    ]
    least_time: Annotated[
        LeastTimeRow | None, "Least time of a transfer with the path to itself; null for other flows."
    ]


def cca_row(explained: ExplainedCca) -> CcaExplanation:
    """Returns the explanation of a flow under a congestion control, in which unknown values are NaN."""
    standing = explained.standing
    goodput_mbps, delay_ms = standing.differences or (None, None)
    leads = standing.leader is None or standing.leader == explained.cca
    return {
        "cca": explained.cca,
        "flow": explained.flow,
        "goodput_mbps": explained.goodput_mbps,
        "rtt_mean_ms": explained.rtt_mean_ms,
        "used_share": explained.used_share,
        "ranking": standing.metric,
        "value": standing.value,
        "leader": None if leads else standing.leader,
        "leader_value": None if leads else standing.leader_value,
        "as_good": None if leads else standing.is_as_good,
        "goodput_difference_mbps": goodput_mbps,
        "rtt_difference_ms": delay_ms,
        "cwnd_mean_segments": explained.cwnd_mean,
        "cwnd_max_segments": explained.cwnd_max,
        "recovery_interval_s": explained.sawtooth.interval_s,
        "limits": {**explained.limits},
        "causes": [
            {"cause": cause.name, "weight": cause.weight, "text": cause.text}
            for cause in explained.causes
        ],
        "events": [
            {
                "seed": event.seed,
                "t_s": event.t_s,
                "kind": event.kind,
                "text": event.text,
                "connection": event.connection,
            }
            for event in explained.events
        ],
    }
