"""Relay: carries packets between two network devices (TUN), each after half of the RTT.

python3 relay.py DEVICE DEVICE RTT_MS

It replaces netem, which some kernels lack. It prints `ready` when the devices are there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

TUNSETIFF = 0x400454CA
#: IFF_TUN and IFF_NO_PI: packets of layer 3, without a header of the device.
FLAGS = 0x0001 | 0x1000
MAX_PACKET = 65_536


def device(name: str) -> int:
    """Makes a device and returns its file descriptor."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH", name.encode(), FLAGS))
    return descriptor


def forward(first: int, second: int, delay_ns: int) -> None:
    """Carries packets in both directions until the process is ended."""
    to = {first: second, second: first}
    waiting: dict[int, deque[tuple[int, bytes]]] = {first: deque(), second: deque()}
    while True:
        heads = [packets[0][0] for packets in waiting.values() if packets]
        pause_s = max(0.0, (min(heads) - time.monotonic_ns()) / 1e9) if heads else None
        for source in select.select(list(to), [], [], pause_s)[0]:
            due = time.monotonic_ns() + delay_ns
            try:
                while True:
                    waiting[source].append((due, os.read(source, MAX_PACKET)))
            except BlockingIOError:
                pass
        now = time.monotonic_ns()
        for source, packets in waiting.items():
            while packets and packets[0][0] <= now:
                packet = packets.popleft()[1]
                # A device that is not up yet loses packets.
                with contextlib.suppress(OSError):
                    os.write(to[source], packet)


if __name__ == "__main__":
    pair = [device(name) for name in sys.argv[1:3]]
    print("ready", flush=True)
    forward(*pair, round(float(sys.argv[3]) * 1e6 / 2))
