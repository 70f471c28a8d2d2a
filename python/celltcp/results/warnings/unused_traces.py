"""Warning about recorded traces of a link that the data of the flows do not cross."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

#: Ends of a flow, and the direction of the access link that its data take.
_DIRECTIONS = {("server", "phone"): "down", ("phone", "server"): "up"}


def unused_traces(about: Mapping[str, Any]) -> list[str]:
    """Returns a warning if all flows are uploads, and the downlink alone has a recorded trace.

    A trace of the uplink is no mistake with downloads: it delays their ACKs.
    """
    files = {trace["direction"]: trace["file"] for trace in about.get("traces", [])}
    if "down" not in files or "up" in files:
        return []
    scenario = tomllib.loads(about["scenario"])
    ends = {(flow.get("from", "server"), flow.get("to", "phone")) for flow in scenario["flows"]}
    if {_DIRECTIONS.get(end) for end in ends} != {"up"}:
        return []
    capacity = scenario.get("path", {}).get("up", {})
    rate = capacity.get("rate") if isinstance(capacity, Mapping) else capacity
    return [
        f"all flows are uploads, but {files['down']} is the trace of the downlink, which only their "
        f"ACKs cross; their uplink {f'has {rate}' if rate else 'has no trace'} (path.up). "
        "--uplink FILE --set path.down=50Mbit/s gives a log to the uplink, without --direction"
    ]
