"""Warning about a wired hop with a default rate no higher than that of the access link."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from celltcp.scenarios.narrow_hop import narrow_hop, steady_rate

#: Rate and buffer of the hop that every path has by default, as scenarios of results have them.
_DEFAULT = {"name": "wan", "rate": "1Gbit/s", "buffer": "10000packets"}


def narrow_hops(about: Mapping[str, Any]) -> list[str]:
    """Returns a warning for the hop at which queues stand in place of the access link.

    A hop that is slower by choice has none; one of the same rate, or the default one, has.
    """
    scenario = tomllib.loads(about["scenario"])
    path = scenario.get("path", {})
    ways = {flow.get("from", "server") == "phone" for flow in scenario["flows"]}
    warnings = []
    for is_upload in sorted(ways):
        place = narrow_hop(scenario, is_upload=is_upload)
        if place is None:
            continue
        hop = path["wired"][place]
        access = steady_rate(path.get("up" if is_upload else "down", {}))
        is_default = all(hop.get(name) == value for name, value in _DEFAULT.items())
        if access != steady_rate(hop["rate"]) and not is_default:
            continue
        buffer = "path.uplink_buffer" if is_upload else "path.buffer"
        slow = "as slow as" if access == steady_rate(hop["rate"]) else "slower than"
        rate = f"{10 * (access or 0.0) / 1e9:g}Gbit/s"
        warnings.append(
            f"the hop {hop['name']} (path.wired.{place}, {hop['rate']}) is {slow} the access link: "
            f"queues stand there, and {buffer} has no effect; --set path.wired.{place}.rate={rate} "
            "makes the access link the narrowest part"
        )
    return warnings
