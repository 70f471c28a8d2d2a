"""JSON types of comparisons: of one scenario, of several, and along the values of a field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NotRequired, TypedDict

from celltcp.campaign.origin_fields import Origin
from celltcp.comparison.metrics import APP_METRICS, METRICS, SHARE, WINDOWS
from celltcp.results.json_fields import (
    Cca,
    Cell,
    Columns,
    Duration,
    FlowName,
    Interval,
    LeftOut,
    MetricInterval,
    Middlebox,
    Number,
    RunNumber,
    Seed,
    Version,
)
from celltcp.results.limit_fields import LimitsRow

#: Line on unfinished results.
Unfinished = Annotated[str, "Numbers of finished and planned runs; only of unfinished results."]


class TestedFlow(TypedDict):
    """Flow under test."""

    name: FlowName
    connections: Annotated[int, "Maximum number of its connections in a run."]


class DifferenceRow(Interval):
    """Paired difference of the best congestion control to another."""

    requirement: str
    best: str
    other: str
    tied: bool


class BestOutcome(TypedDict):
    """Best congestion control, those tied with it, and the undecided ones."""

    best: str | None
    leader: str | None
    tied: list[str]
    undecided: list[str]
    to_set: Annotated[
        list[str], "The best ones, or what is nearly as good without the cost of the best one."
    ]
    dearer: Annotated[dict[str, str], "By name, the price of those as good as the leader at a price."]


class VerdictOutcome(BestOutcome):
    """Verdict for a requirement."""

    runs_needed: Annotated[
        int | None, "Number of runs that would likely decide; 10 after fewer than 5."
    ]
    contradicted_by: Annotated[
        str | None,
        "Metrics of the application that contradict that the leader is best; null if none does.",
    ]
    cost: Annotated[str | None, "Goodput, time or delay that the leader loses; null if it is small."]


class ShareRow(TypedDict):
    """Share of a flow in the path."""

    cca: Annotated[str, "Congestion control or mix, as in --cca."]
    flow: Annotated[str, "Name of the flow."]
    flow_cca: Annotated[str, "Congestion control of the flow."]
    connections: Annotated[int, "Maximum number of connections of the flow at that time."]
    goodput_mbps: Annotated[Number, "Mean goodput of all of its connections together, Mbit/s."]
    goodput_mbps_ci95: Annotated[Number, "Half width of the 95 % interval, Mbit/s."]
    lowest_mbps: Annotated[
        Number,
        "Lowest goodput of a connection in any run, Mbit/s; null unless several ran all the time.",
    ]
    highest_mbps: Annotated[Number, "Highest goodput of a connection, Mbit/s, likewise."]


class SelectionRow(TypedDict):
    """Switches and time shares of the selectors of a flow."""

    cca: Cca
    flow: Annotated[str, "Name of the flow."]
    flow_cca: str
    changes_per_run: Number
    returns_per_run: Number
    time_under: Mapping[str, Number]


def _run_columns() -> Mapping[str, object]:
    return {
        "run": RunNumber,
        "cca": Cca,
        "seed": Seed,
        **means(Number),
        "acked_early_bytes": Annotated[
            Number, "Payload acknowledged before it reached the receiver, bytes."
        ],
        "acked_early_ends": Annotated[
            Number,
            "Times that all payload sent was acknowledged and some of it had not reached the receiver.",
        ],
        "fairness": Annotated[Number, "Jain's index of the flows of a direction."],
        "duration_s": Duration,
        "middlebox": Middlebox,
        **app_metrics(Number),
    }


class SetInterval(Interval):
    """Mean over scenarios with its 95 % interval."""

    scenarios: Annotated[int, "Number of scenarios that have the metric."]


class RatioInterval(SetInterval):
    """Geometric mean of ratios less one, with its 95 % interval, which is not symmetric."""

    low: Annotated[Number, "Lower end of the 95 % interval; null without spread."]
    high: Annotated[Number, "Upper end of the 95 % interval; null without spread."]


def means(kind: object, metrics: Mapping[str, str] = METRICS) -> dict[str, object]:
    """Returns the columns of metrics, with the JSON type of their means."""
    return {metric: Annotated[kind, meaning] for metric, meaning in metrics.items()}


def _relative_columns() -> Mapping[str, object]:
    shares = {
        metric: Annotated[
            RatioInterval,
            f"{meaning} Relative difference, a share: the geometric mean of the ratios less one.",
        ]
        for metric, meaning in METRICS.items()
    }
    return {"cca": Cca, **shares, "compared_with": Annotated[str, "Congestion control."]}


def app_metrics(kind: object) -> Mapping[str, object]:
    """Returns the columns of the metrics of applications, which only runs with applications have."""
    return {name: NotRequired[Annotated[kind, metric.meaning]] for name, metric in APP_METRICS.items()}


def _summary_columns() -> Mapping[str, object]:
    return {"cca": Cca, **means(MetricInterval), "middlebox": Middlebox, **app_metrics(MetricInterval)}


def _flow_columns() -> Mapping[str, object]:
    share = Annotated[MetricInterval, "Goodput while all flows ran, Mbit/s."]
    return {"cca": Cca, "flow": FlowName, **means(MetricInterval), SHARE: share}


def _window_columns() -> Mapping[str, object]:
    return {"cca": Cca, "flow": FlowName, **means(Interval, WINDOWS)}


#: Row of a run; requirements of selectors add their metrics.
RunRow = Annotated[dict[str, Cell], Columns(_run_columns)]
#: Means of a congestion control over the runs; requirements of selectors add their metrics.
SummaryRow = Annotated[dict[str, str | MetricInterval], Columns(_summary_columns)]
#: Means of a competing flow over the runs.
FlowRow = Annotated[dict[str, str | MetricInterval], Columns(_flow_columns)]
#: Congestion windows of a flow over the runs.
WindowsRow = Annotated[dict[str, str | Interval], Columns(_window_columns)]
#: Relative differences of a congestion control to another one over the scenarios, shares.
RelativeRow = Annotated[dict[str, str | RatioInterval], Columns(_relative_columns)]
#: Means of a congestion control over the scenarios.
SetRow = Annotated[dict[str, str | SetInterval], Columns(lambda: {"cca": Cca, **means(SetInterval)})]


#: Means of the metrics of an application under a congestion control.
ApplicationRow = Annotated[
    dict[str, str | MetricInterval], Columns(lambda: {"cca": Cca, **app_metrics(MetricInterval)})
]
#: The same for one of several kinds of frames.
FrameKindRow = Annotated[
    dict[str, str | MetricInterval],
    Columns(
        lambda: {
            "cca": Cca,
            "size": Annotated[str, "Size of the frames as in the scenario, or number of the kind."],
            **app_metrics(MetricInterval),
        }
    ),
]


class ResentData(TypedDict):
    """Data that a flow sent again."""

    share: Annotated[Number, "Share of the segments."]
    megabytes: Annotated[Number, "Payload, MB a run."]


class PooledPercentile(TypedDict):
    """Percentile of the units of work of all runs together."""

    metric: Annotated[str, "Metric, of which `figures` has the mean over the runs."]
    cca: Cca
    value: Annotated[Number, "Percentile over all units, or a lower bound as in `figures`, s."]
    low: Annotated[Number, "Lower end of the 95 % interval, by bootstrap over 5 runs or more."]
    high: Annotated[Number, "Upper end of the interval."]


class ApplicationOutcome(BestOutcome):
    """Application of a flow: its metrics, and the best congestion control by one of them."""

    flow: FlowName
    metric: Annotated[str, "Metric by which congestion controls rank."]
    resent: Annotated[dict[str, ResentData], "Data that the flow sent again, by congestion control."]
    figures: list[ApplicationRow]
    pooled: NotRequired[
        Annotated[
            list[PooledPercentile],
            "Percentiles over all runs; only where runs have fewer than ten values above theirs.",
        ]
    ]
    frame_kinds: NotRequired[
        Annotated[
            list[FrameKindRow], "The figures of each of several kinds of frames on the connection."
        ]
    ]


class ChosenRow(MetricInterval):
    """Mean of a chosen metric under a congestion control."""

    cca: Cca


class ChosenOutcome(BestOutcome):
    """Best congestion control by a metric of --by."""

    flow: FlowName
    metric: Annotated[str, "Metric by which congestion controls rank."]
    values: list[ChosenRow]


class FlowVerdict(BestOutcome):
    """Best congestion control for a flow by the metric that matters most to it."""

    flow: FlowName
    metric: Annotated[str, "Metric of its application, or goodput_mbps."]


class LawRow(TypedDict):
    """Goodput of a bulk flow by the law of its congestion control under random losses."""

    cca: Cca
    flow: FlowName
    loss_rate: Annotated[float, "Probability at which the path loses a packet."]
    goodput_mbps: Annotated[float, "Goodput by the law, at most the capacity, Mbit/s."]
    ratio: Annotated[MetricInterval, "Goodput of the runs as a multiple of that by the law."]
    holds: Annotated[bool, "Whether time-outs and recoveries matter little, as at 1 % and below."]
    source: Annotated[str, "Publication of the law."]


class OptionalOutcome(TypedDict, total=False):
    """Optional parts of the outcome of a comparison."""

    by: Annotated[list[ChosenOutcome], "Rankings by the metrics of --by, in their order."]
    flow_verdicts: Annotated[
        list[FlowVerdict],
        "Best congestion control for each flow of a workload; for a flow under test without an "
        "application, verdicts has it.",
    ]
    trade_offs: Annotated[
        list[str], "What each flow gains and loses where flows have different best CCAs."
    ]
    applications: Annotated[
        list[ApplicationOutcome],
        "Applications of all flows; only where a flow has one, or transfers with an end.",
    ]
    shares: Annotated[
        list[ShareRow],
        "Shares of the path while all flows run; only where several connections share it.",
    ]
    flows: Annotated[list[FlowRow], "Means of each flow; only where several compete for the path."]
    windows: Annotated[list[WindowsRow], "Congestion windows of each flow."]
    laws: Annotated[list[LawRow], "Goodput by the laws of Reno and CUBIC; only with random losses."]
    selection: list[SelectionRow]
    limits: Annotated[list[LimitsRow], "What limited the flows; results of earlier versions lack it."]


class ComparisonOutcome(Origin, OptionalOutcome):
    """Outcome of celltcp compare on one scenario."""

    randomness: Annotated[list[str], "What differs between runs."]
    flow: Annotated[TestedFlow, "Flow under test, which runs, summary and verdicts are about."]
    runs: list[RunRow]
    summary: list[SummaryRow]
    differences: list[DifferenceRow]
    recommendation: dict[str, list[str]]
    verdicts: dict[str, VerdictOutcome]
    warnings: list[str]


class ApplicationMeanRow(TypedDict):
    """Metric of an application under a congestion control, over the scenarios."""

    flow: FlowName
    metric: Annotated[str, "Name of the metric."]
    cca: Cca
    mean: Annotated[SetInterval, "Mean over the scenarios."]
    relative: Annotated[
        RatioInterval | None,
        "Geometric mean of the ratios to the first congestion control, less one; null for that itself, "
        "and for metrics without ratios: scores, and those that are zero on a scenario.",
    ]
    difference: Annotated[
        SetInterval | None,
        "Difference to the first congestion control, of a metric without ratios; else null.",
    ]


class SetVerdictRow(TypedDict):
    """Best congestion control over all scenarios, for a need."""

    need: Annotated[str, "A requirement, or a flow and its metric in words."]
    metric: Annotated[str, "Metric by which they rank."]
    best: Annotated[Cca | None, "null where the differences do not decide."]
    ranked: Annotated[list[Cca], "The best one first."]
    tied: Annotated[list[Cca], "Those as good as the first one, as far as the scenarios decide."]
    places: Annotated[
        dict[str, list[str]],
        "Scenarios on which the first one, by their runs alone, is worse, best, tied or undecided.",
    ]
    gains: Annotated[
        dict[str, RatioInterval],
        "Metric of the first one relative to each other one, less one; empty without ratios.",
    ]
    differences: Annotated[
        dict[str, SetInterval],
        "Difference of the first one to each other one, of a metric without ratios; else empty.",
    ]


class ScenarioSetOutcome(TypedDict):
    """Outcome of celltcp compare on several scenarios."""

    version: Version
    scenarios: Annotated[dict[str, ComparisonOutcome], "Outcome of each scenario."]
    mean: Annotated[list[SetRow], "Mean over the scenarios."]
    relative: Annotated[
        list[RelativeRow], "Geometric mean over the scenarios of the ratios to the first one, less one."
    ]
    leading: dict[str, dict[str, list[str]]]
    over_all: Annotated[
        list[SetVerdictRow],
        "Verdicts over three or more scenarios, by the differences on each of them.",
    ]
    leading_of_flows: NotRequired[
        Annotated[
            dict[str, dict[str, list[str]]],
            "The same for each flow and its metric where flows have applications, and for --by.",
        ]
    ]
    applications: NotRequired[
        Annotated[
            list[ApplicationMeanRow], "Application metrics of flows that have them in each scenario."
        ]
    ]
    left_out: LeftOut
    unfinished: NotRequired[Unfinished]


class FieldRow(MetricInterval):
    """Value of a field with a congestion control, and its paired difference to the leader."""

    name: Annotated[str, "Name in the verdict."]
    value: Annotated[str, "Value of the field."]
    cca: Cca
    difference: Annotated[Number, "Mean of the paired differences to the leader."]
    difference_ci95: Annotated[Number, "Half width of its 95 % interval."]


class FieldOutcome(BestOutcome):
    """Best value of a field for a flow."""

    field: str
    is_condition: Annotated[bool, "Whether nobody sets it, as a loss rate: no value is an advice."]
    at: Annotated[dict[str, str], "Coordinates on the other axes."]
    cca: Annotated[str | None, "Congestion control; null where each value stands with each of them."]
    flow: FlowName
    metric: Annotated[str, "Metric by which the values rank."]
    runs_needed: Annotated[
        int | None, "Number of runs that would likely decide; 10 after fewer than 5."
    ]
    values: list[FieldRow]


class SweepOutcome(TypedDict):
    """Outcome of celltcp sweep."""

    field: Annotated[str, "The field; names of several axes are joined with commas."]
    axes: Annotated[list[str], "Fields, after scenario if there are several scenarios."]
    points: Annotated[dict[str, dict[str, str]], "By value, the coordinate on each axis."]
    unfinished: NotRequired[Unfinished]
    values: Annotated[dict[str, ComparisonOutcome], "Outcome of each value."]
    best_values: Annotated[
        list[FieldOutcome], "Best value of each field for each flow, and by the metrics of --by."
    ]
    field_changes: Annotated[
        list[str],
        "Trade-off between two metrics, what better values and CCAs change, and which of them helps "
        "most.",
    ]
