"""Trade-offs between the flows of a workload: gains and losses by a change of the CCA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.metrics import APP_METRICS, best_by_metric
from celltcp.results.statistics import Verdict, estimate, paired_difference
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison


class Stake(NamedTuple):
    """Figure of a flow that matters most to it."""

    flow: str
    metric: str
    #: By CCA, the values of the runs in the order of the seeds.
    values: Mapping[str, list[float]]
    verdict: Verdict

    def text(self, cca: str, instead_of: str) -> str:
        """Returns the figure under a CCA, and under another one that is replaced."""
        new, old = (estimate(self.values[each]).mean for each in (cca, instead_of))
        difference = paired_difference(self.values[cca], self.values[instead_of])
        if difference.includes_zero:
            return f"{self.flow} {self._name} unchanged"
        if self.metric == _GOODPUT:
            change = f" ({100 * (new / old - 1):+.0f} %)" if old else ""
            return f"{self.flow} {self._name} {new:.2f} instead of {old:.2f} Mbit/s{change}"
        figure = APP_METRICS[self.metric]
        return f"{self.flow} {figure.text(new)} instead of {old:.{figure.digits}f}"

    @property
    def _name(self) -> str:
        return "goodput" if self.metric == _GOODPUT else APP_METRICS[self.metric].name


_GOODPUT = "goodput_mbps"


def trade_off_texts(result: Comparison) -> list[str]:
    """Returns the gains and losses of all flows where one has another best CCA than the first.

    There is none while all flows have the same best CCA, or the runs leave it undecided.
    """
    stakes = [each for each in _stakes(result) if each.verdict.leader is not None]
    if len(stakes) < 2:
        return []
    usual = stakes[0].verdict.best
    names = labels(result.ccas)
    texts = {}
    for stake in stakes[1:]:
        best = stake.verdict.best
        if best is None or usual is None or usual in stake.verdict.ranked:
            continue
        changes = "; ".join(each.text(best, usual) for each in stakes)
        texts[best] = f"{names[best]} instead of {names[usual]}: {changes}"
    return list(texts.values())


def _stakes(result: Comparison) -> Sequence[Stake]:
    """Returns the stake of each flow: the figure of its application, or the goodput."""
    applications = {each.flow: each for each in result.applications}
    goodputs = result.competing_goodputs()
    random = not result.decides
    stakes = {}
    for flow in (*goodputs, *applications):
        if application := applications.get(flow):
            metric = application.ranking.metric
            values = application.values(metric)
        else:
            metric, values = _GOODPUT, goodputs[flow]
        stakes[flow] = Stake(flow, metric, values, best_by_metric(metric, values, random=random))
    return list(stakes.values())
