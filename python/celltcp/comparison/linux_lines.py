"""Linux commands that set a field of a scenario."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from celltcp._core import CelltcpError, in_unit
from celltcp.comparison.report.settings_lines import (
    OTHER_SYSTEMS,
    linux_sysctls,
    systems,
)
from celltcp.comparison.socket_options import is_raised

#: Units of the values in commands, as named in `systems.toml`.
_UNITS = ("B", "ms")
#: Maximum value of these sysctls and options, which are numbers of 32 bits with a sign.
_MAX_VALUE = 2**31 - 1
#: Rate of a shaper as a share of the rate of the link after it, so that the link has no queue.
_SHAPER_SHARE = 0.9


def linux_line(change: str, scenario: Mapping[str, Any] | None = None) -> str:
    """Returns the host and the Linux command that sets a field; empty if there is no command.

    Args:
        change: field and value, such as `tcp.initial_window=32`.
        scenario: scenario, parsed from its file; None leaves out lines for rates of hops and for
            queues in other devices, and the conditions under which a command helps.
    """
    field, value = _field_and_value(change)
    parts = field.split(".")
    if parts[:2] == ["tcp", "sysctl"]:
        name = ".".join(parts[2:]).strip("\"'")
        return f"hosts: sysctl -w {shlex.quote(f'{name}={value}')}" if name else ""
    if field == "path.queue" or (parts[:2] == ["path", "wired"] and parts[-1] == "queue"):
        return _queue_line(parts, value, scenario)
    if parts[:2] == ["path", "wired"] and parts[-1] == "rate":
        return _shaper_line(parts[2], value, scenario or {})
    entry = systems()["linux"]["fields"].get(field)
    text = None if entry is None else _value_text(value, entry.get("unit", ""))
    if entry is None or text is None:
        return ""
    has_condition = scenario is not None and "condition" in entry and is_raised(field, value, scenario)
    condition = f", {entry['condition']}" if has_condition else ""
    return f"{entry['host']}{condition}: {entry['line'].format(value=text)}"


def linux_lines(changes: Iterable[str], scenario: Mapping[str, Any] | None = None) -> list[str]:
    """Returns the lines of `linux_line` for changes that are made together.

    A hop that gets a rate and a queue discipline is one shaper.
    """
    values = dict(_field_and_value(change) for change in changes)
    lines = []
    for field, value in values.items():
        hop = field.rpartition(".")[0]
        if field == f"{hop}.queue" and f"{hop}.rate" in values:
            continue
        is_shaper = field == f"{hop}.rate" and f"{hop}.queue" in values
        lines.append(_cake_line(value) if is_shaper else linux_line(f"{field}={value}", scenario))
    return [line for line in lines if line]


def other_system_lines(change: str) -> list[str]:
    """Returns system, host and command that set a field on Windows and FreeBSD, where they have it."""
    field, _, value = change.partition("=")
    lines = []
    for system in OTHER_SYSTEMS:
        entry = systems()[system]["fields"].get(field)
        if entry is not None and entry["value"] == value:
            lines.append(f"{systems()[system]['name']}, {entry['host']}: {entry['line']}")
    return lines


def cca_line(cca: str) -> str:
    """Returns the command that sets a congestion control on Linux; empty if Linux does not have it."""
    sysctls = linux_sysctls(cca)
    return f"sender: sysctl -w {' '.join(sysctls)}" if sysctls else ""


def _field_and_value(change: str) -> tuple[str, str]:
    """Returns field and value of a change such as `tcp.initial_window=32`."""
    field, _, value = change.partition("=")
    return field.strip(), value.strip().strip("\"'")


def _value_text(value: str, unit: str) -> str | None:
    """Returns a value in the form of the command; None if no command sets it."""
    if unit in _UNITS:
        try:
            number = in_unit(value, unit)
        except CelltcpError:
            return None
        return None if number is None or number > _MAX_VALUE else f"{number:.0f}"
    if unit == "segments":
        return value if value.isdigit() else None
    if unit == "true":
        return value if value == "true" else None
    return {"true": "1", "false": "0"}.get(value, value)


def _queue_line(parts: list[str], value: str, scenario: Mapping[str, Any] | None) -> str:
    """Returns the command for a queue discipline with default parameters.

    The line has no effect if the queue is in another device, such as a modem. With a scenario, the text
    also has lines for that case: shapers, one for each direction, which move the queue to their host.
    The queue of a cell has no line, as its base station manages it.
    """
    if (scenario or {}).get("radio") and parts[1] == "queue":
        return ""
    name = {"droptail": "pfifo", "fq-codel": "fq_codel", "codel": "codel", "pie": "pie"}.get(value)
    if name is None:
        return ""
    replace = "tc qdisc replace dev INTERFACE root"
    line = f"host before the bottleneck: {replace} {name}"
    if scenario is None or value == "droptail":
        return line
    shapers = [
        f"{replace} cake bandwidth {rate / 1e3:.0f}kbit{direction}"
        for direction, rate in _shaped_rates(parts, scenario).items()
    ]
    if not shapers and parts[0] == "path" and "trace" in str(scenario.get("path", {}).get("down")):
        shapers = [f"{replace} cake bandwidth RATE, 90 % of the capacity, if that is steady"]
    shaper_text = ", ".join(shapers) or "none but a shaper before it"
    return f"{line}; where the queue is in a device behind it: {shaper_text}"


def _shaped_rates(parts: list[str], scenario: Mapping[str, Any]) -> dict[str, float]:
    """Returns the rates of shapers before a link, bit/s, by the text for the direction.

    A link with a varying rate has no shaper.
    """
    path = scenario.get("path", {})
    if parts[1] == "wired":
        rates = {"": _shaper_rate(path["wired"][int(parts[2])].get("rate"))}
    else:
        flows = scenario.get("flows") or [{}]
        # Bulk flows have no limit of their own, so that they fill the queue.
        bulk = [flow for flow in flows if flow.get("workload", {}).get("kind", "bulk") == "bulk"]
        directions = {"up" if flow.get("from") == "phone" else "down" for flow in bulk or flows[:1]}
        texts = dict.fromkeys(directions, "")
        if len(directions) > 1:
            texts = {"up": " (uplink)", "down": " (downlink)"}
        rates = {text: _shaper_rate(path.get(direction)) for direction, text in texts.items()}
    return {text: rate for text, rate in rates.items() if rate is not None}


def _shaper_rate(capacity: object) -> float | None:
    """Returns the rate of a shaper before a link, bit/s; None for a link with a varying rate."""
    value = capacity.get("rate") if isinstance(capacity, Mapping) else capacity
    rate = in_unit(value, "bit/s") if isinstance(value, str) else None
    return None if rate is None else _SHAPER_SHARE * rate


def _shaper_line(hop: str, value: str, scenario: Mapping[str, Any]) -> str:
    """Returns the command of a shaper for the rate of a hop with an AQM; empty without an AQM."""
    hops = scenario.get("path", {}).get("wired", ())
    queue = hops[int(hop)].get("queue") if hop.isdigit() and int(hop) < len(hops) else None
    kind = queue.get("kind") if isinstance(queue, Mapping) else queue
    return "" if kind in (None, "droptail") else _cake_line(value)


def _cake_line(rate: str) -> str:
    """Returns the command of a shaper with a rate; empty if that is no constant rate."""
    bits_per_s = in_unit(rate, "bit/s")
    if bits_per_s is None:
        return ""
    return f"router: tc qdisc replace dev INTERFACE root cake bandwidth {bits_per_s / 1e3:.0f}kbit"
