"""Made-up captures: frames with TCP, and files of them."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable
from pathlib import Path

CLIENT = (bytes([10, 0, 0, 2]), 50_000)
SERVER = (bytes([192, 0, 2, 1]), 443)
SYN, FIN, ACK = 2, 1, 16

_IDENTIFICATIONS = itertools.count(1)


def tcp(up: bool, seq: int, ack: int, flags: int, payload: int = 0) -> bytes:
    """A segment in IPv4."""
    (source, port), (destination, other) = (CLIENT, SERVER) if up else (SERVER, CLIENT)
    header = struct.pack(">HHIIBBHHH", port, other, seq, ack, 0x50, flags, 500, 0, 0)
    return ipv4(6, header + bytes(payload), source, destination)


def ipv4(protocol: int, payload: bytes, source: bytes = CLIENT[0], to: bytes = SERVER[0]) -> bytes:
    """A packet of IPv4."""
    head = struct.pack(
        ">BBHHHBBH", 0x45, 0, 20 + len(payload), next(_IDENTIFICATIONS), 0, 64, protocol, 0
    )
    return head + source + to + payload


def ethernet(kind: int, payload: bytes) -> bytes:
    """A frame."""
    return bytes([2] * 12) + struct.pack(">H", kind) + payload


def capture(file: Path, frames: Iterable[tuple[float, bytes]]) -> None:
    """Writes frames of Ethernet with their times, s."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for time, frame in frames:
        us = round(time * 1e6)
        head = struct.pack("<IIII", 1_700_000_000 + us // 1_000_000, us % 1_000_000, *[len(frame)] * 2)
        parts.append(head + frame)
    file.write_bytes(b"".join(parts))


def download() -> list[tuple[float, bytes]]:
    """Two SYNs, a handshake, three segments, and a FIN that passes twice."""
    return [
        (0.0, tcp(True, 99, 0, SYN)),
        (1.0, tcp(True, 99, 0, SYN)),
        (1.02, tcp(False, 499, 100, SYN | ACK)),
        (1.021, tcp(True, 100, 500, ACK)),
        (1.1, tcp(False, 500, 100, ACK, 1000)),
        (1.101, tcp(False, 1500, 100, ACK, 1000)),
        (1.102, tcp(True, 100, 2500, ACK)),
        (1.2, tcp(False, 2500, 100, FIN | ACK)),
        (1.201, tcp(True, 100, 2501, ACK)),
        (1.5, tcp(False, 2500, 100, FIN | ACK)),
        (1.501, tcp(True, 100, 2501, ACK)),
    ]
