"""Host settings of a scenario other than the congestion control, as Linux commands."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Mapping
from typing import Any

from celltcp._core import Scenario
from celltcp.comparison.linux_lines import is_of_side, linux_line, linux_lines
from celltcp.comparison.settings_lines import systems
from celltcp.present.section import Block
from celltcp.scenarios.lower_bounds import has_sender_limit
from celltcp.scenarios.sides import SIDES

#: Start of commands that change the default route; the options of several have to be in one command.
_ROUTE = "ip route change default via GATEWAY dev INTERFACE "


@functools.cache
def _defaults() -> Mapping[str, Any]:
    """Returns the default settings of hosts, the table `tcp` of a scenario."""
    tcp: Mapping[str, Any] = tomllib.loads(Scenario.from_toml("", "defaults", "", []).to_toml())["tcp"]
    return tcp


def scenario_block(scenario: Mapping[str, Any], without: Collection[str]) -> Block | None:
    """Returns the commands for the host settings of a scenario; None if all settings are defaults.

    `scenario` is parsed from its file; settings in the fields `without` are left out, and a window that
    stands for the limit of a captured sender.
    """
    left_out = {*without, *(["tcp.receive_window_max"] if has_sender_limit(scenario) else [])}
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
    by_host: dict[str, list[str]] = {}
    # Some fields are one sysctl, so that their lines depend on each other.
    lines = linux_lines(f"{field}={texts[field]}" for field in fields)
    lines += [
        linux_line(f"{field}={text}", scenario) for field, text in texts.items() if is_of_side(field)
    ]
    for line in lines:
        host, _, command = line.partition(": ")
        # The options of a route are one command at its host.
        host = host.partition(" (")[0]
        by_host.setdefault(host, []).append(command)
    if not by_host:
        return None
    parts = [f"# {host}\n{_route_joined(commands)}" for host, commands in by_host.items()]
    return Block(
        "Linux, in a shell as root: what the scenario sets beside the congestion control, and the "
        "figures hold with. `ip route show default` has GATEWAY and INTERFACE.",
        "".join(parts),
    )


def _route_joined(commands: list[str]) -> str:
    """Returns commands, a line each; those that change the default route are joined."""
    options = [command.removeprefix(_ROUTE) for command in commands if command.startswith(_ROUTE)]
    others = [command for command in commands if not command.startswith(_ROUTE)]
    route = [f"{_ROUTE}{' '.join(options)}"] if options else []
    return "".join(f"{each}\n" for each in (*route, *others))
