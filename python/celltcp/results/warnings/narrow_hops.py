"""Warning about a wired hop with a default rate no higher than that of the access link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit
from celltcp.scenarios.narrow_hop import narrow_hop, steady_rate

#: Name, rate and buffer of the hop that every path has by default.
_DEFAULT_HOP = {"name": "wan", "rate": "1Gbit/s", "buffer": "10000packets"}


def narrow_hops(scenario: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each direction whose bottleneck is a wired hop, not the access link.

    The hop must have the rate of the access link, or be the default one; others are slower on purpose.
    No queue stands where a policer of the downlink admits less.
    """
    path = scenario.get("path", {})
    directions = {flow.get("from", "server") == "phone" for flow in scenario["flows"]}
    warnings = []
    for is_upload in sorted(directions):
        index = narrow_hop(scenario, is_upload=is_upload)
        if index is None:
            continue
        hop = path["wired"][index]
        access = steady_rate(path.get("up" if is_upload else "down", {}))
        is_default = all(hop.get(name) == value for name, value in _DEFAULT_HOP.items())
        if access != steady_rate(hop["rate"]) and not is_default:
            continue
        policers = [part["policer"] for part in (path, *path["wired"]) if "policer" in part]
        admitted = [in_unit(policer["rate"], "bit/s") or 0.0 for policer in policers]
        if not is_upload and min(admitted, default=math.inf) < (steady_rate(hop["rate"]) or 0.0):
            continue
        buffer = "path.uplink_buffer" if is_upload else "path.buffer"
        comparison = "as slow as" if access == steady_rate(hop["rate"]) else "slower than"
        rate = f"{10 * (access or 0.0) / 1e9:g}Gbit/s"
        warnings.append(
            f"the hop {hop['name']} (path.wired.{index}, {hop['rate']}) is {comparison} the access "
            f"link: queues stand there, and {buffer} has no effect; "
            f"--set path.wired.{index}.rate={rate} makes the access link the narrowest part"
        )
    return warnings
