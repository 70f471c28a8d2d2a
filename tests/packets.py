"""Packets that are made up: one connection, written as a capture of raw IPv4."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "E": 64, "C": 128}
#: Addresses of client and server, and their ports.
HOSTS = (bytes((10, 9, 0, 7)), bytes((198, 51, 100, 4)))
PORTS = (41_000, 443)


@dataclass
class Connection:
    """Packets of a connection; sequence numbers count from the first byte of each side."""

    ttls: tuple[int, int] = (64, 64)
    windows: tuple[int, int] = (512, 512)
    packets: list[tuple[float, bytes, int]] = field(default_factory=list)

    def packet(
        self,
        t: float,
        up: bool,
        flags: str = "A",
        seq: int = 0,
        ack: int = 0,
        length: int = 0,
        window: int | None = None,
        ttl: int | None = None,
        sack: tuple[tuple[int, int], ...] = (),
        options: bytes = b"",
    ) -> None:
        """Adds a packet at `t` s."""
        for left, right in sack:
            blocks = struct.pack(">II", 2_001 + left, 2_001 + right)
            options += bytes((1, 1, 5, 10)) + blocks
        options += bytes(-len(options) % 4)
        first = (1_001, 2_001) if up else (2_001, 1_001)
        source, destination = (0, 1) if up else (1, 0)
        bits = sum(FLAGS[flag] for flag in flags)
        number = (first[0] + seq - ("S" in flags)) % 2**32
        header = struct.pack(
            ">HHIIBBHHH",
            PORTS[source],
            PORTS[destination],
            number,
            (first[1] + ack) % 2**32 if "A" in flags else 0,
            (20 + len(options)) // 4 << 4,
            bits,
            self.windows[source] if window is None else window,
            0,
            0,
        )
        total = 40 + len(options) + length
        ip = struct.pack(
            ">BBHHHBBH4s4s",
            0x45,
            0,
            total,
            len(self.packets) + 1,
            0,
            self.ttls[source] if ttl is None else ttl,
            6,
            0,
            HOSTS[source],
            HOSTS[destination],
        )
        self.packets.append((t, ip + header + options, total))

    def handshake(self, rtt: float = 0.02, scale: int | None = 7, t: float = 0.0) -> None:
        """Adds a handshake, captured at the server."""
        options = bytes((2, 4, 5, 180, 4, 2, 1, 1))
        if scale is not None:
            options += bytes((3, 3, scale, 1))
        self.packet(t, True, "S", options=options)
        self.packet(t + 1e-4, False, "SA", options=options)
        self.packet(t + rtt, True)

    def write(self, file: Path) -> Path:
        """Writes the packets in the order of their times."""
        out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 101)]
        for t, data, total in sorted(self.packets, key=lambda packet: packet[0]):
            at_ns = 1_700_000_000 * 10**9 + round(t * 1e9)
            out.append(struct.pack("<IIII", *divmod(at_ns, 10**9), len(data), total) + data)
        file.write_bytes(b"".join(out))
        return file
