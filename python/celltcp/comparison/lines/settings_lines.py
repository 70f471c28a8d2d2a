"""Commands that set a congestion control on Linux, and on Windows and FreeBSD if available there."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError, describe_cca
from celltcp.present.section import Block
from celltcp.scenarios.cca_mix import cca_of_all_flows, has_several_flows
from celltcp.scenarios.ccas import DEFAULT_CCA

#: Systems other than Linux, in the order of their commands.
OTHER_SYSTEMS = ("windows", "freebsd")

#: Congestion control of a middlebox in the name of a mix.
_PROXY_CCA = re.compile(r"\bcca=([\w-]+)")


@functools.cache
def systems() -> Mapping[str, Any]:
    """Returns names of CCAs, commands and sources for each operating system."""
    return tomllib.loads(Path(__file__).with_name("systems.toml").read_text("utf-8"))


def settings_blocks(cca: str) -> tuple[Block, ...]:
    """Returns the lines that set a congestion control on the host that sends; none if no system has it.

    Its parameters are settings of Linux alone.
    """
    cca = cca_of_all_flows(cca)
    name, _, parameters = cca.partition("@")[0].partition(":")
    try:
        name = str(describe_cca(name)["name"])
    except CelltcpError:
        # A CCA of the user's own, or a selector.
        return ()
    known = systems()
    blocks = _linux_blocks(name, parameter_commands(cca)) if linux_sysctls(cca) else []
    for system in () if parameters else OTHER_SYSTEMS:
        if own := known[system]["names"].get(name):
            caption = f"{known[system]['title']}, on the host that sends, {known[system]['rights']}:"
            blocks.append(Block(caption, _lines(known[system]["commands"], name=own)))
    if blocks and (comments := _proxy_comments(cca)):
        blocks.append(Block("Linux, on the middlebox:", "".join(f"{each}\n" for each in comments)))
    return tuple(blocks)


def linux_sysctls(cca: str) -> list[str]:
    """Returns the sysctls, as `name=value`, that set a congestion control; none if Linux lacks it.

    Linux lacks a CCA with a parameter that its module does not have.
    """
    cca = cca_of_all_flows(cca)
    try:
        entry = describe_cca(cca.partition("@")[0].partition(":")[0])
    except CelltcpError:
        return []
    if not entry["linux"] or len(parameter_commands(cca)) < len(_parameters(cca)):
        return []
    linux, name = systems()["linux"], str(entry["name"])
    sysctls = [*(linux["pacing"] if name in linux["paced"] else []), *linux["sysctls"]]
    return [sysctl.replace(" = ", "=").format(name=name) for sysctl in sysctls]


def parameter_commands(cca: str) -> list[str]:
    """Returns the commands that set the parameters of a congestion control which its module has."""
    cca = cca_of_all_flows(cca)
    linux, name = systems()["linux"], cca.partition("@")[0].partition(":")[0]
    values = linux["parameter_values"]
    return [
        linux["parameter"].format(name=name, parameter=parameter, value=values.get(value, value))
        for parameter, value in _parameters(cca).items()
        if parameter in linux["parameters"].get(name, ())
    ]


def _parameters(cca: str) -> dict[str, str]:
    """Returns the parameters of a congestion control, with their values."""
    texts = filter(None, cca.partition("@")[0].partition(":")[2].split(","))
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


def linux_commands(cca: str, scenario: Mapping[str, Any] | None = None, index: int = 0) -> list[str]:
    """Returns the commands of a shell that set a congestion control on Linux; none if it lacks it.

    Where other flows of a scenario have the same sender and keep another one, its last sysctl, which is
    for all connections of the host, gives way to the socket option of the flow with that index.
    """
    sysctls = linux_sysctls(cca)
    if not sysctls:
        return []
    # Linux has a further sysctl for CCAs that pace.
    interface = systems()["linux"]["interface"] if len(sysctls) > 1 else []
    option = option_commands(cca, scenario or {}, index)
    commands = [f"sysctl -w {sysctl}" for sysctl in (sysctls[:-1] if option else sysctls)]
    return [*commands, *interface, *option, *parameter_commands(cca), *_proxy_comments(cca)]


def _proxy_comments(mix: str) -> list[str]:
    """Returns a comment with line and host for each middlebox with a CCA of its own."""
    comments = []
    for box in mix.partition("@")[2].split("@"):
        own = _PROXY_CCA.search(box)
        if own and (sysctls := linux_sysctls(own[1])):
            comments.append(f"# on the host of {box}: sysctl -w {' '.join(sysctls)}")
    return comments


def option_commands(cca: str, scenario: Mapping[str, Any], index: int) -> list[str]:
    """Returns the lines for a congestion control of one program; none if all flows have it."""
    if has_several_flows(cca):
        return []
    name, allowed = cca.partition("@")[0].partition(":")[0], ["cubic", "reno"]
    flows = list(scenario.get("flows", ()))
    own = flows.pop(index) if index < len(flows) else {}
    node = own.get("from", "server")
    if all(
        each.get("from", "server") != node or each.get("cca", DEFAULT_CCA) == name for each in flows
    ):
        return []
    # Programs may set those of net.ipv4.tcp_allowed_congestion_control only, unless they are root's.
    may_set = [
        f"modprobe tcp_{name}",
        f"sysctl -w net.ipv4.tcp_allowed_congestion_control='{' '.join([*allowed, name])}'",
    ]
    program = f" of {own['name']}" if own.get("name") else ""
    return [
        *([] if name in allowed else may_set),
        f"socket option TCP_CONGESTION={name} of the program{program}, as the sysctl "
        "net.ipv4.tcp_congestion_control is for all connections of the host",
    ]


def _linux_blocks(name: str, parameters: list[str]) -> list[Block]:
    """Returns the lines for Linux: those of a file of sysctls, and those of a shell.

    Args:
        name: name of the congestion control.
        parameters: commands that set its parameters.
    """
    linux = systems()["linux"]
    paces = name in linux["paced"]
    file = [*(linux["pacing"] if paces else []), *linux["sysctls"]]
    stays = "" if paces else f" {name} does not pace, so that net.core.default_qdisc may stay."
    blocks = [
        Block(
            f"Linux, on the host that sends: lines of {linux['file']}, which sysctl --system reads."
            f"{stays}",
            _lines(file, name=name),
        )
    ]
    if paces:
        caption = "Linux, in a shell as root: for an interface that is up, INTERFACE being its name."
        blocks.append(Block(caption, _lines(linux["interface"], name=name)))
    if parameters:
        caption = f"Linux, in a shell as root: for all connections with {name}, until a restart."
        blocks.append(Block(caption, "".join(f"{command}\n" for command in parameters)))
    caption = (
        "Linux, in a shell as root: for one route only, instead of the file. `ip route show default` "
        "has GATEWAY and INTERFACE."
    )
    blocks.append(Block(caption, _lines(linux["route"], name=name)))
    return blocks


def _lines(commands: list[str], name: str) -> str:
    return "".join(f"{command.format(name=name)}\n" for command in commands)
