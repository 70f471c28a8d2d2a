"""Goodput without the bursts that overflow a shallow buffer, as trials of pacing have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.path import BURSTS_ARRIVE
from celltcp.comparison.metrics import GOODPUT
from celltcp.present.section import runs_text
from celltcp.results.statistics import estimate
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from celltcp.comparison.explanation.cause import Cause
    from celltcp.comparison.explanation.explained_cca import ExplainedCca
    from celltcp.comparison.explanation.proposals import ProposedRemedy

#: Ends of the fields that spread the packets of a sender.
_PACING_FIELDS = (".pacing", ".max_pacing_rate")


def with_rates_without_bursts(
    explained: ExplainedCca, tried: Sequence[ProposedRemedy]
) -> Iterator[Cause]:
    """Yields the causes of a congestion control, with its best goodput in trials without bursts.

    Args:
        explained: the flow under test under a congestion control.
        tried: remedies with the results of their trials.
    """
    goodputs = [
        (each.after.values(explained.cca, GOODPUT), change)
        for each in tried
        if each.after is not None and explained.cca in each.after.ccas and len(each.remedy.changes) == 1
        for change in each.remedy.changes
        if change.partition("=")[0].endswith(_PACING_FIELDS)
    ]
    values, change = max(goodputs, key=lambda each: estimate(each[0]).mean, default=([], ""))
    for cause in explained.causes:
        if change and BURSTS_ARRIVE in cause.text:
            rate = rate_text(estimate(values).mean)
            text = f" Without them, tried in {runs_text(len(values))} with {change}, it has {rate}."
            yield cause._replace(text=f"{cause.text}{text}")
        else:
            yield cause
