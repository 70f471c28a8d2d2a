"""Linux commands that set a field of a scenario."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from celltcp._core import CelltcpError, in_unit
from celltcp.comparison.lines.hop_lines import mtu_line, policer_line
from celltcp.comparison.lines.queue_lines import (
    access_shaper_lines,
    buffer_line,
    fifo_shaper_line,
    is_queue_field,
    queue_line,
    queue_of,
    shaper_line,
)
from celltcp.comparison.lines.settings_lines import (
    OTHER_SYSTEMS,
    linux_sysctls,
    option_commands,
    parameter_commands,
    systems,
)
from celltcp.comparison.lines.socket_options import has_own_scale, is_raised
from celltcp.results.first_window import INITIAL_BUFFER, LARGEST_BUFFER
from celltcp.scenarios.packets import PACKET_BYTES
from celltcp.scenarios.requests import has_larger_requests
from celltcp.scenarios.sides import NODE_FIELDS, SIDES, side_of

#: Units of the values in commands, as named in `systems.toml`.
_UNITS = ("B", "ms", "s")
#: Values of sysctls that are switches, unlike the shift of a window.
_SWITCHES = {"true": "1", "false": "0"}
#: Bytes of a full packet that fq counts, with Ethernet's header (`qdisc_pkt_len` in fq_dequeue of
#: net/sched/sch_fq.c), and of its payload, which sockets count: headers of IP and TCP have 52.
_FQ_BYTES, _PAYLOAD_BYTES = PACKET_BYTES + 14, PACKET_BYTES - 52
#: Start of the fields of the hosts of one side.
_OF_SIDE = re.compile(rf"tcp\.({'|'.join(SIDES)})\.")
#: Both ends of a connection.
BOTH_HOSTS = "both hosts"
#: Tables of links and hops.
_NETWORK = ("path", "links")
#: RTT below which hosts are in one subnet, ms.
_MAX_LAN_RTT_MS = 2.0
#: Maximum value of these sysctls and options, which are numbers of 32 bits with a sign.
_MAX_VALUE = 2**31 - 1
#: Hosts in `systems.toml` by the field of a flow that names their node, with its default.
_NODES = dict(zip(("sender", "receiver"), NODE_FIELDS.items(), strict=True))
#: Kinds of workloads whose client sends requests, which it repeats itself if they are lost.
REQUEST_KINDS = ("request-response", "page", "video")


def linux_line(change: str, scenario: Mapping[str, Any] | None = None) -> str:
    """Returns the host and the Linux command that sets a field; empty if there is no command.

    Args:
        change: field and value, such as `tcp.initial_window=32`.
        scenario: scenario, parsed from its file; None leaves out lines for rates of hops and for
            queues in other devices, and the conditions under which a command helps.
    """
    return _line(change, scenario, {}, "")


def _line(
    change: str, scenario: Mapping[str, Any] | None, others: Mapping[str, str], direction: str
) -> str:
    """Returns the line of `linux_line` for a change beside others, by field."""
    field, value = _field_and_value(change)
    parts = field.split(".")
    if parts[:2] == ["kernel", "sysctl"]:
        name = ".".join(parts[2:]).strip("\"'")
        return f"hosts: sysctl -w {shlex.quote(f'{name}={value}')}" if name else ""
    if parts[0] == "flows" and parts[2:] == ["cca"]:
        return cca_line(value, scenario, int(parts[1]))
    if parts[0] == "flows" and parts[2:] in (["max_pacing_rate"], ["nodelay"]):
        return _flow_option_line(parts[1], parts[2], value, scenario or {})
    if parts[0] in _NETWORK and parts[-1] in ("buffer", "uplink_buffer"):
        queue = ".".join(queue_of(parts))
        if others.get(queue, "droptail") != "droptail":
            # The line of the queue discipline has the limit.
            return _line(f"{queue}={others[queue]}", scenario, others, direction)
        return buffer_line(parts, value, scenario or {}, is_droptail=queue in others)
    if parts[0] in _NETWORK and parts[-1] == "mtu":
        return mtu_line(value)
    if parts[0] in _NETWORK and "policer" in parts:
        return policer_line(parts, value, scenario or {}, others)
    if is_queue_field(parts):
        buffer = f"{field[: -len('queue')]}buffer"
        if value == "droptail" and buffer in others:
            return _line(f"{buffer}={others[buffer]}", scenario, others, direction)
        if scenario is not None and field == "path.queue" and (own := others.get("path.uplink_queue")):
            # The uplink has its own with it.
            scenario = {**scenario, "path": {**scenario.get("path", {}), "uplink_queue": own}}
        return queue_line(parts, value, scenario, direction, limit=_packets(others.get(buffer, "")))
    if parts[:2] == ["path", "wired"] and parts[-1] == "rate" and scenario is not None:
        is_managed = _has_aqm(parts[2], scenario)
        if is_managed:
            return shaper_line(value, scenario, hop=parts[:3])
        return fifo_shaper_line(parts, value, scenario)
    if field == "tcp.window_scale" and has_own_scale(scenario):
        return ""
    entry = systems()["linux"]["fields"].get(field_of_all(field))
    texts = {} if entry is None else entry.get("values", {})
    text = None if entry is None else texts.get(value) or _value_text(value, entry.get("unit", ""))
    if entry is None or text is None:
        return ""
    has_condition = scenario is not None and "condition" in entry and is_raised(field, value, scenario)
    condition = f", {entry['condition']}" if has_condition else ""
    host = host_of_field(field, scenario)
    if host == BOTH_HOSTS and entry["host"] != BOTH_HOSTS:
        host += f", as the {_node('receiver', scenario) or 'other one'} repeats lost requests"
    sizes = _receive_buffers(scenario or {}, {**others, field: value})
    line = entry["line"].format(value=text, **sizes)
    if _is_on_link(scenario or {}):
        line = line.replace("default via GATEWAY", "SUBNET")
    return f"{host}{condition}: {line}"


def _packets(buffer: str) -> str:
    """Returns a size of a buffer if it is in packets; else an empty text."""
    return buffer if buffer.endswith("packets") else ""


def _is_on_link(scenario: Mapping[str, Any]) -> bool:
    """Returns whether the RTT of a scenario is that of a LAN, whose hosts are in one subnet."""
    rtt = scenario.get("path", {}).get("rtt")
    return rtt is not None and (in_unit(str(rtt), "ms") or 0.0) < _MAX_LAN_RTT_MS


def _receive_buffers(scenario: Mapping[str, Any], changes: Mapping[str, str]) -> dict[str, str]:
    """Returns the receive buffer at the start and its largest size, which one sysctl sets, bytes."""
    tcp = scenario.get("tcp", {})
    defaults = {"initial": INITIAL_BUFFER, "largest": LARGEST_BUFFER}
    fields = {"initial": "receive_buffer_initial", "largest": "receive_buffer_max"}
    initial, largest = (
        in_unit(changes.get(f"tcp.{field}") or str(tcp.get(field, defaults[name])), "B") or 0.0
        for name, field in fields.items()
    )
    # The sysctl has them in order: a change of one moves the other if need be.
    if "tcp.receive_buffer_initial" in changes:
        largest = max(initial, largest)
    return {"initial": f"{min(initial, largest):.0f}", "largest": f"{largest:.0f}"}


def linux_lines(
    changes: Iterable[str],
    scenario: Mapping[str, Any] | None = None,
    direction: str = "",
) -> list[str]:
    """Returns the lines of `linux_line` for changes that are made together.

    A hop, or the access link, that gets a rate and a queue discipline is one shaper. A queue discipline
    that is there already needs no line.
    """
    values = dict(_field_and_value(change) for change in changes)
    lines = []
    for field, value in values.items():
        hop = field.rpartition(".")[0]
        if shapers := access_shaper_lines(field, values, scenario or {}):
            lines += shapers
            continue
        is_present = is_queue_field(field.split(".")) and value == "droptail" and len(values) > 1
        if is_present or (field == f"{hop}.queue" and f"{hop}.rate" in values):
            continue
        is_shaper = field == f"{hop}.rate" and f"{hop}.queue" in values
        line = f"{field}={value}"
        if is_shaper:
            queue = values[f"{hop}.queue"]
            lines.append(shaper_line(value, scenario or {}, direction, hop.split("."), queue))
        else:
            lines.append(_line(line, scenario, values, direction))
    return [line for line in dict.fromkeys(lines) if line]


def other_places(changes: Iterable[str], scenario: Mapping[str, Any] | None = None) -> list[str]:
    """Returns where fields of changes are set that have no line of Linux; see `linux_lines`."""
    values = dict(_field_and_value(change) for change in changes)
    texts = (
        _other_place_text(field, value, scenario)
        for field, value in values.items()
        if not _line(f"{field}={value}", scenario, values, "")
    )
    return list(filter(None, texts))


def _other_place_text(field: str, value: str, scenario: Mapping[str, Any] | None) -> str:
    """Returns where a field is set that no line of Linux sets; empty if a socket option sets it."""
    parts = field.split(".")
    if field == "tcp.window_scale" and has_own_scale(scenario):
        return ""
    if parts[0] == "radio" or (parts[0] in _NETWORK and (scenario or {}).get("radio")):
        return f"{field}={value} is set at the base station, if it can be"
    if "workload" in parts:
        return f"{field}={value} is set in the application"
    if parts[0] == "tcp" and field_of_all(field) not in systems()["linux"]["fields"]:
        return f"{field} is not a setting of Linux"
    return f"no line for {field}={value}" if parts[1:] else ""


def other_system_lines(change: str) -> list[str]:
    """Returns system, host and command that set a field on Windows and FreeBSD, where they have it."""
    field, _, value = change.partition("=")
    lines = []
    for system in OTHER_SYSTEMS:
        entry = systems()[system]["fields"].get(field)
        if entry is not None and entry["value"] == value:
            lines.append(f"{systems()[system]['name']}, {entry['host']}: {entry['line']}")
    return lines


def cca_line(cca: str, scenario: Mapping[str, Any] | None = None, index: int = 0) -> str:
    """Returns the commands that set the congestion control of a flow on Linux; empty if it lacks it."""
    if not linux_sysctls(cca):
        return ""
    # The CCA of a flow with requests is that of the sender of the responses.
    sender = sender_of(index, scenario or {}) if index else with_node("sender", scenario)
    option = option_commands(cca, scenario or {}, index)
    sysctls = linux_sysctls(cca)[: -1 if option else None]
    first = [f"sysctl -w {' '.join(sysctls)}"] if sysctls else []
    return "; ".join(f"{sender}: {each}" for each in (*first, *option, *parameter_commands(cca)))


def _flow_option_line(index: str, field: str, value: str, scenario: Mapping[str, Any]) -> str:
    """Returns the host and socket option of a field of one flow; for a cap of its rate also that of tc.

    The option counts payload: TCP gives each packet its time of departure by its length without headers
    (`tcp_update_skb_after_send` of net/ipv4/tcp_output.c), and `fq` keeps to that. `maxrate` caps each
    flow of its host alike, with headers. Before Linux 4.20 `fq` counted headers for the option, too.
    """
    own = sender_of(int(index) if index.isdigit() else 0, scenario)
    if field == "nodelay":
        return f"{own}: socket option TCP_NODELAY={_SWITCHES.get(value, value)}"
    rate = in_unit(value, "bit/s")
    if not rate:
        return ""
    return (
        f"{own}: the socket option SO_MAX_PACING_RATE={rate / 8:.0f} (bytes/s of payload, also "
        "under fq from Linux 4.20 on) of each connection, or "
        "tc qdisc replace dev INTERFACE root fq maxrate "
        f"{rate * _FQ_BYTES / _PAYLOAD_BYTES / 1e3:.0f}kbit (with headers), "
        "which caps each flow of this host"
    )


def sender_of(index: int, scenario: Mapping[str, Any]) -> str:
    """Returns the sender of a flow, with its node; those beside the flow under test have their name."""
    flow = _flow(str(index), scenario)
    name = f"sender of {flow['name']}" if index and "name" in flow else "sender"
    return node_text(name, _node("sender", {**scenario, "flows": [flow]}))


def _flow(index: str, scenario: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a flow of a scenario by its number; empty without it."""
    flows = scenario.get("flows", ())
    flow: Mapping[str, Any] = flows[int(index)] if index.isdigit() and int(index) < len(flows) else {}
    return flow


def is_of_side(field: str) -> bool:
    """Returns whether a field is of the hosts of one side alone, such as `tcp.server.min_rto`."""
    return _OF_SIDE.match(field) is not None


def field_of_all(field: str) -> str:
    """Returns the field of all hosts for one of those of a side; other fields as they are."""
    return _OF_SIDE.sub("tcp.", field)


def host_of_field(field: str, scenario: Mapping[str, Any] | None) -> str:
    """Returns the host that sets a field of `tcp`, with its node in the scenario."""
    if is_of_side(field):
        return _host_of_side(field.split(".")[1], scenario or {})
    if field == "tcp.min_rto" and _has_requests(scenario or {}):
        return BOTH_HOSTS
    entry = systems()["linux"]["fields"].get(field)
    return BOTH_HOSTS if entry is None else host_text(entry["host"], scenario)


def _host_of_side(side: str, scenario: Mapping[str, Any]) -> str:
    """Returns the hosts of a side of the path that flows have, as the sender if it sends all data."""
    flows = scenario.get("flows") or [{}]
    ends = [
        {node for flow in flows if side_of(node := str(flow.get(field, default)), scenario) == side}
        for field, default in NODE_FIELDS.items()
    ]
    if ends[0] and not ends[1] and not has_larger_requests(scenario):
        return with_node("sender", scenario)
    nodes = ends[0] | ends[1]
    return node_word(nodes.pop(), scenario) if len(nodes) == 1 else f"{side}s"


def host_text(host: str, scenario: Mapping[str, Any] | None) -> str:
    """Returns a host with its node in the scenario, as `sender (server)`, if that is one.

    Where requests are larger than responses, their client is the sender of the data.
    """
    if scenario is None or host not in _NODES or not has_larger_requests(scenario):
        return with_node(host, scenario)
    if host == "receiver":
        return node_text("server", _node("sender", scenario))
    node = _node("receiver", scenario)
    return f"{node_text('client', node)}, which sends the requests"


def with_node(host: str, scenario: Mapping[str, Any] | None) -> str:
    """Returns a host of the connections with its node in the scenario, if that is one."""
    return node_text(host, _node(host, scenario))


def node_text(host: str, node: str) -> str:
    """Returns a host with its node, if that says more."""
    return host if node in ("", host) else f"{host} ({node})"


def _node(host: str, scenario: Mapping[str, Any] | None) -> str:
    """Returns the node that sends or receives in all flows of a scenario; empty without one."""
    if scenario is None or host not in _NODES:
        return ""
    field, default = _NODES[host]
    nodes = {str(flow.get(field, default)) for flow in scenario.get("flows") or [{}]}
    return node_word(nodes.pop(), scenario) if len(nodes) == 1 else ""


def node_word(node: str, scenario: Mapping[str, Any]) -> str:
    """Returns a node as texts name it: `client` for the default of receivers, without any radio."""
    path = scenario.get("path", {})
    is_mobile = "radio" in scenario or any("trace" in _table(path.get(link)) for link in ("down", "up"))
    return node if is_mobile or node != _NODES["receiver"][1] else "client"


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _has_requests(scenario: Mapping[str, Any]) -> bool:
    """Returns whether a flow of a scenario answers requests."""
    workloads = (flow.get("workload", {}) for flow in scenario.get("flows", ()))
    return any(workload.get("kind") in REQUEST_KINDS for workload in workloads)


def _has_aqm(hop: str, scenario: Mapping[str, Any]) -> bool:
    """Returns whether a hop has a queue discipline that a shaper has, too."""
    hops = scenario.get("path", {}).get("wired", ())
    queue = hops[int(hop)].get("queue") if hop.isdigit() and int(hop) < len(hops) else None
    return (queue.get("kind") if isinstance(queue, Mapping) else queue) not in (None, "droptail")


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
        is_number = number is not None and (number == 0 or 0.5 < number <= _MAX_VALUE)
        return f"{number:.0f}" if is_number else None
    if unit == "number":
        return value if value.isdigit() else None
    if unit == "none" or (unit == "switch" and value not in _SWITCHES):
        return None
    return _SWITCHES.get(value, value)
