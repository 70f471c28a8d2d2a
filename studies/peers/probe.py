"""Probe: the programs at the two ends of an emulated link, whose phone writes what arrives.

python3 probe.py server tcp|udp
python3 probe.py phone tcp|udp ADDRESS SECONDS FILE [MBPS]
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections import Counter
from pathlib import Path

PORT = 5001
#: Length of a slot, milliseconds.
SLOT_MS = 10
#: Bytes of UDP data in a packet of 1500 bytes.
DATAGRAM = 1472
#: Time in which the other end begins, seconds.
BEGIN_S = 10.0
#: Time without a datagram after which none will come, seconds.
SILENCE_S = 3.0


def serve_tcp() -> None:
    """Sends as much as it can to whoever connects first."""
    connection, _ = socket.create_server(("", PORT)).accept()
    piece = bytes(1 << 18)
    try:
        while True:
            connection.sendall(piece)
    except OSError:
        return


def serve_udp() -> None:
    """Sends datagrams at the rate and for the time that the first one asks for."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.bind(("", PORT))
        opened.settimeout(BEGIN_S)
        asked, phone = opened.recvfrom(DATAGRAM)
        mbps, seconds = json.loads(asked)
        gap = 8e-6 * (DATAGRAM + 28) / mbps
        begin = time.monotonic()
        sent = 0
        while (now := time.monotonic() - begin) < seconds:
            while sent * gap <= now:
                opened.sendto(bytes(DATAGRAM), phone)
                sent += 1
            time.sleep(0.0005)


def receive_tcp(address: str, seconds: float) -> Counter[int]:
    """Returns the bytes that arrive in each slot."""
    deadline = time.monotonic() + BEGIN_S
    while True:
        try:
            connection = socket.create_connection((address, PORT), BEGIN_S)
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    slots: Counter[int] = Counter()
    into = bytearray(1 << 20)
    begin = time.monotonic()
    with connection:
        while (now := time.monotonic() - begin) < seconds:
            slots[int(1000 * now) // SLOT_MS] += connection.recv_into(into)
    return slots


def receive_udp(address: str, seconds: float, mbps: float) -> Counter[int]:
    """Returns the bytes of IP packets that arrive in each slot."""
    slots: Counter[int] = Counter()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        time.sleep(0.5)
        opened.sendto(json.dumps([mbps, seconds]).encode(), (address, PORT))
        opened.settimeout(SILENCE_S)
        begin = time.monotonic()
        try:
            while (now := time.monotonic() - begin) < seconds:
                slots[int(1000 * now) // SLOT_MS] += len(opened.recv(2048)) + 28
        except TimeoutError:
            pass
    return slots


def main() -> None:
    """Reads the arguments."""
    end, protocol, *rest = sys.argv[1:]
    if end == "server":
        {"tcp": serve_tcp, "udp": serve_udp}[protocol]()
        return
    address, seconds, file, *mbps = rest
    if protocol == "tcp":
        slots = receive_tcp(address, float(seconds))
    else:
        slots = receive_udp(address, float(seconds), float(mbps[0]))
    count = int(float(seconds) * 1000) // SLOT_MS
    Path(file).write_text(json.dumps([slots[n] for n in range(count)]))


if __name__ == "__main__":
    main()
