"""Linux commands for the MTU and the policer of a hop, beside its queue."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit

#: Burst of a policer without one.
_DEFAULT_BURST = "64kB"
#: Names of interfaces of hosts.
_INTERFACE = re.compile(r"(?i)\b(nic|card|eth\d*|en[ops]\w*|server|host)\b")


def mtu_line(value: str) -> str:
    """Returns the command for the MTU of a link; empty without a size."""
    size = in_unit(value, "B")
    return "" if size is None else f"both ends of the link: ip link set dev INTERFACE mtu {size:.0f}"


def policer_line(
    parts: list[str], value: str, scenario: Mapping[str, Any], others: Mapping[str, str]
) -> str:
    """Returns the command for a policer, with rate and burst; empty without a rate.

    Args:
        parts: field of the policer, such as `["path", "policer"]`, or of its rate or burst.
        value: table of the policer, or value of that field.
        scenario: scenario, parsed from its file.
        others: values of the fields that are changed with it.
    """
    index = parts.index("policer")
    field = ".".join(parts[: index + 1])
    settings = dict(hop_at(parts[:index], scenario).get("policer") or {})
    for name, text in {**others, ".".join(parts): value}.items():
        if name == field:
            settings = _table(text)
        elif name.startswith(f"{field}."):
            settings[name.removeprefix(f"{field}.")] = text
    rate = in_unit(str(settings.get("rate", "")), "bit/s")
    burst = in_unit(str(settings.get("burst", _DEFAULT_BURST)), "B")
    if not rate or not burst:
        return ""
    return (
        "host of the policer, INTERFACE towards the receiver: tc qdisc replace dev INTERFACE clsact && "
        "tc filter replace dev INTERFACE egress prio 1 handle 1 matchall action police "
        f"rate {rate / 1e3:.0f}kbit burst {burst:.0f} conform-exceed drop"
    )


def hop_at(parts: list[str], scenario: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a hop of a scenario, or `path` for its access link; empty if it has none there."""
    hops: Any = scenario
    for part in parts:
        if isinstance(hops, Mapping):
            hops = hops.get(part, {})
        else:
            hops = hops[int(part)] if part.isdigit() and int(part) < len(hops) else {}
    return hops if isinstance(hops, Mapping) else {}


def interface_name(parts: list[str], scenario: Mapping[str, Any]) -> str:
    """Returns the name of a hop of the path that is an interface of its sender; else an empty text.

    Other hops, as of a home or the Internet, are before links that no sender owns, and a hop of a cell
    is one of its operator, for all subscribers.
    """
    name = str(hop_at(parts, scenario).get("name", ""))
    return name if _INTERFACE.search(name) and not scenario.get("radio") else ""


def _table(text: str) -> dict[str, Any]:
    """Returns the inline table of TOML in a text; empty for other texts."""
    try:
        table = tomllib.loads(f"table = {text}")["table"]
    except tomllib.TOMLDecodeError:
        return {}
    return table if isinstance(table, dict) else {}
