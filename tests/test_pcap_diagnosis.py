"""The sentence that celltcp pcap analyze says about a connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from celltcp.pcap import analyse
from packets import HOSTS, Connection

#: Payload of a full segment, bytes.
MSS = 1_460


def download(made: Connection, begin: float, segments: int, rtt: float, first: int = 0) -> float:
    """Sends segments two by two, with an ACK an RTT later; returns the time of the last ACK."""
    for pair in range(first, first + segments, 2):
        t = begin + (pair - first) * rtt / 40
        made.packet(t, False, seq=pair * MSS, length=MSS)
        made.packet(t + 1e-5, False, seq=(pair + 1) * MSS, length=MSS)
        made.packet(t + rtt, True, ack=(pair + 2) * MSS)
    return t + rtt


def forged_reset(made: Connection) -> None:
    made.ttls = (64, 51)
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    made.packet(end + 333, True, "PA", length=90, ack=40 * MSS)
    made.packet(end + 333.0004, False, "R", seq=40 * MSS, ttl=254)


def forgotten(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    for number in range(8):
        made.packet(end + 700 + 0.3 * (2**number - 1), True, "PA", length=90, ack=40 * MSS)


def gone(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    for segment in range(40, 60):
        made.packet(end + segment * 1e-4, False, seq=segment * MSS, length=MSS)
    for number in range(1, 8):
        made.packet(end + 0.25 * 2**number, False, seq=40 * MSS, length=MSS)


def slow_handshake(made: Connection) -> None:
    made.packet(0, True, "S", options=bytes((2, 4, 5, 180)))
    made.packet(1.03, True, "S", options=bytes((2, 4, 5, 180)))
    made.handshake(t=3.07)
    download(made, 3.2, 20, 0.02)


def refused(made: Connection) -> None:
    made.packet(0, True, "S", options=bytes((2, 4, 5, 180)))
    made.packet(1e-4, False, "RA")


def unanswered(made: Connection) -> None:
    for t in (0, 1, 3, 7):
        made.packet(t, True, "S", options=bytes((2, 4, 5, 180)))


def given_up(made: Connection) -> None:
    for t in (0, 1, 3):
        made.packet(t, True, "S", options=bytes((2, 4, 5, 180)))
    made.packet(5, True, "R")


def half_open(made: Connection) -> None:
    made.packet(0, True, "S", options=bytes((2, 4, 5, 180)))
    made.packet(0.02, False, "SA", options=bytes((2, 4, 5, 180)))
    made.packet(0.0201, True, "R")


def closed_window(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    made.packet(end + 0.01, True, ack=40 * MSS, window=0)
    made.packet(end + 4.01, True, ack=40 * MSS)
    download(made, end + 4.02, 20, 0.02, first=40)


def nagle(made: Connection) -> None:
    made.handshake(rtt=0.001)
    t = 0.1
    for number in range(40):
        made.packet(t, False, "PA", seq=300 * number, length=300)
        made.packet(t + 0.041, True, ack=300 * (number + 1))
        t += 0.0411


def delayed_acks_before_requests(made: Connection) -> None:
    made.handshake()
    for number in range(0, 90, 3):
        t = 0.1 + 0.02 * number
        made.packet(t - 1e-3, True, "PA", seq=40 * number, length=120, ack=number * MSS)
        for segment in range(number, number + 3):
            made.packet(t + 1e-5 * segment, False, seq=segment * MSS, length=MSS)
        made.packet(t + 0.01, True, seq=40 * number + 120, ack=(number + 2) * MSS)
        made.packet(t + 0.058, True, seq=40 * number + 120, ack=(number + 3) * MSS)


def rewritten(made: Connection) -> None:
    made.handshake()
    for segment in range(20):
        made.packet(0.1 + segment * 1e-3, False, seq=segment * MSS, length=MSS)
    for segment in range(1, 20):
        far = 900_000_000
        block = ((far + MSS, far + (segment + 1) * MSS),)
        made.packet(0.12 + segment * 1e-3, True, sack=block)
    made.packet(0.45, False, seq=0, length=MSS)
    made.packet(0.47, True, ack=20 * MSS)


def black_hole(made: Connection) -> None:
    made.handshake()
    made.packet(0.1, False, seq=0, length=MSS)
    made.packet(0.1001, False, seq=MSS, length=MSS)
    made.packet(0.1002, False, "PA", seq=2 * MSS, length=400)
    made.packet(0.12, True, sack=((2 * MSS, 2 * MSS + 400),))
    for number in range(6):
        made.packet(0.1 + 0.3 * 2**number, False, seq=0, length=MSS)
    made.packet(30, True, "FA", sack=((2 * MSS, 2 * MSS + 400),))


def capture_drops(made: Connection) -> None:
    made.handshake()
    download(made, 0.1, 40, 0.02)
    del made.packets[20:22]
    made.packets = [each for each in made.packets if not 0.112 <= each[0] < 0.1131 or each[2] < 100]


def window_limit(made: Connection) -> None:
    made.windows = (8 * MSS, 60_000)
    made.handshake(rtt=0.1, scale=None)
    for turn in range(60):
        for segment in range(8):
            number = 8 * turn + segment
            made.packet(0.2 + turn * 0.1 + segment * 1e-4, False, seq=number * MSS, length=MSS)
            if segment % 2:
                made.packet(0.3 + turn * 0.1 + segment * 1e-4 - 1e-5, True, ack=(number + 1) * MSS)


def window_scale_of_0(made: Connection) -> None:
    window_limit(made)
    again = Connection(windows=made.windows)
    again.handshake(rtt=0.1, scale=0)
    made.packets[: len(again.packets)] = again.packets


def send_buffer(made: Connection) -> None:
    made.windows = (9_000, 9_000)
    made.handshake(rtt=0.1)
    for number in range(0, 1_200, 2):
        t = 0.2 + number // 2 * 0.005
        made.packet(t, False, seq=number * MSS, length=MSS)
        made.packet(t + 1e-5, False, seq=(number + 1) * MSS, length=MSS)
        made.packet(t + 0.0999, True, ack=(number + 2) * MSS)


def application(made: Connection) -> None:
    made.handshake()
    for number in range(30):
        download(made, 0.1 + number * 0.3, 20, 0.02, first=20 * number)


def captured_late(made: Connection) -> None:
    made.handshake()
    for number in range(20):
        made.packet(0.1 + 0.01 * number, True, ack=(number + 1) * MSS)
        made.packet(0.1005 + 0.01 * number, False, seq=number * MSS, length=MSS)


def time_outs(made: Connection) -> None:
    made.handshake()
    end = 0.1
    for turn in range(3):
        end = download(made, end, 20, 0.02, first=21 * turn)
        last = 21 * turn + 20
        made.packet(end, False, seq=last * MSS, length=MSS)
        made.packet(end + 0.6, False, seq=last * MSS, length=MSS)
        made.packet(end + 0.62, True, ack=(last + 1) * MSS)
        end += 0.63


def overtaken(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 20, 0.02)
    for segment in range(20, 24):
        made.packet(end + 1e-5 * segment, False, seq=segment * MSS, length=MSS)
    made.packet(end + 0.02, True, ack=20 * MSS, sack=((21 * MSS, 22 * MSS),))
    made.packet(end + 0.0201, True, ack=22 * MSS)
    made.packet(end + 0.0202, True, ack=24 * MSS)


def acks_only(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    client = [each for each in made.packets if each[1][12:16] == HOSTS[0]]
    made.packets = client
    made.packet(0.05, True, "PA", length=300)
    made.packet(end + 0.1, True, seq=300, ack=60 * MSS)


#: What each connection is about: words that its sentence has, and that no other one has.
CASES: dict[str, tuple[Callable[[Connection], None], tuple[str, ...]]] = {
    "a RST of a middlebox": (forged_reset, ("sent the RST in the name of the server", "254", "333 s")),
    "a state that is forgotten": (forgotten, ("pause of 700 s", "7 retransmissions")),
    "a receiver that vanishes": (gone, ("until the end without any answer", "7 retransmissions")),
    "a slow handshake": (slow_handshake, ("waited 3.07 s for the handshake: 3 SYNs",)),
    "a refused connection": (refused, ("refused",)),
    "no answer": (unanswered, ("no answer came to 4 SYNs in 7 s",)),
    "a client that gives up": (given_up, ("the client gave up after 5 s", "3 SYNs")),
    "a client that opens by half": (half_open, ("answered the SYN-ACK by a RST",)),
    "a closed window": (closed_window, ("waited 4 s for the closed receive window of the client",)),
    "Nagle and delayed ACKs": (nagle, ("for delayed ACKs (39 times)", "TCP_NODELAY")),
    "rewritten sequence numbers": (rewritten, ("SACK blocks of 19 ACKs lie outside",)),
    "a black hole of path MTU discovery": (black_hole, ("path MTU", "up to 400 bytes")),
    "a capture that drops": (capture_drops, ("the capture dropped packets",)),
    "a window without scale": (window_limit, (", which has no window scale, limits", "11.7 kB")),
    "a window scale of 0": (window_scale_of_0, (", which has a window scale of 0, limits",)),
    "a send buffer": (send_buffer, ("the send buffer of the server",)),
    "segments after their ACKs": (captured_late, ("20 segments after their own ACKs",)),
    "time-outs": (time_outs, ("for retransmission time-outs after 3 losses",)),
    "reordering": (overtaken, ("1 segment was overtaken",)),
    "ACKs without data": (acks_only, ("only ACKs were captured",)),
    "an application": (application, ("the application of the server limits",)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_sentence_names_the_cause_and_no_other(name: str, tmp_path: Path) -> None:
    make, words = CASES[name]
    made = Connection()
    make(made)
    connections = analyse(made.write(tmp_path / "x.pcap")).connections
    sentence = connections["diagnosis"].iloc[0]
    assert len(connections) == 1
    for word in words:
        assert word in sentence
    for other, (_, others) in CASES.items():
        if other != name:
            assert others[0] not in sentence


def test_what_answers_a_request_has_not_waited_for_a_delayed_ack(tmp_path: Path) -> None:
    made = Connection()
    delayed_acks_before_requests(made)
    row = analyse(made.write(tmp_path / "x.pcap")).connections.iloc[0]
    assert row["delayed_acks"] == 0
    assert row["harm_s"] == 0
    assert "Nagle" not in row["diagnosis"]


def test_a_capture_without_times_is_said_to_have_none(celltcp, tmp_path: Path) -> None:
    made = Connection()
    made.handshake(t=0)
    download(made, 0, 20, 0)
    made.packets = [(0.0, *rest) for _, *rest in made.packets]
    output = celltcp("pcap", "analyze", str(made.write(tmp_path / "x.pcap"))).stdout
    assert "packets of the same time, that of all: rates, RTTs and waits are not known" in output


def test_nothing_is_said_of_a_connection_without_a_fault(tmp_path: Path) -> None:
    made = Connection()
    made.handshake()
    download(made, 0.03, 10, 0.02)
    assert analyse(made.write(tmp_path / "x.pcap")).connections["diagnosis"].iloc[0] == ""
