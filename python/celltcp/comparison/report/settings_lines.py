"""Lines that set a congestion control on Linux, and on Windows and FreeBSD where these have it."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError, describe_cca

#: Systems besides Linux, in the order of their lines.
_OTHERS = ("windows", "freebsd")


@functools.cache
def systems() -> Mapping[str, Any]:
    """Returns names, commands and sources of the operating systems."""
    return tomllib.loads(Path(__file__).with_name("systems.toml").read_text("utf-8"))


def settings_lines(cca: str) -> str:
    """Returns the lines that set a congestion control on the host that sends; empty if none has it.

    Args:
        cca: congestion control with its parameters, which are no settings of these systems.
    """
    name, _, parameters = cca.partition("@")[0].partition(":")
    try:
        entry = describe_cca(name)
    except CelltcpError:
        # A CCA of the user's own, or a selector.
        return ""
    known, lines = systems(), []
    name = str(entry["name"])
    if entry["linux"]:
        lines += _linux_lines(name, paces=name in known["linux"]["paced"])
    for system in _OTHERS:
        if own := known[system]["names"].get(name):
            lines.append(f"# {known[system]['title']}")
            lines += [command.format(name=own) for command in known[system]["commands"]]
    if parameters and lines:
        lines.insert(0, f"# {parameters}: no setting of these systems, set apart where they have it")
    return "".join(f"{line}\n" for line in lines)


def _linux_lines(name: str, *, paces: bool) -> list[str]:
    """Returns the lines for Linux.

    Args:
        name: of the congestion control.
        paces: whether it needs a queue discipline that paces.
    """
    discipline = ["net.core.default_qdisc = fq"] if paces else []
    present = [
        "# the default is that of interfaces to come; for one that is up:",
        "tc qdisc replace dev INTERFACE root fq",
    ]
    return [
        "# Linux, on the host that sends (/etc/sysctl.d/90-congestion-control.conf)",
        f"net.ipv4.tcp_congestion_control = {name}",
        *(discipline or [f"# net.core.default_qdisc may stay: {name} does not pace"]),
        "# INTERFACE and GATEWAY are placeholders; `ip route show default` has both",
        *(present if paces else []),
        "# or for one route only",
        f"ip route change default via GATEWAY dev INTERFACE congctl {name}",
    ]
