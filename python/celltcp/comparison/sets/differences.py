"""Differences of a metric between congestion controls over the scenarios of a set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.metrics import METRICS, range_of, words_of
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.present.section import INFINITE, percent_text
from celltcp.results.rows import json_value
from celltcp.results.statistics import estimate, mean_ratio, paired_difference, relative_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from celltcp.comparison.outcome import RatioInterval, SetInterval

#: Network metric that is often zero, so that it has no ratio.
_OFTEN_ZERO = "retransmissions"
#: Relative difference below which congestion controls are alike, a share.
_MIN_SHARE = 0.005


class SetDifference(NamedTuple):
    """Difference of a metric between two congestion controls on each scenario of a set."""

    metric: str
    #: Relative differences as shares, or differences in units; NaN on scenarios without either.
    values: list[float]
    is_relative: bool

    @property
    def interval(self) -> tuple[float, float | None, float | None]:
        """Mean over the scenarios and ends of its 95 % interval; of shares by geometric means."""
        if self.is_relative:
            return mean_ratio(self.values)
        mean = estimate(self.values)
        if mean.ci95 is None:
            return mean.mean, None, None
        return mean.mean, mean.mean - mean.ci95, mean.mean + mean.ci95

    @property
    def is_tied(self) -> bool:
        """Whether the interval has zero, or the mean is too small to matter."""
        mean, low, high = self.interval
        smallest = _MIN_SHARE if self.is_relative else min_difference(self.metric)
        return low is None or high is None or abs(mean) < smallest or low <= 0 <= high

    @property
    def text(self) -> str:
        """Mean and ends of its 95 % interval, in percent or in units."""
        if self.is_relative:
            return ratio_text(self.values)
        words = words_of(self.metric)
        digits = words.digits
        mean, low, high = self.interval
        if not math.isfinite(mean):
            return "-"
        # 0.0 in place of the -0.0 of a rounded difference.
        texts = [
            f"{round(words.factor * each, digits) + 0.0:+.{digits}f}"
            for each in (mean, low, high)
            if each is not None
        ]
        return texts[0] if len(texts) == 1 else f"{texts[0]} ({texts[1]} to {texts[2]})"

    @property
    def text_with_unit(self) -> str:
        """The text, with the unit of a difference in units."""
        unit = words_of(self.metric).unit
        # A difference of shares is no relative one.
        unit = "percentage points" if unit == "%" else unit
        return self.text if self.is_relative or not unit else f"{self.text} {unit}"


def has_ratios(metric: str, values: Mapping[str, Sequence[Sequence[float]]]) -> bool:
    """Returns whether a metric has ratios: no score, and above zero on each scenario.

    Ratios of the scenarios that have one would leave out those on which a metric is zero, such as
    all without stalls.

    Args:
        metric: metric of the network or of an application.
        values: by congestion control, the values of the runs on each scenario.
    """
    if metric in METRICS:
        return metric != _OFTEN_ZERO
    means = (estimate(runs).mean for of_cca in values.values() for runs in of_cca)
    return range_of(metric)[0] == 0 and not any(mean <= 0 for mean in means)


def set_difference(
    metric: str,
    values: Sequence[Sequence[float]],
    base: Sequence[Sequence[float]],
    *,
    is_relative: bool,
) -> SetDifference:
    """Returns the difference of a metric of a congestion control to that of another one.

    Args:
        metric: metric of the network or of an application.
        values: values of the runs on each scenario, paired with those of `base`.
        base: those of the congestion control that the difference refers to.
        is_relative: whether the differences are relative, as shares, or in units.
    """
    pairs = zip(values, base, strict=True)
    if is_relative:
        shares = [relative_difference(runs, base_runs) for runs, base_runs in pairs]
        return SetDifference(metric, shares, is_relative=True)
    units = [paired_difference(runs, base_runs).mean for runs, base_runs in pairs]
    return SetDifference(metric, units, is_relative=False)


def ratio_text(differences: Sequence[float]) -> str:
    """Returns the mean of relative differences in percent, and the ends of its 95 % interval."""
    mean, low, high = mean_ratio(differences)
    text = percent_text(100 * mean, math.nan)
    if low is None or high is None or text == "-":
        return text if text == "-" else f"{text} %"
    ends = " to ".join(
        f"{100 * end + 0.0:+.0f}" if 100 * end < 1e4 else INFINITE for end in (low, high)
    )
    return f"{text} ({ends}) %"


def set_interval(values: Sequence[float]) -> SetInterval:
    """Returns the mean over scenarios, and the number of scenarios with a value."""
    mean, count = estimate(values), sum(not math.isnan(value) for value in values)
    return {"mean": json_value(mean.mean), "ci95": mean.ci95, "scenarios": count}


def ratio_interval(differences: Sequence[float]) -> RatioInterval:
    """Returns the mean of relative differences, and the number of scenarios with one."""
    mean, low, high = mean_ratio(differences)
    half = None if low is None or high is None else (high - low) / 2
    count = sum(not math.isnan(difference) for difference in differences)
    return {"mean": json_value(mean), "ci95": half, "low": low, "high": high, "scenarios": count}
