"""Remedy of a queue that no host can manage: a shaper before the link."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.explanation.queue_fields import fq_codel_value
from celltcp.comparison.explanation.remedy import Remedy
from celltcp.comparison.queue_lines import SHAPER_SHARE
from celltcp.scenarios.narrow_hop import steady_rate
from celltcp.scenarios.packets import PACKET_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.comparison.explanation.evidence import Evidence

#: Quantiles of the rate of a link that varies: of a shaper that keeps the delay nearly always, of one
#: that keeps more goodput, and of the last one of a sweep.
_LOW, _MIDDLE, _HIGH = 0.05, 0.25, 0.5
#: Share of a constant rate that a shaper has at most, for less goodput lost.
_HIGH_SHARE = 0.95
#: Share of the low rate that a shaper has, so that the queue is before it.
_LOW_SHARE = 0.95
#: Where a shaper is needed.
_UNMANAGED = "where no host can manage it (a shaper before it)"
#: Rates between the low and the middle one, as shares of the logarithm of their ratio: the delay begins
#: to grow somewhere between.
_BETWEEN = (1 / 3, 2 / 3)


def shaper(evidence: Evidence) -> Iterator[Remedy]:
    """Yields a slower hop with an AQM before an access link; of the uplink, a slower one with an AQM.

    Its queue then stands where a host can manage it, unless the link is slower still. A constant link
    has two rates for it. For one that varies, a rate is below that of the slow phases, another one
    keeps more goodput, and others are between.
    """
    path = evidence.scenario.get("path", {})
    if evidence.bottleneck_field:
        return
    if evidence.is_upload:
        yield from uplink_shaper(evidence, "a standing queue")
        return
    hops, steady = path.get("wired", ()), steady_rate(path.get("down", {}))
    # The access link of a cell is that of the radio.
    if steady is not None and not evidence.scenario.get("radio"):
        tried, swept = list(_steady_rates(steady)), []
    else:
        rates_mbps = evidence.link_rates_1s_mbps * PACKET_BYTES / evidence.mss
        low, middle, high = rates_mbps.quantile([_LOW, _MIDDLE, _HIGH])
        if not 0 < middle < high:
            return
        low *= _LOW_SHARE
        between = [low * (middle / low) ** share for share in _BETWEEN] if low > 0 else []
        rates = (low, *between, middle, high)
        swept = list(dict.fromkeys(_rate_text(rate) for rate in rates if rate > 0))
        # The ends come first, should the budget not suffice for those between.
        tried = [swept[0], *reversed(swept[1:])]
    # Without a hop before the link, the shaper is one.
    hop, last = f"path.wired.{max(len(hops) - 1, 0)}", hops[-1] if hops else {}
    present, queue = last.get("rate"), last.get("queue")
    # A hop with a rate that varies, or a lower one, is a link of its own, and no place for a shaper.
    present_bps = math.inf if present is None else steady_rate(present) or 0.0
    if present_bps < (in_unit(tried[0], "bit/s") or 0.0):
        return
    kind = queue.get("kind") if isinstance(queue, dict) else queue
    is_managed = kind not in (None, "droptail")
    values = dict.fromkeys([*swept, *([present] if isinstance(present, str) else [])])
    for variant, rate in enumerate(tried):
        yield Remedy(
            f"a standing queue {_UNMANAGED}",
            (f"{hop}.rate={rate}", *([] if is_managed else [f"{hop}.queue={_aqm(evidence, rate)}"])),
            price="goodput above the rate of the shaper",
            variant=variant,
            curve=f"{hop}.rate={','.join(values)}" if swept else "",
            direction="down",
        )


def uplink_shaper(evidence: Evidence, effect: str) -> Iterator[Remedy]:
    """Yields a constant uplink at the rates of a shaper before it, whose queue is that of the shaper.

    `effect` is what its queue does.
    """
    steady = steady_rate(evidence.scenario.get("path", {}).get("up", {}))
    if steady is None or evidence.scenario.get("radio"):
        return
    for variant, rate in enumerate(_steady_rates(steady)):
        yield Remedy(
            f"{effect} {_UNMANAGED}",
            (f"path.up={rate}", f"path.uplink_queue={_aqm(evidence, rate)}"),
            price="goodput above the rate of the shaper",
            variant=variant,
        )


def _aqm(evidence: Evidence, rate: str) -> str:
    """Returns the queue discipline of a shaper of a rate, a value of a field."""
    return fq_codel_value(evidence, in_unit(rate, "bit/s"))


def _steady_rates(steady: float) -> Iterator[str]:
    """Yields the rates of a shaper before a link of a constant rate, bit/s, as values of a field."""
    for share in (SHAPER_SHARE, _HIGH_SHARE):
        yield f"{share * steady / 1e6:g}Mbit/s"


def _rate_text(rate_mbps: float) -> str:
    """Returns a rate as a value of a field, with two digits or in whole Mbit/s."""
    return f"{rate_mbps:.2g}Mbit/s" if rate_mbps < 100 else f"{rate_mbps:.0f}Mbit/s"
