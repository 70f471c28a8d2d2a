"""Changes of a metric by a remedy: gain as a logarithm of ratios, and texts with both values."""

from __future__ import annotations

import math
from typing import NamedTuple

from celltcp.comparison.metrics import APP_METRICS, mean_texts, sign_of, words_of
from celltcp.comparison.retransmitted import MIN_RESENT
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.present.section import runs_text
from celltcp.results.statistics import estimate, paired_gap
from celltcp.scenarios.quantity_texts import three_digits

#: Metric of retransmissions, whose ratios say nothing.
RETRANSMISSIONS = "retransmissions"
#: Maximum ratio of two values of an application metric in a gain; larger ratios count as this one.
_MAX_RATIO = 100.0
#: Minimum ratio at which a text has a factor instead of a percentage, and minimum ratio of the largest
#: to the smallest change in a run at which a text has both.
_MIN_FACTOR, _MIN_RANGE = 10.0, 1.5
#: Minimum number of runs whose interval decides, and of those whose common direction does.
_MIN_INTERVAL_RUNS, _MIN_SIGN_RUNS = 3, 6


class MetricChange(NamedTuple):
    """Values of a metric of a flow before and after a remedy, one for each run."""

    flow: str
    metric: str
    before: list[float]
    after: list[float]
    #: Name in texts, where that of the metric does not suit both; empty for that of the metric.
    name: str = ""
    #: Runs in which all transfers are complete before and after; None if none was cut off.
    complete_runs: tuple[int, ...] | None = None

    @property
    def gain(self) -> float:
        """Logarithm of the ratio by which the mean improved; 0 without one, or for too little."""
        old, new = estimate(self.before).mean, estimate(self.after).mean
        largest = max(abs(old), abs(new))
        is_ratio = math.isfinite(old) and math.isfinite(new) and largest > 0
        if not is_ratio or abs(new - old) < min_difference(self.metric):
            return 0.0
        # A ratio to a value near zero, such as a share of late frames, says nothing.
        is_bounded = self.metric in APP_METRICS or min(old, new) <= 0
        lower_bound = largest / _MAX_RATIO if is_bounded else 0.0
        return sign_of(self.metric) * math.log(max(new, lower_bound) / max(old, lower_bound))

    @property
    def is_decided(self) -> bool:
        """Whether the metric changes significantly, or in one direction in each of enough runs.

        Two runs have no interval that says much, and six of one direction are no chance (sign test).
        """
        directions = {new > old for old, new in zip(self.before, self.after, strict=True) if new != old}
        has_interval = _MIN_INTERVAL_RUNS <= len(self.before) < _MIN_SIGN_RUNS
        is_one = len(directions) < 2
        return (is_one and not has_interval) or not paired_gap(self.after, self.before).includes_zero

    def text(self, *, names_flow: bool, has_range: bool) -> str:
        """Returns the metric before and after as text.

        `has_range` is whether changes of the mean that runs do not share have those of the runs beside
        them.
        """
        words = words_of(self.metric)
        old, new = estimate(self.before).mean, estimate(self.after).mean
        name = f"{f'{self.flow} ' if names_flow else ''}{self.name or words.name}"
        if self.metric.endswith("_share"):
            return f"{name} {100 * old:.3g} to {100 * new:.3g} %"
        ratio_text = ""
        if old > 0 and math.isfinite(ratio := new / old) and self.metric != RETRANSMISSIONS:
            ratio_text = f" ({(self._range_text(ratio) if has_range else '') or _ratio_text(ratio)})"
        return f"{name} {words.in_line(old, new)}{ratio_text}{self._complete_text}"

    @property
    def _complete_text(self) -> str:
        """Means of the runs with complete transfers, where some transfers were cut off; or empty."""
        if self.complete_runs is None:
            return ""
        text = " with cut ones until the end"
        if not self.complete_runs:
            return text
        means = (
            estimate([values[run] for run in self.complete_runs]).mean
            for values in (self.before, self.after)
        )
        runs = f"{len(self.complete_runs)} of {runs_text(len(self.before))}"
        return f"{text}, {words_of(self.metric).in_line(*means)} in the {runs} without"

    def _range_text(self, mean: float) -> str:
        """Returns the change of the mean with the range in the runs; empty for a narrow one."""
        ratios = [new / old for old, new in zip(self.before, self.after, strict=True) if old > 0]
        if not ratios or max(ratios) < _MIN_RANGE * min(ratios):
            return ""
        unit = " %" if max(ratios) < _MIN_FACTOR else " times"
        ends = (_ratio_text(ratio, unit).removesuffix(unit) for ratio in (min(ratios), max(ratios)))
        return f"{_ratio_text(mean, unit)}; {' to '.join(ends)}{unit} in single runs"

    def after_text(self, *, names_flow: bool) -> str:
        """Returns the metric after the remedy as text."""
        (value,) = mean_texts(self.metric, estimate(self.after).mean)
        name = self.name or words_of(self.metric).name
        return f"{f'{self.flow} ' if names_flow else ''}{name} {value}"


class ResentChange(MetricChange):
    """Shares of the segments of a transfer that are sent again, before and after a remedy."""

    @property
    def gain(self) -> float:
        """Logarithm of the ratio by which the share of other segments grew; 0 for too little."""
        old, new = estimate(self.before).mean, estimate(self.after).mean
        return math.log((1.0 - new) / (1.0 - old)) if abs(new - old) >= MIN_RESENT else 0.0

    def text(self, *, names_flow: bool, has_range: bool) -> str:  # noqa: ARG002
        """Returns the shares before and after as text."""
        shares = " to ".join(f"{100 * estimate(each).mean:.2g}" for each in (self.before, self.after))
        return f"{f'{self.flow} ' if names_flow else ''}segments sent again {shares} %"


def _ratio_text(ratio: float, unit: str = "") -> str:
    """Returns a ratio as a change in per cent, or as a factor if it is far from one; or with a unit."""
    if unit == " times" or (not unit and ratio >= _MIN_FACTOR):
        return f"{three_digits(ratio) if ratio < _MIN_FACTOR else f'{ratio:.0f}'} times"
    if not unit and 0 < ratio <= 1 / _MIN_FACTOR:
        return f"1/{1 / ratio:.0f}"
    return f"{100 * (ratio - 1):+.0f} %"
