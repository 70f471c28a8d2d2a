"""Bottleneck of a path with constant rates: a wired hop, or the access link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit


def steady_rate(capacity: object) -> float | None:
    """Returns a constant rate, bit/s; None for a varying capacity."""
    value = capacity.get("rate") if isinstance(capacity, Mapping) else capacity
    return in_unit(value, "bit/s") if isinstance(value, str) else None


def narrow_hop(scenario: Mapping[str, Any], *, is_upload: bool) -> int | None:
    """Returns the wired hop at which the queue of a flow stands; None where it is the access link.

    Of parts with the same rate it is the first on the way of the data, which arrive at the next ones no
    faster than these send. Rates of access links that vary are not known.

    Args:
        scenario: as its file has it.
        is_upload: whether data go to the server.
    """
    path = scenario.get("path", {})
    access = steady_rate(path.get("up" if is_upload else "down", {}))
    if scenario.get("radio") or access is None:
        return None
    rates: list[tuple[int | None, float]] = [
        (index, rate)
        for index, hop in enumerate(path.get("wired", ()))
        if (rate := steady_rate(hop.get("rate"))) is not None
    ]
    rates.append((None, access))
    if is_upload:
        rates.reverse()
    return min(rates, key=lambda each: each[1])[0]
