"""Doctor: measurement of the delay that this machine adds to the packets of an idle path."""

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

#: Path with a one-way delay of 10 ms; the transmission of a probe takes less than 1 us.
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
#: Interval of the probes, s.
_INTERVAL_S = 0.005
#: Time without a probe after which the measurement ends, s.
_TIMEOUT_S = 1.0
#: UDP port of the probes.
_PORT = 9
#: Payload of a probe: the time at which it was sent, ns.
_TIMESTAMP = struct.Struct("<q")


def measure_floor(duration_s: float = 5.0, *, busy_poll: bool = False) -> Floor:
    """Measures the delay that this machine adds to packets on an idle path.

    With `busy_poll`, the thread of the path never sleeps.

    Raises:
        CelltcpError: if this machine lacks what a live run needs.
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
            sender.sendto(_TIMESTAMP.pack(time.monotonic_ns()), address)
            time.sleep(_INTERVAL_S)
        added_ns = np.array(arrivals.result())
        lateness = shell.status()["lateness"]
    p50_us, p99_us, max_us = (float(value) / 1e3 for value in np.percentile(added_ns, [50, 99, 100]))
    return {
        "packets": len(added_ns),
        "added_p50_us": round(p50_us, 1),
        "added_p99_us": round(p99_us, 1),
        "added_max_us": round(max_us, 1),
        "lateness": lateness,
    }


def _receive(receiver: socket.socket, count: int) -> list[int]:
    """Returns the delay of each probe minus that of the path, ns; at most `count` probes."""
    added_ns: list[int] = []
    while len(added_ns) < count:
        try:
            packet = receiver.recv(_TIMESTAMP.size)
        except TimeoutError:
            break
        (sent_ns,) = _TIMESTAMP.unpack(packet)
        added_ns.append(time.monotonic_ns() - sent_ns - _DELAY_NS)
    return added_ns


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
