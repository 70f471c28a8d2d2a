"""Trade-offs between the flows of a workload: gains and losses by a change of the CCA."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.by_metric import best_by
from celltcp.comparison.metrics import APP_METRICS, best_by_metric, sign_of
from celltcp.results.statistics import Estimate, Verdict, estimate, is_tie, paired_difference
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison

#: Most CCAs whose gains and losses are listed.
_MOST = 3
_GOODPUT = "goodput_mbps"
_NO_VALUE = "no value"


class Stake(NamedTuple):
    """Figure of a flow that matters most to it."""

    flow: str
    metric: str
    #: By CCA, the values of the runs in the order of the seeds.
    values: Mapping[str, list[float]]
    verdict: Verdict

    def is_gain(self, cca: str, instead_of: str) -> bool:
        """Returns whether a CCA is better than another, beyond chance and by an amount that matters."""
        gap, most = self._gap(cca, instead_of)
        return sign_of(self.metric) * gap.mean > 0 and not gap.includes_zero and not is_tie(gap, most)

    def text(self, cca: str, instead_of: str) -> str:
        """Returns the figure under a CCA, and under another one that is replaced."""
        new, old = (estimate(self.values[each]).mean for each in (cca, instead_of))
        gap, most = self._gap(cca, instead_of)
        if is_tie(gap, most):
            return f"{self.flow} {self._name} unchanged"
        if gap.includes_zero:
            pair = f"{self._number(new)} against {self._number(old)}{self._unit}"
            return f"{self.flow} {self._name} undecided ({pair})"
        words = f"{self._number(new)}{'' if math.isnan(new) else self._unit} instead of"
        text = f"{self.flow} {self._name} {words} {self._number(old)}"
        has_share = self.metric == _GOODPUT and old and not math.isnan(new / old)
        return f"{text} ({100 * (new / old - 1):+.0f} %)" if has_share else text

    def _gap(self, cca: str, instead_of: str) -> tuple[Estimate, float]:
        """Returns the paired difference, and the larger of both means."""
        pair = self.values[cca], self.values[instead_of]
        return paired_difference(*pair), max(abs(estimate(values).mean) for values in pair)

    @property
    def _name(self) -> str:
        return "goodput" if self.metric == _GOODPUT else APP_METRICS[self.metric].name

    @property
    def _unit(self) -> str:
        unit = "Mbit/s" if self.metric == _GOODPUT else APP_METRICS[self.metric].unit
        return f" {unit}" if unit else ""

    def _number(self, value: float) -> str:
        digits = 2 if self.metric == _GOODPUT else APP_METRICS[self.metric].digits
        return _NO_VALUE if math.isnan(value) else f"{value:.{digits}f}"


def trade_off_texts(result: Comparison) -> list[str]:
    """Returns the gains and losses of all flows where a CCA is better for one than the usual CCA.

    The usual CCA is the one with the best mean for the first flow. Others are listed if a further flow
    gains from them; those that are best for one of these come first.
    """
    stakes = [each for each in _stakes(result) if each.verdict.leader is not None]
    if len(stakes) < 2 or not result.decides:
        return []
    usual, *leaders = (str(each.verdict.leader) for each in stakes)
    names = labels(result.ccas)
    gaining = [
        cca
        for cca in dict.fromkeys((*leaders, *stakes[0].values))
        if cca != usual and any(stake.is_gain(cca, usual) for stake in stakes[1:])
    ]
    return [
        f"{names[cca]} instead of {names[usual]}: "
        + "; ".join(stake.text(cca, usual) for stake in stakes)
        for cca in gaining[:_MOST]
    ]


def _stakes(result: Comparison) -> list[Stake]:
    """Returns the stake of each flow: the figure of its application, or its goodput.

    Line-ups of several flows, which compete with each other, are left out.
    """
    alone = [cca for cca in result.ccas if "+" not in cca]
    if len(alone) < 2:
        return []
    applications = {each.flow: each for each in result.applications}
    stakes = []
    for flow in FlowUnderTest.each(result.results.about):
        if application := applications.get(flow.name):
            metric = application.ranking.metric
            values: Mapping[str, list[float]] = application.values(metric)
        else:
            metric = _GOODPUT
            values = best_by(result, f"{_GOODPUT}:{flow.name}").values
        mine = {cca: values[cca] for cca in alone}
        best = best_by_metric(metric, mine, random=not result.decides)
        stakes.append(Stake(flow.name, metric, mine, best))
    return stakes
