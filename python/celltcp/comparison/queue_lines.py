"""Linux commands for queue disciplines and shapers, with the interface that each belongs on.

A queue discipline at the root of an interface shapes what leaves there.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit
from celltcp.results.tested import THIN_WORKLOADS
from celltcp.scenarios.narrow_hop import steady_rate

#: Rate of a shaper as a share of the rate of the link after it, so that the link has no queue.
_SHAPER_SHARE = 0.9
#: Interface of a router that a shaper belongs on, by the direction of the data.
_INTERFACES = {"down": "INTERFACE to the LAN, or an ifb", "up": "INTERFACE to the WAN"}
_DIRECTIONS = {"down": "downlink", "up": "uplink"}
#: Queue disciplines by their kind, and parameters that tc has by the same name.
_NAMES = {"droptail": "pfifo", "fq-codel": "fq_codel", "codel": "codel", "pie": "pie"}
_OPTIONS = ("interval", "target")
#: Parameters that are defaults in celltcp and in tc.
_CODEL = {"target": "5ms", "interval": "100ms"}
_USUAL = {
    "codel": {**_CODEL, "ecn": "False"},
    "fq-codel": {**_CODEL, "quantum": "1514B", "flows": "1024", "ecn": "True"},
    "pie": {
        "target": "15ms",
        "update": "15ms",
        "max_burst": "150ms",
        "alpha": "0.125",
        "beta": "1.25",
        "ecn": "False",
        "estimator": "timestamps",
    },
}
#: Disciplines with CoDel's target, their default target, ms, and size of a packet, bytes.
_CODELS, _DEFAULT_TARGET_MS, _PACKET_BYTES = ("fq_codel", "codel"), 5.0, 1500
#: Fields of `path` with queue disciplines of the access link.
_ACCESS_QUEUES = ("queue", "uplink_queue")
_REPLACE = "tc qdisc replace dev INTERFACE root"


def is_queue_field(parts: list[str]) -> bool:
    """Returns whether a field is a queue discipline of the path, or a parameter of one."""
    return parts[0] == "path" and not {*_ACCESS_QUEUES}.isdisjoint(parts[1:4])


def queue_line(
    parts: list[str], value: str, scenario: Mapping[str, Any] | None, direction: str = ""
) -> str:
    """Returns the command for a queue discipline.

    The line has no effect if the queue is in another device, such as a modem. With a scenario, the text
    also has lines for that case: shapers, one for each direction, which move the queue to their host.
    The queue of a cell has no line, as its base station manages it.

    Args:
        parts: field of the queue, such as `["path", "queue"]`, or of its target or interval.
        value: discipline, a table of it with target and interval, or a value of that field.
        scenario: scenario, parsed from its file; None leaves out what depends on it.
        direction: direction of the queue, `down` or `up`; empty for those that flows fill.
    """
    if (scenario or {}).get("radio") and parts[1] in _ACCESS_QUEUES:
        return ""
    length = 4 if parts[1] == "wired" else 2
    field, inner = parts[:length], parts[length:]
    settings = _settings(inner, value, _queue_at(field, scenario or {}))
    name = _NAMES.get(settings.pop("kind", ""))
    if name is None or not settings.keys() <= {*_OPTIONS}:
        return ""
    options = "".join(f" {option} {settings[option]}" for option in _OPTIONS if option in settings)
    line = f"host before the bottleneck, INTERFACE towards it: {_REPLACE} {name}{options}"
    if scenario is None or name == "pfifo":
        return line
    directions = [direction] if direction else _filled_directions(field, scenario)
    rates = _link_rates(field, scenario, directions)
    if name in _CODELS and "target" not in settings:
        line += _target_text(rates)
    # CAKE makes target and interval of an RTT.
    rtt = f" rtt {settings['interval']}" if "interval" in settings else ""
    shapers = [
        _shaper(f"{_SHAPER_SHARE * rate / 1e3:.0f}kbit", [each], scenario, rtt)
        for each, rate in rates.items()
    ]
    path = scenario.get("path", {})
    if not shapers and any("trace" in str(path.get(each)) for each in directions):
        rate_text = "RATE, 90 % of the capacity, if that is steady"
        shapers = [_shaper(rate_text, directions, scenario, rtt)]
    shaper_text = "; ".join(shapers) or "only a shaper before it"
    return f"{line}; where the queue is a modem's or the provider's: {shaper_text}"


def buffer_line(parts: list[str], value: str, scenario: Mapping[str, Any]) -> str:
    """Returns the command for a drop-tail buffer of packets or bytes; empty for one of a cell.

    A queue discipline has a limit of its own.
    """
    queue = "uplink_queue" if parts[-1] == "uplink_buffer" else "queue"
    kind = str(_queue_at([*parts[:-1], queue], scenario).get("kind"))
    packets, size = in_unit(value, "packets"), in_unit(value, "B")
    if scenario.get("radio") or kind != "droptail" or (packets is None and size is None):
        return ""
    limit = f"bfifo limit {size:.0f}" if packets is None else f"pfifo limit {packets:.0f}"
    return (
        f"host before the bottleneck, INTERFACE towards it: {_REPLACE} {limit}, or the limit of the "
        "shaper there (tbf, netem)"
    )


def _settings(inner: list[str], value: str, present: Mapping[str, Any]) -> dict[str, str]:
    """Returns kind and parameters of a queue discipline after a change.

    Args:
        inner: names below the field of the queue, such as `["target"]`; empty for the queue itself.
        value: new value, as in a command.
        present: present parameters.
    """
    if inner:
        kept = {name: str(setting) for name, setting in present.items() if name != inner[0]}
        usual = _USUAL.get(kept.get("kind", ""), {})
        return {n: s for n, s in kept.items() if usual.get(n) != s} | {inner[0]: value}
    if not value.startswith("{"):
        return {"kind": value}
    try:
        table = tomllib.loads(f"queue = {value}")["queue"]
    except tomllib.TOMLDecodeError:
        return {}
    return {name: str(setting) for name, setting in table.items()}


def _queue_at(field: list[str], scenario: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the parameters of a queue of a scenario, of which the kind is one."""
    path = scenario.get("path", {})
    hops = path.get("wired", ())
    if field[1] == "wired":
        queue = hops[int(field[2])].get("queue") if int(field[2]) < len(hops) else None
    else:
        queue = path.get(field[1], path.get("queue"))
    return queue if isinstance(queue, Mapping) else {"kind": queue or "droptail"}


def _target_text(rates: Mapping[str, float]) -> str:
    """Returns the targets for links on which a packet takes longer than the default; or an empty text.

    RFC 8290 section 5.2.2 has the time of a packet as the lowest target.
    """
    times_ms = {direction: 8e3 * _PACKET_BYTES / rate for direction, rate in rates.items()}
    texts = [
        f"{math.ceil(time_ms)}ms on the {_DIRECTIONS[direction]}"
        for direction, time_ms in times_ms.items()
        if time_ms > _DEFAULT_TARGET_MS
    ]
    return f" (target {', '.join(texts)}: the time of a packet)" if texts else ""


def shaper_line(rate: str, scenario: Mapping[str, Any]) -> str:
    """Returns the command of a shaper with a rate; empty if that is no constant rate."""
    bits_per_s = in_unit(rate, "bit/s")
    if bits_per_s is None:
        return ""
    return _shaper(f"{bits_per_s / 1e3:.0f}kbit", _directions(scenario), scenario)


def _shaper(
    rate: str, directions: list[str], scenario: Mapping[str, Any], further_options: str = ""
) -> str:
    """Returns host, interface and command of a shaper for some directions."""
    texts = [_INTERFACES[direction] for direction in directions]
    if len(texts) > 1:
        texts = [
            f"{text} ({_DIRECTIONS[direction]})"
            for direction, text in zip(directions, texts, strict=True)
        ]
    interfaces = " and ".join(texts)
    if scenario.get("radio") and "down" in directions:
        interfaces += ", or an operator's router, INTERFACE to the base station"
    return f"router, {interfaces}: {_REPLACE} cake{further_options} bandwidth {rate}"


def _directions(scenario: Mapping[str, Any]) -> list[str]:
    """Returns the directions of the bulk flows, which fill a queue, or else of the first flow."""
    flows = scenario.get("flows") or [{}]
    # Bulk flows have no limit of their own, so that they fill the queue.
    bulk = [flow for flow in flows if flow.get("workload", {}).get("kind", "bulk") == "bulk"]
    return _sides(bulk or flows[:1])


def _link_rates(
    field: list[str], scenario: Mapping[str, Any], directions: list[str]
) -> dict[str, float]:
    """Returns the rates of the links of a queue, bit/s, by the direction.

    A link with a varying rate has none.
    """
    path = scenario.get("path", {})
    hop = path["wired"][int(field[2])].get("rate") if field[1] == "wired" else None
    rates = {each: steady_rate(hop if hop is not None else path.get(each)) for each in directions}
    return {direction: rate for direction, rate in rates.items() if rate is not None}


def _filled_directions(field: list[str], scenario: Mapping[str, Any]) -> list[str]:
    """Returns the directions of a queue that flows can fill, or else that of the first flow."""
    if field[1] == "uplink_queue":
        return ["up"]
    if field[1] == "queue" and "uplink_queue" in scenario.get("path", {}):
        return ["down"]
    flows = scenario.get("flows") or [{}]
    filling = [
        flow for flow in flows if flow.get("workload", {}).get("kind", "bulk") not in THIN_WORKLOADS
    ]
    return _sides(filling or flows[:1])


def _sides(flows: list[Mapping[str, Any]]) -> list[str]:
    """Returns the directions of flows: `down`, `up` or both."""
    return sorted({"up" if flow.get("from") == "phone" else "down" for flow in flows})
