"""Idle boxes: middleboxes of a comparison that bring a flow nothing, each with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp._core import middlebox_kinds
from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.explanation.causes.split_hosts import queue_behind_split
from celltcp.comparison.explanation.trials.metric_changes import MetricChange
from celltcp.comparison.explanation.trials.trial_metrics import MIN_HELP_LOG
from celltcp.comparison.metrics import GOODPUT, METRICS, ONE_WAY_DELAY
from celltcp.scenarios.cca_mix import has_several_flows
from celltcp.scenarios.quantity_texts import time_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Kinds that repair random losses or signal them, that act on interruptions, and other split ones.
_FOR_LOSSES = ("snoop", "eln")
_FOR_INTERRUPTIONS = ("freeze", "mtcp-plus")
_SPLITS = frozenset(middlebox_kinds(splits=True)).difference(_FOR_INTERRUPTIONS)
#: Minimum wait in a queue that a reason names, RTTs.
_MIN_QUEUE_RTTS = 0.1


def idle_boxes(comparison: Comparison, evidences: Iterable[Evidence]) -> list[str]:
    """Returns a sentence for each reason by which boxes bring nothing, under any CCA compared.

    Args:
        comparison: comparison with and without middleboxes.
        evidences: the flow under test under each congestion control.
    """
    by_cca = {each.cca: each for each in evidences}
    boxes: dict[str, list[tuple[str, str]]] = {}
    for cca in comparison.ccas:
        name, _, box = cca.partition("@")
        alone = next((each for each in (name, f"{name}@none") if each in by_cca), None)
        if box not in ("", "none") and "@" not in box and alone and not has_several_flows(cca):
            boxes.setdefault(box, []).append((cca, alone))
    reasons: dict[str, list[str]] = {}
    for box, pairs in boxes.items():
        if not any(_helps(comparison, *pair) for pair in pairs):
            kind = box.partition(":")[0]
            with_box, usual = ([by_cca[each] for each in names] for names in zip(*pairs, strict=True))
            reason = _split_reason(with_box, usual) if kind in _SPLITS else _reason(kind, usual)
            reasons.setdefault(reason, []).append(box)
    return [
        f"{' and '.join(names)} {'brings' if len(names) == 1 else 'bring'} nothing: {reason}"
        for reason, names in reasons.items()
        if reason
    ]


def _helps(comparison: Comparison, cca: str, alone: str) -> bool:
    """Returns whether a CCA with a box has more goodput, a shorter delay or a better application."""
    columns: list[tuple[str, Mapping[str, Sequence[float]]]] = [
        (each.ranking.metric, each.values(each.ranking.metric)) for each in comparison.applications
    ]
    columns += [
        (metric, {name: comparison.values(name, metric) for name in (cca, alone)})
        for metric in (GOODPUT, ONE_WAY_DELAY)
        if metric in METRICS and not comparison.applications
    ]
    changes = [
        MetricChange("", metric, list(values[alone]), list(values[cca])) for metric, values in columns
    ]
    return any(each.gain >= MIN_HELP_LOG and each.is_decided for each in changes)


def _reason(kind: str, alone: Sequence[Evidence]) -> str:
    """Returns why a kind of box brings nothing to flows without it; empty if that is unknown."""
    if kind in _FOR_INTERRUPTIONS and not any(each.outages or each.cell_changes for each in alone):
        return "the access link has no interruption, on which alone it acts"
    if kind in _FOR_LOSSES and not any(each.recoveries["random"].sum() for each in alone):
        return "no segment is lost at random, which is all that it repairs or signals"
    return ""


def _split_reason(with_box: Sequence[Evidence], alone: Sequence[Evidence]) -> str:
    """Returns which leg has the queue, the losses and the RTT, for which a split brings nothing."""
    host, usual = with_box[0], max(alone, key=lambda each: each.queue_wait_ms)
    losses = sum(each.recoveries["random"].sum() for each in alone)
    segments = sum(each.total("segments") for each in alone)
    share = losses / segments if segments else 0.0
    parts = []
    if usual.queue_wait_ms > _MIN_QUEUE_RTTS * usual.min_rtt_ms:
        leg = "behind" if queue_behind_split(host) else "before"
        wait = time_text(usual.queue_wait_ms / 1e3)
        parts.append(f"the queue (up to {wait} on average) stands {leg} it as without it")
    lost = f"{percent_text(share)} of the segments are" if losses else "no segment is"
    first, whole = (time_text(each / 1e3) for each in (host.min_rtt_ms, usual.min_rtt_ms))
    parts += [f"{lost} lost at random", f"{first} of the lowest RTT of {whole} are before it"]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
