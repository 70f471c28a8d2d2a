"""Tables of applications: the metrics of each flow that has one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.applications import has_too_few
from celltcp.comparison.metric_names import ranking_metric
from celltcp.comparison.metrics import APP_METRICS
from celltcp.comparison.tables import CCA_COLUMN
from celltcp.comparison.tables_of_several import range_text, table_by_point
from celltcp.present.section import Column, Table, mean_text, runs_text
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.comparison.applications import Application
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.parameter_sweep import Sweep

#: Name endings of minor metrics, the least important first.
_MINOR_ENDINGS = ("first_byte_s", "_max_s", "_max_ms", "_p50_s", "_p50_ms", "_p99_s", "_p99_ms")


def metrics_table(comparison: Comparison, application: Application) -> Table:
    """Returns mean and 95 % interval of the metrics of an application, a row per CCA."""
    names = labels(comparison.ccas)
    metrics = [*_shown([application]), *_spreads([application])]
    rows = tuple((names[cca], *cells) for cca, cells in _cells(application, metrics).items())
    is_one = not comparison.subject and len(comparison.applications) == 1
    return Table(
        columns=(CCA_COLUMN, *_columns(metrics)),
        rows=rows,
        title=_title(
            "" if is_one else application.flow,
            runs_text(comparison.results.about["runs"]),
            [application],
            _think_times([comparison], application.flow),
        ),
        ccas={names[cca]: cca for cca in comparison.ccas},
        droppable=(
            *_spreads([application]),
            *(name for name in metrics if APP_METRICS[name].is_count),
        ),
    )


def sweep_metrics_tables(sweep: Sweep, by: Sequence[str] = ()) -> dict[str, Table]:
    """Returns a table of metrics for each flow with an application, a row per point and CCA.

    Args:
        sweep: the sweep.
        by: chosen metrics that values rank by, which no narrow terminal leaves out.
    """
    requested = {ranking_metric(each.partition(":")[0]) for each in by}
    by_flow: dict[str, dict[tuple[str, ...], Application]] = {}
    for point, comparison in sweep.points.items():
        for each in comparison.applications:
            by_flow.setdefault(each.flow, {})[point] = each
    runs = range_text(sweep.points.values())
    tables = {}
    for flow, by_point in by_flow.items():
        metrics = [*_shown(list(by_point.values())), *_spreads(list(by_point.values()))]
        cells = {point: _cells(application, metrics) for point, application in by_point.items()}
        think = _think_times(sweep.points.values(), flow)
        title = _title("" if len(by_flow) == 1 else flow, runs, by_point.values(), think)
        deciding = {*requested, sweep.ranking_metrics.get(flow)}
        droppable = tuple(name for name in _minor(metrics) if name not in deciding)
        tables[flow] = table_by_point(sweep.axes, _columns(metrics), cells, title, droppable)
    return tables


def _minor(metrics: Sequence[str]) -> list[str]:
    """Returns the metrics that a narrow terminal omits, the least important first."""
    spreads = [name for name in metrics if APP_METRICS[name].is_spread]
    counts = [name for name in metrics if not APP_METRICS[name].sign]
    least = [name for end in _MINOR_ENDINGS for name in metrics if name.endswith(end)]
    return list(dict.fromkeys([*spreads, *counts, *least]))


def metrics_text(application: Application) -> str:
    """Returns the metrics of an application in a single run, in a line."""
    (metrics,) = application.metrics.values()
    values = ((name, value) for name in _shown([application]) for value in metrics[name])
    texts = (APP_METRICS[name].text(value) for name, value in values if not math.isnan(value))
    return f"{application.flow}: {', '.join(texts)}"


def _think_times(comparisons: Iterable[Comparison], flow: str) -> list[str]:
    """Returns the constant times before a server answers a flow, in the words of its scenarios."""
    times = []
    for about in (comparison.results.about for comparison in comparisons):
        for tested, workload in FlowUnderTest.each_with_workload(about):
            think = workload.get("think")
            if tested.name == flow and isinstance(think, Mapping):
                times.append(str(think.get("value", "")))
    return list(dict.fromkeys(times))


def _title(flow: str, runs: str, applications: Iterable[Application], think: Sequence[str] = ()) -> str:
    of_flow = f" by {flow}" if flow else ""
    title = f"What the application got{of_flow}: mean and 95 % interval over {runs}"
    if any(think) and think != ["0s"]:
        amount = f" of {think[0]}" if len(think) == 1 else ""
        title += f", with the server's think time{amount}"
    lacks = any(
        has_too_few(name, values)
        for application in applications
        for values in application.metrics.values()
        for name in _shown([application])
    )
    return f"{title}; - for a percentile of too few values" if lacks else title


def _columns(metrics: Sequence[str]) -> list[Column]:
    return [
        Column(APP_METRICS[name].heading, is_number=True, name=name, no_wrap=True) for name in metrics
    ]


def _cells(application: Application, metrics: Sequence[str]) -> dict[str, list[str]]:
    """Returns mean and 95 % interval of metrics by CCA; `-` for a percentile of too few values."""
    return {
        cca: [
            mean_text(
                [] if has_too_few(name, values) else values.get(name, []), APP_METRICS[name].digits
            )
            for name in metrics
        ]
        for cca, values in application.metrics.items()
    }


def _shown(applications: Sequence[Application]) -> list[str]:
    """Returns the metrics of applications for tables, without those that repeat another."""
    known = {name for application in applications for name in application.names}
    if all(_has_single_transfers(application) for application in applications):
        known -= {"completion_max_s", "transfers"}
    return [
        name for name, app_metric in APP_METRICS.items() if name in known and not app_metric.is_spread
    ]


def _spreads(applications: Sequence[Application]) -> list[str]:
    """Returns the standard deviations of units of work, where runs have several."""
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


def _has_single_transfers(application: Application) -> bool:
    """Returns whether the longest transfer of each run is the only one."""
    return all(
        np.array_equal(values["completion_max_s"], values["completion_s"], equal_nan=True)
        for values in application.metrics.values()
        if "completion_s" in values
    )
