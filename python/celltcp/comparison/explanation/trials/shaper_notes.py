"""Notes on shapers before a link that varies: how often it is slower, and where a router stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.explanation.causes.slow_periods import link_rates
from celltcp.scenarios.packets import PACKET_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.trials.alternatives import Alternative

#: Place of a shaper that may stand behind the link.
_ROUTER = "router"
#: Minimum share of the time below a rate that is named, and least rate of a steady link in a slot, as a
#: share of its median.
_MIN_SHARE, _MIN_STEADY_SHARE = 0.01, 0.9


def shaper_notes(shown: Iterable[Alternative], evidence: Evidence) -> list[str]:
    """Returns sentences on the shapers of downloads among alternatives; none without one."""
    rates, notes, is_behind = {}, [], False
    for each in shown:
        for change in each.changes:
            field, _, value = change.partition("=")
            is_rate = field.startswith("path.wired.") and field.endswith(".rate")
            if is_rate and (mbps := in_unit(value, "Mbit/s")) is not None:
                rates[mbps] = value
                is_behind |= _ROUTER in each.places
    link_mbps = np.concatenate([*link_rates(evidence).values()]) * PACKET_BYTES / evidence.mss
    link_mbps = link_mbps[np.isfinite(link_mbps)]
    if not len(link_mbps) or link_mbps.min() >= _MIN_STEADY_SHARE * np.median(link_mbps):
        # Of a steady link, slots differ by a few packets.
        rates = {}
    shares = {mbps: float((link_mbps < mbps).mean()) for mbps in rates}
    below = [each for each in (max(rates, default=0.0), min(rates, default=0.0)) if each in shares]
    if below and shares[below[0]] >= _MIN_SHARE:
        texts = [f"below {rates[each]} for {percent_text(shares[each])} of the time" for each in below]
        notes.append(
            "a shaper above the rate of the link leaves its queue where it is: the link was "
            f"{' and '.join(dict.fromkeys(texts))}"
        )
    if is_behind:
        notes.append(
            "shapers of downloads were tried before the link; behind it (INTERFACE to the LAN), packets"
            " wait in the queue of the link first, so that the tail is longer and more are lost"
        )
    return notes
