"""Tables of application metrics, one for each flow with an application."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from celltcp.comparison.applications.application_means import application_means
from celltcp.comparison.applications.applications import has_too_few, is_lower_bound, shown_metrics
from celltcp.comparison.applications.pooled_percentiles import by_cca_text, few_above, pooled_texts
from celltcp.comparison.applications.short_times import (
    ShownColumn,
    shown_columns,
    with_percentiles_of_runs,
)
from celltcp.comparison.metric_names import ranking_metric
from celltcp.comparison.metrics import APP_METRICS, COMPLETED_SHARE, estimate_of, words_of
from celltcp.comparison.retransmitted import MIN_RESENT, resent_texts, retransmitted_share
from celltcp.comparison.tables import CCA_COLUMN
from celltcp.comparison.tables_of_several import range_text, table_by_point
from celltcp.comparison.verdicts.by_metric import chosen_first
from celltcp.present.section import AT_LEAST, Column, Table, estimate_text, runs_text, value_text
from celltcp.results.statistics import Estimate, estimate
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import count_text, labels
from celltcp.scenarios.demand import offered_mbps
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.sets.scenario_set import ScenarioSet
    from celltcp.comparison.sweep.parameter_sweep import Sweep

#: Column of the data that were sent again.
_RESENT_COLUMN = Column("sent again", is_number=True, name="retransmissions", no_wrap=True)
#: Percentile of a maximum.
_MAXIMUM = 100
#: Name endings of minor metrics, the least important first.
_MINOR_ENDINGS = (
    "first_byte_s",
    "_max_s",
    "_max_ms",
    "_p50_s",
    "_p50_ms",
    "_p99_s",
    "_p99_ms",
    "_p999_s",
    "_p999_ms",
)


def metrics_table(comparison: Comparison, application: Application) -> Table:
    """Returns mean and 95 % interval of the metrics of an application, a row per CCA."""
    names = labels(comparison.ccas)
    spreads = _spreads([application])
    metrics = [*shown_metrics([application]), *spreads]
    columns = with_percentiles_of_runs(shown_columns(metrics, [application]), [application])
    if application.kinds:
        return _kinds_table(comparison, application, columns)
    columns = _telling(columns, [application])
    resent, cells = _resent([comparison], application.flow), _cells(application, columns)
    rows = tuple((names[cca], *of_cca, *resent[0].get(cca, [])) for cca, of_cca in cells.items())
    is_only = not comparison.subject and len(comparison.applications) == 1
    return Table(
        columns=(CCA_COLUMN, *_columns(columns), *([_RESENT_COLUMN] if any(resent) else [])),
        rows=rows,
        title=_title(
            "" if is_only else application.flow,
            runs_text(comparison.results.about["runs"]),
            [application],
            _workload_text([comparison], application.flow),
        ),
        cca_of_cell={names[cca]: cca for cca in comparison.ccas},
        droppable=(
            *_names_of_runs(columns),
            *spreads,
            *(name for name in metrics if APP_METRICS[name].is_count),
        ),
    )


def texts_of_all_runs(comparison: Comparison, application: Application) -> tuple[str, ...]:
    """Returns sentences with percentiles and maxima of all runs under each CCA: tables have means."""
    names, texts = labels(comparison.ccas), pooled_texts(comparison, application)
    for metric in shown_metrics([application]):
        values = application.values(metric)
        if APP_METRICS[metric].percentile != _MAXIMUM or all(len(each) < 2 for each in values.values()):
            continue
        largest = {
            cca: max(filter(math.isfinite, each), default=math.nan) for cca, each in values.items()
        }
        words, bounds = words_of(metric).suited(*largest.values()), application.bounds(metric)
        of_ccas = {
            names[cca]: f"{AT_LEAST if cca in bounds else ''}{words.own_text(value)}"
            for cca, value in largest.items()
        }
        texts.append(f"{words.name.capitalize()} of all runs: {by_cca_text(of_ccas)}.")
    return tuple(texts)


def _kinds_table(
    comparison: Comparison, application: Application, columns: Sequence[ShownColumn]
) -> Table:
    """Returns the metrics of an application with a row for each kind of its frames.

    A further row has all frames, unless those of one kind alone decide.
    """
    names = labels(comparison.ccas)
    kinds = dict(application.kinds)
    if application.metrics not in kinds.values():
        kinds["all"] = application.metrics
    cells = {
        label: _cells(application._replace(metrics=metrics), columns)
        for label, metrics in kinds.items()
    }
    rows = [(names[cca], label, *cells[label][cca]) for cca in application.metrics for label in kinds]
    return Table(
        columns=(CCA_COLUMN, Column("frames of", no_wrap=True), *_columns(columns)),
        rows=tuple(rows),
        title=_title(
            application.flow,
            runs_text(comparison.results.about["runs"]),
            [application],
            _workload_text([comparison], application.flow),
        ),
        group_ends=frozenset(range(len(kinds) - 1, len(rows), len(kinds))),
        cca_of_cell={names[cca]: cca for cca in comparison.ccas},
        droppable=tuple(_droppable([each.metric for each in columns])),
    )


def sweep_metrics_tables(sweep: Sweep, by: Sequence[str] = ()) -> dict[str, Table]:
    """Returns a table of metrics for each flow with an application, a row per point and CCA.

    `by` are chosen ranking metrics, whose columns no narrow terminal omits; their flows come first.
    """
    chosen = {ranking_metric(metric.partition(":")[0]) for metric in by}
    by_flow: dict[str, dict[tuple[str, ...], Application]] = {}
    for point, comparison in sweep.points.items():
        for application in comparison.applications:
            by_flow.setdefault(application.flow, {})[point] = application
    runs = range_text(sweep.points.values())
    tables = {}
    for flow, by_point in by_flow.items():
        applications = list(by_point.values())
        metrics = [*shown_metrics(applications), *_spreads(applications)]
        columns = with_percentiles_of_runs(shown_columns(metrics, applications), applications)
        columns = _telling(columns, applications)
        resent = dict(
            zip(by_point, _resent([sweep.points[point] for point in by_point], flow), strict=True)
        )
        cells = {
            point: {
                cca: [*of_cca, *resent[point].get(cca, [])]
                for cca, of_cca in _cells(application, columns).items()
            }
            for point, application in by_point.items()
        }
        workload_text = _workload_text(sweep.points.values(), flow)
        title = _title("" if len(by_flow) == 1 else flow, runs, applications, workload_text)
        ranked = {*chosen, sweep.ranking_metrics.get(flow)}
        droppable = (
            *_names_of_runs(columns),
            *(name for name in _droppable(metrics) if name not in ranked),
        )
        headings = [*_columns(columns), *([_RESENT_COLUMN] if any(resent.values()) else [])]
        tables[flow] = table_by_point(sweep.axes, headings, cells, title, droppable)
    about = next(iter(sweep.points.values())).results.about
    return {flow: tables[flow] for flow in chosen_first(tables, by, about)}


def set_application_tables(scenario_set: ScenarioSet) -> list[Table]:
    """Returns the means of application metrics over scenarios, a table for each flow.

    Of the first CCA they are in units, of others relative to the first, as in `set_table`.
    """
    tables = []
    names = labels(scenario_set.ccas)
    scenarios = count_text(len(scenario_set.comparisons), "scenario")
    by_flow = {
        flow: list(rows)
        for flow, rows in itertools.groupby(application_means(scenario_set), key=lambda row: row.flow)
    }
    for flow, rows in by_flow.items():
        base, *others = scenario_set.ccas
        metrics = [row.metric for row in rows]
        shown = shown_columns(metrics, ())
        cells = {
            base: [
                value_text(each.factor * estimate(row.means[base]).mean, each.digits)
                for row, each in zip(rows, shown, strict=True)
            ],
            **{cca: [row.differences[cca].text for row in rows] for cca in others},
        }
        of_flow = f" of {flow}" if len(by_flow) > 1 else ""
        relative = f"; others: relative to {names[base]}, with 95 % interval" if others else ""
        tables.append(
            Table(
                columns=(CCA_COLUMN, *_columns(shown)),
                rows=tuple((names[cca], *texts) for cca, texts in cells.items()),
                title=(
                    f"What the application{of_flow} got, mean over {scenarios}: {names[base]} in "
                    f"units{relative}"
                ),
                cca_of_cell={names[cca]: cca for cca in scenario_set.ccas},
                droppable=tuple(_droppable(metrics)),
            )
        )
    return tables


def _droppable(metrics: Sequence[str]) -> list[str]:
    """Returns the metrics that a narrow terminal omits, the least important first."""
    spreads = [name for name in metrics if APP_METRICS[name].is_spread]
    counts = [name for name in metrics if not APP_METRICS[name].sign]
    minor = [name for ending in _MINOR_ENDINGS for name in metrics if name.endswith(ending)]
    return list(dict.fromkeys([*spreads, *counts, *minor]))


def _names_of_runs(columns: Sequence[ShownColumn]) -> list[str]:
    """Returns the names of the percentiles of runs."""
    return [each.name for each in columns if each.percentile is not None]


def metrics_text(application: Application, comparison: Comparison) -> str:
    """Returns the metrics of an application in a single run in a line, and the rate of its frames."""
    (metrics,) = application.metrics.values()
    values = ((name, value) for name in shown_metrics([application]) for value in metrics[name])
    texts = (APP_METRICS[name].text(value) for name, value in values if not math.isnan(value))
    workload_text = _workload_text([comparison], application.flow)
    return f"{application.flow}: {', '.join(texts)}{workload_text}"


def _workload_text(comparisons: Iterable[Comparison], flow: str) -> str:
    """Returns what the flow asks of the path, to follow the title: think time, or rate of the frames.

    In a sweep, think times that differ have no text, and rates have their range. Frames are said to go
    over TCP.
    """
    workloads = [
        workload
        for comparison in comparisons
        for tested, workload in FlowUnderTest.each_with_workload(comparison.results.about)
        if tested.name == flow
    ]
    think_times = {
        str(think_time.get("value", ""))
        for workload in workloads
        if isinstance(think_time := workload.get("think"), Mapping)
    }
    if any(think_times) and think_times != {"0s"}:
        amount = f" of {think_times.pop()}" if len(think_times) == 1 else ""
        return f", with the server's think time{amount}"
    rates = sorted(
        rate
        for workload in workloads
        if "encoder" not in workload and (rate := offered_mbps(workload)) is not None
    )
    # Readers may take frames for a call over UDP, whose delays losses do not lengthen.
    if not rates:
        has_frames = any(workload.get("kind") == "frames" for workload in workloads)
        return ", of frames over TCP" if has_frames else ""
    lowest = "" if rates[0] == rates[-1] else f"{rate_text(rates[0])} to "
    return f", of frames of {lowest}{rate_text(rates[-1])} over TCP"


def _title(flow: str, runs: str, applications: Iterable[Application], workload_text: str) -> str:
    """Returns the title of a table; `flow` is empty for an only flow, `runs` their number in words."""
    of_flow = f" of {flow}" if flow else ""
    title = f"What the application{of_flow} got: mean and 95 % interval over {runs}{workload_text}"
    lacks_percentile = any(
        has_too_few(name, values)
        for application in applications
        for values in application.metrics.values()
        for name in shown_metrics([application])
    )
    if lacks_percentile:
        title += "; - for a percentile of too few values"
    shown = [
        (application, name) for application in applications for name in shown_metrics([application])
    ]
    of_several = {
        name
        for each, name in shown
        if any(len(values) > 1 for values in each.values(name).values())
        and (APP_METRICS[name].percentile == _MAXIMUM or name in few_above(each))
    }
    if of_several:
        names = [APP_METRICS[name].name.split()[-1] for name in APP_METRICS if name in of_several]
        title += f"; {', '.join(dict.fromkeys(names))}: mean of those of the runs"
    has_bounds = any(each.bounds(name) for each, name in shown)
    return f"{title}; {AT_LEAST}at least, as some were not complete at the end" if has_bounds else title


def _columns(columns: Sequence[ShownColumn]) -> list[Column]:
    return [Column(each.heading, is_number=True, name=each.name, no_wrap=True) for each in columns]


def _cells(application: Application, columns: Sequence[ShownColumn]) -> dict[str, list[str]]:
    """Returns mean and 95 % interval of metrics by CCA.

    It is `-` for a percentile of too few values, and for a deviation with units that were not complete.
    """

    def cell(each: ShownColumn, metrics: Mapping[str, Sequence[float]]) -> str:
        values = [] if has_too_few(each.metric, metrics) else each.values(metrics)
        is_bound = is_lower_bound(each.metric, metrics)
        mean = estimate_of(each.metric, values, each.factor, is_bound=is_bound)
        return estimate_text(Estimate(0.0, None) if each.vanishes(mean.mean) else mean, each.digits)

    return {
        cca: [cell(each, metrics) for each in columns] for cca, metrics in application.metrics.items()
    }


def _telling(columns: Sequence[ShownColumn], applications: Sequence[Application]) -> list[ShownColumn]:
    """Returns the columns, of several rows without those that are all complete or have no spread."""
    rows = [metrics for application in applications for metrics in application.metrics.values()]

    def is_telling(each: ShownColumn) -> bool:
        means = [estimate(each.values(metrics)).mean for metrics in rows]
        if each.metric == COMPLETED_SHARE:
            return not all(mean == each.factor for mean in means)
        return not all(map(each.vanishes, means))

    return [each for each in columns if len(rows) < 2 or is_telling(each)]


def _resent(comparisons: Sequence[Comparison], flow: str) -> list[dict[str, list[str]]]:
    """Returns cells on the data that a flow sent again by comparison and CCA; empty if few were."""
    pairs = [(each, FlowUnderTest.named(each.results.about, flow)) for each in comparisons]
    shares = [retransmitted_share(*pair, cca) for pair in pairs for cca in pair[0].ccas]
    if max(shares, default=0.0) < MIN_RESENT:
        return [{} for _ in pairs]
    return [{cca: [text] for cca, text in resent_texts(*pair).items()} for pair in pairs]


def _spreads(applications: Sequence[Application]) -> list[str]:
    """Returns the standard deviations over units of work that have a value."""
    return [
        name
        for name, metric in APP_METRICS.items()
        if metric.is_spread
        and any(
            not math.isnan(value)
            for application in applications
            for metrics in application.metrics.values()
            for value in metrics.get(name, [])
        )
    ]
