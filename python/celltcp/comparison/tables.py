"""Tables of comparisons: means with intervals, and shares of flows."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.metrics import (
    COMPETITION_METRICS,
    GOODPUT,
    JAIN,
    LATE_FRAMES,
    ONE_WAY_DELAY,
    SHARE,
    UTILISATION,
    metric_text,
    range_of,
    words_of,
)
from celltcp.comparison.utilisation import utilisation
from celltcp.present.section import (
    Column,
    Section,
    Table,
    estimate_text,
    number_columns,
    runs_text,
    whole_percents,
)
from celltcp.results.columns import records
from celltcp.results.limits import LIMITS, has_captured_sender
from celltcp.results.statistics import within
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import has_several_flows, join_names, labels
from celltcp.scenarios.requirements import COMPLETION, QOE, REQUIREMENTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.sets.scenario_set import ScenarioSet
    from celltcp.comparison.shares import MeanShare
    from celltcp.results.tables import Results


class MetricColumn(NamedTuple):
    """Column of a metric in tables of means."""

    metric: str
    #: Heading, with line breaks for a narrow terminal.
    heading: str
    digits: int


#: Columns of tables of means.
COLUMNS = tuple(
    MetricColumn(metric, heading, words_of(metric).digits)
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

#: Columns that a narrow terminal omits, the least important first; those with a verdict stay.
_DROPPABLE = ("retransmissions", "rtt_p95_ms", "pm_balanced", "pm_delay", "induced_delay_ms")

#: Metrics computed from RTTs except the mean: meaningless where a middlebox splits connections.
_RTT_METRICS = {"rtt_p95_ms", "induced_delay_ms", "pm_balanced", "pm_delay"}

#: Column of CCAs, whose labels are shortened only after other columns are omitted.
CCA_COLUMN = Column("CCA", folds=True, no_wrap=True)

#: Column of flows, whose names do not break.
FLOW_COLUMN = Column("flow", no_wrap=True)

#: Metrics relative to the lowest RTT, which a flow that starts with a full queue never measures.
_BASE_RTT_METRICS = {"induced_delay_ms", "pm_balanced", "pm_delay"}

#: Maximum number of competing flows that a cell lists.
_MAX_LISTED_FLOWS = 6
#: Maximum number of competing flows for which tables have a row each.
_MAX_FLOW_ROWS = 4

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
#: Heading of a receive window that stands for the limit of a sender in a capture.
_SENDER_HEADING = "sender's\nlimit"
#: Name of a flow that has none in the scenario.
_DEFAULT_NAME = re.compile(r"flow-\d+")


def columns_for(comparisons: Collection[Comparison]) -> list[MetricColumn]:
    """Returns the columns for some comparisons: goodput and PM only if flows compete.

    Requests without a pause, and frames that are held up, have a goodput, too.
    Where a middlebox splits connections, one-way delays replace metrics computed from RTTs.
    """
    hidden = set()
    if not any(each.is_competing for each in comparisons):
        from celltcp.comparison.applications.delivered_rate import shows_goodput

        hidden = {*COMPETITION_METRICS} - ({GOODPUT} if any(map(shows_goodput, comparisons)) else set())
    hidden |= _RTT_METRICS if any(each.split_ccas for each in comparisons) else {ONE_WAY_DELAY}
    return [column for column in COLUMNS if column.metric not in hidden]


def headings_of(metric_columns: Iterable[MetricColumn]) -> tuple[Column, ...]:
    """Returns columns of metrics as those of a `Table`."""
    return tuple(
        Column(heading, is_number=True, name=metric, no_wrap=True)
        for metric, heading, _ in metric_columns
    )


def droppable_columns(comparisons: Iterable[Comparison], by: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns the columns that a narrow terminal omits, the least important first.

    Metrics with a verdict, such as the chosen metrics `by`, stay.
    """
    ranked: set[str] = set()
    if by:
        from celltcp.comparison.metric_names import ranking_metric

        ranked = {ranking_metric(metric.partition(":")[0]) for metric in by}
    for comparison in comparisons:
        ranked |= {comparison.requirements[name] for name in comparison.network_verdicts}
    return tuple(metric for metric in _DROPPABLE if metric not in ranked)


def means_table(comparison: Comparison, name: str = "", by: Sequence[str] = ()) -> Table:
    """Returns mean and 95 % interval of each metric, a row per CCA, and flow where flows compete.

    The title has `name`, or else that of the scenario. `by` are chosen ranking metrics.
    """
    about = comparison.results.about
    requirements = [each for each in comparison.requirements if each not in (*REQUIREMENTS, QOE)]
    names = labels(comparison.ccas)
    metric_columns = columns_for([comparison])
    rows: list[tuple[str, ...]] = []
    ends = set()
    has_flow_rows = has_rows_of_flows([comparison])
    for cca in comparison.ccas:
        requirement_cells = [
            metric_text(
                comparison.requirements[each], comparison.values(cca, comparison.requirements[each]), 3
            )
            for each in requirements
        ]
        if has_flow_rows:
            for flow, cells in cells_by_flow(comparison, cca, metric_columns).items():
                rows.append((names[cca], flow, *cells, *requirement_cells))
                # Only the flow under test has metrics of requirements.
                requirement_cells = ["-"] * len(requirements)
            ends.add(len(rows) - 1)
        else:
            cells = cells_with_shares(comparison, cca, metric_columns)
            rows.append((names[cca], *cells, *requirement_cells))
    return Table(
        columns=(
            CCA_COLUMN,
            *([FLOW_COLUMN] if has_flow_rows else []),
            *headings_of(metric_columns),
            *(Column(_heading(each), is_number=True, no_wrap=True) for each in requirements),
        ),
        rows=tuple(rows),
        title=f"{name or about['name']}: mean and 95 % interval over {runs_text(about['runs'])}",
        group_ends=frozenset(ends),
        cca_of_cell={names[cca]: cca for cca in comparison.ccas},
        droppable=droppable_columns([comparison], by),
    )


def has_rows_of_flows(comparisons: Iterable[Comparison]) -> bool:
    """Returns whether tables have a row for each flow: where a few flows compete."""
    return any(1 < len(comparison.competing_flows) <= _MAX_FLOW_ROWS for comparison in comparisons)


def cells_with_shares(
    comparison: Comparison, cca: str, metric_columns: Sequence[MetricColumn]
) -> list[str]:
    """Returns the cells of the flow under test, with the share of its retransmissions."""
    shares = (
        _share_text(comparison, comparison.tested, cca, metric) for metric, _, _ in metric_columns
    )
    return list(map(add, cells_of(comparison, cca, metric_columns), shares))


def cells_by_flow(
    comparison: Comparison, cca: str, metric_columns: Sequence[MetricColumn]
) -> dict[str, list[str]]:
    """Returns the cells of each competing flow in these columns, by the label of the flow."""
    flows = comparison.competing_flows or [comparison.tested]
    return {
        flow_label(comparison, flow, cca): [
            "-"
            if flow != comparison.tested and metric in _BASE_RTT_METRICS
            else metric_text(metric, comparison.values_of(flow, cca, metric), digits)
            + _share_text(comparison, flow, cca, metric)
            for metric, _, digits in metric_columns
        ]
        for flow in flows
    }


def _share_text(comparison: Comparison, flow: FlowUnderTest, cca: str, metric: str) -> str:
    """Returns the share of retransmissions as a text after their number; empty for other metrics."""
    if metric != "retransmissions" or not any(comparison.values_of(flow, cca, metric)):
        return ""
    from celltcp.comparison.retransmitted import retransmitted_text

    return retransmitted_text(comparison, flow, cca)


def flow_label(comparison: Comparison, flow: FlowUnderTest, cca: str) -> str:
    """Returns the name of a flow with its congestion control in the runs of a CCA or mix."""
    own_cca = flow_cca(comparison, flow, cca)
    return f"{flow.name} ({labels([own_cca])[own_cca]})" if own_cca else flow.name


def flow_cca(comparison: Comparison, flow: FlowUnderTest, cca: str) -> str:
    """Returns the congestion control of a flow under a CCA or mix; empty if the flow never ran."""
    shares = (share for share in comparison.mean_shares() if share.mix == cca)
    return next((share.cca for share in shares if flow.includes(share.flow)), "")


def _heading(requirement: str) -> str:
    """Returns the heading of the column of a requirement other than the usual ones."""
    if requirement == COMPLETION:
        return "completions\n1/s"
    return f"PM\n{requirement}" if "/" in requirement else requirement


def shares_table(comparison: Comparison) -> Table:
    """Returns a table of the goodput of each competing flow, with Jain's index if several compete."""
    has_index = comparison.has_fairness
    names = labels(comparison.ccas)
    cells = share_cells(comparison, has_index=has_index)
    return Table(
        columns=(Column("CCA"), *share_columns(has_index=has_index)),
        rows=tuple((names[cca], *cca_cells) for cca, cca_cells in cells.items()),
        title=shares_title([comparison], has_index=has_index),
    )


def shares_title(comparisons: Iterable[Comparison], *, has_index: bool) -> str:
    """Returns the title of a table of `share_columns`, with the flows that it leaves out."""
    every = [*comparisons]
    names = list(dict.fromkeys(name for each in every for name in each.intermittent_flows))
    pausing = _names_text(
        name for each in every for name in sorted(each.pausing_flows) if name not in names
    )
    index = f", and Jain's index (1 is fair{pausing and f', without {pausing}'})" if has_index else ""
    framed = {flow.flow for each in every for flow in each.applications if LATE_FRAMES in flow.names}
    words = (
        (False, "sends now and then", "send now and then"),
        (True, "sends at a rate of its own", "send at rates of their own"),
    )
    left_out = [
        f"; {_names_text(group)} left out, which {several if group[1:] else one}"
        for is_framed, one, several in words
        if (group := [name for name in names if (name in framed) == is_framed])
    ]
    return f"Shares of the path while all flows run{index}{''.join(left_out)}"


def _names_text(names: Iterable[str]) -> str:
    return join_names([*dict.fromkeys(names)], _MAX_FLOW_ROWS)


def share_columns(*, has_index: bool) -> tuple[Column, ...]:
    """Returns the columns of the goodputs of flows, their sum, Jain's index, and the utilisation."""
    return (
        Column("goodput of each flow, Mbit/s"),
        *number_columns("sum", *(["Jain's index"] if has_index else []), "utilisation\nof the link %"),
    )


def share_cells(comparison: Comparison, *, has_index: bool) -> dict[str, tuple[str, ...]]:
    """Returns the cells of `share_columns` for each congestion control or mix."""
    shares = comparison.competing_shares()
    # Flows that the user named are distinct by their names, also where their CCAs are alike.
    is_named = any(not _DEFAULT_NAME.fullmatch(share.flow) for share in shares)
    all_compete = len(shares) == len(comparison.mean_shares())
    names = labels(dict.fromkeys(share.cca for share in shares))
    sections = FlowUnderTest.each(comparison.results.about)

    def place(share: MeanShare) -> int:
        # Flows of a CCA mix beyond those of the scenario come last.
        places = (index for index, flow in enumerate(sections) if flow.includes(share.flow))
        return next(places, len(sections))

    cells, used = {}, utilisation(comparison)
    for cca in comparison.ccas:
        flows = sorted((share for share in shares if share.mix == cca), key=place)
        goodputs = _many_flows(flows, names) or ", ".join(
            (
                f"{names[flow.cca]}{_connections(flow, ' (', ')')} "
                if all_compete and not is_named
                else f"{flow.flow} ({names[flow.cca]}{_connections(flow, ', ')}) "
            )
            + estimate_text(within(flow.goodput, *range_of(SHARE)), 2)
            for flow in flows
        )
        total = f"{sum(flow.goodput.mean for flow in flows):.2f}"
        index = [metric_text(JAIN, comparison.jains_index(cca), 3)] if has_index else []
        cells[cca] = (goodputs, total, *index, words_of(UTILISATION).mean_number(used[cca]))
    return cells


def limits_table(results: Results) -> Table | None:
    """Returns the share of the time in which each limit held a flow back, %, a row per CCA and flow.

    Limits that are zero for all flows have no column. None if results have no limits.
    """
    flows = results.flow_limits
    names = labels(list(dict.fromkeys(flow.cca for flow in flows)))
    shares = ([*(flow.shares[limit] for limit in LIMITS), flow.network] for flow in flows)
    columns = zip(*map(whole_percents, shares), strict=True)
    cells = dict(zip((*LIMITS, "network"), columns, strict=True)) if flows else {}
    limits = [limit for limit, texts in cells.items() if not {*texts} <= {"0", "-"}]
    if not limits:
        return None
    headings = dict(_LIMIT_HEADINGS)
    if has_captured_sender(results):
        headings["receive_window"] = _SENDER_HEADING
    has_several_flows = len({flow.flow for flow in flows}) > 1
    rows = tuple(
        (
            names[flow.cca],
            *([flow.flow] if has_several_flows else []),
            *(cells[limit][index] for limit in limits),
        )
        for index, flow in enumerate(flows)
    )
    return Table(
        columns=(
            Column("CCA", folds=True, no_wrap=True),
            *([Column("flow")] if has_several_flows else []),
            *number_columns(*(headings[limit] for limit in limits)),
        ),
        rows=rows,
        title=f"{LIMITS_TITLE}{_leg_text(results)}",
        # A block of rows for each CCA.
        group_ends=frozenset(
            {flow.cca: index for index, flow in enumerate(flows)}.values() if has_several_flows else ()
        ),
        cca_of_cell={name: cca for cca, name in names.items()},
    )


def _leg_text(results: Results) -> str:
    """Returns text on the leg that limits are measured on; empty without split connections."""
    legs = results.tables.get("legs")
    return "" if legs is None or not legs.num_rows else "; of split ones, of the leg of the server"


def limits_sections(results: Results) -> list[Section]:
    """Returns the section of a report on what limited the flows; none where results have no limits."""
    table = limits_table(results)
    return [] if table is None else [Section(table.title, replace(table, title=""))]


def decisions_table(results: Results) -> Table:
    """Returns a table of the decisions of selectors: time, flow, CCAs, cause and reason."""
    flows = {flow["flow"]: flow["name"] for flow in records(results.tables["flows"])}
    rows = []
    for decision in records(results.decisions):
        number, old, new = decision["flow"], decision["from_cca"], decision["to_cca"]
        rows.append(
            (
                f"{decision['t_ns'] * 1e-9:.2f}",
                f"{number} ({flows[number]})",
                "" if old == new else old,
                new,
                decision["cause"],
                decision["reason"],
            )
        )
    names = (Column(heading, no_wrap=True) for heading in ("flow", "from", "to", "cause"))
    columns = (*number_columns("s"), *names, Column("why", folds=True))
    return Table(columns, tuple(rows), "Decisions")


def _many_flows(flows: Sequence[MeanShare], names: Mapping[str, str]) -> str:
    """Returns the number of flows of each CCA and the range of their mean goodputs, Mbit/s.

    Empty if the flows are few enough to be listed.
    """
    if len(flows) <= _MAX_LISTED_FLOWS:
        return ""
    by_cca: dict[str, list[float]] = {}
    for flow in flows:
        by_cca.setdefault(flow.cca, []).append(flow.goodput.mean)
    return ", ".join(
        f"{len(goodputs)} flows of {names[cca]} {min(goodputs):.2f} to {max(goodputs):.2f}"
        for cca, goodputs in by_cca.items()
    )


def _connections(flow: MeanShare, before: str, after: str = "") -> str:
    """Returns the number of connections of a flow between two texts; empty for a single connection.

    Connections that ran all of the time have the range of their goodputs, Mbit/s.
    """
    if flow.connections == 1:
        return ""
    has_range = math.isfinite(flow.lowest_mbps)
    range_text = f" of {flow.lowest_mbps:.2f} to {flow.highest_mbps:.2f}" if has_range else ""
    return f"{before}{flow.connections} connections{range_text}{after}"


def subject_text(comparison: Comparison) -> str:
    """Returns a sentence on the flow of the means; empty for one flow, or with a row for each."""
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
    from celltcp.results.selectors import selector_uses

    names = labels(comparison.ccas)
    return [
        f"{names[use.lineup]}{f', {use.flow}' if '+' in use.lineup else ''}: {use}"
        for use in selector_uses(comparison.results)
    ]


def cells_of(
    comparison: Comparison | ScenarioSet, cca: str, metric_columns: Iterable[MetricColumn]
) -> list[str]:
    """Returns the cells of a congestion control in these columns."""
    return [
        metric_text(metric, comparison.values(cca, metric), digits)
        for metric, _, digits in metric_columns
    ]
