"""Summary of comparisons: means, paired differences and verdicts, rounded by their intervals."""

from __future__ import annotations

import csv
import io
import itertools
import math
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

from celltcp._core import CelltcpError
from celltcp.comparison.applications.applications import has_too_few
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.loss_laws import BEYOND_LAW, beyond_law_text, law_goodputs, law_sources
from celltcp.comparison.metrics import (
    APP_METRICS,
    GOODPUT,
    JAIN,
    ONE_WAY_DELAY,
    PERCENT,
    RANKED,
    SHARE,
    USED_CAPACITY,
    UTILISATION,
    WINDOWS,
    estimate_of,
    is_percentage,
    metric_gap,
    words_of,
)
from celltcp.comparison.sweep.parameter_sweep import SCENARIO
from celltcp.comparison.tables import COLUMNS, columns_for, has_rows_of_flows
from celltcp.comparison.tables_of_several import range_text
from celltcp.comparison.utilisation import utilisation
from celltcp.comparison.verdicts.verdict_tables import rank_word
from celltcp.present.field_words import field_words
from celltcp.present.rounding import rounded, rounded_text
from celltcp.present.section import Column, Table, number_columns
from celltcp.results.statistics import Estimate, Verdict
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import labels


class _Heading(NamedTuple):
    """Heading and digits of a metric in tables."""

    text: str
    digits: int


#: Network metrics but the induced delay.
_NETWORK = {
    metric: _Heading(" ".join(heading.split()).replace("- ", ""), digits)
    for metric, heading, digits in COLUMNS
    if metric != "induced_delay_ms"
}

#: Network metrics in the table of differences.
_DIFFERENCE_METRICS = ("goodput_mbps", "owd_p95_ms", "rtt_mean_ms", "rtt_p95_ms")

#: Metrics of competing flows other than the one under test.
_RIVAL_METRICS = ("goodput_mbps", "rtt_mean_ms")

#: Names of metrics in options.
_OPTION_NAMES = {JAIN: "jain", SHARE: "share"}
#: Metrics of all flows on request, where tables do not have them anyway.
_MINOR_METRICS = (GOODPUT, USED_CAPACITY, ONE_WAY_DELAY)

#: Goodput of the flow under test by the law of its congestion control at the loss rate of the path, and
#: that of the runs as its multiple.
_LAW, _LAW_RATIO = "law_mbps", "law_ratio"
#: What metrics need that results may lack, by the names that `--columns` has for them.
_NEEDS_OF_METRICS = {
    "law": ": laws of steady states are for endless bulk flows with random losses on their path",
    "utilisation": ": a single flow has capacity_share",
}
#: Metrics of each competing flow that tables have on request.
_FLOW_METRICS = (*WINDOWS, "rtt_max_ms", "rtt_min_ms")

#: Significant digits of the intervals in the CSV, which programs calculate with.
_CSV_DIGITS = 2
#: Statistics over the runs that tables have on request.
STATISTICS = ("median", "sd")

#: Whether the points of a sweep or set are rows or columns of the table of means.
Orientation = Literal["rows", "columns"]


@dataclass(frozen=True)
class MetricSummary:
    """Metric of a congestion control at a point, and its paired difference to the leader."""

    point: tuple[str, ...]
    cca: str
    runs: int
    #: METRIC, or METRIC:FLOW for a metric of an application or competing flow.
    metric: str
    heading: str
    digits: int
    value: Estimate
    #: Congestion control with the best mean; None without a ranking by this metric.
    leader: str | None
    #: Value minus that of the leader, in the unit of the metric; None for the leader itself.
    difference: Estimate | None
    #: Whether the table of differences has this metric.
    has_difference_row: bool
    #: `best`, `leads` (if undecided), `tied`, `undecided`, `worse`; empty without a ranking.
    verdict: str
    #: Median and standard deviation over the runs; NaN without them.
    median: float
    sd: float
    #: Whether the metric is one of `_MINOR_METRICS`, such as a one-way delay.
    is_minor: bool = False
    #: Sign after the value in tables, which a footnote explains.
    mark: str = ""

    @property
    def is_on_request(self) -> bool:
        """Whether tables have the metric on request only; the CSV always has it."""
        return self.is_minor or self.is_spread or self.metric.partition(":")[0] in _FLOW_METRICS

    @property
    def is_percentage(self) -> bool:
        """Whether tables have the metric in per cent; the CSV has shares."""
        return is_percentage(self.metric.partition(":")[0])

    @property
    def shown_heading(self) -> str:
        """Heading in tables, with per cent as the unit of a share."""
        return f"{self.heading} %" if self.is_percentage else self.heading

    @property
    def shown_digits(self) -> int:
        """Digits in tables."""
        return self.digits - 2 if self.is_percentage else self.digits

    def in_tables(self, value: Estimate) -> Estimate:
        """Returns a value of the metric in the unit of tables."""
        return value.scaled(PERCENT) if self.is_percentage else value

    @property
    def is_spread(self) -> bool:
        """Whether the metric is a standard deviation within runs."""
        metric = APP_METRICS.get(self.metric.partition(":")[0])
        return metric is not None and metric.is_spread


@dataclass(frozen=True)
class Summary:
    """Comparisons by their coordinates, as CSV and as tables."""

    #: Columns of the CSV after those of the coordinates.
    COLUMNS: ClassVar = (
        *("cca", "runs", "metric", "mean", "ci95", "difference", "difference_ci95"),
        *("compared_with", "verdict", "median", "sd", "bound"),
    )

    axes: tuple[str, ...]
    points: Mapping[tuple[str, ...], Comparison]
    title: str
    #: Line on unfinished results; empty if they are finished.
    unfinished: str = ""
    #: Warnings on the results, which are footnotes of the table of means.
    warnings: Sequence[str] = ()
    #: Selected metrics, each METRIC or METRIC:FLOW, where `rtt` stands for all metrics `rtt_*`; empty
    #: for all.
    chosen: Sequence[str] = ()
    #: Those of `STATISTICS` that tables have in addition to means.
    statistics: Sequence[str] = ()

    @classmethod
    def of_columns(cls, names: Sequence[str], summary: Summary) -> Summary:
        """Returns a summary with some columns only: metrics and `STATISTICS`."""
        return replace(
            summary,
            chosen=[name for name in names if name not in STATISTICS],
            statistics=[name for name in names if name in STATISTICS],
        )

    def summaries(self) -> list[MetricSummary]:
        """Returns the metrics, point by point and CCA by CCA, in the order in which they were chosen.

        Raises:
            CelltcpError: if a chosen metric does not exist.
        """
        every = [
            summary
            for point, comparison in self.points.items()
            for summary in _summaries(point, comparison)
        ]
        if not self.chosen:
            return every
        for name in self.chosen:
            if not any(_is_chosen(name, each) for each in every):
                allowed = ", ".join(dict.fromkeys([*(each.metric for each in every), *STATISTICS]))
                reason = _NEEDS_OF_METRICS.get(name, "")
                raise CelltcpError(f"columns: {name!r} is no metric here{reason}; allowed: {allowed}")
        groups: dict[tuple[tuple[str, ...], str], list[MetricSummary]] = {}
        for each in every:
            groups.setdefault((each.point, each.cca), []).append(each)
        # A metric that several names select comes where the first of them is.
        return [
            each
            for group in groups.values()
            for index, name in enumerate(self.chosen)
            for each in group
            if _is_chosen(name, each)
            and not any(_is_chosen(earlier, each) for earlier in self.chosen[:index])
        ]

    def to_csv(self) -> str:
        """Returns a row per point, CCA and metric."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        state = ["unfinished"] if self.unfinished else []
        writer.writerow([*self.axes, *self.COLUMNS, *state])
        for summary in self.summaries():
            digits, gap = summary.digits, summary.difference
            writer.writerow(
                [
                    *(*summary.point, summary.cca, summary.runs, summary.metric),
                    *rounded(summary.value, digits, _CSV_DIGITS),
                    *(rounded(gap, digits, _CSV_DIGITS) if gap else ("", "")),
                    *(summary.leader if gap else "", summary.verdict),
                    *(_number(summary.median, digits), _number(summary.sd, digits)),
                    "at least" if summary.value.is_bound else "",
                    *([self.unfinished] if state else []),
                ]
            )
        return text.getvalue()

    def tables(self, layout: Orientation = "rows") -> list[Table]:
        """Returns the table of means, and one of differences and verdicts if there are any."""
        every = self.summaries()
        # Along loss rates or RTTs, the law is what goodput is compared with.
        laws = {each.value.mean for each in every if each.metric == _LAW}
        shown = (_LAW, _LAW_RATIO) if len(laws) > 1 else ()
        summaries = [
            each for each in every if self.chosen or not each.is_on_request or each.metric in shown
        ]
        state = f" ({self.unfinished})" if self.unfinished else ""
        if any(each.metric == _LAW for each in summaries):
            state += f"; by law: {law_sources(self.points.values())}"
        marked = [beyond_law_text()] if any(each.mark for each in summaries) else []
        table = self._points_as_rows if layout == "rows" else self._points_as_columns
        title = f"{self.title}: mean and 95 % interval over {range_text(self.points.values())}{state}"
        differences = self._differences(summaries)
        notes = (*marked, *map(_without_advice, self.warnings))
        means = replace(table(summaries), title=title, notes=notes)
        return [means, *([differences] if differences.rows else [])]

    def _points_as_rows(self, summaries: Sequence[MetricSummary]) -> Table:
        """Returns a row per point and CCA, a column per metric."""
        cells_of: dict[tuple[tuple[str, ...], str], dict[str, str]] = {}
        headings: dict[str, None] = {}
        for each, heading, text in _cells(summaries, self.statistics):
            cells_of.setdefault((each.point, each.cca), {})[heading] = text
            headings[heading] = None
        rows: list[tuple[str, ...]] = []
        ends = set()
        # Number of coordinates that the rows of a block share; with a row per point, all but the last.
        same = max(len(self.axes) - (len(cells_of) == len(self.points)), 0)
        for index, ((point, cca), cells) in enumerate(cells_of.items()):
            names = labels(self.points[point].ccas)
            if rows and rows[-1][:same] != point[:same]:
                ends.add(index - 1)
            rows.append((*point, names[cca], *(cells.get(each, "-") for each in headings)))
        columns = (*map(Column, (*self.axes, "CCA")), *number_columns(*headings))
        return Table(columns, tuple(rows), group_ends=frozenset(ends))

    def _points_as_columns(self, summaries: Sequence[MetricSummary]) -> Table:
        """Returns a row per metric, CCA and value of all axes but one, whose values are columns.

        That is the axis of scenarios, or else the one with fewest values.
        """
        counts = [len({point[index] for point in self.points}) for index in range(len(self.axes))]
        places = [place for place, axis in enumerate(self.axes) if axis == SCENARIO]
        across = min(places or range(len(counts)), key=counts.__getitem__, default=0)
        cells: dict[tuple[str, tuple[str, ...], str], dict[str, str]] = {}
        for each, heading, text in _cells(summaries, self.statistics):
            outer = (*each.point[:across], *each.point[across + 1 :])
            value = each.point[across] if each.point else "mean"
            cells.setdefault((heading, outer, each.cca), {})[value] = text
        headings, outers, ccas = ([*dict.fromkeys(of)] for of in zip(*cells, strict=True))
        names = labels(ccas)
        ordered = [key for key in itertools.product(headings, outers, ccas) if key in cells]
        values = dict.fromkeys(point[across] if point else "mean" for point in self.points)
        rows = tuple(
            (key[0], *key[1], names[key[2]], *(cells[key].get(each, "-") for each in values))
            for key in ordered
        )
        last = {heading: index for index, (heading, *_) in enumerate(ordered)}
        others = [axis for place, axis in enumerate(self.axes) if place != across]
        # With the values of another field in rows, those of this one need its name.
        axis = f"{field_words(self.axes[across])} " if others and not places else ""
        points = number_columns(*(f"{axis}{value}" for value in values))
        columns = (Column("metric"), *map(Column, others), Column("CCA"), *points)
        return Table(columns, rows, group_ends=frozenset(last.values()))

    def _differences(self, summaries: Sequence[MetricSummary]) -> Table:
        """Returns a row per CCA with its paired difference to the leader, by the main metrics."""
        rows: list[tuple[str, ...]] = []
        ends = set()
        for summary in summaries:
            if summary.difference is None or summary.leader is None or not summary.has_difference_row:
                continue
            names = labels(self.points[summary.point].ccas)
            gap = rounded_text(summary.in_tables(summary.difference), summary.shown_digits)
            if rows and rows[-1][: len(summary.point)] != summary.point:
                ends.add(len(rows) - 1)
            ccas = (names[summary.cca], names[summary.leader])
            rows.append((*summary.point, summary.shown_heading, *ccas, gap, summary.verdict))
        state = f" ({self.unfinished})" if self.unfinished else ""
        title = f"{self.title}: paired differences to the best mean{state}"
        texts = map(Column, (*self.axes, "metric", "CCA", "compared with"))
        columns = (*texts, *number_columns("difference"), Column("verdict"))
        return Table(columns, tuple(rows), title, frozenset(ends))


def _without_advice(warning: str) -> str:
    """Returns a warning without what follows its first semicolon, such as options to try."""
    head, colon, text = warning.partition(": ")
    return f"{head}{colon}{text.partition('; ')[0]}" if colon else head.partition("; ")[0]


def _is_chosen(name: str, summary: MetricSummary) -> bool:
    """Returns whether a name, METRIC or METRIC:FLOW, selects a metric: METRIC may be a prefix of it."""
    chosen, _, chosen_flow = name.partition(":")
    metric, _, flow = summary.metric.partition(":")
    is_same = chosen in (metric, _OPTION_NAMES.get(metric))
    is_prefix = metric.startswith(f"{chosen}_") and not summary.is_spread
    return (is_same or is_prefix) and chosen_flow in ("", flow)


def _cells(
    summaries: Sequence[MetricSummary], run_statistics: Sequence[str]
) -> Iterator[tuple[MetricSummary, str, str]]:
    """Yields metrics with heading and text, metric by metric: means, then statistics of the runs."""
    by_metric: dict[str, list[MetricSummary]] = {}
    for summary in summaries:
        by_metric.setdefault(summary.metric, []).append(summary)
    for group in by_metric.values():
        for each in group:
            text = rounded_text(each.in_tables(each.value), each.shown_digits)
            yield each, each.shown_heading, f"{text}{each.mark}"
        for name in run_statistics:
            for each in group:
                value = each.in_tables(Estimate(each.median if name == "median" else each.sd, None))
                text = _number(value.mean, each.shown_digits)
                yield each, f"{each.shown_heading}, {name} of runs", text or "-"


def _summaries(point: tuple[str, ...], comparison: Comparison) -> list[MetricSummary]:
    """Returns the metrics of a comparison, CCA by CCA: applications first."""
    headings: dict[str, _Heading] = {}
    values: dict[str, Mapping[str, Sequence[float]]] = {}
    bounds: dict[str, Collection[str]] = {}

    def add_flow_metric(name: str, key: str, flow: FlowUnderTest, of_flow: str) -> None:
        words = words_of(name)
        headings[key] = _Heading(f"{words.with_unit(words.name)}{of_flow}", words.digits)
        values[key] = (
            used_capacity(comparison, flow)
            if name == USED_CAPACITY
            else {cca: comparison.values_of(flow, cca, name) for cca in comparison.ccas}
        )

    are_several = len(comparison.applications) > 1
    for application in comparison.applications:
        for name in application.names:
            key = f"{name}:{application.flow}"
            heading = " ".join(application.heading(name).split())
            heading = f"{heading} ({application.flow})" if are_several else heading
            headings[key] = _Heading(heading, APP_METRICS[name].digits)
            values[key] = {
                cca: [] if has_too_few(name, metrics) else metrics.get(name, [])
                for cca, metrics in application.metrics.items()
            }
            bounds[key] = application.bounds(name)
    rivals = comparison.competing_flows if has_rows_of_flows([comparison]) else []
    tested = f" ({comparison.tested.name})" if rivals else ""
    for name, _, _ in columns_for([comparison]):
        if name in _NETWORK:
            heading, digits = _NETWORK[name]
            headings[name] = _Heading(f"{heading}{tested}", digits)
            values[name] = {cca: comparison.values(cca, name) for cca in comparison.ccas}
    for flow in rivals:
        for name in (SHARE, *(() if flow == comparison.tested else _RIVAL_METRICS)):
            add_flow_metric(name, f"{name}:{flow.name}", flow, f" ({flow.name})")
    for flow in rivals or [comparison.tested]:
        for name in _FLOW_METRICS:
            key, of_flow = (f"{name}:{flow.name}", f" ({flow.name})") if rivals else (name, "")
            add_flow_metric(name, key, flow, of_flow)
    minor = set()
    if comparison.has_shares:
        words, used = words_of(UTILISATION), utilisation(comparison)
        headings[UTILISATION] = _Heading(words.with_unit(words.name), words.digits)
        values[UTILISATION] = {cca: [100.0 * each for each in shares] for cca, shares in used.items()}
        minor.add(UTILISATION)
    if comparison.has_fairness:
        words = words_of(JAIN)
        headings[JAIN] = _Heading(words.name, words.digits)
        values[JAIN] = {cca: comparison.jains_index(cca) for cca in comparison.ccas}
    all_flows = FlowUnderTest.each(comparison.results.about)
    for flow in all_flows:
        for name in _MINOR_METRICS:
            key = f"{name}:{flow.name}" if len(all_flows) > 1 else name
            if {key, name if flow == comparison.tested else key}.isdisjoint(headings):
                minor.add(key)
                add_flow_metric(name, key, flow, f" ({flow.name})" if len(all_flows) > 1 else "")
    if laws := [each for each in law_goodputs(comparison) if each.rate.flow == comparison.tested.name]:
        headings[_LAW] = _Heading("goodput by law Mbit/s", 2)
        headings[_LAW_RATIO] = _Heading("goodput / law", 2)
        values[_LAW] = {each.rate.cca: [each.rate.goodput_mbps] for each in laws}
        values[_LAW_RATIO] = {each.rate.cca: each.ratios for each in laws}
        minor |= {_LAW, _LAW_RATIO}
    beyond = {each.rate.cca for each in laws if not each.rate.holds}
    verdicts = {
        metric: None if metric in minor else _verdict(comparison, metric) for metric in headings
    }
    return [
        replace(
            _summary(
                *(point, cca, comparison, metric, heading, values[metric], verdicts[metric]),
                is_bound=cca in bounds.get(metric, ()),
            ),
            is_minor=metric in minor,
            mark=BEYOND_LAW if metric == _LAW and cca in beyond else "",
        )
        for cca in comparison.ccas
        for metric, heading in headings.items()
        if not all(map(math.isnan, values[metric].get(cca, ())))
    ]


def _summary(
    point: tuple[str, ...],
    cca: str,
    comparison: Comparison,
    metric: str,
    heading: _Heading,
    values: Mapping[str, Sequence[float]],
    verdict: Verdict | None,
    *,
    is_bound: bool,
) -> MetricSummary:
    """Returns a metric of a congestion control; `values` are those of the runs by CCA."""
    leader = verdict.leader if verdict is not None and cca in comparison.ranked_ccas else None
    difference = None
    if leader not in (None, cca) and len(values[cca]) == len(values[str(leader)]):
        difference = metric_gap(metric.partition(":")[0], values[cca], values[str(leader)])
    rank = "" if leader is None or verdict is None else rank_word(cca, verdict)
    runs = int(comparison.results.about["runs"])
    name = metric.partition(":")[0]
    if is_bound and APP_METRICS[name].is_spread:
        values = {**values, cca: []}
    value = estimate_of(name, values[cca], is_bound=is_bound)
    ranked = {
        f"{application.ranking.metric}:{application.flow}" for application in comparison.applications
    }
    has_difference_row = metric in ranked or metric in _DIFFERENCE_METRICS
    known = [each for each in values[cca] if not math.isnan(each)]
    # With an infinite time there is no deviation.
    has_sd = len(known) > 1 and all(map(math.isfinite, known))
    return MetricSummary(
        *(point, cca, runs, metric, *heading, value, leader, difference, has_difference_row, rank),
        median=statistics.median(known) if known else math.nan,
        sd=statistics.stdev(known) if has_sd else math.nan,
    )


def _number(value: float, digits: int) -> str:
    """Returns a number as text; empty for NaN."""
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def _verdict(comparison: Comparison, metric: str) -> Verdict | None:
    """Returns the verdict by a metric; None if there is nothing to rank."""
    if len(comparison.ranked_ccas) < 2 or metric.partition(":")[0] not in RANKED:
        return None
    requirements = {value: key for key, value in comparison.requirements.items()}
    if metric in requirements:
        return comparison.verdicts[requirements[metric]]
    return comparison.best_by(metric).verdict


def used_capacity(comparison: Comparison, flow: FlowUnderTest) -> dict[str, list[float]]:
    """Returns by CCA the used share of the capacity, from 0 to 1, in the order of the seeds.

    It is NaN in runs whose capacity is unknown or 0.
    """
    slots = comparison.slots_of(flow.name)
    known = slots[slots["capacity_mbps"].notna()]
    sums = known.groupby("run", observed=True)[["goodput_mbps", "capacity_mbps"]].sum()
    shares = {
        run: min(goodput / capacity, 1.0)
        for run, goodput, capacity in sums.itertuples()
        if capacity > 0
    }
    return {
        cca: [shares.get(int(run), math.nan) for run in comparison.values(cca, "run")]
        for cca in comparison.ccas
    }
