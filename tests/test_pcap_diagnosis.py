"""The sentence that celltcp pcap analyze says about a connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from celltcp.pcap import analyse
from made_up_connections import (
    acks_only,
    application,
    black_hole,
    capture_drops,
    captured_late,
    client_thinks,
    closed_window,
    data_after_a_reset,
    download,
    duplicates,
    even_rate_at_the_receiver,
    forged_reset,
    forgotten,
    gap_at_the_receiver,
    given_up,
    gone,
    half_open,
    marks,
    mostly_overtaken,
    nagle,
    overtaken,
    pauses_at_the_receiver,
    refused,
    reset_of_the_other_end_too_early,
    reset_of_the_server,
    rewritten,
    send_buffer,
    send_buffer_in_pulses,
    server_thinks,
    slow_handshake,
    time_outs,
    unanswered,
    window_at_the_receiver,
    window_limit,
    window_scale_of_0,
    window_that_acks_open,
    window_that_grows,
    without_sack,
)
from packets import Connection

#: What each connection is about: words that its sentence has, and that no other one has.
CASES: dict[str, tuple[Callable[[Connection], None], tuple[str, ...]]] = {
    "a RST of a middlebox": (forged_reset, ("sent the RST in the name of the server", "254", "333 s")),
    "a RST of the server": (reset_of_the_server, ("the server ended the connection by a RST",)),
    "a client that thinks": (client_thinks, ("for the application of the client (7 times)",)),
    "a server that thinks": (server_thinks, ("for the application of the server (8 times)",)),
    "marks": (marks, ("marks packets (ECN)", "5 echoes")),
    "a gap of the data": (gap_at_the_receiver, ("for data of the server, of which none came",)),
    "a state that is forgotten": (forgotten, ("pause of 700 s", "7 retransmissions")),
    "a receiver that vanishes": (gone, ("until the end without any answer", "7 retransmissions")),
    "a slow handshake": (slow_handshake, ("waited 3.07 s for the handshake: 3 SYNs",)),
    "a refused connection": (refused, ("refused",)),
    "no answer": (unanswered, ("no answer came to 4 SYNs in 7 s",)),
    "a client that gives up": (given_up, ("the client gave up after 5 s", "3 SYNs")),
    "a client that opens by half": (half_open, ("answered the SYN-ACK by a RST",)),
    "a closed window": (closed_window, ("waited 4 s for the closed receive window of the client",)),
    "Nagle and delayed ACKs": (nagle, ("for delayed ACKs (39 times, 40 ms each)", "TCP_NODELAY")),
    "rewritten sequence numbers": (rewritten, ("SACK blocks of 19 ACKs lie outside",)),
    "a black hole of path MTU discovery": (black_hole, ("path MTU", "up to 400 bytes")),
    "a capture that drops": (capture_drops, ("the capture dropped packets",)),
    "a window without scale": (window_limit, (", which has no window scale, limits", "11.7 kB")),
    "a window that grows": (window_that_grows, ("limits the rate: 14.6 kB at first, growing to ",)),
    "a window scale of 0": (window_scale_of_0, (", which has a window scale of 0, limits",)),
    "a send buffer": (send_buffer, ("the send buffer of the server",)),
    "segments after their ACKs": (captured_late, ("20 segments after their own ACKs",)),
    "time-outs": (time_outs, ("for retransmission time-outs after 3 losses",)),
    "reordering": (overtaken, ("1 segment was overtaken",)),
    "ACKs without data": (acks_only, ("only ACKs were captured",)),
    "an application": (application, ("the application of the server limits",)),
}


#: The same for other forms of some of them.
FORMS: dict[str, tuple[Callable[[Connection], None], str, str]] = {
    "a RST that is too early": (
        reset_of_the_other_end_too_early,
        "a RST of a middlebox",
        "0.3 ms after a packet of the other side: the RTT to the server is 40 ms",
    ),
    "a window that ACKs open": (window_that_acks_open, "", "the receive window of the client limits"),
    "duplicates": (duplicates, "", "7 of 160 packets came twice"),
    "data after a RST": (data_after_a_reset, "", "the client ended the connection by a RST"),
    "a recovery without SACK": (
        without_sack,
        "",
        "for a recovery without SACK: the server",
    ),
    "a window at the receiver": (window_at_the_receiver, "", "the receive window of the client limits"),
    "an even rate at the receiver": (even_rate_at_the_receiver, "", "either the send buffer, the app"),
    "pauses at the receiver": (pauses_at_the_receiver, "an application", "it paused for"),
    "a send buffer in pulses": (send_buffer_in_pulses, "a send buffer", "keeps to 87.6 kB in flight"),
    "reordering beside a loss": (mostly_overtaken, "reordering", "8 segments were overtaken"),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_sentence_names_the_cause_in_its_other_forms(name: str, tmp_path: Path) -> None:
    make, same, words = FORMS[name]
    made = Connection()
    make(made)
    (sentence,) = analyse(made.write(tmp_path / "x.pcap")).connections["diagnosis"]
    assert words in sentence
    for other, (_, others) in CASES.items():
        assert other == same or others[0] not in sentence, other


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


def test_what_a_capture_dropped_hides_no_limit(tmp_path: Path) -> None:
    made = Connection()
    window_limit(made)
    made.packets = [each for each in sorted(made.packets) if not 2.0 <= each[0] < 2.0001]
    sentence = analyse(made.write(tmp_path / "x.pcap")).connections["diagnosis"].iloc[0]
    assert sentence.startswith("the capture dropped packets, the network did not: 1.46 kB")
    assert "; the receive window of the client, which has no window scale, limits" in sentence
