"""Properties of a captured path that the estimated scenario lacks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

#: Minimum share of the segments that are overtaken at which reordering matters.
_REORDERED = 0.01


def unmodelled(row: Mapping[Hashable, Any]) -> list[str]:
    """Returns what is left out, each with the field that could have it.

    Args:
        row: connection of the transfer.
    """
    result = []
    if lost := int(row["losses_outage"]):
        result.append(f"outages, in which {lost} segments were lost (path.blackouts)")
    direction = row["direction"]
    overtaken = int(row["reordered"]) + int(row[f"out_of_order_{direction}"])
    share = overtaken / max(int(row[f"segments_{direction}"]), 1)
    if share >= _REORDERED:
        result.append(f"reordering of {100 * share:.2g} % of the segments (path.jitter)")
    return result
