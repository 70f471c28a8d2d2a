"""Summary of comparisons for papers: means, paired differences, verdicts, rounded by intervals."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from celltcp._core import CelltcpError
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.metrics import APP_METRICS, JAIN, RANKED, SHARE, WINDOWS, words_of
from celltcp.comparison.tables import COLUMNS, columns_for, has_rows_of_flows
from celltcp.comparison.tables_of_several import range_text
from celltcp.comparison.verdict_tables import rank_word
from celltcp.present.rounding import column_texts, rounded, rounded_text
from celltcp.present.section import Column, Table, number_columns
from celltcp.results.statistics import Estimate, Verdict, estimate, paired_gap
from celltcp.scenarios.cca_mix import has_several_flows, labels, single_flow_mixes

#: Network metrics, without auxiliary ones.
_NETWORK = {
    metric: (" ".join(heading.split()).replace("- ", ""), digits)
    for metric, heading, digits in COLUMNS
    if metric != "induced_delay_ms"
}

#: Metrics of the network whose differences a table has.
_DECIDING = ("goodput_mbps", "owd_p95_ms", "rtt_mean_ms", "rtt_p95_ms")

#: Metrics of competing flows.
_RIVAL_METRICS = ("goodput_mbps", "rtt_mean_ms")

#: Names of metrics for users.
_SHORT_NAMES = {JAIN: "jain", SHARE: "share"}

#: Statistics of the runs for tables on request.
STATISTICS = ("median", "sd")

#: Points of a sweep or set as rows of the table, or as columns.
Orientation = Literal["rows", "columns"]


@dataclass(frozen=True)
class MetricSummary:
    """Metric of a congestion control at a point, and its paired difference to the best one."""

    point: tuple[str, ...]
    cca: str
    runs: int
    #: Metric, followed by a colon and its flow if it is one of an application.
    metric: str
    heading: str
    digits: int
    value: Estimate
    #: Congestion control with the best mean; None if they are not ranked by this metric.
    leader: str | None
    #: Value minus that of the leader, in the unit of the metric; None for the leader itself.
    difference: Estimate | None
    #: Whether the table of differences has it.
    decides: bool
    #: `best`, `leads` (undecided), `tied`, `undecided`, `worse`, or empty where nothing is ranked.
    verdict: str
    #: Median and standard deviation of the runs; NaN without them.
    median: float
    sd: float

    @property
    def is_on_request(self) -> bool:
        """Whether tables have it on request only; the CSV always has it."""
        return self.is_spread or self.metric.partition(":")[0] in WINDOWS

    @property
    def is_spread(self) -> bool:
        """Whether it is a standard deviation within runs."""
        summary = APP_METRICS.get(self.metric.partition(":")[0])
        return summary is not None and summary.is_spread


@dataclass(frozen=True)
class Summary:
    """Comparisons by their coordinates, with the texts of their tables."""

    #: Columns of the CSV after those of the coordinates.
    COLUMNS: ClassVar = (
        *("cca", "runs", "metric", "mean", "ci95", "difference", "difference_ci95"),
        *("compared_with", "verdict", "median", "sd"),
    )

    axes: tuple[str, ...]
    points: Mapping[tuple[str, ...], Comparison]
    title: str
    #: Line on unfinished results; empty if they are finished.
    unfinished: str = ""
    #: Metrics to choose, each METRIC or METRIC:FLOW, where `rtt` stands for all that begin so; all
    #: unless given.
    chosen: Sequence[str] = ()
    #: Statistics of the runs that tables have in addition to means: some of `STATISTICS`.
    statistics: Sequence[str] = ()

    @classmethod
    def of_columns(cls, names: Sequence[str], summary: Summary) -> Summary:
        """Returns a summary with chosen columns: metrics, and statistics of the runs."""
        return replace(
            summary,
            chosen=[name for name in names if name not in STATISTICS],
            statistics=[name for name in names if name in STATISTICS],
        )

    def summaries(self) -> list[MetricSummary]:
        """Returns the metrics, point by point and CCA by CCA.

        Raises:
            CelltcpError: if there is none that was chosen.
        """
        every = [
            summary for point, result in self.points.items() for summary in _summaries(point, result)
        ]
        if not self.chosen:
            return every
        places = {metric_summary.metric: self._place(metric_summary) for metric_summary in every}
        for name in self.chosen:
            if not any(_is_chosen(name, metric_summary) for metric_summary in every):
                allowed = ", ".join(
                    dict.fromkeys([*(metric_summary.metric for metric_summary in every), *STATISTICS])
                )
                raise CelltcpError(f"columns: {name!r} is no metric here; allowed: {allowed}")
        shown = [
            metric_summary
            for metric_summary in every
            if places[metric_summary.metric] < len(self.chosen)
        ]
        rows = {
            (metric_summary.point, metric_summary.cca): index
            for index, metric_summary in enumerate(shown)
        }
        return sorted(shown, key=lambda each: (rows[each.point, each.cca], places[each.metric]))

    def _place(self, summary: MetricSummary) -> int:
        """Returns the index of a metric among the chosen ones; their number if it is not chosen."""
        names = enumerate(self.chosen)
        return next((place for place, name in names if _is_chosen(name, summary)), len(self.chosen))

    def to_csv(self) -> str:
        """Returns a row per point, CCA and metric."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        state = ["unfinished"] if self.unfinished else []
        writer.writerow([*self.axes, *self.COLUMNS, *state])
        for summary in self.summaries():
            gap = rounded(summary.difference, summary.digits) if summary.difference else ("", "")
            values = [*rounded(summary.value, summary.digits), *gap]
            compared = summary.leader if summary.difference else ""
            spread = [_number(summary.median, summary.digits), _number(summary.sd, summary.digits)]
            row = [
                *summary.point,
                summary.cca,
                summary.runs,
                summary.metric,
                *values,
                compared,
                summary.verdict,
            ]
            row += spread
            writer.writerow([*row, *([self.unfinished] if state else [])])
        return text.getvalue()

    def tables(self, layout: Orientation = "rows") -> list[Table]:
        """Returns the table of the means, and that of the differences and verdicts if there are some.

        Args:
            layout: whether the points are rows or columns of the means.
        """
        summaries = [
            summary for summary in self.summaries() if self.chosen or not summary.is_on_request
        ]
        state = f" ({self.unfinished})" if self.unfinished else ""
        means = self._rows(summaries) if layout == "rows" else self._columns(summaries)
        title = f"{self.title}: mean and 95 % interval over {range_text(self.points.values())}{state}"
        differences = self._differences(summaries)
        return [
            Table(means.columns, means.rows, title, means.ends),
            *([differences] if differences.rows else []),
        ]

    def _rows(self, summaries: Sequence[MetricSummary]) -> Table:
        """Returns a row per point and CCA, a column per metric."""
        cells_of = list(_cells(summaries, self.statistics))
        headings = list(dict.fromkeys(heading for _, heading, _ in cells_of))
        shown: dict[tuple[tuple[str, ...], str], dict[str, str]] = {}
        for each, heading, text in cells_of:
            shown.setdefault((each.point, each.cca), {})[heading] = text
        rows: list[tuple[str, ...]] = []
        ends = set()
        # Points with a row each are grouped by the coordinates before the last one.
        grouped = len(self.axes) - (len(shown) == len(self.points))
        for index, ((point, cca), cells) in enumerate(shown.items()):
            names = labels(self.points[point].ccas)
            if rows and rows[-1][: max(grouped, 0)] != point[: max(grouped, 0)]:
                ends.add(index - 1)
            rows.append((*point, names[cca], *(cells.get(each, "-") for each in headings)))
        columns = (*map(Column, (*self.axes, "CCA")), *number_columns(*headings))
        return Table(columns, tuple(rows), ends=frozenset(ends))

    def _columns(self, summaries: Sequence[MetricSummary]) -> Table:
        """Returns a row per metric and CCA, a column per point."""
        cells: dict[tuple[str, str], dict[tuple[str, ...], str]] = {}
        for each, heading, text in _cells(summaries, self.statistics):
            cells.setdefault((heading, each.cca), {})[each.point] = text
        names = labels(list(dict.fromkeys(cca for _, cca in cells)))
        headings = list(dict.fromkeys(heading for heading, _ in cells))
        ordered = [(heading, cca) for heading in headings for cca in names if (heading, cca) in cells]
        rows = tuple(
            (heading, names[cca], *(cells[heading, cca].get(point, "-") for point in self.points))
            for heading, cca in ordered
        )
        last = {heading: index for index, (heading, _) in enumerate(ordered)}
        points = number_columns(*(", ".join(point) or "mean" for point in self.points))
        return Table((Column("metric"), Column("CCA"), *points), rows, ends=frozenset(last.values()))

    def _differences(self, summaries: Sequence[MetricSummary]) -> Table:
        """Returns the paired difference of each CCA to the best one, by the metrics that decide."""
        rows: list[tuple[str, ...]] = []
        ends = set()
        for summary in summaries:
            if summary.difference is None or summary.leader is None or not summary.decides:
                continue
            names = labels(self.points[summary.point].ccas)
            gap = rounded_text(summary.difference, summary.digits)
            if rows and rows[-1][: len(summary.point)] != summary.point:
                ends.add(len(rows) - 1)
            who = (names[summary.cca], names[summary.leader])
            rows.append((*summary.point, summary.heading, *who, gap, summary.verdict))
        state = f" ({self.unfinished})" if self.unfinished else ""
        title = f"{self.title}: paired differences to the best mean{state}"
        words = map(Column, (*self.axes, "metric", "CCA", "compared with"))
        columns = (*words, *number_columns("difference"), Column("verdict"))
        return Table(columns, tuple(rows), title, frozenset(ends))


def _is_chosen(name: str, summary: MetricSummary) -> bool:
    """Returns whether a name is that of a metric or a prefix of it; the flows must be equal."""
    wanted, _, flow = name.partition(":")
    metric, _, of = summary.metric.partition(":")
    is_named = wanted in (metric, _SHORT_NAMES.get(metric))
    begins = metric.startswith(f"{wanted}_") and not summary.is_spread
    return (is_named or begins) and flow in ("", of)


def _texts(summaries: Sequence[MetricSummary]) -> Iterator[tuple[MetricSummary, str]]:
    """Yields metrics with their texts; those of a metric have the same number of decimals."""
    by_metric: dict[str, list[MetricSummary]] = {}
    for summary in summaries:
        by_metric.setdefault(summary.metric, []).append(summary)
    for mine in by_metric.values():
        texts = column_texts([metric_summary.value for metric_summary in mine], mine[0].digits)
        yield from zip(mine, texts, strict=True)


def _cells(
    summaries: Sequence[MetricSummary], statistics_of_runs: Sequence[str]
) -> Iterator[tuple[MetricSummary, str, str]]:
    """Yields metrics with headings and texts: those of the means, then those of statistics of the runs.

    Those of a metric follow each other.
    """
    texts = list(_texts(summaries))
    for metric in dict.fromkeys(summary.metric for summary in summaries):
        mine = [(each, text) for each, text in texts if each.metric == metric]
        yield from ((each, each.heading, text) for each, text in mine)
        for name in statistics_of_runs:
            for each, _ in mine:
                value = each.median if name == "median" else each.sd
                yield each, f"{each.heading}, {name} of runs", _number(value, each.digits) or "-"


def _summaries(point: tuple[str, ...], comparison: Comparison) -> list[MetricSummary]:
    """Returns the metrics of a comparison, CCA by CCA: applications first."""
    metrics: dict[str, tuple[str, int]] = {}
    several = len(comparison.applications) > 1
    values: dict[str, Mapping[str, Sequence[float]]] = {}
    for application in comparison.applications:
        for name in application.names:
            key = f"{name}:{application.flow}"
            heading = " ".join(APP_METRICS[name].heading.split())
            heading = f"{heading} ({application.flow})" if several else heading
            metrics[key] = (heading, APP_METRICS[name].digits)
            values[key] = {cca: of.get(name, []) for cca, of in application.metrics.items()}
    shown = [metric for metric, _, _ in columns_for([comparison]) if metric in _NETWORK]
    for name, described in ((metric, _NETWORK[metric]) for metric in shown):
        metrics[name] = described
        values[name] = {cca: comparison.values(cca, name) for cca in comparison.ccas}
    rivals = comparison.competing_flows if has_rows_of_flows([comparison]) else []
    for metric, described in list(metrics.items()) if rivals else []:
        if metric in _NETWORK:
            metrics[metric] = (f"{described[0]} ({comparison.tested.name})", described[1])
    for flow in rivals:
        for name in (SHARE, *(() if flow == comparison.tested else _RIVAL_METRICS)):
            words = words_of(name)
            key = f"{name}:{flow.name}"
            metrics[key] = (f"{words.with_unit(words.name)} ({flow.name})", words.digits)
            values[key] = {cca: comparison.values_of(flow, cca, name) for cca in comparison.ccas}
    for flow in rivals or [comparison.tested]:
        for name, words in ((name, words_of(name)) for name in WINDOWS):
            key, of = (f"{name}:{flow.name}", f" ({flow.name})") if rivals else (name, "")
            metrics[key] = (f"{words.with_unit(words.name)}{of}", words.digits)
            values[key] = {cca: comparison.values_of(flow, cca, name) for cca in comparison.ccas}
    if comparison.has_competition:
        words = words_of(JAIN)
        metrics[JAIN] = (words.name, words.digits)
        values[JAIN] = {cca: comparison.jains_index(cca) for cca in comparison.ccas}
    verdicts = {metric: _verdict(comparison, metric) for metric in metrics}
    return [
        _summary(point, cca, comparison, (metric, *described), values[metric], verdicts[metric])
        for cca in comparison.ccas
        for metric, described in metrics.items()
        if not all(map(math.isnan, values[metric].get(cca, ())))
    ]


def _summary(
    point: tuple[str, ...],
    cca: str,
    comparison: Comparison,
    described: tuple[str, str, int],
    values: Mapping[str, Sequence[float]],
    verdict: Verdict | None,
) -> MetricSummary:
    metric, heading, digits = described
    leader = verdict.leader if verdict is not None and not has_several_flows(cca) else None
    difference = None
    if leader not in (None, cca) and len(values[cca]) == len(values[str(leader)]):
        difference = paired_gap(values[cca], values[str(leader)])
    word = "" if leader is None or verdict is None else rank_word(cca, verdict)
    runs = int(comparison.results.about["runs"])
    value = estimate(values[cca])
    ranked = {
        f"{application.ranking.metric}:{application.flow}" for application in comparison.applications
    }
    decides = metric in ranked or metric in _DECIDING
    known = [each for each in values[cca] if not math.isnan(each)]
    # Times that never ended are longer than all others, and have no deviation.
    is_spread = len(known) > 1 and all(map(math.isfinite, known))
    return MetricSummary(
        *(point, cca, runs, metric, heading, digits, value, leader, difference, decides, word),
        median=statistics.median(known) if known else math.nan,
        sd=statistics.stdev(known) if is_spread else math.nan,
    )


def _number(value: float, digits: int) -> str:
    """Returns a number as text; empty where it is not known."""
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def _verdict(comparison: Comparison, metric: str) -> Verdict | None:
    """Returns the verdict by a metric; None if there is nothing to rank."""
    alone = single_flow_mixes(comparison.ccas)
    if len(alone) < 2 or metric.partition(":")[0] not in RANKED:
        return None
    of_requirement = {value: key for key, value in comparison.requirements.items()}
    if metric in of_requirement:
        return comparison.verdicts[of_requirement[metric]]
    return comparison.best_by(metric).verdict
