"""Lines that set on Linux what a field of a scenario stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celltcp._core import CelltcpError, describe_cca, in_unit
from celltcp.comparison.report.settings_lines import systems

#: Units of the values of lines, as words of `systems.toml`.
_UNITS = ("B", "ms")


def linux_line(change: str, scenario: Mapping[str, Any] | None = None) -> str:
    """Returns the command that sets a field on Linux, after the host for it; empty if there is none.

    Args:
        change: field and value, such as `tcp.initial_window=32`.
        scenario: as its file has it; without it, no rate of a hop has a line.
    """
    field, _, value = change.partition("=")
    field, value = field.strip(), value.strip().strip("\"'")
    parts = field.split(".")
    if parts[:2] == ["tcp", "sysctl"]:
        name = ".".join(parts[2:]).strip("\"'")
        return f"hosts: sysctl -w {name}={value}" if name else ""
    if field == "path.queue" or (parts[:2] == ["path", "wired"] and parts[-1] == "queue"):
        return _queue_line(value)
    if parts[:2] == ["path", "wired"] and parts[-1] == "rate":
        return _shaper_line(parts[2], value, scenario or {})
    entry = systems()["linux"]["fields"].get(field)
    text = None if entry is None else _value_text(value, entry.get("unit", ""))
    if entry is None or text is None:
        return ""
    return f"{entry['host']}: {entry['line'].format(value=text)}"


def cca_line(cca: str) -> str:
    """Returns the command that sets a congestion control on Linux; empty if Linux does not have it."""
    name = cca.partition("@")[0].partition(":")[0]
    try:
        entry = describe_cca(name)
    except CelltcpError:
        return ""
    known = f"sysctl -w net.ipv4.tcp_congestion_control={entry['name']}"
    return f"sender: {known}" if entry["linux"] else ""


def _value_text(value: str, unit: str) -> str | None:
    """Returns a value as the line has it; None of one that no line sets."""
    if unit in _UNITS:
        try:
            number = in_unit(value, unit)
        except CelltcpError:
            return None
        return None if number is None else f"{number:.0f}"
    if unit == "true":
        return value if value == "true" else None
    return {"true": "1", "false": "0"}.get(value, value)


def _queue_line(value: str) -> str:
    """Returns the line for a queue discipline with default parameters."""
    name = {"droptail": "pfifo", "fq-codel": "fq_codel", "codel": "codel", "pie": "pie"}.get(value)
    return f"host before the bottleneck: tc qdisc replace dev INTERFACE root {name}" if name else ""


def _shaper_line(hop: str, value: str, scenario: Mapping[str, Any]) -> str:
    """Returns the line for the rate of a hop with an AQM, which is a shaper."""
    hops = scenario.get("path", {}).get("wired", ())
    queue = hops[int(hop)].get("queue") if hop.isdigit() and int(hop) < len(hops) else None
    kind = queue.get("kind") if isinstance(queue, Mapping) else queue
    rate = in_unit(value, "bit/s") if kind not in (None, "droptail") else None
    if rate is None:
        return ""
    return f"router: tc qdisc replace dev INTERFACE root cake bandwidth {rate / 1e3:.0f}kbit"
