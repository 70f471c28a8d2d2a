"""Prices of the values of a sweep: retransmissions and delay that its ranking metrics do not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.metrics import words_of
from celltcp.results.statistics import estimate, paired_gap

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from celltcp.comparison.best_values import FieldRanking

_RETRANSMISSIONS = "retransmissions"
#: Minimum increase of a metric for a price, as a share, and minimum means: segments, and ms more.
_MIN_INCREASE, _MIN_RETRANSMISSIONS, _MIN_DELAY_MS = 0.2, 10.0, 10.0


def price_texts(ranking: FieldRanking, name: str, start: str, shown: Collection[str]) -> Iterator[str]:
    """Yields the metrics of packets that a choice makes worse than the start does.

    Args:
        ranking: ranking of the choices.
        name: name of the choice.
        start: name of the choice in whose place it is.
        shown: metrics that the text has already.
    """
    if ranking.delay_metric not in shown:
        text, increase, _ = _change(ranking, ranking.delay_metric, name, start)
        if increase >= _MIN_DELAY_MS:
            yield text
    text, _, mean = _change(ranking, _RETRANSMISSIONS, name, start)
    if mean >= _MIN_RETRANSMISSIONS:
        yield text


def _change(ranking: FieldRanking, metric: str, name: str, start: str) -> tuple[str, float, float]:
    """Returns a metric of two choices as text, its increase, and its mean; zeros for a small one."""
    values = ranking.network_values(metric)
    new, old = (estimate(values[each]).mean for each in (name, start))
    gap = paired_gap(values[name], values[start])
    if not new - old >= _MIN_INCREASE * old or gap.includes_zero:
        return "", 0.0, 0.0
    words = words_of(metric).suited(new, old)
    texts = (words.number(new), words.number(old))
    if metric == _RETRANSMISSIONS:
        texts = (
            f"{texts[0]}{ranking.retransmitted_text(name)}",
            f"{texts[1]}{ranking.retransmitted_text(start)}",
        )
    return f"{words.name} {words.with_unit(texts[0])} instead of {texts[1]}", new - old, new
