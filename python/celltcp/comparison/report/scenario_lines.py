"""Host settings of a scenario other than the congestion control, as Linux commands."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from celltcp._core import Scenario
from celltcp.comparison.lines.linux_lines import (
    BOTH_HOSTS,
    field_of_all,
    is_of_side,
    linux_line,
    linux_lines,
)
from celltcp.comparison.lines.settings_lines import systems
from celltcp.present.section import Block
from celltcp.scenarios.lower_bounds import is_of_capture
from celltcp.scenarios.sides import NODE_FIELDS, SIDES, side_of

#: Start of commands that change the default route; the options of several have to be in one command.
_ROUTE = "ip route change default via GATEWAY dev INTERFACE "
#: Ends of a connection in `systems.toml`, the sender of the data first.
_ENDS = "sender", "receiver"
#: Settings that the hosts of a capture have, or a window that stands for the limit of its sender.
_OF_CAPTURED_HOSTS = tuple(
    f"tcp.{name}"
    for name in ("receive_buffer_max", "receive_window_max", "send_buffer_max", "window_scale")
)


@functools.cache
def _defaults() -> Mapping[str, Any]:
    """Returns the default settings of hosts, the table `tcp` of a scenario."""
    tcp: Mapping[str, Any] = tomllib.loads(Scenario.from_toml("", "defaults", "", []).to_toml())["tcp"]
    return tcp


def scenario_block(scenario: Mapping[str, Any], without: Collection[str]) -> Block | None:
    """Returns the commands for the host settings of a scenario; None if all settings are defaults.

    `scenario` is parsed from its file; settings in the fields `without` are left out, and those that
    the hosts of a capture have.
    """
    left_out = {*without, *(_OF_CAPTURED_HOSTS if is_of_capture(scenario) else ())}
    tcp = scenario.get("tcp", {})
    of_sides = {f"{side}.{name}": tcp[side][name] for side in SIDES for name in tcp.get(side, ())}
    given = {
        f"tcp.{name}": value
        for name, value in {**tcp, **of_sides}.items()
        if value != _defaults().get(name) and f"tcp.{name}" not in left_out
    }
    texts = {
        field: str(value).lower() if isinstance(value, bool) else str(value)
        for field, value in given.items()
    }
    fields = [field for field in systems()["linux"]["fields"] if field in given]
    hosts = _hosts(scenario)
    # Some fields are one sysctl, so that their lines depend on each other.
    lines = linux_lines(f"{field}={texts[field]}" for field in fields)
    for field in filter(is_of_side, texts):
        command = linux_line(f"{field_of_all(field)}={texts[field]}").partition(": ")[2]
        lines += [f"{host}: {command}" for host in hosts[field.split(".")[1]]]
    by_host: dict[str, list[str]] = {}
    routes: dict[str, dict[str, str]] = {}
    for line in lines:
        host, _, command = line.partition(": ")
        commands = by_host.setdefault(host, [])
        if command.startswith(_ROUTE):
            option, _, value = command.removeprefix(_ROUTE).partition(" ")
            routes.setdefault(host, {})[option] = value
        else:
            commands.append(command)
    if not by_host:
        return None
    by_route = _joined(routes, hosts)
    texts_of_hosts = [
        f"# {host}\n" + "".join(f"{each}\n" for each in commands)
        for host in {**by_host, **by_route}
        if (commands := [*_route_commands(by_route.get(host, {})), *by_host.get(host, ())])
    ]
    return Block(
        "Linux, in a shell as root: what the scenario sets beside the congestion control, and the "
        "figures hold with. `ip route show default` has GATEWAY and INTERFACE.",
        "".join(texts_of_hosts),
    )


def _hosts(scenario: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Returns the hosts that the ends of connections, and the sides of the path, are in a scenario.

    They are sender and receiver if each is of one side in all flows, and else the sides themselves.
    """
    flows = scenario.get("flows") or [{}]
    nodes = [{str(flow.get(field, node)) for flow in flows} for field, node in NODE_FIELDS.items()]
    sides = {
        end: {side_of(node, scenario) for node in each} for end, each in zip(_ENDS, nodes, strict=True)
    }
    if nodes[0].isdisjoint(nodes[1]) and all(len(each) == 1 for each in sides.values()):
        of_sides = {side: tuple(end for end in _ENDS if side in sides[end]) for side in SIDES}
        return {**{end: (end,) for end in _ENDS}, BOTH_HOSTS: _ENDS, **of_sides}
    of_ends = {end: tuple(side for side in SIDES if side in each) for end, each in sides.items()}
    return {**of_ends, BOTH_HOSTS: SIDES, **{side: (side,) for side in SIDES}}


def _joined(
    routes: Mapping[str, Mapping[str, str]], hosts: Mapping[str, Sequence[str]]
) -> Mapping[str, Mapping[str, str]]:
    """Returns the options of routes by host: a second change takes those of the first away."""
    if len(routes) < 2:
        return routes
    joined: dict[str, dict[str, str]] = {}
    for host, options in routes.items():
        for each in hosts[host]:
            joined.setdefault(each, {}).update(options)
    return joined


def _route_commands(options: Mapping[str, str]) -> list[str]:
    """Returns the command that changes the default route, if it has options."""
    texts = [f"{option} {value}" for option, value in options.items()]
    return [_ROUTE + " ".join(texts)] if texts else []
