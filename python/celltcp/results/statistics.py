"""Statistics: means with confidence intervals, paired differences, and verdicts on the best."""

from __future__ import annotations

import bisect
import functools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

#: Half width of a 95 % interval of a normal distribution, standard deviations.
NORMAL_HALF_WIDTH = 1.96


@dataclass(frozen=True)
class Estimate:
    """Mean and half width of its 95 % interval; `ci95` is None if the values have no spread."""

    mean: float
    ci95: float | None
    #: Ends of the interval in place of `ci95` where that leaves the range of the quantity (`within`).
    ends: tuple[float, float] | None = None
    #: Whether the mean is a lower bound, as some times had not ended; it has no interval.
    is_bound: bool = False

    def scaled(self, factor: float) -> Estimate:
        """Returns the estimate in another unit, by a positive factor."""
        ends = None if self.ends is None else (factor * self.ends[0], factor * self.ends[1])
        half = None if self.ci95 is None else factor * self.ci95
        return replace(self, mean=factor * self.mean, ci95=half, ends=ends)

    @property
    def half_width(self) -> float:
        """Half width of the interval, NaN without one, as in data frames."""
        return math.nan if self.ci95 is None else self.ci95

    @property
    def includes_zero(self) -> bool:
        """Whether zero lies in the interval; without an interval, whether the mean is zero."""
        if self.ci95 is None:
            return math.isclose(self.mean, 0.0, abs_tol=1e-12)
        return abs(self.mean) <= self.ci95


def within(estimate: Estimate, lowest: float, highest: float) -> Estimate:
    """Returns an estimate with ends if its symmetric interval leaves the range of the quantity.

    The ends of a share are those of the score interval (Wilson, J. Am. Stat. Assoc. 22, 1927), whose
    variance at the mean is that of the runs. Other intervals end at the limit, which changes nothing
    about how often they have the mean in them.
    """
    mean, half = estimate.mean, estimate.ci95
    if (
        half is None
        or (lowest <= mean - half and mean + half <= highest)
        or not lowest <= mean <= highest
    ):
        return estimate
    if (lowest, highest) != (0.0, 1.0) or mean in (lowest, highest):
        return replace(estimate, ends=(max(mean - half, lowest), min(mean + half, highest)))
    # (mean - true)^2 <= ratio true (1 - true), which is half^2 at the mean.
    ratio = half**2 / (mean * (1 - mean))
    centre, root = 2 * mean + ratio, math.sqrt(ratio * ratio + 4 * ratio * mean * (1 - mean))
    low, high = ((centre + side * root) / (2 * (1 + ratio)) for side in (-1, 1))
    return replace(estimate, ends=(low, high))


def estimate(values: Sequence[float]) -> Estimate:
    """Returns the mean and Student's t interval at 95 %; NaN values are left out.

    There is no interval for fewer than two values, nor for equal values: they come from a scenario
    without randomness. If a value is infinite, such as an unfinished time, the mean is, too.
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Estimate(math.nan, None)
    mean = math.fsum(known) / len(known)
    if len(known) < 2 or math.isinf(mean):
        return Estimate(mean, None)
    variance = math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1)
    if variance <= (1e-12 * max(abs(mean), 1e-300)) ** 2:
        return Estimate(mean, None)
    return Estimate(mean, student_quantile(len(known) - 1) * math.sqrt(variance / len(known)))


@functools.cache
def student_quantile(freedom: int) -> float:
    """Returns the 97.5 % quantile of Student's t distribution with these degrees of freedom."""
    low, high = 1.9, 12.8
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _student_inside(middle, freedom) < 0.95 else (low, middle)
    return (low + high) / 2


def p_value(gap: Estimate, count: int) -> float:
    """Returns the two-sided p-value of a mean of zero, of the Student's t interval of `count` values.

    It is 0 for a mean other than zero without an interval, as of equal values.
    """
    if gap.ci95 is None:
        return 1.0 if gap.includes_zero else 0.0
    return 1.0 - _student_inside(student_quantile(count - 1) * abs(gap.mean) / gap.ci95, count - 1)


def _student_inside(t: float, freedom: int) -> float:
    """Returns the probability of |T| <= t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, squared = math.sin(angle), math.cos(angle) ** 2
    is_odd = freedom % 2 == 1
    term = math.cos(angle) if is_odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(3 if is_odd else 2, freedom - 1, 2):
        term *= squared * (k - 1) / k
        total += term
    return 2 / math.pi * (angle + sine * total) if is_odd else sine * total


def best_and_ties(
    values: Mapping[str, Sequence[float]],
    difference: Callable[[Sequence[float], Sequence[float]], Estimate] | None = None,
) -> list[str]:
    """Returns the name with the highest mean, then those that are tied with it; none if all are zero.

    Args:
        values: values by name, paired by position (the same seed, the same channel). A name is tied
            with the best if the interval of the paired difference includes zero.
        difference: function for that difference, `paired_difference` unless given.
    """
    difference = difference or paired_difference
    means = {name: estimate(series).mean for name, series in values.items()}
    known = [name for name in values if math.isfinite(means[name])]
    # If nothing was delivered, there is no best one.
    if not any(means[name] for name in known):
        return []
    best = max(known, key=lambda name: means[name])
    tied = [
        name for name in known if name != best and difference(values[best], values[name]).includes_zero
    ]
    return [best, *sorted(tied, key=lambda name: -means[name])]


#: Maximum difference of a tie, as a share of the best mean.
MARGIN = 0.05
#: Difference that is negligible even if significant, as a share of the best mean.
NEGLIGIBLE = 0.01
#: Maximum number of runs to recommend, as a multiple of those so far: a difference that needs more of
#: them is hardly known.
_MAX_RUNS_FACTOR = 10
#: Number of runs from which on their spread says how many would decide; the spread of fewer is chance.
_RUNS_OF_A_SPREAD = 5
#: Next number of runs after fewer than that.
NEXT_RUNS = 10
#: Probability with which the recommended runs decide.
_POWER = 0.8


class Cost(NamedTuple):
    """Cost of the best name, as a short text for cells of tables and as a longer text."""

    short: str
    text: str
    #: Least amount of a cost of this kind, as a text that counts of scenarios have.
    amount: str
    #: Name to choose in place of the best one: nearly as good, and without the cost; None without one.
    instead: str | None = None
    #: Text that compares the best name with `instead`; empty without one.
    instead_text: str = ""
    #: Need that `instead` is better for, too; empty where `instead_text` has it.
    better_for: str = "delay"


class Dearer(NamedTuple):
    """Name that is as good as the best one, at a price that it does not have."""

    name: str
    #: The price, as a short text for cells of tables and as a longer text.
    short: str
    text: str


class RunsAhead(NamedTuple):
    """Numbers of runs in which a leader is ahead of all others, and in which it is behind one."""

    ahead: int
    behind: int
    runs: int

    @classmethod
    def between(cls, leading: Sequence[float], others: Sequence[Sequence[float]]) -> RunsAhead:
        """Counts the runs by values of which more is better; those with NaN are left out."""
        gaps = [
            [one - other for other in row]
            for one, row in zip(leading, zip(*others, strict=True), strict=True)
        ]
        known = [row for row in gaps if not any(map(math.isnan, row))]
        least = [min(row) for row in known]
        return cls(sum(gap > 0 for gap in least), sum(gap < 0 for gap in least), len(known))


@dataclass(frozen=True)
class Verdict:
    """Verdict on the best name, by paired differences to the name with the highest mean."""

    #: Name with the highest mean, or one as good as it without its price; None where nothing was
    #: delivered.
    leader: str | None
    #: Names that are as good as the leader, see `is_tie`.
    tied: tuple[str, ...] = ()
    #: Names that may be as good: the interval includes zero, and is wider than the margin.
    undecided: tuple[str, ...] = ()
    #: Number of runs that would likely decide about the undecided, or `NEXT_RUNS` after few runs; None
    #: without any, or if it is too large or unknown.
    runs_needed: int | None = None
    #: Reason by which a more important metric contradicts that the leader is best; None without one.
    contradicted_by: str | None = None
    #: Cost of the leader in another important metric; None if it is small.
    cost: Cost | None = None
    #: Names that are as good as the leader at a price; they are not in `tied`.
    dearer: tuple[Dearer, ...] = ()
    #: Whether there are several names, all with the same values.
    is_same: bool = False
    #: Whether there are several names, and all others are tied with the leader.
    are_all_tied: bool = False
    #: Whether `runs_needed` is only the next step, as the spread of few runs says nothing.
    is_next_step: bool = False
    #: Why no number of runs decides among the undecided; empty if runs do.
    doubt: str = ""
    #: Runs of the leader against the undecided; None without any.
    runs_ahead: RunsAhead | None = field(default=None, compare=False)

    @property
    def best(self) -> str | None:
        """The best name; None if that is undecided or contradicted."""
        return None if self.undecided or self.contradicted_by else self.leader

    @property
    def to_set(self) -> tuple[str, ...]:
        """The best names, of which any will do, or one nearly as good without the cost of the best."""
        if self.best is None:
            return ()
        instead = None if self.cost is None else self.cost.instead
        return (instead,) if instead else (self.best, *self.tied)

    @property
    def ranked(self) -> tuple[str, ...]:
        """The name with the highest mean, and those that are or may be as good; dearer ones last."""
        return (*self.without_dearer, *(each.name for each in self.dearer))

    @property
    def without_dearer(self) -> tuple[str, ...]:
        """The name with the highest mean, and those that are or may be as good without a price."""
        return () if self.leader is None else (self.leader, *self.tied, *self.undecided)

    def dearer_texts(self, names: Mapping[str, str]) -> list[str]:
        """Returns text on each name that is as good at a price; `names` are labels."""
        return [f"{names[each.name]} is as good, but with {each.text}" for each in self.dearer]


def is_tie(gap: Estimate, best_mean: float, min_difference: float = 0.0) -> bool:
    """Returns whether a paired difference is a tie; margins are shares of `best_mean`.

    Its interval includes zero and is within the margin, or the whole interval is negligible: by its
    share, or below the smallest difference that matters. Of a significant difference the mean alone
    is compared with the latter.
    """
    if not gap.includes_zero and abs(gap.mean) <= min_difference:
        return True
    extent = abs(gap.mean) + (gap.ci95 or 0.0)
    margin = MARGIN if gap.includes_zero else NEGLIGIBLE
    return math.isfinite(extent) and extent <= max(margin * abs(best_mean), min_difference)


def verdict(
    values: Mapping[str, Sequence[float]],
    *,
    random: bool = True,
    min_difference: float = 0.0,
    are_shares: bool = False,
) -> Verdict:
    """Returns the name with the highest mean, those that are as good, and those that are undecided.

    Args:
        values: values by name, paired by position (the same seed, the same channel).
        random: whether runs differ; if so, one run decides nothing.
        min_difference: smallest difference that matters; smaller ones are ties.
        are_shares: whether the values are shares, as in `paired_gap`.
    """
    difference = functools.partial(paired_gap, are_shares=are_shares)
    ranked = best_and_ties(values, difference)
    if not ranked:
        return Verdict(None)
    leader, *others = ranked
    runs = len(values[leader])
    if random and runs < 2:
        others = [name for name in values if name != leader]
        return Verdict(
            leader, (), tuple(others), NEXT_RUNS if others else None, is_next_step=bool(others)
        )
    best_mean = abs(estimate(values[leader]).mean)
    tied, undecided, runs_needed = [], [], 0.0
    for name in others:
        gap = difference(values[leader], values[name])
        if is_tie(gap, best_mean, min_difference):
            tied.append(name)
            continue
        undecided.append(name)
        runs_needed = max(
            runs_needed, runs_to_decide(gap, max(MARGIN * best_mean, min_difference), runs)
        )
    endless = [name for name in values if math.isinf(estimate(values[name]).mean)]
    # An infinite mean has no interval: the pairs decide if all of them agree.
    endless = [name for name in endless if not _is_behind(values[name], values[leader])]
    undecided += endless
    runs_needed = math.inf if endless else runs_needed
    for name in sorted(values, key=lambda name: -estimate(values[name]).mean):
        if name in ranked:
            continue
        if is_tie(difference(values[leader], values[name]), best_mean, min_difference):
            tied.append(name)
    advised_runs = int(runs_needed) if undecided and math.isfinite(runs_needed) else None
    is_same = len(values) > 1 and all(list(value) == list(values[leader]) for value in values.values())
    are_all_tied = 0 < len(tied) == len(values) - 1
    return Verdict(
        leader,
        tuple(tied),
        tuple(undecided),
        advised_runs,
        is_same=is_same,
        are_all_tied=are_all_tied,
        is_next_step=advised_runs is not None and has_few_runs(runs),
        runs_ahead=RunsAhead.between(values[leader], [values[name] for name in undecided])
        if undecided
        else None,
    )


def has_few_runs(runs: int) -> bool:
    """Returns whether runs are too few to estimate from their spread the number that would decide."""
    return runs < _RUNS_OF_A_SPREAD


def runs_to_decide(gap: Estimate, margin: float, runs: int) -> float:
    """Returns the number of runs, with those so far, that decides in four of five cases.

    The difference is not known either: the mean of `count` runs is normal around that of the runs so
    far, with the variance s^2 (1 / runs - 1 / count). s is the median of the spreads that may be behind
    theirs. Those runs decide if zero is outside their interval, or if it is within the margin. The
    number is infinity above the maximum, and `NEXT_RUNS` after few runs.

    Args:
        gap: paired difference of the runs so far, with its interval.
        margin: end of the intervals that are ties.
        runs: number of the runs so far.
    """
    half_width = gap.ci95 or 0.0
    if not half_width > 0 or runs < 2:
        return math.inf
    if has_few_runs(runs):
        return NEXT_RUNS
    freedom = runs - 1
    # The sum of squares is chi-squared; its median is below its mean (Wilson and Hilferty).
    median = freedom * (1 - 2 / (9 * freedom)) ** 3
    spread = half_width * math.sqrt(runs / median * freedom) / student_quantile(freedom)

    def decides(count: int) -> bool:
        mean = statistics.NormalDist(abs(gap.mean), spread * math.sqrt(1 / runs - 1 / count))
        half = student_quantile(count - 1) * spread / math.sqrt(count)
        room = margin - half
        # Both overlap where an interval without zero is within the margin.
        inside = mean.cdf(min(room, half)) - mean.cdf(-min(room, half)) if room > 0 else 0.0
        return 1 - mean.cdf(half) + mean.cdf(-half) + inside >= _POWER

    counts = range(runs + 1, _MAX_RUNS_FACTOR * runs + 1)
    first = bisect.bisect_left(counts, True, key=decides)
    return counts[first] if first < len(counts) else math.inf


#: Minimum ratio of the highest to the lowest level of the pairs at which their ratios are compared: the
#: pairs then differ mostly by their channels.
_MIN_LEVEL_RATIO = 2.0
#: Share added to both parts of odds, without which shares of zero and one have none.
_ODDS_MARGIN = 0.001


def paired_gap(
    first: Sequence[float], second: Sequence[float], *, are_shares: bool = False
) -> Estimate:
    """Returns the mean of `first - second`, pair by pair, with the interval for verdicts.

    If all values have the same sign and the levels (geometric means) of the pairs differ much, the log
    ratios of the pairs give the interval. It is scaled to the mean difference, and includes zero if the
    interval of the ratios includes one. The levels choose the interval, because they do not depend
    on which is better. Choosing the narrower interval would find more differences by chance.

    Of shares, whose spread is bounded and skewed, the log ratios are always those of the odds.
    """
    difference = paired_difference(first, second)
    pairs = [pair for pair in zip(first, second, strict=True) if not math.isnan(sum(pair))]
    sign = -1 if any(value < 0 for pair in pairs for value in pair) else 1
    pairs = [(sign * a, sign * b) for a, b in pairs]
    if are_shares:
        pairs = [(_odds(a), _odds(b)) for a, b in pairs]
    if len(pairs) < 2 or not all(0 < value < math.inf for pair in pairs for value in pair):
        return difference
    levels = [math.sqrt(a * b) for a, b in pairs]
    if max(levels) < _MIN_LEVEL_RATIO * min(levels) and not are_shares:
        return difference
    log_ratio = estimate([math.log(a / b) for a, b in pairs])
    if not sign * log_ratio.mean * difference.mean > 0:
        # Most pairs contradict the mean, or do not differ, so that the sign is undecided.
        return Estimate(difference.mean, max(difference.ci95 or 0.0, abs(difference.mean)) or None)
    if log_ratio.ci95 is None:
        return Estimate(difference.mean, None)
    return Estimate(difference.mean, abs(difference.mean / log_ratio.mean) * log_ratio.ci95)


def _odds(share: float) -> float:
    """Returns the odds of a share, finite and above zero."""
    return (share + _ODDS_MARGIN) / (1 - share + _ODDS_MARGIN)


class RatioEstimate(NamedTuple):
    """Geometric mean of ratios minus one, and the ends of its 95 % interval; None without spread."""

    mean: float
    low: float | None
    high: float | None


def relative_difference(values: Sequence[float], base: Sequence[float]) -> float:
    """Returns the ratio of the means over the pairs with both values, less one.

    It is 0 where both means are zero. It is NaN where only one is, where one is infinite, or without
    such pairs.
    """
    known = [pair for pair in zip(values, base, strict=True) if not math.isnan(sum(pair))]
    # Means that round to zero count as zero.
    total = round(sum(value for value, _ in known), 9)
    base_total = round(sum(value for _, value in known), 9)
    if not math.isfinite(total + base_total):
        return math.nan
    if known and total == base_total:
        return 0.0
    return total / base_total - 1 if total > 0 and base_total > 0 else math.nan


def mean_ratio(shares: Sequence[float]) -> RatioEstimate:
    """Returns the mean of relative differences, by the logarithms of the ratios.

    Unlike the mean of the shares, it does not depend on which value is the base. Shares without a ratio
    (NaN, or one of two values zero) are left out.
    """
    log_ratio = estimate([math.log1p(share) for share in shares if -1.0 < share < math.inf])
    if math.isnan(log_ratio.mean):
        return RatioEstimate(math.nan, None, None)
    mean = math.expm1(log_ratio.mean)
    if log_ratio.ci95 is None:
        return RatioEstimate(mean, None, None)
    # With few scenarios, the end of an interval may exceed the largest floating-point number.
    ends = [min(log_ratio.mean + side * log_ratio.ci95, 700.0) for side in (-1, 1)]
    return RatioEstimate(mean, *map(math.expm1, ends))


def _is_behind(values: Sequence[float], leading: Sequence[float]) -> bool:
    """Returns whether values are below the leading ones in every pair without NaN."""
    pairs = zip(values, leading, strict=True)
    return all(value < best for value, best in pairs if not math.isnan(value + best))


def paired_difference(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Returns the mean and interval of `first - second`, pair by pair."""
    return estimate([a - b for a, b in zip(first, second, strict=True)])
