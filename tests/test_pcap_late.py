"""Captures that begin within a connection: what they do not show."""

from __future__ import annotations

from pathlib import Path

import pytest

from celltcp.pcap import analyse
from made_up_connections import MSS, download
from packets import Connection


def test_full_segments_are_not_held_back_by_nagle_without_a_handshake_either(tmp_path: Path) -> None:
    made = Connection()
    download(made, 0.01, 10, 0.001)
    for number in range(10, 50):
        t = 0.1 + 0.0411 * number
        made.packet(t, False, "PA", seq=MSS * number, length=MSS)
        made.packet(t + 0.041, True, ack=MSS * (number + 1))
    row = analyse(made.write(tmp_path / "x.pcap")).connections.iloc[0]
    assert row["delayed_acks"] > 20
    assert "Nagle" not in row["diagnosis"]


def test_what_was_in_flight_when_a_capture_begins_is_not_missing_in_it(tmp_path: Path) -> None:
    made = Connection()
    made.handshake()
    download(made, 0.1, 400, 0.02)
    made.packets = sorted(made.packets)[150:]
    row = analyse(made.write(tmp_path / "x.pcap")).connections.iloc[0]
    assert row["missed_bytes"] == 0
    assert "capture" not in row["diagnosis"]


def test_a_capture_that_begins_in_an_outage_has_dropped_nothing(tmp_path: Path) -> None:
    """The first retransmission is acknowledged with all data that were in flight before."""
    made = Connection()
    made.packet(0, False, seq=0, length=MSS)
    made.packet(0.05, True, ack=40 * MSS)
    download(made, 0.06, 100, 0.05, first=40)
    row = analyse(made.write(tmp_path / "x.pcap")).connections.iloc[0]
    assert row["missed_bytes"] == 0
    assert "capture" not in row["diagnosis"]


def test_a_capture_that_begins_in_a_recovery_has_dropped_nothing(tmp_path: Path) -> None:
    """Without SACK, each retransmission is acknowledged with what had arrived before."""
    made = Connection()
    for number in range(20):
        made.packet(0.1 * number, False, seq=5 * number * MSS, length=MSS)
        made.packet(0.1 * number + 0.05, True, ack=5 * (number + 1) * MSS)
    row = analyse(made.write(tmp_path / "x.pcap")).connections.iloc[0]
    assert row["missed_bytes"] == 0
    assert "capture" not in row["diagnosis"]


@pytest.mark.parametrize("length", [300, 1_100])
def test_messages_that_end_with_a_segment_of_their_size_are_held_back_by_nagle(
    length: int, tmp_path: Path
) -> None:
    """Each request has an answer of two writes, of which the second one waits for a delayed ACK."""
    made = Connection()
    for number in range(30):
        t = 0.1 * number
        made.packet(t, True, "PA", seq=100 * number, ack=2 * length * number, length=100)
        made.packet(
            t + 1e-3, False, "PA", seq=2 * length * number, length=length, ack=100 * (number + 1)
        )
        made.packet(t + 0.05, True, seq=100 * (number + 1), ack=length * (2 * number + 1))
        made.packet(
            t + 0.0501,
            False,
            "PA",
            seq=length * (2 * number + 1),
            length=length,
            ack=100 * (number + 1),
        )
        # The next request acknowledges it.
        made.packet(t + 0.06, True, seq=100 * (number + 1), ack=2 * length * (number + 1))
    row = analyse(made.write(tmp_path / "x.pcap")).connections.iloc[0]
    assert row["handshake"] == "none"
    assert "for delayed ACKs" in row["diagnosis"]
    assert "Nagle" in row["diagnosis"]


def test_a_late_repair_without_sack_is_one_by_time_out(tmp_path: Path) -> None:
    """Without SACK, the third duplicate ACK has a segment sent again at once, and nothing else does."""
    made = Connection()
    for number in range(60):
        t = 0.002 * number
        made.packet(t, False, seq=number * MSS, length=MSS)
        if number < 30:
            made.packet(t + 0.05, True, ack=(number + 1) * MSS)
    for number in range(3):
        made.packet(0.112 + 0.002 * number, True, ack=30 * MSS)
    made.packet(0.28, False, seq=30 * MSS, length=MSS)
    made.packet(0.33, True, ack=60 * MSS)
    (loss,) = analyse(made.write(tmp_path / "x.pcap")).losses.to_dict("records")
    assert loss["repair"] == "time-out"
