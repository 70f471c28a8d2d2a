"""Linux commands for queue disciplines and shapers, with the interface that each belongs on.

A queue discipline at the root of an interface shapes what leaves there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from celltcp._core import in_unit
from celltcp.comparison.lines.hop_lines import hop_at, interface_name
from celltcp.results.tested import THIN_WORKLOADS
from celltcp.scenarios.narrow_hop import base_rtt_ms, steady_rate
from celltcp.scenarios.packets import PACKET_BYTES, buffer_size
from celltcp.scenarios.quantity_texts import time_text
from celltcp.scenarios.sides import is_upload

#: Rate of a shaper as a share of the rate of the link after it, so that the link has no queue.
SHAPER_SHARE = 0.9
#: Least burst of tbf: a tick of kernels with 250 Hz, s, and two packets of an Ethernet, bytes.
_TICK_S, _MIN_BURST = 0.004, 3028
#: Longest wait in the queue of a shaper, beside a round trip, that is no loss, s.
_MAX_WAIT_S = 0.1
#: Interface of a router that a shaper belongs on, by the direction of the data.
_INTERFACES = {"down": "INTERFACE to the LAN, or an ifb", "up": "INTERFACE to the WAN"}
#: Queue disciplines by their kind, and their parameters with the names that tc has for them.
_NAMES = {"droptail": "pfifo", "fq-codel": "fq_codel", "codel": "codel", "pie": "pie"}
_CODEL_OPTIONS = {"interval": "interval", "target": "target", "ecn": "ecn"}
_OPTIONS = {
    "pfifo": {},
    "codel": _CODEL_OPTIONS,
    "fq_codel": {**_CODEL_OPTIONS, "quantum": "quantum", "flows": "flows"},
    "pie": {"target": "target", "update": "tupdate", "alpha": "alpha", "beta": "beta", "ecn": "ecn"},
}
#: Steps of alpha and beta of PIE in tc for 1 Hz (tc-pie(8)).
_PIE_STEPS = 16
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
#: Fields of `path` with queue disciplines of the access link.
_ACCESS_QUEUES = ("queue", "uplink_queue")
#: Field of the rate of the access link by its direction.
RATES = {"down": "path.down", "up": "path.up"}
_LINKS = {"down": "downlink", "up": "uplink"}
#: Text for a queue in another device than the host before its link.
BEHIND_MODEM = "where the queue is a modem's or the provider's"
#: Text before the options that try a shaper.
_UNTRIED = ", untried: "
_REPLACE = "tc qdisc replace dev INTERFACE root"


def is_queue_field(parts: list[str]) -> bool:
    """Returns whether a field is a queue discipline of a hop, or a parameter of one."""
    return parts[0] in ("path", "links") and not {*_ACCESS_QUEUES}.isdisjoint(parts[1:4])


def queue_line(
    parts: list[str],
    value: str,
    scenario: Mapping[str, Any] | None,
    direction: str = "",
    *,
    limit: str,
) -> str:
    """Returns the command for a queue discipline.

    The line has no effect if the queue is in another device, such as a modem. With a scenario, the text
    says so, with the options that try a shaper, which moves the queue to its host. The queue of a cell
    has no line, as its base station manages it.

    Args:
        parts: field of the queue, such as `["path", "queue"]`, or of its target or interval.
        value: discipline, a table of it with target and interval, or a value of that field.
        scenario: scenario, parsed from its file; None leaves out what depends on it.
        direction: direction of the queue, `down` or `up`; empty for those that flows fill.
        limit: buffer that the queue gets with it, in packets; empty for that of the discipline.
    """
    if (scenario or {}).get("radio") and parts[1] in _ACCESS_QUEUES:
        return ""
    length = next(index for index, part in enumerate(parts) if part in _ACCESS_QUEUES) + 1
    field = parts[:length]
    discipline = _discipline(_settings(parts[length:], value, _queue_at(field, scenario or {})))
    packets = in_unit(limit, "packets") if limit else None
    limit_text = "" if packets is None else f" limit {packets:.0f}"
    line = f"{_host_before(field, scenario)}: {_REPLACE} {discipline}{limit_text}"
    if scenario is None or not discipline or discipline == "pfifo":
        return line if discipline else ""
    return f"{line}; {_behind_modem(field, scenario, direction)}"


def _discipline(settings: Mapping[str, str]) -> str:
    """Returns a queue discipline as tc has it; empty if it lacks the kind or a parameter."""
    settings = {**settings}
    name = _NAMES.get(settings.pop("kind", ""))
    if name is None or not settings.keys() <= _OPTIONS[name].keys():
        return ""
    texts = [
        _option(_OPTIONS[name][each], settings[each]) for each in _OPTIONS[name] if each in settings
    ]
    return "" if "" in texts else " ".join([name, *texts])


def _behind_modem(field: list[str], scenario: Mapping[str, Any], direction: str = "") -> str:
    """Returns what a queue in another device needs: a shaper, with the options that try it.

    A link with a varying rate has none.
    """
    hop, is_access = hop_at(field[:-1], scenario), len(field) == len(("path", "queue"))
    changes = [
        f"--set {RATES[each] if is_access else '.'.join([*field[:-1], 'rate'])}="
        f"{SHAPER_SHARE * rate / 1e6:g}Mbit/s"
        for each in ([direction] if direction else filled_directions(field, scenario))
        if (rate := steady_rate(hop.get(each if is_access else "rate"))) is not None
    ]
    untried = f"{_UNTRIED}{' '.join(dict.fromkeys(changes))} as well" if changes else ""
    return f"{BEHIND_MODEM}: only a shaper before it{untried}"


def without_untried(text: str) -> str:
    """Returns a text with lines of `queue_line` without the options that try a shaper."""
    return re.sub(rf"{_UNTRIED}.*? as well", "", text)


def buffer_line(parts: list[str], value: str, scenario: Mapping[str, Any], *, is_droptail: bool) -> str:
    """Returns the command for a buffer; empty for one of a cell, or of a rate that varies.

    A queue discipline has a limit in packets.

    Args:
        parts: field of the buffer, such as `["path", "buffer"]`.
        value: size of the buffer.
        scenario: scenario, parsed from its file.
        is_droptail: whether its link gets no other discipline with it, whatever the present one.
    """
    field = queue_of(parts)
    kind = "droptail" if is_droptail else str(_queue_at(field, scenario).get("kind"))
    if scenario.get("radio"):
        return ""
    if kind != "droptail":
        # The present kind as a new value of it leaves its parameters as they are.
        has_limit = in_unit(value, "packets") is not None
        return queue_line([*field, "kind"], kind, scenario, limit=value) if has_limit else ""
    limit = _fifo(parts, value, scenario)
    if not limit:
        return ""
    line = (
        f"{_host_before(field, scenario)}: {_REPLACE} {limit}, or the limit of the shaper "
        "there (tbf, netem)"
    )
    return f"{line}; {_behind_modem(field, scenario)}" if field[0] == "path" and scenario else line


def _fifo(parts: list[str], value: str, scenario: Mapping[str, Any]) -> str:
    """Returns a FIFO of a size as tc has it; empty for one in time or BDPs of a rate that varies."""
    if (packets := in_unit(value, "packets")) is not None:
        return f"pfifo limit {packets:.0f}"
    size = _buffer_bytes(parts, value, scenario)
    return "" if size is None else f"bfifo limit {size:.0f}"


def _host_before(field: list[str], scenario: Mapping[str, Any] | None) -> str:
    """Returns the host whose interface has a queue, with the link that it is before."""
    link = "link"
    if field[1] in _ACCESS_QUEUES and scenario is not None:
        link = " and the ".join(_LINKS[each] for each in filled_directions(field, scenario))
    elif field[1] == "wired" and scenario is not None:
        hops = scenario.get("path", {}).get("wired", ())
        hop = hops[int(field[2])] if field[2].isdigit() and int(field[2]) < len(hops) else {}
        link = f"hop {hop.get('name', field[2])}"
        # The path begins at the server.
        if (
            field[2] == "0"
            and _directions(scenario) == ["down"]
            and interface_name(field[:3], scenario)
        ):
            return f"server, INTERFACE towards the {link}"
    return f"host before the {link}, INTERFACE towards it"


def queue_of(parts: list[str]) -> list[str]:
    """Returns the field of the queue discipline of a buffer."""
    return [*parts[:-1], "uplink_queue" if parts[-1] == "uplink_buffer" else "queue"]


def _buffer_bytes(parts: list[str], value: str, scenario: Mapping[str, Any]) -> float | None:
    """Returns the size of a buffer in bytes; None for one in time or BDPs where the rate varies."""
    access = "up" if parts[-1] == "uplink_buffer" else "down"
    rate = steady_rate(hop_at(parts[:-1], scenario).get(access if parts[:-1] == ["path"] else "rate"))
    return buffer_size(value, None if rate is None else rate / 8, base_rtt_ms(scenario))


def _option(name: str, value: str) -> str:
    """Returns an option of tc with its value; empty if tc does not have that value."""
    if name == "ecn":
        return "ecn" if value.lower() == "true" else "noecn"
    if name in ("alpha", "beta"):
        steps = _PIE_STEPS * float(value)
        return f"{name} {steps:.0f}" if steps.is_integer() else ""
    return f"{name} {in_unit(value, 'B'):.0f}" if name == "quantum" else f"{name} {value}"


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
    hop = hop_at(field[:-1], scenario)
    queue = hop.get(field[-1], hop.get("queue"))
    return queue if isinstance(queue, Mapping) else {"kind": queue or "droptail"}


def fifo_shaper_line(parts: list[str], rate: str, scenario: Mapping[str, Any]) -> str:
    """Returns the command of a hop with a rate and no AQM; empty if rate or buffer are not constant.

    Args:
        parts: field of the rate, such as `["path", "wired", "0", "rate"]`.
        rate: new rate.
        scenario: scenario, parsed from its file.
    """
    bits_per_s = in_unit(rate, "bit/s")
    buffer = [*parts[:-1], "buffer"]
    size = _buffer_bytes(buffer, str(hop_at(parts[:-1], scenario).get("buffer", "")), scenario)
    if bits_per_s is None or size is None:
        return ""
    rate_bytes = bits_per_s / 8
    burst = max(rate_bytes * _TICK_S, _MIN_BURST)
    bdp = max(rate_bytes * base_rtt_ms(scenario) / 1e3, 2 * burst)
    untried = ""
    if size > max(rate_bytes * _MAX_WAIT_S, bdp):
        untried = (
            f"; untried is its limit of 1 BDP, which one connection fills: {size:.0f} bytes wait "
            f"{time_text(size / rate_bytes)}; --set {'.'.join(buffer)}={bdp:.0f}B as well"
        )
        size = bdp
    return (
        f"host before this hop, INTERFACE towards it: {_REPLACE} tbf rate {bits_per_s / 1e3:.0f}kbit "
        f"burst {burst:.0f} limit {size:.0f}, or the speed of its link{untried}"
    )


def shaper_line(
    rate: str,
    scenario: Mapping[str, Any],
    direction: str = "",
    hop: Sequence[str] = (),
    queue: str = "",
) -> str:
    """Returns the command of a shaper with an AQM; empty if its rate is not constant.

    Args:
        rate: its rate.
        scenario: scenario, parsed from its file.
        direction: `down` or `up`; empty for those of the flows that fill a queue.
        hop: field of the hop that it is; an interface of a sender has it itself, and other hops stand
            for a router.
        queue: its queue discipline, or a table of that; that of the hop if empty.
    """
    bits_per_s = in_unit(rate, "bit/s")
    if bits_per_s is None:
        return ""
    present = _queue_at([*hop, "queue"], scenario) if hop and not queue else {}
    settings = {name: str(each) for name, each in present.items()} or _settings([], queue, {})
    usual = _USUAL.get(settings.get("kind", ""), {})
    discipline = _shaped_discipline(
        {name: each for name, each in settings.items() if usual.get(name) != each}, bits_per_s
    )
    kbit = f"{bits_per_s / 1e3:.0f}kbit"
    if not discipline:
        return ""
    if hop and interface_name([*hop], scenario):
        return f"{_host_before([*hop, 'queue'], scenario)}: {_shaper_command(kbit, discipline)}"
    return _shaper(kbit, [direction] if direction else _directions(scenario), scenario, discipline)


def access_shaper_lines(
    field: str, changes: Mapping[str, str], scenario: Mapping[str, Any]
) -> list[str]:
    """Returns the commands of shapers that a queue or buffer of the access link is with its rates.

    Args:
        field: field that is changed.
        changes: new values of all fields.
        scenario: scenario, parsed from its file.
    """
    table, _, name = field.partition(".")
    if table != "path" or name not in (*_ACCESS_QUEUES, "buffer", "uplink_buffer"):
        return []
    has_own_uplink = any("uplink_" in each for each in (*changes, *scenario.get("path", {})))
    directions = ["up"] if "uplink_" in name else ["down", *([] if has_own_uplink else ["up"])]
    lines = []
    for direction in directions:
        rate = changes.get(RATES[direction], "")
        if name in _ACCESS_QUEUES and rate:
            lines.append(shaper_line(rate, scenario, direction, queue=changes[field]))
        elif rate and (fifo := _fifo(["path", name], changes[field], scenario)):
            kbit = f"{(in_unit(rate, 'bit/s') or 0.0) / 1e3:.0f}kbit"
            lines.append(_shaper(kbit, [direction], scenario, fifo))
    return lines


def _shaped_discipline(settings: Mapping[str, str], bits_per_s: float) -> str:
    """Returns the queue discipline of a shaper: CAKE for FQ-CoDel whose times it has, or itself.

    CAKE makes target and interval of an RTT; other parameters hold for their discipline alone.
    """
    times = {name: each for name, each in settings.items() if name != "kind"}
    is_cake = settings.get("kind") == "fq-codel" and times.keys() <= _CODEL.keys()
    if is_cake and (not times or _has_cake_times(times, bits_per_s)):
        return f"cake rtt {times['interval']}" if "interval" in times else "cake"
    return _discipline(settings)


def _shaper(
    rate: str, directions: list[str], scenario: Mapping[str, Any], discipline: str = "cake"
) -> str:
    """Returns host, interface and command of a shaper for some directions."""
    texts = [_INTERFACES[direction] for direction in directions]
    if len(texts) > 1:
        texts = [
            f"{text} ({_LINKS[direction]})" for direction, text in zip(directions, texts, strict=True)
        ]
    interfaces = " and ".join(texts)
    if scenario.get("radio") and "down" in directions:
        # The rate is that of one UE; the interface has those of the whole cell.
        interfaces += (
            ", or an operator's router in a class of this subscriber alone (HTB), not for all of "
            "INTERFACE to the base station"
        )
    return f"router, {interfaces}: {_shaper_command(rate, discipline)}"


def _shaper_command(rate: str, discipline: str) -> str:
    """Returns the command of a shaper whose queue has a discipline; CAKE has a rate of its own."""
    if discipline.startswith("cake"):
        return f"{_REPLACE} {discipline} bandwidth {rate}"
    return (
        f"{_REPLACE} handle 1: htb default 1 && tc class replace dev INTERFACE "
        f"parent 1: classid 1:1 htb rate {rate} && "
        f"tc qdisc replace dev INTERFACE parent 1:1 {discipline}"
    )


def _has_cake_times(settings: Mapping[str, str], bits_per_s: float) -> bool:
    """Returns whether CAKE at this rate has about the target and interval of a discipline.

    Its target is a 20th of its RTT, which is the interval, and at least the time of 1.5 packets.
    """
    target_s, interval_s = (
        in_unit(settings.get(name, usual), "s") or 0.0 for name, usual in _CODEL.items()
    )
    own_s = max(interval_s / 20, 12 * PACKET_BYTES / bits_per_s)
    return own_s / 2 <= target_s <= 2 * own_s


def _directions(scenario: Mapping[str, Any]) -> list[str]:
    """Returns the directions of the bulk flows, which fill a queue, or else of the first flow."""
    flows = scenario.get("flows") or [{}]
    # Bulk flows have no limit of their own, so that they fill the queue.
    bulk = [flow for flow in flows if flow.get("workload", {}).get("kind", "bulk") == "bulk"]
    return _sides(bulk or flows[:1])


def filled_directions(field: list[str], scenario: Mapping[str, Any]) -> list[str]:
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
    return sorted({"up" if is_upload(flow) else "down" for flow in flows})
