"""Stakes of flows: the metric that matters most to each, its values, the best CCA, and trade-offs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.metrics import (
    APP_METRICS,
    COMPLETED_SHARE,
    GOODPUT,
    JAIN,
    best_of,
    metric_gap,
    sign_of,
    words_of,
)
from celltcp.comparison.verdicts.by_metric import best_by
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.comparison.verdicts.prices import priced
from celltcp.present.section import AT_LEAST
from celltcp.results.statistics import Estimate, Verdict, estimate, is_tie
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import has_several_flows, labels

if TYPE_CHECKING:
    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.metrics import MetricText

#: Maximum number of CCAs with a line on their gains and losses.
_MAX_LISTED_CCAS = 3
#: Least gain for which another flow loses, as a share of the mean.
_MIN_GAIN = 0.05


class Stake(NamedTuple):
    """Metric that matters most to a flow, its values, and the best CCA by it.

    In sweeps, names of values or of combinations with CCAs are in place of the CCAs.
    """

    flow: str
    metric: str
    #: The metric in words.
    title: str
    #: By CCA, the values of the runs in the order of the seeds.
    values: Mapping[str, list[float]]
    verdict: Verdict
    #: Reason for this metric, in words; empty for the usual metric.
    note: str = ""
    #: CCAs under which the values are lower bounds.
    bounds: Collection[str] = ()

    @property
    def need(self) -> str:
        """The flow with its metric in words."""
        return f"{self.flow}, by {self.title}{self._note_text}"

    @property
    def question(self) -> str:
        """The flow, with its metric in words in parentheses; Jain's index is that of all flows."""
        if self.metric == JAIN:
            return self.title
        return f"{self.flow} ({'; '.join(filter(None, (self.title, self.note)))})"

    def is_gain(self, cca: str, instead_of: str) -> bool:
        """Returns whether a CCA is better than another, significantly and by more than a tie."""
        if self.is_void(instead_of):
            # If nothing has finished, there is no value, which is worse than any value.
            return not self.is_void(cca)
        gap, larger_mean = self._gap(cca, instead_of)
        is_better = sign_of(self.metric) * gap.mean > 0
        return is_better and not gap.includes_zero and not self._is_tie(gap, larger_mean)

    def is_worse_on_average(self, cca: str, other: str) -> bool:
        """Returns whether the mean under a CCA is worse than under another by more than a tie."""
        return self.signed_mean(cca) < self.signed_mean(other) and not self.is_tied(cca, other)

    def is_void(self, cca: str) -> bool:
        """Returns whether an application finished nothing under a CCA, in none of the runs."""
        if self.metric not in APP_METRICS:
            return False
        is_share = self.metric == COMPLETED_SHARE
        return all(math.isnan(value) or (is_share and value == 0) for value in self.values[cca])

    def is_tied(self, cca: str, other: str) -> bool:
        """Returns whether two CCAs are as good as each other."""
        return self._is_tie(*self._gap(cca, other))

    def signed_mean(self, cca: str) -> float:
        """Returns the mean with the sign that makes more better; -inf without a value."""
        mean = estimate(self.values[cca]).mean
        return -math.inf if math.isnan(mean) else (-mean if self.is_less_better else mean)

    def means(self, *ccas: str) -> list[float]:
        """Returns the means of the metric under some CCAs."""
        return [estimate(self.values[cca]).mean for cca in ccas]

    @property
    def words(self) -> MetricText:
        """Name and digits of the metric, with a unit that suits its means under all CCAs."""
        return words_of(self.metric).suited(*(estimate(each).mean for each in self.values.values()))

    def number(self, cca: str) -> str:
        """Returns the mean of the metric under a CCA without its unit."""
        return self.words.number(estimate(self.values[cca]).mean)

    def mean_text(self, cca: str) -> str:
        """Returns the mean of the metric under a CCA with its unit."""
        return self.words.own_text(estimate(self.values[cca]).mean)

    def value_text(self, cca: str) -> str:
        """Returns the mean of the metric under a CCA with its interval and unit."""
        return self.words.with_unit(
            self.words.mean_number(self.values[cca], is_bound=cca in self.bounds)
        )

    def text(self, cca: str, instead_of: str) -> str:
        """Returns the means of the metric under a CCA and under the one that it replaces."""
        new, old = self.means(cca, instead_of)
        words = words_of(self.metric).suited(new, old)
        # Jain's index is that of all flows.
        name = f"{f'{self.flow} ' if self.metric != JAIN else ''}{words.name}{self._note_text}"
        if self.is_tied(cca, instead_of):
            return f"{name} unchanged"
        if self._gap(cca, instead_of)[0].includes_zero:
            return f"{name} undecided ({words.number(new)} against {words.own_text(old)})"
        marks = [AT_LEAST if each in self.bounds else "" for each in (cca, instead_of)]
        text = f"{name} {marks[0]}{words.own_text(new)} instead of {marks[1]}{words.number(old)}"
        has_share = self.metric == GOODPUT and old and not math.isnan(new / old)
        return f"{text} ({100 * (new / old - 1):+.0f} %)" if has_share else text

    def _gap(self, cca: str, instead_of: str) -> tuple[Estimate, float]:
        """Returns the paired difference, and the larger of both means by absolute value."""
        pair = self.values[cca], self.values[instead_of]
        return metric_gap(self.metric, *pair), max(abs(estimate(values).mean) for values in pair)

    def _is_tie(self, gap: Estimate, larger_mean: float) -> bool:
        return is_tie(gap, larger_mean, min_difference(self.metric))

    @property
    def _note_text(self) -> str:
        return f" ({self.note})" if self.note else ""

    @property
    def is_less_better(self) -> bool:
        """Whether a smaller metric is better."""
        return sign_of(self.metric) < 0


def stakes_of(comparison: Comparison) -> list[Stake]:
    """Returns the stake of each flow: the metric of its application, or its goodput.

    Mixes of several flows, which compete with each other, are left out.
    """
    ccas = comparison.ranked_ccas
    return _stakes(comparison, ccas) if len(ccas) > 1 else []


def goodputs_of_units(comparison: Comparison) -> list[Stake]:
    """Returns the stakes of flows with frames, responses or pages in their goodput: units that arrive.

    Delays and shares of late units do not show how many of them arrive at all.
    """
    sending = {each.flow for each in comparison.applications if each.is_intermittent}
    return [
        each._replace(
            metric=GOODPUT,
            title="goodput",
            note="",
            bounds=(),
            values=best_by(comparison, f"{GOODPUT}:{each.flow}").values,
        )
        for each in comparison.stakes
        if each.flow in sending
    ]


def _by_completion(application: Application, best: Verdict, *, random: bool) -> Verdict:
    """Returns the verdict by the mean time of transfers on CCAs with as many complete ones."""
    times = application.values(application.completion_metric)
    as_many = {cca: times[cca] for cca in (str(best.leader), *best.tied) if cca in times}
    by_time = best_of(application.completion_metric, as_many, random=random)
    return best if by_time.leader is None else by_time


def mix_stakes(comparison: Comparison) -> list[Stake]:
    """Returns the stakes under mixes; none where the first flow has no application of its own."""
    mixes = [cca for cca in comparison.ccas if has_several_flows(cca)]
    return [] if len(mixes) < 2 or comparison.is_competing else _stakes(comparison, mixes)


def _stakes(comparison: Comparison, ccas: Sequence[str]) -> list[Stake]:
    applications = {each.flow: each for each in comparison.applications}
    stakes = []
    for flow in FlowUnderTest.each(comparison.results.about):
        if application := applications.get(flow.name):
            metric, title, note = application.ranking
            all_values: Mapping[str, list[float]] = application.values(metric)
            bounds: Collection[str] = application.bounds(metric)
        else:
            metric, title, note, bounds = GOODPUT, "goodput", "", ()
            all_values = best_by(comparison, f"{GOODPUT}:{flow.name}").values
        values = {cca: all_values[cca] for cca in ccas}
        best = best_of(metric, values, random=not comparison.decides)
        if metric == COMPLETED_SHARE and application and best.tied:
            best = _by_completion(application, best, random=not comparison.decides)
        best = priced(best, metric, values, comparison, [flow])
        if application:
            best = application.without_missed(best)
        stakes.append(Stake(flow.name, metric, title, values, best, note, bounds))
    return stakes


def trade_off_texts(comparison: Comparison) -> list[str]:
    """Returns the gains and losses of all flows under CCAs that are better for some than the usual CCA.

    The usual CCA has the best mean for the first flow. Another CCA has a line if a further flow gains
    from it; CCAs that lead for a flow come first.
    """
    every = comparison.stakes or mix_stakes(comparison) or stakes_of(comparison)
    ranked = [stake for stake in every if stake.verdict.leader is not None]
    stakes = [stake for stake in ranked if not stake.verdict.contradicted_by]
    if len(stakes) < 2 or not comparison.decides:
        return []
    usual, *leaders = (str(stake.verdict.leader) for stake in stakes)
    names = labels(comparison.ccas)
    gaining = [
        cca
        for cca in dict.fromkeys((*leaders, *stakes[0].values))
        if cca != usual
        and any(stake.is_gain(cca, usual) and _is_large(stake, cca, usual) for stake in stakes[1:])
    ]
    return [
        f"{names[cca]} instead of {names[usual]}: "
        + "; ".join(stake.text(cca, usual) for stake in stakes)
        for cca in gaining[:_MAX_LISTED_CCAS]
    ]


def _is_large(stake: Stake, cca: str, usual: str) -> bool:
    """Returns whether a gain is more than a twentieth of the mean; shares have differences instead."""
    before, after = stake.means(usual, cca)
    is_ratio = not stake.metric.endswith("_share") and before > 0 and math.isfinite(after)
    return not is_ratio or abs(after - before) >= _MIN_GAIN * before
