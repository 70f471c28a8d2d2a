"""Tables of several comparisons: the points of a sweep, or the scenarios of a set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.loss_laws import law_cells, law_columns
from celltcp.comparison.metrics import words_of
from celltcp.comparison.tables import (
    CCA_COLUMN,
    FLOW_COLUMN,
    MetricColumn,
    cells_by_flow,
    cells_with_shares,
    columns_for,
    droppable_columns,
    has_rows_of_flows,
    headings_of,
    share_cells,
    share_columns,
    shares_title,
)
from celltcp.present.section import Column, Table, runs_text, value_text
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import count_text, labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.sets.scenario_set import ScenarioSet
    from celltcp.comparison.sweep.parameter_sweep import Sweep


def sweep_table(sweep: Sweep, by: Sequence[str] = ()) -> Table:
    """Returns mean and 95 % interval of each metric, a row per point and CCA.

    Where flows compete, each has a row. `by` are chosen ranking metrics.
    """
    comparisons = list(sweep.points.values())
    metric_columns = columns_for(comparisons)
    title = _sweep_title(sweep)
    droppable = droppable_columns(comparisons, by)
    if not has_rows_of_flows(comparisons):
        cells = {
            point: {cca: cells_with_shares(comparison, cca, metric_columns) for cca in comparison.ccas}
            for point, comparison in sweep.points.items()
        }
        columns = headings_of(metric_columns)
        if (laws := {point: law_cells(each) for point, each in sweep.points.items()}) and any(
            laws.values()
        ):
            # Goodput is the first metric of flows with a law.
            columns = (*columns[:1], *law_columns(), *columns[1:])
            no_law = ("-",) * len(law_columns())
            for point, by_cca in cells.items():
                for cca, texts in by_cca.items():
                    texts[1:1] = laws[point].get(cca, no_law)
        return table_by_point(sweep.axes, columns, cells, title, droppable)
    rows: list[tuple[str, ...]] = []
    ends = set()
    for point, comparison in sweep.points.items():
        names = labels(comparison.ccas)
        for cca in comparison.ccas:
            by_flow = cells_by_flow(comparison, cca, metric_columns)
            rows += [(*point, names[cca], flow, *cells) for flow, cells in by_flow.items()]
        ends.add(len(rows) - 1)
    return Table(
        columns=(
            *(Column(axis, no_wrap=True) for axis in sweep.axes),
            CCA_COLUMN,
            FLOW_COLUMN,
            *headings_of(metric_columns),
        ),
        rows=tuple(rows),
        title=title,
        group_ends=frozenset(ends),
        cca_of_cell={name: cca for each in comparisons for cca, name in labels(each.ccas).items()},
        droppable=droppable,
    )


def sweep_shares_table(sweep: Sweep) -> Table | None:
    """Returns the goodput of each flow while all ran, a row per point and CCA; None without shares."""
    points = {point: each for point, each in sweep.points.items() if each.has_shares}
    if not points:
        return None
    has_index = all(comparison.has_fairness for comparison in points.values())
    cells = {
        point: share_cells(comparison, has_index=has_index) for point, comparison in points.items()
    }
    title = shares_title(points.values(), has_index=has_index)
    return table_by_point(sweep.axes, share_columns(has_index=has_index), cells, title)


def _sweep_title(sweep: Sweep) -> str:
    """Returns the title of a table of means: scenario, number of runs, whether it is unfinished."""
    about = next(iter(sweep.points.values())).results.about
    name = "" if "scenario" in sweep.axes else f"{about['name']}: "
    start = "mean" if name else "Mean"
    state = f" ({sweep.unfinished})" if sweep.unfinished else ""
    return f"{name}{start} and 95 % interval over {range_text(sweep.points.values())}{state}"


def range_text(comparisons: Iterable[Comparison]) -> str:
    """Returns the number of runs of comparisons in words, as a range if the numbers differ."""
    counts = [int(comparison.results.about["runs"]) for comparison in comparisons]
    low, high = min(counts), max(counts)
    return runs_text(high) if low == high else f"{low} to {runs_text(high)}"


def table_by_point(
    axes: Sequence[str],
    columns: Iterable[Column],
    cells: Mapping[tuple[str, ...], Mapping[str, Sequence[str]]],
    title: str,
    droppable: tuple[str, ...] = (),
) -> Table:
    """Returns a table with a row per point and CCA; `cells` are those of these rows in `columns`."""
    rows: list[tuple[str, ...]] = []
    ends = set()
    ccas: dict[str, str] = {}
    for point, by_cca in cells.items():
        names = labels(list(by_cca))
        ccas |= {names[cca]: cca for cca in by_cca}
        rows += [(*point, names[cca], *cca_cells) for cca, cca_cells in by_cca.items()]
        if len(by_cca) > 1:
            ends.add(len(rows) - 1)
    return Table(
        columns=(*(Column(axis, no_wrap=True) for axis in axes), CCA_COLUMN, *columns),
        rows=tuple(rows),
        title=title,
        group_ends=frozenset(ends),
        cca_of_cell=ccas,
        droppable=droppable,
    )


def set_table(scenario_set: ScenarioSet, by: Sequence[str] = ()) -> Table:
    """Returns means over scenarios: of the first CCA in units, of others relative to the first.

    Scenarios differ far more than CCAs do on each of them. So relative means are geometric means of
    ratios, which do not depend on which CCA is the first. Metrics without ratios have differences in
    units. `by` are chosen ranking metrics.
    """
    names = labels(scenario_set.ccas)
    scenarios = count_text(len(scenario_set.comparisons), "scenario")
    metric_columns = columns_for(scenario_set.comparisons.values())
    if (baseline := scenario_set.baseline) is None:
        title = f"No mean over {scenarios}: they have no CCA in common"
        return Table((CCA_COLUMN, *headings_of(metric_columns)), (), title)
    first = [
        value_text(estimate(scenario_set.values(baseline, metric)).mean, digits)
        for metric, _, digits in metric_columns
    ]
    rows = [(names[baseline], *first)]
    for cca in scenario_set.ccas[1:]:
        texts = (scenario_set.difference(cca, baseline, metric).text for metric, _, _ in metric_columns)
        rows.append((names[cca], *texts))
    base = names[baseline]
    others = f"; others: relative to {base}, with 95 % interval" if len(rows) > 1 else ""
    return Table(
        columns=(CCA_COLUMN, *headings_of(metric_columns)),
        rows=tuple(rows),
        title=(
            f"Mean over {scenarios}{_fewer_text(scenario_set, metric_columns)}: {base} in units{others}"
        ),
        cca_of_cell={names[cca]: cca for cca in scenario_set.ccas},
        droppable=droppable_columns(scenario_set.comparisons.values(), by),
    )


def _fewer_text(scenario_set: ScenarioSet, metric_columns: Iterable[MetricColumn]) -> str:
    """Returns the metrics that only some scenarios have, with the number; empty if there are none."""
    by_count: dict[int, list[str]] = {}
    base, *others = scenario_set.ccas
    for metric, _, _ in metric_columns:
        differences = [scenario_set.difference(cca, base, metric).values for cca in others]
        counts = [
            sum(map(math.isfinite, values))
            for values in (scenario_set.values(base, metric), *differences)
        ]
        if min(counts) < len(scenario_set.comparisons):
            by_count.setdefault(min(counts), []).append(words_of(metric).name)
    texts = [f"{', '.join(names)} over {count}" for count, names in by_count.items()]
    return f" ({'; '.join(texts)})" if texts else ""
