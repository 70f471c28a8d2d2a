"""Fairness in a report: the fairest and the least fair shares of flows that compete."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.metrics import JAIN, best_of, metric_text
from celltcp.comparison.tables import share_cells
from celltcp.present.section import Finding
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from celltcp.comparison.comparison import Comparison


def fairness_finding(comparisons: Mapping[str, Comparison]) -> Finding | None:
    """Returns the finding on Jain's index; None where no flows compete all of the time.

    Args:
        comparisons: the comparisons by the text of their point in a sweep, empty for a single one.
    """
    if not comparisons or not all(each.has_fairness for each in comparisons.values()):
        return None
    values, shares = {}, {}
    for point, comparison in comparisons.items():
        names = labels(comparison.ccas)
        for cca, (goodputs, *_) in share_cells(comparison, has_index=False).items():
            name = f"{point} with {names[cca]}" if point else names[cca]
            values[name], shares[name] = comparison.jains_index(cca), f"{goodputs} Mbit/s"
    means = {name: estimate(each).mean for name, each in values.items()}
    known = [name for name, mean in means.items() if math.isfinite(mean)]
    if not known:
        return None
    best, worst = (extreme(known, key=means.__getitem__) for extreme in (max, min))
    texts = [f"Jain's index {metric_text(JAIN, values[best], 3)}: {shares[best]}"]
    if len(known) == 1:
        return Finding("How fairly flows share", best, texts[0])
    if means[worst] < means[best]:
        index = metric_text(JAIN, values[worst], 3)
        texts.append(f"least fair with {index}: {worst}, {shares[worst]}")
    decides = all(each.decides for each in comparisons.values())
    verdict = best_of(JAIN, values, random=not decides)
    text = "; ".join(texts)
    if verdict.undecided:
        among = f"undecided: {', '.join(verdict.ranked)}"
        return Finding("Fairest shares", f"{best}?", text, among, "undecided")
    tied = f"tied with it: {', '.join(verdict.tied)}" if verdict.tied else ""
    return Finding("Fairest shares", best, text, tied, "tied" if tied else "decided")
