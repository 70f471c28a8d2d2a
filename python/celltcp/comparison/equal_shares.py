"""Equal shares: what flows get, and ask for, as multiples of an equal share of each connection."""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING, NamedTuple

from celltcp.results.columns import rows_of
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.demand import requested_mbps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.shares import MeanShare

#: Share of an equal goodput, or of what a flow asks for at it, below which other flows starve it.
MIN_EQUAL_SHARE = 1 / 3
#: Share of an equal goodput from which on a flow asks for it all of the time, but for short pauses.
_MIN_ASKED = 0.9


class EqualShare(NamedTuple):
    """Goodput of a flow of a mix, and what it asks for at an equal share of each connection."""

    share: MeanShare
    #: Goodput of a connection as a multiple of an equal share.
    got: float
    #: Goodput of a connection whose data arrive at an equal share, as a multiple of that share.
    asked: float

    @property
    def is_lasting(self) -> bool:
        """Whether the flow asks for its share nearly all of the time."""
        return self.asked >= _MIN_ASKED

    @property
    def is_starved(self) -> bool:
        """Whether the flow gets less than `MIN_EQUAL_SHARE` of what it asks for at an equal share."""
        return self.got < MIN_EQUAL_SHARE * self.asked

    @property
    def starved_text(self) -> str:
        """What a starved flow gets."""
        of = "an equal share" if self.is_lasting else "what it asks for at an equal share"
        return f"{100 * self.got / self.asked:.0f} % of {of}"


class _Demand(NamedTuple):
    """Flow of a mix with its connections at once, its workload, and its lowest RTT."""

    share: MeanShare
    at_once: int
    workload: Mapping[str, Any]
    rtt_s: float

    def asked_mbps(self, rate_mbps: float) -> float:
        """Returns what a connection asks for if its data arrive at a rate, Mbit/s; NaN if unknown."""
        asked = requested_mbps(self.workload, rate_mbps, self.rtt_s)
        return math.nan if asked is None else asked


def equal_shares(comparison: Comparison, mix: str) -> list[EqualShare]:
    """Returns the shares of the flows of a mix that compete; empty for fewer than two.

    Flows compete in a direction of a link. Those whose demand is unknown, such as a video, are left
    out. Connections of a flow count as those that it has at once.
    """
    by_capacity: dict[object, list[_Demand]] = {}
    for each in _demands(comparison, mix):
        by_capacity.setdefault(each.share.capacity, []).append(each)
    return [
        EqualShare(each.share, got_mbps / equal_mbps, each.asked_mbps(equal_mbps) / equal_mbps)
        for demands in by_capacity.values()
        if len(demands) > 1 and (total_mbps := sum(each.share.goodput.mean for each in demands)) > 0
        for equal_mbps in [total_mbps / sum(each.at_once for each in demands)]
        for each in demands
        for got_mbps in [each.share.goodput.mean / each.at_once]
    ]


def _demands(comparison: Comparison, mix: str) -> Iterator[_Demand]:
    about = comparison.results.about
    sections = tomllib.loads(about["scenario"])["flows"]
    flows = list(zip(FlowUnderTest.each(about), sections, strict=True))
    rtts_s: dict[str, float] = {}
    for name, rtt_ms in rows_of(comparison.results.tables["flows"], "name", "rtt_min_ms"):
        if rtt_ms is not None:
            rtts_s[name] = min(rtt_ms / 1e3, rtts_s.get(name, math.inf))
    for share in comparison.competing_shares():
        # Flows of a mix beyond those of the scenario are bulk transfers.
        owners = (section for flow, section in flows if flow.includes(share.flow))
        section: dict[str, Any] = next(owners, {})
        at_once = min(share.connections, int(section.get("count", 1)))
        demand = _Demand(share, at_once, section.get("workload", {}), rtts_s.get(share.flow, 0.0))
        if share.mix == mix and not math.isnan(demand.asked_mbps(1.0)):
            yield demand
