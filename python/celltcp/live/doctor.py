"""Doctor: lateness of packets on an idle path, the best that this machine can do."""

from __future__ import annotations

import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np

from celltcp._core import Scenario
from celltcp.live.host import PHONE, SERVER
from celltcp.live.outcome import Floor
from celltcp.live.shell import Shell
from celltcp.present.section import Column, Table, number_columns

#: A path on which a packet of the probe takes 10 ms and less than 1 us more.
_PATH = """
name = "idle path"
[path]
rtt = "20ms"
[path.down]
rate = "1Gbps"
[path.up]
rate = "1Gbps"
"""
#: One-way delay of that path, ns.
_DELAY_NS = 10_000_000
#: Time between two packets of the probe, seconds.
_INTERVAL_S = 0.005
#: Time after which a packet counts as lost, seconds.
_TIMEOUT_S = 1.0
#: Port of the probe.
_PORT = 9
#: Time at which a packet was sent, ns.
_STAMP = struct.Struct("<q")


def measure_floor(duration_s: float = 5.0, *, busy_poll: bool = False) -> Floor:
    """Measures the lateness of packets on an idle path, the minimum of this machine.

    Args:
        duration_s: length of the measurement, seconds.
        busy_poll: whether the path never sleeps.

    Raises:
        CelltcpError: if this machine cannot play a path in real time; it says what is missing.
    """
    count = max(1, int(duration_s / _INTERVAL_S))
    scenario = Scenario.from_toml(_PATH, "idle path", ".", [])
    with ExitStack() as stack:
        shell = stack.enter_context(Shell(scenario, busy_poll=busy_poll))
        receiver = stack.enter_context(shell.socket(PHONE, socket.AF_INET, socket.SOCK_DGRAM))
        sender = stack.enter_context(shell.socket(SERVER, socket.AF_INET, socket.SOCK_DGRAM))
        receiver.bind(("", _PORT))
        receiver.settimeout(_TIMEOUT_S)
        thread = stack.enter_context(ThreadPoolExecutor(1))
        arrivals = thread.submit(_receive, receiver, count)
        address = (shell.address(PHONE), _PORT)
        for _ in range(count):
            sender.sendto(_STAMP.pack(time.monotonic_ns()), address)
            time.sleep(_INTERVAL_S)
        added = np.array(arrivals.result())
        lateness = shell.status()["lateness"]
    p50, p99, largest = (float(value) / 1e3 for value in np.percentile(added, [50, 99, 100]))
    return {
        "packets": len(added),
        "added_p50_us": round(p50, 1),
        "added_p99_us": round(p99, 1),
        "added_max_us": round(largest, 1),
        "lateness": lateness,
    }


def _receive(receiver: socket.socket, count: int) -> list[int]:
    """Returns the delay of each packet beyond that of the path, ns."""
    added: list[int] = []
    while len(added) < count:
        try:
            packet = receiver.recv(_STAMP.size)
        except TimeoutError:
            break
        (sent,) = _STAMP.unpack(packet)
        added.append(time.monotonic_ns() - sent - _DELAY_NS)
    return added


def floor_table(floor: Floor) -> Table:
    """Returns the floor as a table."""
    lateness = floor["lateness"]
    rows = (
        (
            "from program to program",
            *(f"{floor[name]:.0f}" for name in ("added_p50_us", "added_p99_us", "added_max_us")),
        ),
        (
            "of which the path",
            *(str(lateness[name]) for name in ("p50_us", "p99_us", "max_us")),
        ),
    )
    columns = (Column("delay added, us"), *number_columns("p50", "p99", "maximum"))
    return Table(columns, rows, f"{floor['packets']} packets on an idle path")
