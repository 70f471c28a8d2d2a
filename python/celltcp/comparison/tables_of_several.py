"""Tables of several comparisons: along the values of a sweep, and over the scenarios of a set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.metrics import words_of
from celltcp.comparison.tables import (
    CCA_COLUMN,
    FLOW_COLUMN,
    cells_by_flow,
    cells_of,
    columns_for,
    droppable_columns,
    has_rows_of_flows,
    headings_of,
    share_cells,
    share_columns,
    shares_title,
)
from celltcp.present.section import INFINITE, Column, Table, mean_text, percent_text, runs_text
from celltcp.results.statistics import estimate, mean_ratio
from celltcp.scenarios.cca_mix import count_text, labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.parameter_sweep import Sweep
    from celltcp.comparison.scenario_set import ScenarioSet

#: Relative end of an interval above which it is not informative.
_MAX_SHARE = 100.0
#: Metric without relative differences, as its mean under the first CCA may be near 0.
_NO_SHARE = "retransmissions"


def sweep_table(sweep: Sweep, by: Sequence[str] = ()) -> Table:
    """Returns mean and 95 % interval of each metric, a row per point and CCA.

    Where flows compete, each has a row.

    Args:
        sweep: the sweep.
        by: chosen metrics that values and congestion controls rank by.
    """
    comparisons = list(sweep.points.values())
    metric_columns = columns_for(comparisons)
    title = sweep_title(sweep)
    droppable = droppable_columns(comparisons, by)
    if not has_rows_of_flows(comparisons):
        cells = {
            point: {cca: cells_of(comparison, cca, metric_columns) for cca in comparison.ccas}
            for point, comparison in sweep.points.items()
        }
        return table_by_point(sweep.axes, headings_of(metric_columns), cells, title, droppable)
    rows: list[tuple[str, ...]] = []
    ends = set()
    for point, comparison in sweep.points.items():
        names = labels(comparison.ccas)
        for cca in comparison.ccas:
            of_cca = cells_by_flow(comparison, cca, metric_columns)
            rows += [(*point, names[cca], flow, *of_flow) for flow, of_flow in of_cca.items()]
        ends.add(len(rows) - 1)
    return Table(
        columns=(*_axis_columns(sweep.axes), CCA_COLUMN, FLOW_COLUMN, *headings_of(metric_columns)),
        rows=tuple(rows),
        title=title,
        ends=frozenset(ends),
        ccas={name: cca for each in comparisons for cca, name in labels(each.ccas).items()},
        droppable=droppable,
    )


def sweep_shares_table(sweep: Sweep) -> Table | None:
    """Returns the goodput of each flow while all ran, a row per point and CCA; None without rivals."""
    shared = {point: each for point, each in sweep.points.items() if each.has_shares}
    if not shared:
        return None
    has_index = all(comparison.has_competition for comparison in shared.values())
    cells = {
        point: share_cells(comparison, has_index=has_index) for point, comparison in shared.items()
    }
    title = shares_title(has_index=has_index)
    return table_by_point(sweep.axes, share_columns(has_index=has_index), cells, title)


def sweep_title(sweep: Sweep) -> str:
    """Returns the title of a table of means: scenario, number of runs, whether it is unfinished."""
    about = next(iter(sweep.points.values())).results.about
    name = "" if "scenario" in sweep.axes else f"{about['name']}: "
    start = "mean" if name else "Mean"
    state = f" ({sweep.unfinished})" if sweep.unfinished else ""
    return f"{name}{start} and 95 % interval over {range_text(sweep.points.values())}{state}"


def range_text(comparisons: Iterable[Comparison]) -> str:
    """Returns the number of runs of comparisons in words, or the fewest and the most of them."""
    counts = [int(comparison.results.about["runs"]) for comparison in comparisons]
    fewest, most = min(counts), max(counts)
    return runs_text(most) if fewest == most else f"{fewest} to {runs_text(most)}"


def table_by_point(
    axes: Sequence[str],
    columns: Iterable[Column],
    cells: Mapping[tuple[str, ...], Mapping[str, Sequence[str]]],
    title: str,
    droppable: tuple[str, ...] = (),
) -> Table:
    """Returns a table with a row per point and CCA; `cells` are those of both."""
    rows: list[tuple[str, ...]] = []
    ends = set()
    swatches: dict[str, str] = {}
    for point, by_cca in cells.items():
        names = labels(list(by_cca))
        swatches |= {names[cca]: cca for cca in by_cca}
        rows += [(*point, names[cca], *of_cca) for cca, of_cca in by_cca.items()]
        if len(by_cca) > 1:
            ends.add(len(rows) - 1)
    return Table(
        columns=(*_axis_columns(axes), CCA_COLUMN, *columns),
        rows=tuple(rows),
        title=title,
        ends=frozenset(ends),
        ccas=swatches,
        droppable=droppable,
    )


def _axis_columns(axes: Iterable[str]) -> list[Column]:
    """Returns the columns of the coordinates."""
    return [Column(axis, no_wrap=True) for axis in axes]


def set_table(scenario_set: ScenarioSet, by: Sequence[str] = ()) -> Table:
    """Returns the mean over scenarios: of the first CCA in units, of others relative to it.

    Scenarios differ far more than CCAs do on each of them, so that the mean is that of the ratios, the
    geometric one, which does not depend on which CCA is the first.

    Args:
        scenario_set: the comparisons.
        by: chosen ranking metrics.
    """
    names = labels(scenario_set.ccas)
    scenarios = count_text(len(scenario_set.comparisons), "scenario")
    metric_columns = columns_for(scenario_set.comparisons.values())
    if (baseline := scenario_set.baseline) is None:
        title = f"No mean over {scenarios}: they have no CCA in common"
        return Table((CCA_COLUMN, *headings_of(metric_columns)), (), title)
    first = [
        mean_text([estimate(scenario_set.values(baseline, metric)).mean], digits)
        for metric, _, digits in metric_columns
    ]
    rows = [(names[baseline], *first)]
    for cca in scenario_set.ccas[1:]:
        texts = (
            "-" if metric == _NO_SHARE else _relative_text(scenario_set.relative(cca, metric))
            for metric, _, _ in metric_columns
        )
        rows.append((names[cca], *texts))
    base = names[baseline]
    others = f"; others: relative to {base}, with 95 % interval" if len(rows) > 1 else ""
    return Table(
        columns=(CCA_COLUMN, *headings_of(metric_columns)),
        rows=tuple(rows),
        title=(
            f"Mean over {scenarios}{_fewer_text(scenario_set, metric_columns)}: {base} in units{others}"
        ),
        ccas={names[cca]: cca for cca in scenario_set.ccas},
        droppable=droppable_columns(scenario_set.comparisons.values(), by),
    )


def _fewer_text(scenario_set: ScenarioSet, metric_columns: Iterable[tuple[str, str, int]]) -> str:
    """Returns the means over fewer scenarios, with their number; empty if there are none."""
    by_count: dict[int, list[str]] = {}
    for metric, _, _ in metric_columns:
        count = _count(scenario_set, metric)
        if count < len(scenario_set.comparisons):
            by_count.setdefault(count, []).append(words_of(metric).name)
    texts = [f"{', '.join(names)} over {count}" for count, names in by_count.items()]
    return f" ({'; '.join(texts)})" if texts else ""


def _count(scenario_set: ScenarioSet, metric: str) -> int:
    """Returns the number of scenarios of a metric's means."""
    base, *others = scenario_set.ccas
    shares = [] if metric == _NO_SHARE else [scenario_set.relative(cca, metric) for cca in others]
    every = (scenario_set.values(base, metric), *shares)
    return min(sum(math.isfinite(value) for value in values) for values in every)


def _relative_text(shares: Sequence[float]) -> str:
    """Returns the mean of shares in percent and the ends of its interval."""
    mean, low, high = mean_ratio(shares)
    text = percent_text(100 * mean, math.nan)
    if low is None or high is None or text == "-":
        return text if text == "-" else f"{text} %"
    ends = " to ".join(
        f"{100 * end + 0.0:+.0f}" if 100 * end < 1e4 else INFINITE for end in (low, high)
    )
    return f"{text} ({ends}) %"
