"""Table and JSON of the alternatives for a need, place by place, with what others lose by each."""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING

from celltcp.comparison.applications.applications import has_too_few
from celltcp.comparison.applications.pooled_percentiles import few_above
from celltcp.comparison.explanation.answer import metric_texts
from celltcp.comparison.explanation.remedies.places import has_shaper
from celltcp.comparison.explanation.trials.alternatives import application_of
from celltcp.comparison.explanation.trials.metric_changes import MetricChange
from celltcp.comparison.explanation.trials.trial_metrics import COMPLETIONS, MIN_HELP_LOG
from celltcp.comparison.explanation.trials.tried_ccas import is_cca_alone
from celltcp.comparison.explanation.trials.value_knees import knee_of_values
from celltcp.comparison.lines.linux_lines import cca_line, with_node
from celltcp.comparison.lines.queue_lines import BEHIND_MODEM
from celltcp.comparison.metrics import (
    APP_METRICS,
    GOODPUT,
    LAST_COMPLETION,
    LATE_FRAMES,
    LATE_RESPONSES,
    MEAN_RTT,
    words_of,
)
from celltcp.comparison.retransmitted import retransmitted_share
from celltcp.present.section import AT_LEAST, Column, Table, runs_text
from celltcp.results.rows import json_value
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import has_several_flows, labels
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from celltcp.comparison.explanation.outcome import AlternativeRow
    from celltcp.comparison.explanation.trials.alternatives import Alternative, Need
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy

#: Further metrics beside ranking metrics: those that change, or the first one if none does.
_FURTHER = {
    "frame_delay_ms": [LATE_FRAMES, "frame_delay_p95_ms", "frame_delay_max_ms"],
    "frame_delay_p50_ms": [LATE_FRAMES, "frame_delay_p95_ms", "frame_delay_max_ms"],
    LATE_FRAMES: ["frame_delay_p95_ms", "frame_delay_p99_ms", "frame_delay_max_ms"],
    "qoe": ["stalled_s"],
    "page_load_s": ["page_load_p95_s", "page_load_max_s"],
    LATE_RESPONSES: ["response_p95_s", "response_p99_s", "response_max_s"],
    "response_p50_s": ["response_p95_s", "response_p99_s"],
    "response_p95_s": ["response_p50_s", "response_p99_s", "response_max_s"],
    "response_p99_s": ["response_p50_s", "response_max_s", "response_sd_s"],
    "response_max_s": ["response_p50_s"],
    **{completion: [MEAN_RTT] for completion in (*COMPLETIONS, LAST_COMPLETION)},
}
#: Text of caps of each connection.
_EACH_CONNECTION = (
    "windows and caps of the rate are for one connection at a time: "
    "divide them by the number of those at once"
)
#: Minimum difference of shares of retransmissions that a table shows.
_MIN_RESENT = 0.05
#: Minimum absolute logarithm of the ratio of a metric of others that a table shows: per cent count.
_MIN_PRICE_LOG = 0.01
#: Maximum number of metrics of others in a table.
_MAX_OTHERS = 4


class AlternativesTable:
    """The alternatives of a need without a better one at the same place."""

    #: Meaning of the star of a row.
    legend = "*: runs show a gain, and no change at the same or a nearer host is better in all columns"

    def __init__(
        self, need: Need, shown: Sequence[Alternative], recommended: Sequence[Alternative]
    ) -> None:
        """Takes the reference and the alternatives shown after it, and those recommended."""
        self.need = need
        self.shown = list(shown)
        self.recommended = list(recommended)
        #: Number of runs that all alternatives have: the first ones.
        self.run_count = min(len(each.values) for each in shown)
        self._scenario = tomllib.loads(need.comparison.results.about["scenario"])
        self._names = labels([*need.comparison.ccas, *(each.cca for each in shown)])

    @property
    def table(self) -> Table:
        """The alternatives as a table, with `*` for those recommended."""
        need, columns = self.need, self._metrics()
        all_runs = int(need.comparison.results.about["runs"])
        runs = runs_text(all_runs)
        if self.run_count < all_runs:
            count = runs_text(self.run_count).removeprefix("1 ")
            runs = f"the first {count} of {all_runs}"
        cells = [self._cells(flow, metric) for flow, metric in columns]
        headings = [self._heading(*each) for each in columns]
        if resent := self._resent_cells():
            cells.append(resent)
            headings.append("resent\n%")
        rows = tuple(
            (
                "*" if any(each is best for best in self.recommended) else "",
                "as it is" if not index else ", ".join(each.places),
                self._names[each.cca],
                f"{', '.join(each.changes) or '-'}{f' ({each.condition})' if each.condition else ''}",
                *(column[index] for column in cells),
            )
            for index, each in enumerate(self.shown)
        )
        ends = {
            index
            for index, each in enumerate(self.shown[:-1])
            if not index or each.places != self.shown[index + 1].places
        }
        heads = (
            Column(""),
            Column("set at"),
            Column("CCA", no_wrap=True),
            Column("change", folds=True),
        )
        title = f"Alternatives for {need.name}, by place; in {runs}, against {{}} alone"
        application = application_of(need.comparison, need.flows[0]) if need.flows else None
        few = [] if application is None else few_above(application)
        if self.run_count > 1 and any(metric in few for _, metric in columns):
            title += "; percentiles: mean of those of the runs"
        return Table(
            (*heads, *(Column(each, is_number=True) for each in headings)),
            rows,
            title.format(self._names[need.reference]),
            frozenset(ends),
            frozenset(index for index, row in enumerate(rows) if row[0]),
        )

    def has(self, remedy: ProposedRemedy) -> bool:
        """Returns whether the table shows a remedy, under whatever congestion control."""
        wanted = remedy.remedy
        alone = [each.cca for each in self.shown if each.remedy is None]
        if is_cca_alone(remedy) and {*remedy.replacement_ccas} <= {*alone}:
            return True
        return any(
            each.remedy is not None
            and each.changes == wanted.changes
            and (each.remedy.remedy.cca, each.remedy.remedy.parameter) == (wanted.cca, wanted.parameter)
            for each in self.shown
        )

    def is_beaten(self, remedy: ProposedRemedy) -> bool:
        """Returns whether the table shows a remedy, and recommends a better CCA without a change."""
        changes = remedy.remedy.changes
        if any(each.changes == changes for each in self.recommended):
            return False
        own = [each.net_gain for each in self.shown if each.changes == changes and changes]
        alone = [each.net_gain for each in self.recommended if not each.changes]
        return bool(own and alone) and max(alone) - max(own) >= self.need.min_gain

    @property
    def lines(self) -> list[str]:
        """Lines that set the recommended alternatives, each with its host.

        Those of a congestion control alone are elsewhere, if it is the one to set.
        """
        is_set = self.need.chosen is not None
        best = (each for each in self.recommended if each.remedy is not None or not is_set)
        lines = (line for each in best for line in (*self.lines_of(each), self._knee_text(each)))
        return list(dict.fromkeys(filter(None, lines)))

    @property
    def other_lines(self) -> list[str]:
        """Lines that set the other rows, each after its congestion control and change."""
        known, lines = self.lines, list[str]()
        hosts = {host_of(line) for line in known}
        others = [
            each
            for each in self.shown[1:]
            if (each.remedy is not None or each.cca != self.need.chosen)
            and not any(each is best for best in self.recommended)
        ]
        for each in others:
            head = ", ".join(filter(None, (self._names[each.cca], *each.changes)))
            for line in self.lines_of(each):
                # Hosts of known lines are known, too.
                if line in known or line == _EACH_CONNECTION:
                    continue
                host = host_of(line)
                # Where a router stands is said once.
                lines.append(
                    f"{head}: {host.partition(',')[0] + line[len(host) :] if host in hosts else line}"
                )
                hosts.add(host)
        has_cap = any(each.caps_each_connection for each in others)
        return [*lines, *([_EACH_CONNECTION] if has_cap and _EACH_CONNECTION not in known else [])]

    @property
    def unranked_ccas(self) -> list[str]:
        """Sentences on recommended congestion controls alone that do not rank with those compared.

        They were tried in fewer runs, or Linux lacks them.
        """
        need, about = self.need, self.need.comparison.results.about
        alone = (each for each in self.recommended if each.remedy and is_cca_alone(each.remedy))
        sentences = []
        for each in alone:
            own, best = need_texts(need, [each], self.run_count)
            lacks = "" if cca_line(each.cca) else ", which no line of Linux sets,"
            runs = f"{self.run_count} of {about['runs']} runs"
            sentences.append(
                f"{self._names[each.cca]}{lacks} has {own} instead of {best} of "
                f"{self._names[need.best_cca]}, tried in {runs}."
            )
        return sentences

    def name_of(self, alternative: Alternative) -> str:
        """Returns the label of the congestion control of an alternative."""
        return self._names[alternative.cca]

    def _knee_text(self, alternative: Alternative) -> str:
        """Returns the values of a field of which the runs do not say which is the knee, or empty."""
        knee = knee_of_values(self.need, alternative, self.shown)
        if knee is None or not knee.undecided:
            return ""
        return f"{knee.undecided}, knee undecided in {runs_text(self.run_count)}"

    def lines_of(self, alternative: Alternative) -> list[str]:
        """Returns the lines that set an alternative, with its CCA where that is another one."""
        remedy = alternative.remedy
        lines = [] if remedy is None else remedy.lines
        # A shaper that was tried has its row.
        if any(has_shaper(each.changes) for each in self.shown):
            lines = [line for line in lines if not line.startswith(BEHIND_MODEM)]
        if remedy is not None and remedy.remedy.network:
            lines = [*lines, remedy.remedy.network]
        if alternative.caps_each_connection:
            lines = [*lines, _EACH_CONNECTION]
        own, usual = (name.partition("@")[0] for name in (alternative.cca, self.need.reference))
        is_usual = remedy is not None and own == usual
        if not is_usual and not has_several_flows(alternative.cca):
            none = (
                f"{with_node('sender', self._scenario)}: {alternative.cca}, which no line of Linux sets"
            )
            lines = [*lines, cca_line(alternative.cca, self._scenario) or none]
        return list(dict.fromkeys(filter(None, lines)))

    def to_json(self) -> list[AlternativeRow]:
        """Returns the alternatives as JSON, the reference first."""
        return [
            {
                "places": list(each.places),
                "cca": each.cca,
                "options": f"--cca {each.cca}" if each.remedy is None else each.remedy.options,
                "runs": self.run_count,
                "recommended": any(each is best for best in self.recommended),
                "metrics": {
                    f"{metric}:{flow}" if flow else metric: json_value(self._mean(each, flow, metric))
                    for flow, metric in self._metrics()
                },
                "lines": self.lines_of(each),
            }
            for each in self.shown
        ]

    def _metrics(self) -> list[tuple[str, str]]:
        """Returns the flow and metric of each column; the flow is empty for the network."""
        need = self.need
        own = [("", GOODPUT), ("", need.comparison.delay_metric)]
        if need.flows:
            names = dict.fromkeys((need.metric, *self._further_metrics()))
            own = [(need.flows[0], name) for name in names]
        changes = {each: self._largest_change(*each) for each in need.price_metrics()}
        changed = [each for each, change in changes.items() if change >= _MIN_PRICE_LOG]
        kept = sorted(changed, key=lambda each: -changes[each])[:_MAX_OTHERS]
        return [*own, *(each for each in changed if each in kept and each not in own)]

    def _further_metrics(self) -> Iterator[str]:
        """Yields metrics of the need beside its ranking metric: those of which the user asks, too."""
        flow, ranking = self.need.flows[0], self.need.metric
        changes = {
            metric: self._largest_change(flow, metric)
            for metric in _FURTHER.get(ranking, ())
            if all(self._values(each, flow, metric) for each in self.shown)
            and not any(self._has_too_few(each, flow, metric) for each in self.shown)
        }
        changing = [each for each, change in changes.items() if change >= MIN_HELP_LOG]
        yield from changing or [*changes][:1]

    def _largest_change(self, flow: str, metric: str) -> float:
        """Returns the largest absolute logarithm of the ratios of a metric to that of the reference."""
        old, *others = (self._values(each, flow, metric) for each in self.shown)
        gains = (MetricChange(flow, metric, old, new).gain for new in others if old and new)
        return max(map(abs, gains), default=0.0)

    def _values(self, alternative: Alternative, flow: str, metric: str) -> list[float]:
        return self.need.values_of(alternative, flow, metric)[: self.run_count]

    def _mean(self, alternative: Alternative, flow: str, metric: str) -> float:
        return estimate(self._values(alternative, flow, metric)).mean

    def _heading(self, flow: str, metric: str) -> str:
        # Cells of lower bounds say so.
        named = COMPLETIONS[-1] if metric in COMPLETIONS else metric
        if named != metric and any(self._is_divided(each, flow) for each in self.shown):
            named = LAST_COMPLETION
        words = words_of(named).suited(*(self._mean(each, flow, metric) for each in self.shown))
        unit = "%" if metric.endswith("_share") else words.unit
        return f"{f'{flow} ' if flow else ''}{words.name}\n{unit}".strip()

    def _cells(self, flow: str, metric: str) -> list[str]:
        """Returns the means of a metric, with the changes against the reference."""
        means = [self._mean(each, flow, metric) for each in self.shown]
        if metric.endswith("_share"):
            return [f"{100 * mean:.3g}" for mean in means]
        words, first = words_of(metric).suited(*means), means[0]
        cells = []
        for index, (each, mean) in enumerate(zip(self.shown, means, strict=True)):
            text, is_bound = three_digits(words.factor * mean), self._is_bound(each, flow, metric)
            if is_bound:
                text = f"{AT_LEAST}{text}"
            elif metric == self.need.metric or not self.need.flows:
                text += _interval_text(text, words.factor, self._values(each, flow, metric))
            cells.append(f"{text}{_change_text(mean, first) if index else ''}")
        return cells

    def _resent_cells(self) -> list[str]:
        """Returns the retransmissions of all flows in per cent; empty where they are alike."""
        shares = [retransmitted_share(each.comparison, None, each.cca) for each in self.shown]
        if max(shares) - min(shares) < _MIN_RESENT:
            return []
        return [f"{100 * share:.2g}" for share in shares]

    @staticmethod
    def _is_bound(alternative: Alternative, flow: str, metric: str) -> bool:
        """Returns whether a mean is a lower bound, as a run cut units of work off."""
        applications = alternative.comparison.applications
        return any(
            each.flow == flow and metric in each.names and alternative.cca in each.bounds(metric)
            for each in applications
        )

    @staticmethod
    def _has_too_few(alternative: Alternative, flow: str, metric: str) -> bool:
        """Returns whether runs have too few units of work for a percentile."""
        application = application_of(alternative.comparison, flow)
        metrics = {} if application is None else application.metrics
        return metric in APP_METRICS and has_too_few(metric, metrics.get(alternative.cca, {}))

    @staticmethod
    def _is_divided(alternative: Alternative, flow: str) -> bool:
        """Returns whether a transfer is divided among connections, and complete with the last part."""
        application = application_of(alternative.comparison, flow)
        return application is not None and application.is_divided


def host_of(line: str) -> str:
    """Returns the host of a line that sets something, with where it is; empty without one."""
    return line.rpartition(": ")[0]


def _interval_text(mean_text: str, factor: float, values: Sequence[float]) -> str:
    """Returns half the width of the 95 % interval with the decimals of its mean; empty if that is 0."""
    half_width = estimate([factor * value for value in values]).ci95
    digits = len(mean_text.partition(".")[2])
    text = "" if half_width is None else f"{half_width:.{digits}f}"
    return f" ±{text}" if text.strip("0.") else ""


def _change_text(mean: float, reference: float) -> str:
    """Returns the relative change of a mean, with a space before it; empty without any."""
    if not (math.isfinite(mean) and math.isfinite(reference) and reference > 0):
        return ""
    percent = f"{100 * (mean / reference - 1):+.0f}"
    return "" if percent in ("+0", "-0") else f" ({percent} %)"


def need_texts(need: Need, alternatives: Sequence[Alternative], count: int) -> list[str]:
    """Returns the metric of alternatives, in one unit; goodput and delay for the network.

    The last one is of the congestion control to set without a remedy.

    Args:
        need: the need with the metric.
        alternatives: those of which the metrics are.
        count: number of runs, the first ones of each.
    """
    ways = [*((each.comparison, each.cca) for each in alternatives), (need.comparison, need.best_cca)]
    is_network = not need.flows
    names = [GOODPUT, need.comparison.delay_metric] if is_network else [need.metric]
    return metric_texts(
        {
            name: [
                (list(each.values(cca, name)) if is_network else need.values(each, cca))[:count]
                for each, cca in ways
            ]
            for name in names
        }
    )
