"""Commands that set a congestion control on Linux, and on Windows and FreeBSD if available there."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError, describe_cca
from celltcp.present.section import Block

#: Systems other than Linux, in the order of their commands.
OTHER_SYSTEMS = ("windows", "freebsd")


@functools.cache
def systems() -> Mapping[str, Any]:
    """Returns names of CCAs, commands and sources for each operating system."""
    return tomllib.loads(Path(__file__).with_name("systems.toml").read_text("utf-8"))


def settings_blocks(cca: str) -> tuple[Block, ...]:
    """Returns the lines that set a congestion control on the host that sends; none if no system has it.

    Its parameters are no settings of these systems.
    """
    name, _, parameters = cca.partition("@")[0].partition(":")
    try:
        entry = describe_cca(name)
    except CelltcpError:
        # A CCA of the user's own, or a selector.
        return ()
    known, name = systems(), str(entry["name"])
    note = f" {parameters} is no setting of these systems." if parameters else ""
    blocks = _linux_blocks(name, note) if entry["linux"] else []
    for system in OTHER_SYSTEMS:
        if own := known[system]["names"].get(name):
            caption = f"{known[system]['title']}, on the host that sends, {known[system]['rights']}:"
            blocks.append(Block(caption, _lines(known[system]["commands"], name=own)))
    return tuple(blocks)


def linux_sysctls(cca: str) -> list[str]:
    """Returns the sysctls, as `name=value`, that set a congestion control; none if Linux lacks it."""
    try:
        entry = describe_cca(cca.partition("@")[0].partition(":")[0])
    except CelltcpError:
        return []
    if not entry["linux"]:
        return []
    linux, name = systems()["linux"], str(entry["name"])
    sysctls = [*(linux["pacing"] if name in linux["paced"] else []), *linux["sysctls"]]
    return [sysctl.replace(" = ", "=").format(name=name) for sysctl in sysctls]


def linux_commands(cca: str) -> list[str]:
    """Returns the commands of a shell that set a congestion control on Linux; none if it lacks it."""
    sysctls = linux_sysctls(cca)
    # Linux has a further sysctl for CCAs that pace.
    interface = systems()["linux"]["interface"] if len(sysctls) > 1 else []
    return [*(f"sysctl -w {sysctl}" for sysctl in sysctls), *interface]


def _linux_blocks(name: str, note: str) -> list[Block]:
    """Returns the lines for Linux: those of a file of sysctls, with a note, and those of a shell."""
    linux = systems()["linux"]
    paces = name in linux["paced"]
    file = [*(linux["pacing"] if paces else []), *linux["sysctls"]]
    stays = "" if paces else f" {name} does not pace, so that net.core.default_qdisc may stay."
    blocks = [
        Block(
            f"Linux, on the host that sends: lines of {linux['file']}, which sysctl --system reads."
            f"{stays}{note}",
            _lines(file, name=name),
        )
    ]
    if paces:
        caption = "Linux, in a shell as root: for an interface that is up, INTERFACE being its name."
        blocks.append(Block(caption, _lines(linux["interface"], name=name)))
    caption = (
        "Linux, in a shell as root: for one route only, instead of the file. `ip route show default` "
        "has GATEWAY and INTERFACE."
    )
    blocks.append(Block(caption, _lines(linux["route"], name=name)))
    return blocks


def _lines(commands: list[str], name: str) -> str:
    return "".join(f"{command.format(name=name)}\n" for command in commands)
