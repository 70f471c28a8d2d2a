"""Bottleneck of a path with constant rates: a wired hop or the access link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit


def steady_rate(capacity: object) -> float | None:
    """Returns the rate of a capacity, bit/s; None if it varies."""
    value = capacity.get("rate") if isinstance(capacity, Mapping) else capacity
    return in_unit(value, "bit/s") if isinstance(value, str) else None


def narrow_hop(scenario: Mapping[str, Any], *, is_upload: bool) -> int | None:
    """Returns the index of the wired hop that is the bottleneck of a flow; None for the access link.

    Among equal rates it is the first one on the way of the data: later ones get data no faster than
    they send. With a radio or a varying access link, the access link is assumed.

    Args:
        scenario: as parsed from TOML.
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
    bottleneck, _ = min(rates, key=lambda hop_rate: hop_rate[1])
    return bottleneck
