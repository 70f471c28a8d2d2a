"""Properties of a captured path that the estimated scenario lacks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

#: Minimum share of the segments that are overtaken at which reordering matters.
_MIN_REORDERED_SHARE = 0.01


def missing_properties(row: Mapping[Hashable, Any]) -> list[str]:
    """Returns the properties that a scenario lacks, each with the field that could have it.

    Args:
        row: connection of the transfer.
    """
    texts = []
    if lost := int(row["losses_outage"]):
        texts.append(f"outages, in which {lost} segments were lost (path.blackouts)")
    direction = row["direction"]
    overtaken = int(row["reordered"]) + int(row[f"out_of_order_{direction}"])
    share = overtaken / max(int(row[f"segments_{direction}"]), 1)
    if share >= _MIN_REORDERED_SHARE:
        texts.append(f"reordering of {100 * share:.2g} % of the segments (path.jitter)")
    return texts
