"""Waits in captures: which silences of a receiver are waits."""

from __future__ import annotations

import math
import random
import re
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.diagnosis import INTERVAL_COLUMNS
from celltcp.pcap.diagnosis.causes import Cause, named
from celltcp.pcap.diagnosis.evidence import Evidence
from celltcp.pcap.diagnosis.requests import cycle_text
from celltcp.pcap.diagnosis.waits import in_queue_of, waits
from celltcp.pcap.next_steps import _acks_behind
from made_up_evidence import evidence


@pytest.mark.parametrize(("rtt_ms", "is_told"), [(200, True), (2_300, False)])
def test_a_receiver_is_silent_for_as_long_as_acks_queue(rtt_ms: int, is_told: bool) -> None:
    """Losses beside a long queue of ACKs wait for these, not for an outage."""
    row: dict[Hashable, Any] = defaultdict(
        int,
        {"place": "receiver", "direction": "down", "duration_s": 12.6, "ending": "open"}
        | {"stalled_s": 2.7, "losses": 916, "losses_outage": 1, "near_rtt_p95_ms": rtt_ms},
    )
    losses = pd.DataFrame(
        {"kind": ["outage"], "repair": ["fast"], "t_s": [4.0], "repaired_s": [6.7], "is_upstream": [0]}
    ).assign(up=0)
    times = [
        wait.time_s for wait in waits(Evidence(row, losses, pd.DataFrame(columns=INTERVAL_COLUMNS)))
    ]
    assert times == ([2.7] if is_told else [])


@pytest.mark.parametrize(
    ("spurious", "waited_s", "is_told"), [(0, 3.5, False), (1, 3.5, False), (4, 3.5, True)]
)
def test_a_wait_is_in_the_queue_of_another_connection_only_if_that_is_as_long(
    spurious: int, waited_s: float, is_told: bool
) -> None:
    filler = {"connection": 7, "far_rtt_p95_ms": 1000.0, "near_rtt_p95_ms": math.nan}
    own = replace(evidence((), spurious=spurious, stalled_s=waited_s), queue_filler=filler)
    assert any("that connection 7 fills" in str(wait.text) for wait in waits(own)) == is_told


@pytest.mark.parametrize(("longest_ms", "is_behind"), [(900.0, False), (1500.0, True)])
def test_gaps_of_the_data_are_waits_of_acks_behind_an_upload_whose_queue_is_as_long(
    longest_ms: float, is_behind: bool
) -> None:
    upload = {"connection": 1, "far_rtt_p95_ms": longest_ms, "near_rtt_p95_ms": 1.0}
    own = evidence((), place="receiver", near_rtt_samples=500, near_rtt_p50_ms=45.0)
    # Nothing comes in two of ten seconds, and once in half of one.
    times = [0.1 * number for number in range(100) if number not in {*range(30, 50), *range(70, 75)}]
    data = {"up": 0, "t_s": times, "bytes": 1e5, "retransmitted_bytes": 0, "held_s": 0, "paused_s": 0}
    for opposite in (None, upload):
        given = replace(own, intervals=pd.DataFrame(data), opposite=opposite)
        (text,) = (str(wait.text) for wait in waits(given))
        is_told = is_behind and opposite is not None
        assert ("its ACKs waited in the queue that connection 1 fills" in text) == is_told
        assert ("its application paused" in text) != is_told


@pytest.mark.parametrize("is_even", [True, False])
def test_data_after_a_gap_are_those_of_it_only_beside_an_even_rate(is_even: bool) -> None:
    """A page comes at once, too, when its reader goes on; a stream catches up with what it missed."""
    own = evidence((), place="receiver", near_rtt_samples=500, near_rtt_p50_ms=45.0)
    numbers = range(600)
    rates = [1e3 if is_even else 0.0 for _ in numbers]
    rates[300:320] = [0.0] * 20
    rates[320] = 20e3
    data = {"up": 0, "t_s": [0.1 * each for each in numbers], "bytes": rates, "retransmitted_bytes": 0}
    intervals = pd.DataFrame(data).assign(held_s=0.0, paused_s=0.0)
    # A page has a beginning as well.
    intervals.loc[280, "bytes"] = 1e3
    given = replace(own, intervals=intervals[intervals["bytes"] > 0])
    text = "; ".join(str(wait.text) for wait in waits(given))
    assert ("its application did not pause" in text) == is_even, text


def test_acks_that_wait_behind_an_upload_have_a_step_against_its_queue() -> None:
    """Data in the queue of a transfer are no ACKs."""
    filler = {"connection": 12, "far_rtt_p95_ms": 300.0, "near_rtt_p95_ms": math.nan}
    sentences = [
        named(Cause.OVERFLOW, "10 losses") + named(Cause.ACKS_BEHIND, "; ACKs", connection=3),
        in_queue_of(filler, Cause.ACKS_IN_QUEUE, "its ACKs waited in "),
        in_queue_of(filler, Cause.FILLED_QUEUE, "waited 2 s in "),
    ]
    assert [_acks_behind(sentence.columns()) for sentence in sentences] == [3, 12, None]
    assert (
        str(sentences[2]) == "waited 2 s in the queue that connection 12 fills (RTTs of up to 300 ms)"
    )


@pytest.mark.parametrize("rtt", ["17ms", "26ms", "62ms"])
def test_a_short_segment_that_leaves_with_the_ack_of_another_waited_for_it(
    rtt: str, tmp_path: Path
) -> None:
    """Nagle's algorithm holds the second write of each answer for an RTT."""
    calls = {"kind": "request-response", "request": "300B", "response": "2.69kB"}
    flow: dict[str, Any] = {"nodelay": False, "workload": {**calls, "writes": 2, "gap": "50ms"}}
    for nodelay in (False, True):
        file = tmp_path / f"{nodelay}.pcap"
        changes = {"path.rtt": rtt, "flows": [{**flow, "nodelay": nodelay}]}
        ct.run(
            "steady-20-68", "cubic", 1, "8s", set=changes, samples="off", pcap=file, pcap_at="server"
        )
        (row,) = analyse(file).connections.to_dict("records")
        assert (" for ACKs (" in row["diagnosis"]) == (not nodelay), row["diagnosis"]
        assert ("TCP_NODELAY" in row["diagnosis"]) == (not nodelay)
        if not nodelay:
            parts = r" requests, one in [\d.]+ ms on average \(RTT ([\d.]+) ms, ACKs ([\d.]+) ms"
            ((rtt_ms, acks_ms),) = re.findall(parts, row["diagnosis"])
            assert float(rtt_ms) == pytest.approx(float(rtt.removesuffix("ms")), rel=0.1)
            assert float(acks_ms) == pytest.approx(float(rtt_ms), rel=0.2)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_parts_of_a_request_are_its_time_and_what_nodelay_saves_is_in_them(
    seed: int, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    think_ms, rtt_ms = draw.choice([0, 5]), draw.choice([18, 24, 40])
    calls = {"kind": "request-response", "request": "300B", "response": "700B", "writes": 2}
    gap = {"kind": "exponential", "mean": f"{draw.choice([80, 120])}ms"}
    workload = {**calls, "think": f"{think_ms}ms", "gap": gap}
    place, cycles_ms, text = ["server", "phone"][seed % 2], {}, ""
    for nodelay in (True, False):
        file = tmp_path / f"{nodelay}.pcap"
        changes = {"path.rtt": f"{rtt_ms}ms", "flows": [{"nodelay": nodelay, "workload": workload}]}
        ct.run("steady-20-68", "cubic", 1, "20s", set=changes, samples="off", pcap=file, pcap_at=place)
        (row,) = analyse(file).connections.to_dict("records")
        text = row["diagnosis"]
        cycles_ms[nodelay] = 1e3 * row["download_s"] / row["segments_up"]
    (up_to,) = re.findall(r"saves up to ([\d.]+) ms of each request", text)
    saved_ms = cycles_ms[False] - cycles_ms[True]
    assert 0.95 * saved_ms <= float(up_to) <= saved_ms + think_ms + rtt_ms
    ((cycle, parts),) = re.findall(r"one in ([\d.]+) ms on average \((.*)\)", text)
    whole = sum(map(float, re.findall(r" ([\d.]+) ms", parts)))
    assert whole == pytest.approx(float(cycle), rel=0.02)


@pytest.mark.parametrize(("rtt_ms", "parts"), [(0.2, ""), (3.0, " (RTT 3 ms, the rest 0.94 ms)")])
def test_requests_have_the_parts_of_their_time_that_are_long_enough(rtt_ms: float, parts: str) -> None:
    short = {"bytes_up": 200_000, "segments_up": 2_000, "download_s": 8.0}
    text = cycle_text(evidence(rtt_min_ms=rtt_ms, delayed_ack_s=0.12, **short))
    assert text == f"; 2000 requests, one in 4 ms on average{parts}"
