"""Jitter of a path: the delay that it adds without a queue, and a warning about metrics with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit
from celltcp.scenarios.narrow_hop import base_rtt_ms, path_parts, steady_rate
from celltcp.scenarios.packets import buffer_size

#: Minimum jitter of a warning, ms; delays then do not show queueing alone.
_MIN_MS = 1.0
#: Mean of a jitter below which many of its draws are below zero, and the mean that leaves few, both in
#: standard deviations.
_MIN_MEAN_SDS, _FULL_MEAN_SDS = 1, 3


def jitter_ms(scenario: Mapping[str, Any], *, is_upload: bool) -> float:
    """Returns the delay that jitter usually adds to the minimum delay of a direction, ms."""
    path = scenario.get("path", {})
    parts = [*([] if is_upload else [path]), *path.get("wired", ())]
    return sum(_spread_ms(part["jitter"]) for part in parts if part.get("jitter"))


def _spread_ms(jitter: Mapping[str, Any]) -> float:
    """Returns the difference of the usual and nearly the minimum delay by jitter, ms.

    Packets that stay in order wait for the longest draw of their predecessors, others for their own.
    """
    mean, sd = (in_unit(jitter.get(name, "0s"), "ms") or 0.0 for name in ("mean", "sd"))
    is_in_order = not jitter.get("reorder", False)
    distribution = jitter.get("distribution", "normal")
    if distribution == "exponential":
        return 3 * mean if is_in_order else mean
    # Distances of nearly the minimum and maximum draw from the mean, standard deviations.
    low, high = (math.sqrt(3), math.sqrt(3)) if distribution == "uniform" else (3.0, 2.0)
    # A draw below zero is zero, which raises the mean by less than 0.4 standard deviations.
    usual = high if is_in_order else 0.4
    return max(mean + usual * sd, 0.0) - max(mean - low * sd, 0.0)


def jitter_warning(scenario: Mapping[str, Any]) -> list[str]:
    """Returns warnings about draws below zero, and about jitter in the delays that no CCA causes."""
    return [*_cut_draws(scenario), *_included_jitter(scenario)]


def _cut_draws(scenario: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each jitter of which many draws are below zero, and thus become zero.

    The jitter of other tools is around the delay. The RTT has the jitter of the path once, and that of
    a hop in both directions.
    """
    warnings = []
    for field, part in path_parts(scenario).items():
        jitter = part.get("jitter") or {}
        mean, sd = (in_unit(jitter.get(name, "0s"), "ms") or 0.0 for name in ("mean", "sd"))
        if jitter.get("distribution", "normal") == "exponential" or not mean < _MIN_MEAN_SDS * sd:
            continue
        new_mean = _FULL_MEAN_SDS * sd
        rtt = base_rtt_ms(scenario) - (new_mean - mean) * (1 if field == "path" else 2)
        # A delay cannot vary by more than it is.
        if not rtt > 0:
            continue
        warnings.append(
            f"{field}.jitter has a mean of {mean:g} ms beside an sd of {sd:g} ms: draws below zero are "
            "zero, so that it only adds to the delay; for a delay that varies around its mean, as that "
            f"of tc netem, --set {field}.jitter.mean={new_mean:g}ms --set path.rtt={rtt:g}ms"
            f"{_kept_buffers(scenario)}"
        )
    return warnings


def _kept_buffers(scenario: Mapping[str, Any]) -> str:
    """Returns options that keep the size of buffers in bandwidth-delay products at another RTT."""
    path, text = scenario.get("path", {}), ""
    for name, link in (("buffer", "down"), ("uplink_buffer", "up")):
        size, rate = str(path.get(name, "")), steady_rate(path.get(link))
        if size.endswith("bdp") and rate is not None:
            size_bytes = buffer_size(size, rate / 8, base_rtt_ms(scenario)) or 0.0
            text += f" --set path.{name}={size_bytes:.0f}B"
    return text


def _included_jitter(scenario: Mapping[str, Any]) -> list[str]:
    """Returns a warning if delays include jitter, which no congestion control causes."""
    # An RTT includes the jitter of both directions.
    rtt_jitter_ms = sum(jitter_ms(scenario, is_upload=is_upload) for is_upload in (False, True))
    if rtt_jitter_ms < _MIN_MS:
        return []
    return [
        f"RTT, induced delay and PM usually include {rtt_jitter_ms:.0f} ms of jitter of the path, "
        "which is no queue of a CCA"
    ]
