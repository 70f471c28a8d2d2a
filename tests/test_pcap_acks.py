"""ACKs in captures: their reports of losses, delays and RTTs."""

from __future__ import annotations

from pathlib import Path

import pytest

from celltcp.pcap import analyse
from celltcp.pcap.diagnosis.waits import waits
from made_up_connections import MSS, at_client, delayed_acks_before_requests
from made_up_evidence import evidence, loss
from packets import Connection


def test_what_answers_a_request_has_not_waited_for_a_delayed_ack(tmp_path: Path) -> None:
    made = Connection()
    delayed_acks_before_requests(made)
    row = analyse(made.write(tmp_path / "x.pcap")).connections.iloc[0]
    assert row["delayed_acks"] == 0
    assert row["harm_s"] == 0
    assert "Nagle" not in row["diagnosis"]


def test_duplicate_acks_report_losses_where_a_capture_cuts_off_sack_blocks(tmp_path: Path) -> None:
    made = Connection()
    made.handshake()
    for number in range(40):
        made.packet(0.1 + 1e-3 * number, False, seq=number * MSS, length=MSS)
    for number in range(1, 40):
        lost = ((20 * MSS, (number + 1) * MSS),) if number >= 20 else ()
        made.packet(0.12 + 1e-3 * number, True, ack=min(number, 19) * MSS, sack=lost)
    made.packet(0.145, False, seq=19 * MSS, length=MSS)
    made.packet(0.165, True, ack=40 * MSS)
    # Of one ACK a block is there, of the others it is cut off.
    kept = iter(range(100))
    made.packets = [
        (t, packet[:44] if len(packet) == 52 and next(kept) else packet, total)
        for t, packet, total in made.packets
    ]
    losses = analyse(made.write(tmp_path / "x.pcap")).losses
    assert len(losses) == 1
    assert losses["kind"].iloc[0] != "tail"


def test_the_lowest_rtt_falls_where_each_segment_has_an_ack(tmp_path: Path) -> None:
    """The first sample is longer than all others."""
    made = Connection()
    for number in range(60):
        t = 0.01 * number
        rtt = 0.04 if number < 2 else 0.02
        made.packet(t, False, seq=number * MSS, length=MSS)
        made.packet(t + rtt, True, ack=(number + 1) * MSS)
    intervals = analyse(made.write(tmp_path / "x.pcap")).intervals
    assert intervals["rtt_min_ms"].dropna().iloc[-1] == pytest.approx(20, abs=1)


def test_no_queue_stands_at_a_receiver_that_answers_at_once(tmp_path: Path) -> None:
    made = Connection()
    at_client(made, 0.04)
    made.packet(0.05, True, "PA", length=100)
    for number in range(400):
        t = 0.09 + 1e-3 * number
        made.packet(t, False, seq=number * MSS, ack=100, length=MSS)
        made.packet(t + (4e-6 if number % 10 else 4e-5) * 5, True, seq=100, ack=(number + 1) * MSS)
    assert "queue" not in analyse(made.write(tmp_path / "x.pcap")).connections["diagnosis"].iloc[0]


def test_acks_for_which_a_lossy_window_waits_are_not_held_back_by_nagle() -> None:
    """A window of one segment after losses waits for delayed ACKs, too."""
    short = {"bytes_down": 3_000_000, "delayed_acks": 37, "delayed_ack_s": 1.5}
    rows = [waits(evidence(loss(5, 50, 0.1, lost), **short)) for lost in (0, 33)]
    assert ["Nagle" in "".join(str(wait.text) for wait in row) for row in rows] == [True, False]
