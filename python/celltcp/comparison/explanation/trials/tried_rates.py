"""Goodput in trials that take a part of a cause away: bursts of a sender, or full windows of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.comparison.explanation.causes.path import BURSTS_ARRIVE
from celltcp.comparison.explanation.causes.unused import AS_WELL
from celltcp.comparison.explanation.trials.metric_changes import RETRANSMISSIONS
from celltcp.comparison.metrics import GOODPUT
from celltcp.present.section import runs_text
from celltcp.results.statistics import estimate, paired_gap
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.causes.cause import Cause
    from celltcp.comparison.explanation.explained_cca import ExplainedCca
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy

#: Ends of the fields that spread the packets of a sender, and of those that enlarge windows of hosts.
_PACING_FIELDS = (".pacing", ".max_pacing_rate")
_WINDOW_FIELDS = (".send_buffer_max", ".receive_buffer_max", ".receive_window_max", ".window_scale")


def with_tried_rates(
    comparison: Comparison, explained: ExplainedCca, tried: Sequence[ProposedRemedy]
) -> Iterator[Cause]:
    """Yields the causes of a congestion control, with its best goodput in trials without parts of them.

    Args:
        comparison: comparison of the results.
        explained: the flow under test under a congestion control.
        tried: remedies with the results of their trials.
    """
    own = [each for each in tried if explained.cca in each.ccas]
    for cause in explained.causes:
        text = ""
        if BURSTS_ARRIVE in cause.text:
            single = [each for each in own if len(each.remedy.changes) == 1]
            text = _without_bursts_text(
                comparison, explained.cca, _best(single, explained, _PACING_FIELDS)
            )
        elif cause.text.endswith(AS_WELL):
            best = _best(own, explained, _WINDOW_FIELDS)
            text = _larger_windows_text(comparison, explained, cause, best)
        yield cause._replace(text=f"{cause.text}{text}")


def _best(
    tried: Sequence[ProposedRemedy], explained: ExplainedCca, fields: tuple[str, ...]
) -> tuple[Comparison, str] | None:
    """Returns the trial with most goodput that changes such fields alone, and its changes as text."""
    trials = [
        (each.after, " and ".join(each.remedy.changes))
        for each in tried
        if each.after is not None and explained.cca in each.after.ccas and each.remedy.changes
        if all(change.partition("=")[0].endswith(fields) for change in each.remedy.changes)
    ]
    return max(
        trials, key=lambda each: estimate(each[0].values(explained.cca, GOODPUT)).mean, default=None
    )


def _without_bursts_text(comparison: Comparison, cca: str, best: tuple[Comparison, str] | None) -> str:
    """Returns a sentence on the goodput without bursts; empty without a trial."""
    if best is None:
        return ""
    after, change = best
    values = after.values(cca, GOODPUT)
    before = comparison.values(cca, GOODPUT)[: len(values)]
    rate = rate_text(estimate(values).mean)
    if estimate(values).mean <= estimate(before).mean:
        instead = rate_text(estimate(before).mean)
        return (
            f" They cost nothing: with {change}, tried in {runs_text(len(values))}, it has "
            f"{rate} instead of {instead}."
        )
    text = f" Without them, tried in {runs_text(len(values))} with {change}, it has {rate}"
    before_count = estimate(comparison.values(cca, RETRANSMISSIONS)).mean
    count = estimate(after.values(cca, RETRANSMISSIONS)).mean
    if count >= before_count:
        # Slow start overflows the buffer whatever the spacing of its packets.
        counts = f"{number_text(count)} instead of {number_text(before_count)}"
        text += f", although no fewer segments are sent again ({counts})"
    return f"{text}."


def _larger_windows_text(
    comparison: Comparison, explained: ExplainedCca, cause: Cause, best: tuple[Comparison, str] | None
) -> str:
    """Returns which part of the unused capacity is for windows of the hosts; empty if undecided."""
    if best is None or not explained.used_share > 0:
        return ""
    after, change = best
    values = after.values(explained.cca, GOODPUT)
    before = comparison.values(explained.cca, GOODPUT)[: len(values)]
    gap = paired_gap(values, before)
    points = 100 * gap.mean * explained.used_share / explained.goodput_mbps
    if points < 1 or gap.includes_zero:
        return ""
    unused = 100 * cause.weight
    part = f"{min(points, unused):.2g} of the {unused:.2g} points"
    return (
        f" Larger ones, tried in {runs_text(len(values))} with {change}, have "
        f"{rate_text(estimate(values).mean)}: {part} are for the full windows, which also hold what "
        "waits for a repair."
    )
