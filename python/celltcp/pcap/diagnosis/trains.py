"""Rate of the narrowest link by the gaps of packet trains, which a sender need not fill."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from celltcp.scenarios.quantity_texts import three_digits

#: Minimum number of trains, and maximum range of their rates as a share if they are no more than a few.
_MIN_TRAINS, _FEW_TRAINS, _MAX_RANGE = 2, 3, 0.1
#: Minimum ratio of the median rate to the highest one on a link of constant rate.
_MIN_CONSTANT_RATIO = 0.98
#: Minimum ratio of the lowest rate and of the throughput to the median one on a link that is full, and
#: maximum of the latter: ACKs after repairs come closer together than data pass.
_MIN_FULL_RATIO, _MAX_FULL_RATIO = 0.95, 1.02
#: Sides of a capture on which trains show the path, by its place.
SIDES = {"sender": ("far",), "receiver": ("near",), "between": ("far", "near")}


class LinkRate(NamedTuple):
    """Rate of the narrowest link, Mbit/s of payload: median and 80 % of the trains, by their bytes.

    Other traffic on the link stretches gaps, and a rate that varies spreads them.
    """

    trains: int
    mbps: float
    low_mbps: float
    high_mbps: float

    def __str__(self) -> str:
        # Most trains of a link of constant rate have it, however others on it stretch the rest.
        is_constant = self.mbps >= _MIN_CONSTANT_RATIO * self.high_mbps
        lowest_mbps = self.high_mbps if is_constant else self.low_mbps
        low, high = three_digits(lowest_mbps), three_digits(self.high_mbps)
        return low if low == high else f"{low} to {high}"

    def gaps_text(self, ratio: float) -> str:
        """Returns the range of the rate as text, times a ratio of headers and payload to payload."""
        low, high = ratio * self.low_mbps, ratio * self.high_mbps
        return f"by the gaps in {self.trains} bursts, of which 80 % have {low:.2f} to {high:.2f} Mbit/s"


def link_rate(row: Mapping[Any, Any]) -> LinkRate | None:
    """Returns the rate of the narrowest link of the path of a connection; None with too few trains."""
    sides = SIDES.get(str(row["place"]), ())
    rates = [
        LinkRate(
            int(row[f"{side}_trains"]),
            *(float(row[f"{side}_train_{name}mbps"]) for name in ("", "low_", "high_")),
        )
        for side in sides
        if row[f"{side}_trains"] >= _MIN_TRAINS
    ]
    slowest = min(rates, key=lambda rate: rate.mbps, default=None) if len(rates) == len(sides) else None
    if slowest is None:
        return None
    carried_mbps = float(row["throughput_mbps"])
    is_full = slowest.mbps * _MIN_FULL_RATIO <= min(slowest.low_mbps, carried_mbps)
    if is_full and carried_mbps <= _MAX_FULL_RATIO * slowest.mbps < slowest.high_mbps:
        slowest = slowest._replace(high_mbps=slowest.mbps)
    sent_s = row["download_s"] - row["stalled_s"] - row[f"pauses_{row['direction']}_s"]
    if sent_s > 0 and carried_mbps * row["download_s"] / sent_s > _MAX_FULL_RATIO * slowest.high_mbps:
        # A rate that varies is not that of the moments in which bursts came.
        return None
    is_certain = slowest.high_mbps <= (1 + _MAX_RANGE) * slowest.low_mbps
    return slowest if is_certain or slowest.trains > _FEW_TRAINS else None
