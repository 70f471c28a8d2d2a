"""Tables of comparisons: means with intervals, and shares of flows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from celltcp.comparison.metrics import COMPETITION_METRICS, ONE_WAY_DELAY, words_of
from celltcp.present.section import (
    Column,
    Section,
    Table,
    mean_text,
    number_columns,
    runs_text,
    whole_percents,
)
from celltcp.results.columns import records
from celltcp.results.limits import LIMITS, flow_limits
from celltcp.scenarios.cca_mix import has_several_flows, labels
from celltcp.scenarios.requirements import COMPLETION, QOE, REQUIREMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.scenario_set import ScenarioSet
    from celltcp.comparison.shares import MeanShare
    from celltcp.results.limits import FlowLimits
    from celltcp.results.tables import Results
    from celltcp.results.tested import FlowUnderTest

#: Columns of the table: metric, heading, digits.
COLUMNS = tuple(
    (metric, heading, words_of(metric).digits)
    for metric, heading in (
        ("goodput_mbps", "goodput\nMbit/s"),
        (ONE_WAY_DELAY, "p95 one-way\ndelay ms"),
        ("rtt_mean_ms", "mean RTT\nms"),
        ("rtt_p95_ms", "p95 RTT\nms"),
        ("induced_delay_ms", "induced\ndelay ms"),
        ("retransmissions", "retrans-\nmissions"),
        ("pm_balanced", "PM\nbalanced"),
        ("pm_delay", "PM\ndelay"),
    )
)

#: Columns that a narrow terminal omits unless they decide, the least important first.
_DROPPABLE = ("retransmissions", "rtt_p95_ms", "pm_balanced", "pm_delay", "induced_delay_ms")

#: Columns other than the mean RTT that are meaningless on a path with a split.
_MADE_OF_RTTS = {"rtt_p95_ms", "induced_delay_ms", "pm_balanced", "pm_delay"}

#: Column of CCAs, whose labels are shortened only after other columns are omitted.
CCA_COLUMN = Column("CCA", folds=True, no_wrap=True)

#: Column of flows, whose names do not break.
FLOW_COLUMN = Column("flow", no_wrap=True)

#: Metrics relative to the lowest RTT, which a flow that starts at a full queue never measures.
_BASE_RTT_METRICS = {"induced_delay_ms", "pm_balanced", "pm_delay"}

#: Maximum of competing flows that a cell lists.
_MAX_LISTED_FLOWS = 6
#: Maximum of competing flows that tables have a row for.
_MAX_FLOWS = 4

LIMITS_TITLE = "What limited the flows, %"

#: Headings of the columns of limits.
_LIMIT_HEADINGS = {
    "idle": "appli-\ncation\nidle",
    "in_flight": "all\nin\nflight",
    "send_buffer": "send\nbuffer",
    "receive_window": "receive\nwindow",
    "startup": "slow\nstart",
    "congestion_window": "conges-\ntion\nwindow",
    "pacing": "pacing",
    "recovery": "loss\nrecov-\nery",
    "timeout": "wait for\ntime-\nout",
    "outage": "outage",
    "network": "network",
}


def columns_for(comparisons: Iterable[Comparison]) -> list[tuple[str, str, int]]:
    """Returns metric, heading and digits of the columns: PM and goodput if flows compete.

    Where a middlebox splits connections, one-way delays replace metrics computed from RTTs.
    """
    results = list(comparisons)
    hidden = set() if any(comparison.is_competing for comparison in results) else {*COMPETITION_METRICS}
    hidden |= _MADE_OF_RTTS if any(comparison.split_ccas for comparison in results) else {ONE_WAY_DELAY}
    return [column for column in COLUMNS if column[0] not in hidden]


def headings_of(metric_columns: Iterable[tuple[str, str, int]]) -> tuple[Column, ...]:
    """Returns the columns of metrics."""
    return tuple(
        Column(heading, is_number=True, name=metric, no_wrap=True)
        for metric, heading, _ in metric_columns
    )


def droppable_columns(comparisons: Iterable[Comparison], by: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns the columns that a narrow terminal omits, the least important first.

    Metrics of which there is a verdict stay.

    Args:
        comparisons: those of the table.
        by: chosen ranking metrics, as those of `Comparison.best_by`.
    """
    deciding: set[str] = set()
    if by:
        from celltcp.comparison.metric_names import ranking_metric

        deciding = {ranking_metric(each.partition(":")[0]) for each in by}
    for comparison in comparisons:
        deciding |= {comparison.requirements[name] for name in comparison.network_verdicts}
    return tuple(each for each in _DROPPABLE if each not in deciding)


def means_table(comparison: Comparison, name: str = "", by: Sequence[str] = ()) -> Table:
    """Returns mean and 95 % interval of each metric, a row per CCA, and flow where flows compete.

    Args:
        comparison: the comparison.
        name: of its scenario among several; that of the scenario itself unless given.
        by: chosen ranking metrics.
    """
    about = comparison.results.about
    requested = [name for name in comparison.requirements if name not in (*REQUIREMENTS, QOE)]
    names = labels(comparison.ccas)
    metric_columns = columns_for([comparison])
    rows: list[tuple[str, ...]] = []
    ends = set()
    by_flow = has_rows_of_flows([comparison])
    for cca in comparison.ccas:
        weighed = [
            mean_text(comparison.values(cca, comparison.requirements[name]), 3) for name in requested
        ]
        if by_flow:
            unknown = ["-"] * len(requested)
            for index, (flow, cells) in enumerate(
                cells_by_flow(comparison, cca, metric_columns).items()
            ):
                rows.append((names[cca], flow, *cells, *(unknown if index else weighed)))
            ends.add(len(rows) - 1)
        else:
            rows.append((names[cca], *cells_of(comparison, cca, metric_columns), *weighed))
    others = (Column(_heading(name), is_number=True, no_wrap=True) for name in requested)
    return Table(
        columns=(
            CCA_COLUMN,
            *([FLOW_COLUMN] if by_flow else []),
            *headings_of(metric_columns),
            *others,
        ),
        rows=tuple(rows),
        title=f"{name or about['name']}: mean and 95 % interval over {runs_text(about['runs'])}",
        ends=frozenset(ends),
        ccas={names[cca]: cca for cca in comparison.ccas},
        droppable=droppable_columns([comparison], by),
    )


def has_rows_of_flows(comparisons: Iterable[Comparison]) -> bool:
    """Returns whether tables have a row for each flow: where few flows compete."""
    return any(1 < len(comparison.competing_flows) <= _MAX_FLOWS for comparison in comparisons)


def cells_by_flow(
    comparison: Comparison, cca: str, metric_columns: Iterable[tuple[str, str, int]]
) -> dict[str, list[str]]:
    """Returns the cells of each competing flow in these columns, by its name and congestion control."""
    columns = list(metric_columns)
    flows = comparison.competing_flows or [comparison.tested]
    return {
        flow_label(comparison, flow, cca): [
            "-"
            if flow != comparison.tested and metric in _BASE_RTT_METRICS
            else mean_text(comparison.values_of(flow, cca, metric), digits)
            for metric, _, digits in columns
        ]
        for flow in flows
    }


def flow_label(comparison: Comparison, flow: FlowUnderTest, cca: str) -> str:
    """Returns the name of a flow with its congestion control under a CCA or line-up."""
    used = flow_cca(comparison, flow, cca)
    return f"{flow.name} ({labels([used])[used]})" if used else flow.name


def flow_cca(comparison: Comparison, flow: FlowUnderTest, cca: str) -> str:
    """Returns the congestion control of a flow under a CCA or line-up; empty where it never ran."""
    shares = (mean_share for mean_share in comparison.mean_shares() if mean_share.lineup == cca)
    return next((share.cca for share in shares if flow.includes(share.flow)), "")


def _heading(requirement: str) -> str:
    """Returns the heading of the column of a requirement that has no name."""
    if requirement == COMPLETION:
        return "completions\n1/s"
    return f"PM\n{requirement}" if "/" in requirement else requirement


def shares_table(comparison: Comparison) -> Table:
    """Returns the goodput of each flow that competes, and Jain's index if there are several."""
    has_index = comparison.has_competition
    names = labels(comparison.ccas)
    cells = share_cells(comparison, has_index=has_index)
    return Table(
        columns=(Column("CCA"), *share_columns(has_index=has_index)),
        rows=tuple((names[cca], *of_cca) for cca, of_cca in cells.items()),
        title=shares_title(has_index=has_index),
    )


def shares_title(*, has_index: bool) -> str:
    """Returns the title of a table of shares."""
    index = ", and Jain's index of them (1 is fair)" if has_index else ""
    return f"Shares of the path while all flows run{index}"


def share_columns(*, has_index: bool) -> tuple[Column, ...]:
    """Returns the columns of shares."""
    return (
        Column("goodput of each flow, Mbit/s"),
        *number_columns("sum", *(["Jain's index"] if has_index else [])),
    )


def share_cells(comparison: Comparison, *, has_index: bool) -> dict[str, tuple[str, ...]]:
    """Returns the cells of the shares of each congestion control or line-up.

    Args:
        comparison: the comparison.
        has_index: whether the last one is Jain's index.
    """
    shares = comparison.competing_shares()
    all_compete = len(shares) == len(comparison.mean_shares())
    flows_called = labels(dict.fromkeys(share.cca for share in shares))
    cells = {}
    for cca in comparison.ccas:
        flows = [share for share in shares if share.lineup == cca]
        flow_names = _many_flows(flows, flows_called) or ", ".join(
            f"{flows_called[flow.cca]}{_connections(flow, ' (', ')')} "
            f"{flow.goodput.mean:.2f}{_half_text(flow)}"
            if all_compete
            else f"{flow.flow} ({flows_called[flow.cca]}{_connections(flow, ', ')}) "
            f"{flow.goodput.mean:.2f}{_half_text(flow)}"
            for flow in flows
        )
        total = f"{sum(flow.goodput.mean for flow in flows):.2f}"
        index = [mean_text(comparison.jains_index(cca), 3)] if has_index else []
        cells[cca] = (flow_names, total, *index)
    return cells


def limits_table(results: Results) -> Table | None:
    """Returns the share of its time for which each limit held a flow back, %, a row per CCA and flow.

    Limits that are zero everywhere have no column. None where results have no limits.
    """
    flows = flow_limits(results)
    names = labels(list(dict.fromkeys(flow.cca for flow in flows)))
    shares = ([*(flow.shares[limit] for limit in LIMITS), flow.network] for flow in flows)
    columns = zip(*map(whole_percents, shares), strict=True)
    cells = dict(zip((*LIMITS, "network"), columns, strict=True)) if flows else {}
    limits = [limit for limit, of_limit in cells.items() if not {*of_limit} <= {"0", "-"}]
    if not limits:
        return None
    several = len({flow.flow for flow in flows}) > 1
    rows = tuple(
        (
            names[flow.cca],
            *([flow.flow] if several else []),
            *(cells[limit][index] for limit in limits),
        )
        for index, flow in enumerate(flows)
    )
    return Table(
        columns=(
            Column("CCA", folds=True, no_wrap=True),
            *([Column("flow")] if several else []),
            *number_columns(*(_LIMIT_HEADINGS[limit] for limit in limits)),
        ),
        rows=rows,
        title=f"{LIMITS_TITLE}{_of_leg(results)}",
        ends=_last_of_ccas(flows) if several else frozenset(),
        ccas={name: cca for cca, name in names.items()},
    )


def _of_leg(results: Results) -> str:
    """Returns the leg of the limits where connections are split; empty otherwise."""
    legs = results.tables.get("legs")
    return "" if legs is None or not legs.num_rows else "; of split ones, of the leg of the server"


def limits_sections(results: Results) -> list[Section]:
    """Returns the section of a report on what limited the flows; none where results have no limits."""
    table = limits_table(results)
    return [] if table is None else [Section(table.title, replace(table, title=""))]


def _last_of_ccas(limits: Iterable[FlowLimits]) -> frozenset[int]:
    """Returns the numbers of the last rows of each CCA."""
    return frozenset({limit.cca: index for index, limit in enumerate(limits)}.values())


def decisions_table(results: Results) -> Table:
    """Returns the decisions of selectors: time, flow, CCAs, cause and reason."""
    flows = {flow["flow"]: flow["name"] for flow in records(results.tables["flows"])}
    rows = []
    for decision in records(results.decisions):
        number, before, after = decision["flow"], decision["from_cca"], decision["to_cca"]
        rows.append(
            (
                f"{decision['t_ns'] * 1e-9:.2f}",
                f"{number} ({flows[number]})",
                "" if before == after else before,
                after,
                decision["cause"],
                decision["reason"],
            )
        )
    names = (Column(heading, no_wrap=True) for heading in ("flow", "from", "to", "cause"))
    columns = (*number_columns("s"), *names, Column("why", folds=True))
    return Table(columns, tuple(rows), "Decisions")


def _many_flows(flows: Sequence[MeanShare], names: Mapping[str, str]) -> str:
    """Returns the number of flows of each CCA and the range of their goodputs; empty for few flows."""
    if len(flows) <= _MAX_LISTED_FLOWS:
        return ""
    by_cca: dict[str, list[float]] = {}
    for flow in flows:
        by_cca.setdefault(flow.cca, []).append(flow.goodput.mean)
    return ", ".join(
        f"{len(goodputs)} flows of {names[cca]} {min(goodputs):.2f} to {max(goodputs):.2f}"
        for cca, goodputs in by_cca.items()
    )


def _half_text(flow: MeanShare) -> str:
    """Returns the half width of the interval of a goodput; nothing without one."""
    return "" if flow.goodput.ci95 is None else f" ±{flow.goodput.ci95:.2f}"


def _connections(flow: MeanShare, before: str, after: str = "") -> str:
    """Returns the number of connections of a flow between two texts; nothing for a single one."""
    return f"{before}{flow.connections} connections{after}" if flow.connections > 1 else ""


def subject_text(comparison: Comparison) -> str:
    """Returns the flow of the means; empty where there is only one, or a row for each."""
    if not comparison.subject or has_rows_of_flows([comparison]):
        return ""
    if any(map(has_several_flows, comparison.ccas)):
        return f"Means are those of the first flow: {comparison.subject}."
    return f"Means are those of the flow under test: {comparison.subject}."


#: Note on a scenario in which nothing is random.
NO_RANDOMNESS = (
    "This scenario has no randomness: runs differ only where a CCA draws random numbers, as BBR does."
)


def selector_texts(comparison: Comparison) -> list[str]:
    """Returns the switches and time shares of each selector, a line for each."""
    if "decisions" not in comparison.results.tables:
        return []
    from celltcp.results.selectors import used_in

    names = labels(comparison.ccas)
    return [
        f"{names[used.lineup]}{f', {used.flow}' if '+' in used.lineup else ''}: {used}"
        for used in used_in(comparison.results)
    ]


def cells_of(
    result: Comparison | ScenarioSet, cca: str, metric_columns: Iterable[tuple[str, str, int]]
) -> list[str]:
    """Returns the cells of a congestion control in these columns."""
    return [mean_text(result.values(cca, metric), digits) for metric, _, digits in metric_columns]
