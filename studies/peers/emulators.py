"""Emulators: celltcp and rattan, each between a server and a phone of this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from recorded import as_rates

import celltcp as ct

PROBE = Path(__file__).with_name("probe.py")
#: Time that a run may take beyond that of its transfer, seconds.
MARGIN_S = 30.0


@dataclass(frozen=True)
class Link:
    """Downlink between the ends: a constant rate or a recorded trace, with the same delay both ways.

    Attributes:
        name: in the table.
        mbps: the rate; of a trace the mean.
        trace: file in mahimahi's format; None of a constant rate.
        delay_ms: one way.
        buffer_packets: that the queue of the downlink holds.
    """

    name: str
    mbps: float
    trace: Path | None
    delay_ms: int
    buffer_packets: int


@dataclass(frozen=True)
class Transfer:
    """Transfer over a link: a TCP download, or UDP at a constant rate.

    Attributes:
        protocol: `"tcp"` or `"udp"`.
        seconds: its length.
        mbps: rate of UDP.
    """

    protocol: str
    seconds: float
    mbps: float = 0.0

    def server(self) -> list[str]:
        """Returns the command of the server."""
        return [sys.executable, str(PROBE), "server", self.protocol]

    def phone(self, address: str, file: Path) -> list[str]:
        """Returns the command of the phone, which writes the bytes of each slot to a file."""
        words = [sys.executable, str(PROBE), "phone", self.protocol, address, str(self.seconds)]
        return [*words, str(file), *([str(self.mbps)] if self.protocol == "udp" else [])]


@dataclass(frozen=True)
class Measured:
    """Measurement of a run.

    Attributes:
        slots: bytes that arrived in each slot.
        late_percent: share of the packets that left over 1 ms late; None where the emulator is silent.
    """

    slots: list[int]
    late_percent: float | None


def with_celltcp(link: Link, transfer: Transfer, folder: Path) -> Measured:
    """Plays a transfer over a link of celltcp."""
    down = f'trace = "{link.trace}"' if link.trace else f'rate = "{link.mbps}Mbit/s"'
    scenario, file = folder / "link.toml", folder / "slots.json"
    scenario.write_text(
        f'name = "link"\n[path]\nrtt = "{2 * link.delay_ms}ms"\nup = {{ rate = "10Gbit/s" }}\n'
        f'buffer = "{link.buffer_packets}packets"\ndown = {{ {down} }}\n'
        "[variation]\ntrace_offset = false\n"
    )
    with ct.Shell(scenario, "cubic") as shell:
        server = shell.start(transfer.server(), on="server")
        phone = transfer.phone(shell.address("server"), file)
        shell.run(phone, timeout=transfer.seconds + MARGIN_S)
        late = 100 * shell.status()["lateness"]["late_share"]
        server.kill()
        server.wait()
    return Measured(json.loads(file.read_text()), late)


def rattan_config(link: Link, rates: Path) -> str:
    """Returns the file that describes a link to rattan: the phone is on the left.

    Args:
        link: what is described.
        rates: file with the rates of its trace.
    """
    if link.trace:
        rate = f'type = "BwReplay"\ntrace = "{rates}"'
    else:
        rate = f'type = "Bw"\nbandwidth = "{round(link.mbps * 1e6)}bps"'
    return f"""
[env]
mode = "Isolated"
[cells.down_rate]
{rate}
queue = "DropTail"
queue_config = {{ packet_limit = {link.buffer_packets} }}
[cells.down_delay]
type = "Delay"
delay = "{link.delay_ms}ms"
[cells.up_delay]
type = "Delay"
delay = "{link.delay_ms}ms"
[links]
right = "down_rate"
down_rate = "down_delay"
down_delay = "left"
left = "up_delay"
up_delay = "right"
"""


def with_rattan(link: Link, transfer: Transfer, folder: Path) -> Measured:
    """Plays a transfer over a link of rattan, which `cargo install rattan` installs."""
    config, rates, file = (folder / name for name in ("rattan.toml", "rates.json", "slots.json"))
    if link.trace:
        rates.write_text(as_rates(link.trace))
    # Its variable has the address of the server.
    phone = transfer.phone('"$RATTAN_BASE"', file)
    commands = {"left": ["sh", "-c", " ".join(phone)], "right": transfer.server()}
    lines = [f"{side} = {json.dumps(words)}" for side, words in commands.items()]
    config.write_text("\n".join([rattan_config(link, rates), "[commands]", *lines, ""]))
    subprocess.run(
        ["rattan", "run", "-c", str(config), "--left-stderr", "--right-stderr"],
        check=True,
        timeout=transfer.seconds + MARGIN_S,
    )
    return Measured(json.loads(file.read_text()), None)


EMULATORS = {"celltcp": with_celltcp, "rattan": with_rattan}
