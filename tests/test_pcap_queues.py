"""Queues in captures: which sentence says that one drops, stands, or is none."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.diagnosis.losses import _has_constant_rate
from made_up_evidence import evidence, limit, loss

#: Losses of a queue that is full at 80 ms, spread over the transfer.
FULL = [each for t in range(1, 10) for each in loss(t, 80, 1.0, 4)]


def test_a_queue_that_is_full_and_stands_limits_the_rate() -> None:
    sentence = limit(evidence(FULL, [65.0] * 100, far_rtt_p50_ms=65.0))
    assert sentence.startswith("a full queue on the path limits the rate: 36 segments were lost in it")


def test_a_queue_of_a_sender_that_pauses_does_not_stand() -> None:
    """RTTs of intervals with data are those of a queue each time; in between there is none."""
    own = evidence(FULL, [65.0] * 100, far_rtt_p50_ms=65.0, pauses_down_s=2.0)
    assert "lost in a full queue, which does not stand all the time" in limit(own)


@pytest.mark.parametrize(("delay_ms", "is_named"), [(9.0, True), (2.0, False)])
def test_a_queue_of_two_segments_is_no_shallow_buffer(delay_ms: float, is_named: bool) -> None:
    """A segment takes 1.2 ms at 10 Mbit/s: pacing and delayed ACKs make a delay of two."""
    losses = [each for t in range(1, 10) for each in loss(t, 40 + delay_ms, 1.0)]
    rtts = {
        "far_rtt_p50_ms": 40.5,
        "far_rtt_p95_ms": 40 + delay_ms - 0.5,
        "far_rtt_max_ms": 40 + delay_ms,
    }
    sentence = limit(evidence(losses, [40.5] * 100, **rtts))
    assert ("a shallow buffer on the path limits" in sentence) == is_named
    assert is_named or "at random, by a policer, or in a very short buffer" in sentence


@pytest.mark.parametrize(("queue", "is_discipline"), [(0.85, True), (1.0, False)])
def test_single_losses_below_the_longest_queue_may_be_those_of_a_discipline(
    queue: float, is_discipline: bool
) -> None:
    """A discipline drops one, and the queue grows on until the sender hears of it."""
    losses = [each for t in range(1, 10) for each in loss(t, 79, queue)]
    sentence = limit(evidence(losses, [65.0] * 100, far_rtt_p50_ms=65.0))
    assert ("a queue discipline (AQM)" in sentence) == is_discipline
    assert ("a full queue" in sentence) != is_discipline


@pytest.mark.parametrize(("delay_ms", "is_named"), [(12.0, True), (3.0, False)])
def test_no_discipline_drops_below_its_target(delay_ms: float, is_named: bool) -> None:
    """Bursts above the rate of a policer make a short queue, at whose RTTs all its losses are."""
    losses = [each for t in range(1, 80) for each in loss(t / 8, 40 + delay_ms, 0.5)]
    usual = {"far_rtt_p50_ms": 41.0, "far_rtt_p95_ms": 42.5}
    sentence = limit(evidence(losses, [42.0] * 100, **usual))
    assert ("a queue discipline (AQM) on the path drops" in sentence) == is_named


@pytest.mark.parametrize(
    ("rtt_ms", "handshake", "words"),
    [
        (40.5, "whole", "lost at random, by a policer, or in a very short buffer"),
        (40.5, "none", "1 segment was lost in 1 round trip, too few to tell why"),
        (55.0, "whole", "1 segment was lost in 1 round trip, too few to tell why"),
    ],
)
def test_one_loss_shows_little_unless_the_path_was_empty(
    rtt_ms: float, handshake: str, words: str
) -> None:
    """Only the handshake shows the RTT of an empty path."""
    assert words in limit(evidence(loss(5, rtt_ms, 0.1), handshake=handshake))


def test_one_event_that_lost_more_than_all_others_is_told() -> None:
    short = [each for t in range(2, 10) for each in loss(t, 40.5, 0.1)]
    sentence = limit(evidence([*loss(1, 80, 1.0, 60), *short]))
    assert sentence.startswith("8 segments were lost at random")
    assert sentence.endswith("; 60 others while the queue was longer")


def test_many_losses_at_once_are_not_too_few() -> None:
    sentence = limit(evidence(loss(5, 48, 0.4, 40), far_rtt_max_ms=120.0))
    assert "40 segments were lost in bursts: either a buffer that overflowed" in sentence


def test_losses_beside_an_empty_path_are_random_whichever_delay_is_the_longest() -> None:
    """A share of the longest delay shows no full queue if no delay exceeds jitter."""
    losses = [each for t in range(1, 8) for each in loss(t, 40.2, 0.2)]
    fuller = [each for t in (2.5, 6.5) for each in loss(t, 40.9, 0.9)]
    sentence = limit(evidence([*losses, *fuller], far_rtt_p50_ms=40.3, far_rtt_p95_ms=41.0))
    assert sentence.startswith("9 segments were lost at random, "), sentence
    queued = [each for t in (2.5, 6.5) for each in loss(t, 78, 0.9)]
    sentence = limit(evidence([*losses, *queued], far_rtt_p50_ms=40.3, far_rtt_p95_ms=79.0))
    assert sentence.startswith("7 segments were lost at random, "), sentence


@pytest.mark.parametrize("is_steady", [True, False])
def test_a_queue_changes_steadily_and_jitter_does_not(is_steady: bool) -> None:
    """A capture that begins in a queue has no RTT of the empty path to compare with."""
    rises = [50 + 2.5 * abs(number % 20 - 10) for number in range(200)]
    rtts = rises if is_steady else [rises[7 * number % 200] for number in range(200)]
    own = evidence((), rtts, far_rtt_min_ms=50.0, far_rtt_p50_ms=62.5, handshake="none")
    assert ("a queue stands on the path" in limit(own)) == is_steady


def uplink(place: str, file: Path, rate: str) -> str:
    """Returns the sentence of a download whose ACKs take an uplink of a rate."""
    changes: dict[str, Any] = {
        "path.up": {"rate": rate},
        "path.uplink_buffer": "200packets",
        "path.wired": [{"name": "wan"}, {"name": "hop-2", "delay": "8ms"}],
        "path.middleboxes": [{"kind": "reset-tracker", "at": "node-1"}],
    }
    run = {"set": changes, "samples": "off", "pcap": file, "pcap_at": place}
    ct.run("steady-20-68", "cubic", duration="6s", **run)
    (sentence,) = analyse(file).connections["diagnosis"]
    return str(sentence)


@pytest.mark.parametrize("place", ["server", "node-1", "phone"])
def test_timestamps_show_in_which_direction_a_queue_stands(place: str, tmp_path: Path) -> None:
    slow = uplink(place, tmp_path / "slow.pcap", "200kbit/s")
    assert "a queue stands on the path of the ACKs: in the median they wait" in slow
    assert "of the ACKs" not in uplink(place, tmp_path / "fast.pcap", "20Mbit/s")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_upload_that_begins_later_has_its_rate_and_rtt_beside_those_without_it(
    seed: int, tmp_path: Path
) -> None:
    """Medians over packets are those of the time before it, in which most of them pass."""
    draw = random.Random(seed)
    start_s = draw.choice([4, 6])
    download = {"name": "download", "cca": "cubic"}
    upload = {"name": "upload", "from": "phone", "to": "server", "cca": "cubic", "start": f"{start_s}s"}
    changes: dict[str, Any] = {
        "path.up": {"rate": f"{draw.choice([1, 1.5, 2])}Mbit/s"},
        "path.uplink_buffer": f"{draw.choice([150, 200])}packets",
        "flows": [download, upload],
    }
    file = tmp_path / "run.pcap"
    place = draw.choice(["server", "phone"])
    ct.run(
        "steady-20-68", "cubic", duration="20s", samples="off", set=changes, pcap=file, pcap_at=place
    )
    sentence = str(analyse(file).connections["diagnosis"][0])
    found = re.search(r"meanwhile: then (\S+) Mbit/s pass .*? without it (\S+) Mbit/s pass", sentence)
    assert found, sentence
    during, without = map(float, found.groups())
    intervals = analyse(file).intervals.query("connection == 0 and not up")
    sent = intervals[intervals["t_s"] > start_s + 0.2]["bytes"].sum()
    assert during == pytest.approx(8e-6 * sent / (20 - start_s), rel=0.1)
    assert during < without / 2
    if "path of the ACKs" in sentence:
        assert "in the median" not in sentence
        assert "limits the rate" not in sentence


def test_a_clock_that_is_wrong_is_no_queue() -> None:
    """At 100 ppm, timestamps are 60 ms late after ten minutes."""
    late = {"late_up_p50_ms": 60.0, "late_down_p50_ms": 0.0, "far_rtt_p50_ms": 100.0}
    assert "of the ACKs" in limit(evidence((), **late))
    assert "of the ACKs" not in limit(evidence((), **late, duration_s=600.0))


@pytest.mark.parametrize(("changes", "is_queue"), [({}, True), ({"pauses_down_s": 5.0}, False)])
def test_an_application_that_answers_late_is_no_queue_of_acks(
    changes: dict[str, float], is_queue: bool
) -> None:
    """To the sender, an RTT ends with its next data."""
    near = {"near_rtt_samples": 500, "near_rtt_min_ms": 40.0, "near_rtt_p50_ms": 90.0}
    far = {f"far_rtt_{name}_ms": 0.0 for name in ("min", "p50", "p95", "max")}
    late = {"late_up_p50_ms": 0.0, "late_down_p50_ms": 1.0}
    own = evidence((), place="receiver", **near, **far, **late, **changes)
    assert ("of the ACKs" in limit(own)) == is_queue


@pytest.mark.parametrize("kbytes", [5, 100])
def test_a_link_that_slows_down_is_no_queue_of_acks(kbytes: int) -> None:
    """Most data pass before, without a queue; most time is behind one, with its ACKs and samples."""
    near = {"near_rtt_samples": 500, "near_rtt_min_ms": 40.0, "near_rtt_p50_ms": 240.0}
    far = {f"far_rtt_{name}_ms": 0.0 for name in ("min", "p50", "p95", "max")}
    late = {"late_up_p50_ms": 1.0, "late_down_p50_ms": 10.0}
    own = evidence((), place="receiver", **near, **far, **late)
    own.intervals.loc[:29, "near_rtt_mean_ms"] = 50.0
    own.intervals.loc[30:, "bytes"] = 1e3 * kbytes
    assert ("of the ACKs" in limit(own)) == (kbytes == 100)


@pytest.mark.parametrize(("near_ms", "is_named"), [(30.0, True), (math.nan, False)])
def test_pauses_without_rtts_to_the_sender_may_be_those_between_acks(
    near_ms: float, is_named: bool
) -> None:
    place = "receiver" if is_named else "unknown"
    own = evidence((), place=place, pauses_down_s=7.0, near_rtt_p95_ms=near_ms)
    own.intervals.loc[own.intervals.index % 5 > 1, "bytes"] = 0
    assert ("the application of the server limits the rate: it paused" in limit(own)) == is_named


def test_repairs_show_the_rtt_beside_losses_at_a_receiver_without_timestamps() -> None:
    found = [each for t in range(1, 10) for each in loss(t, 60, 0.1)]
    losses = [{**each, "rtt_ms": math.nan, "is_upstream": 1} for each in found]
    far = {f"far_rtt_{name}_ms": 0.0 for name in ("min", "p50", "p95", "max")}
    own = evidence(losses, place="receiver", near_rtt_min_ms=40.0, **far)
    assert "the RTT was 60 ms then, and 40 ms at least" in limit(own)
    # What overtook others may come as late.
    assert "no RTT beside them" in limit(evidence(losses, place="receiver", reordered=1, **far))


def test_an_even_rate_in_between_is_one_where_bursts_leave_no_queue() -> None:
    """Bursts wait for themselves in each RTT, so that its mean is longer than the lowest one."""
    between = {"place": "between", "near_rtt_samples": 50, "near_rtt_min_ms": 20.0, "rtt_min_ms": 60.0}
    bursts = [40.3 if number % 3 == 0 else 90.0 for number in range(100)]
    own = evidence((), bursts, **between, near_rtt_p50_ms=21.0, far_rtt_p50_ms=80.0)
    assert "either the send buffer, the application or a CCA" in limit(own)
    queued = evidence((), bursts, **between, near_rtt_p50_ms=45.0, far_rtt_p50_ms=80.0)
    assert "either the send buffer" not in limit(queued)


@pytest.mark.parametrize(("rate_mbps", "is_queue"), [(10.0, True), (0.2, False)])
def test_a_queue_stands_from_a_delay_on_that_depends_on_the_rate_and_not_on_the_rtt(
    rate_mbps: float, is_queue: bool
) -> None:
    """On a long path 40 ms are a queue, whose rate varies here; at 0.2 Mbit/s they are one segment."""
    path = {"rtt_min_ms": 3000.0, "far_rtt_min_ms": 3000.0, "goodput_peak_mbps": rate_mbps}
    own = evidence((), [3190.0] * 200, **path)
    own.intervals["bytes"] *= 1 + own.intervals.index // 50
    assert _has_constant_rate(own) != is_queue


def test_transfers_that_share_a_queue_have_their_share_and_why_it_is_uneven(tmp_path: Path) -> None:
    """BBR does not yield at losses, CUBIC does."""
    scenario = tmp_path / "two.toml"
    scenario.write_text(
        'name = "two"\nduration = "20s"\n[path]\nrtt = "40ms"\nbuffer = "1bdp"\ndown = "40Mbit/s"\n'
        '[[flows]]\nname = "a"\ncca = "cubic"\n[[flows]]\nname = "b"\ncca = "bbr"\n'
    )
    ct.run(scenario, seed=3, samples="off", pcap=tmp_path / "two.pcap")
    rows = analyse(tmp_path / "two.pcap").connections
    rates = rows["throughput_mbps"]
    for row in rows.to_dict("records"):
        share = 100 * row["throughput_mbps"] / rates.sum()
        assert f"of which it has {share:.0f} %: BBR keeps its window at losses" in row["diagnosis"]
