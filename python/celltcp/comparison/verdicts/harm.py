"""Harm: applications of other flows that fail, or are far worse, under a congestion control."""

from __future__ import annotations

import collections
import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.applications.application import FAILURES
from celltcp.comparison.metrics import mean_texts, words_of
from celltcp.comparison.verdicts.stakes import goodputs_of_units
from celltcp.present.section import AT_LEAST
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.verdicts.stakes import Stake

#: Minimum loss by a congestion control in the metric of another flow for a harm, as a share.
_MIN_HARM = 0.2


class Harm(NamedTuple):
    """Harm of a congestion control to the application of another flow."""

    flow: str
    #: Whether the application fails with it, but not with another one.
    is_failure: bool
    #: The metric with it and with the best other one.
    text: str


def harms_of(comparison: Comparison, cca: str, flows: Collection[str]) -> list[Harm]:
    """Returns the harms of a ranked congestion control to all flows but `flows`, failures first."""
    stakes = [each for each in comparison.stakes if each.flow not in flows]
    goodputs = {each.flow: each for each in goodputs_of_units(comparison)}
    harms = [
        _failure(comparison, cca, each)
        or _loss(comparison, cca, each)
        or (_loss(comparison, cca, goodputs[each.flow]) if each.flow in goodputs else None)
        for each in stakes
    ]
    return sorted(filter(None, harms), key=lambda harm: not harm.is_failure)


def failing_under(comparison: Comparison, cca: str) -> frozenset[str]:
    """Returns the flows whose application is unusable under a congestion control."""
    return frozenset(
        application.flow
        for application in comparison.applications
        for criterion in FAILURES
        for values in [application.metrics[cca].get(criterion.metric, ())]
        if values and criterion.fails(estimate(values).mean)
    )


def others_lose_more(comparison: Comparison, cca: str, instead_of: str, flows: Collection[str]) -> bool:
    """Returns whether other flows lose more by a CCA than `flows`, which may fail still, gain."""
    failing = failing_under(comparison, cca) & failing_under(comparison, instead_of)
    stakes = [*comparison.stakes, *goodputs_of_units(comparison)]
    return costs_more(stakes, cca, instead_of, flows, failing, comparison.tested.name)


def costs_more(
    stakes: Iterable[Stake],
    cca: str,
    instead_of: str,
    flows: Collection[str],
    failing: Collection[str] = (),
    setting: str = "",
) -> bool:
    """Returns whether other flows lose more than `flows` gain by a CCA, as logarithms of ratios.

    Applications that are `failing` with both CCAs gain nothing. A flow with several stakes loses the
    most of them. Losses are significant, but for those of the flow `setting` the CCA: that has it for
    the gain of others, so that what it loses on average counts, too.
    """
    gain, losses = 0.0, collections.defaultdict[str, float](float)
    for stake in stakes:
        if stake.flow in flows:
            if stake.flow not in failing and stake.is_worse_on_average(instead_of, cca):
                gain = max(gain, _log_ratio(stake, cca, instead_of))
        elif stake.is_gain(instead_of, cca) or (
            stake.flow == setting and stake.is_worse_on_average(cca, instead_of)
        ):
            losses[stake.flow] = max(losses[stake.flow], _log_ratio(stake, cca, instead_of))
    return sum(losses.values()) > gain


def _log_ratio(stake: Stake, cca: str, other: str) -> float:
    """Returns the absolute logarithm of the ratio of a metric's means; infinite for a zero or none."""
    low, high = sorted(map(abs, stake.means(cca, other)))
    return abs(math.log(high / low)) if low > 0 else math.inf


def harm_text(harms: Sequence[Harm]) -> str:
    """Returns harms as text; empty without any."""
    return f"at the cost of {' and '.join(each.text for each in harms)}" if harms else ""


def _failure(comparison: Comparison, cca: str, stake: Stake) -> Harm | None:
    """Returns the failure of a flow's application under a CCA; None if others fail as well."""
    for application in comparison.applications:
        for criterion in FAILURES if application.flow == stake.flow else ():
            if criterion.metric not in application.names:
                continue
            values = application.values(criterion.metric)
            means = {name: estimate(values[name]).mean for name in stake.values}
            working = {name: mean for name, mean in means.items() if not criterion.fails(mean)}
            if criterion.fails(means[cca]) and working:
                best = max(working, key=lambda name: criterion.sign * working[name])
                text = _instead_text(criterion.metric, (means[cca], means[best]))
                return Harm(
                    stake.flow, True, f"{stake.flow} {text} with {labels(comparison.ccas)[best]}"
                )
    return None


def _loss(comparison: Comparison, cca: str, stake: Stake) -> Harm | None:
    """Returns the loss of a flow by a CCA against the best other one; None if it is small."""
    others = [name for name in stake.values if name != cca and stake.is_gain(name, cca)]
    if not others:
        return None
    best = max(others, key=stake.signed_mean)
    low, high = sorted(map(abs, stake.means(cca, best)))
    if low > (1 - _MIN_HARM) * high:
        return None
    is_bound = [name in stake.bounds for name in (cca, best)]
    text = _instead_text(stake.metric, stake.means(cca, best), is_bound)
    return Harm(stake.flow, False, f"{stake.flow} {text} with {labels(comparison.ccas)[best]}")


def _instead_text(
    metric: str, means: Sequence[float], is_bound: Sequence[bool] = (False, False)
) -> str:
    """Returns name and value of a metric under a congestion control, and the value under another."""
    values = mean_texts(metric, *means)
    marked = [
        f"{AT_LEAST if bound else ''}{value}" for bound, value in zip(is_bound, values, strict=True)
    ]
    return f"{words_of(metric).name} {' instead of '.join(marked)}"
