"""Jitter of a path: the delay that it adds without a queue, and the warning that metrics have it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit

#: Jitter above which delays do not show queueing, ms.
_MIN_MS = 1.0


def jitter_ms(scenario: Mapping[str, Any], *, is_upload: bool) -> float:
    """Returns by how much jitter usually delays packets of a direction beyond the lowest delay, ms."""
    path = scenario.get("path", {})
    parts = [*([] if is_upload else [path]), *path.get("wired", ())]
    return sum(_spread_ms(part["jitter"]) for part in parts if part.get("jitter"))


def _spread_ms(jitter: Mapping[str, Any]) -> float:
    """Returns by how much jitter usually exceeds nearly its shortest draw, ms.

    Packets that do not overtake each other wait for the longest draw, and others for their own one.
    """
    mean, sd = (in_unit(jitter.get(name, "0s"), "ms") or 0.0 for name in ("mean", "sd"))
    is_kept_in_order = not jitter.get("reorder", False)
    kind = jitter.get("distribution", "normal")
    if kind == "exponential":
        return 3 * mean if is_kept_in_order else mean
    low, high = (math.sqrt(3), math.sqrt(3)) if kind == "uniform" else (3.0, 2.0)
    # A draw below zero is zero, which raises the mean by less than 0.4 standard deviations.
    usual = high if is_kept_in_order else 0.4
    return max(mean + usual * sd, 0.0) - max(mean - low * sd, 0.0)


def jittered(about: Mapping[str, Any]) -> list[str]:
    """Returns a warning if delays of results include jitter, which no congestion control makes."""
    scenario = tomllib.loads(about["scenario"])
    # Data and ACKs.
    both = sum(jitter_ms(scenario, is_upload=is_upload) for is_upload in (False, True))
    if both < _MIN_MS:
        return []
    return [
        f"RTT, induced delay and PM include up to {both:.0f} ms of jitter of the path, which is no "
        "queue of a CCA"
    ]
