"""Knees among the tried values of a field, such as rates of a shaper, by the rule of sweeps."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.metrics import GOODPUT, best_of, words_of
from celltcp.comparison.sweep.best_value_tables import range_text
from celltcp.comparison.sweep.best_values import tail_metrics
from celltcp.comparison.sweep.trade_offs import trade_off_of
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.scenarios.quantities import quantities

if TYPE_CHECKING:
    from collections.abc import Iterable

    from celltcp.comparison.explanation.trials.alternatives import Alternative, Need

#: Name of the reference, which has none of the values.
_REFERENCE = "as it is"


class ValueKnee(NamedTuple):
    """The alternative at the knee, and its value; more values if the runs do not decide."""

    best: Alternative
    #: The field with the values that may be the knee; empty if it is decided.
    undecided: str


class _Values:
    """Alternatives by the value of their first field, with the reference, as choices of a sweep."""

    def __init__(self, need: Need, alternatives: Iterable[Alternative]) -> None:
        self.choices = {
            each.changes[0].partition("=")[2] if each.changes else _REFERENCE: each
            for each in alternatives
        }
        self._need = need

    def values(self, flow: str, metric: str) -> dict[str, list[float]]:
        """Returns a metric of a flow by the value, of the runs that all have."""
        columns = {
            name: self._need.metric_of(each.comparison, each.cca, flow, metric)
            for name, each in self.choices.items()
        }
        count = min(map(len, columns.values()))
        return {name: values[:count] for name, values in columns.items()}

    def stake(self, flow: str, metric: str) -> Stake:
        """Returns the stake of a flow in a metric."""
        values = self.values(flow, metric)
        return Stake(flow, metric, words_of(metric).name, values, best_of(metric, values, random=True))

    def tail_values(self, stake: Stake) -> list[dict[str, list[float]]]:
        """Returns the 99th percentiles and maxima of all choices for a stake of percentiles."""
        tails = (self.values(stake.flow, metric) for metric in tail_metrics(stake.metric))
        return [each for each in tails if all(each.values()) and min(map(min, each.values())) > 0]


def knee_of_values(
    need: Need, best: Alternative, alternatives: Iterable[Alternative]
) -> ValueKnee | None:
    """Returns the knee among the values of the fields of an alternative; None without one.

    Args:
        need: the need of an application, for whose metric others lose goodput.
        best: the alternative.
        alternatives: the reference, and those with other values.
    """
    losers = [flow for flow, metric in need.price_metrics() if metric == GOODPUT]
    same = [each for each in alternatives if each.cca == best.cca and each.fields == best.fields]
    if not need.flows or not losers or len(same) < 2 or best.cca != need.reference:
        return None
    (reference,) = (each for each in alternatives if not each.fields and each.cca == need.reference)
    amounts = quantities([each.changes[0].partition("=")[2] for each in same])
    if amounts is None:
        return None
    in_order = [each for _, each in sorted(zip(amounts, same, strict=True), key=itemgetter(0))]
    choices = _Values(need, [*in_order, reference])
    stakes = [choices.stake(need.flows[0], need.metric), choices.stake(losers[0], GOODPUT)]
    if not all(each for stake in stakes for each in stake.values.values()):
        return None
    trade_off = trade_off_of(choices, stakes, lambda name, _: name)
    if trade_off is None:
        return None
    name, possible, _, may_be_none = trade_off.knee
    names = [each for each in dict.fromkeys([name, *possible]) if each in choices.choices]
    names = [each for each in names if each != _REFERENCE]
    if not names:
        return None
    undecided = f"{best.fields[0]}: {range_text(names, [*choices.choices])}" if possible else ""
    undecided += " or none" if may_be_none else ""
    return ValueKnee(choices.choices[names[0]], undecided)
