"""Goodput without the bursts that overflow a shallow buffer, as trials of pacing have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.cause import number_text
from celltcp.comparison.explanation.metric_changes import RETRANSMISSIONS
from celltcp.comparison.explanation.path import BURSTS_ARRIVE
from celltcp.comparison.metrics import GOODPUT
from celltcp.present.section import runs_text
from celltcp.results.statistics import estimate
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.cause import Cause
    from celltcp.comparison.explanation.explained_cca import ExplainedCca
    from celltcp.comparison.explanation.proposals import ProposedRemedy

#: Ends of the fields that spread the packets of a sender.
_PACING_FIELDS = (".pacing", ".max_pacing_rate")


def with_rates_without_bursts(
    comparison: Comparison, explained: ExplainedCca, tried: Sequence[ProposedRemedy]
) -> Iterator[Cause]:
    """Yields the causes of a congestion control, with its best goodput in trials without bursts.

    Args:
        comparison: comparison of the results.
        explained: the flow under test under a congestion control.
        tried: remedies with the results of their trials.
    """
    trials = [
        (each.after.values(explained.cca, GOODPUT), each.after, change)
        for each in tried
        if each.after is not None and explained.cca in each.after.ccas and len(each.remedy.changes) == 1
        for change in each.remedy.changes
        if change.partition("=")[0].endswith(_PACING_FIELDS)
    ]
    best = max(trials, key=lambda each: estimate(each[0]).mean, default=None)
    for cause in explained.causes:
        if best is not None and BURSTS_ARRIVE in cause.text:
            values, after, change = best
            rate = rate_text(estimate(values).mean)
            text = f" Without them, tried in {runs_text(len(values))} with {change}, it has {rate}"
            before_count = estimate(comparison.values(explained.cca, RETRANSMISSIONS)).mean
            count = estimate(after.values(explained.cca, RETRANSMISSIONS)).mean
            if count >= before_count:
                # Slow start overflows the buffer whatever the spacing of its packets.
                counts = f"{number_text(count)} instead of {number_text(before_count)}"
                text += f", although no fewer segments are sent again ({counts})"
            yield cause._replace(text=f"{cause.text}{text}.")
        else:
            yield cause
