"""Explanations of applications: what the link needs for bytes, what frames get, and what is tried."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget


def _explained(result: ct.Comparison) -> tuple[ExplainedComparison, str]:
    explained = ExplainedComparison(result)
    return explained, " ".join(" ".join(explained.texts(each)) for each in explained.ccas)


@pytest.mark.parametrize("seed", range(4))
def test_pages_of_a_slow_link_have_the_time_of_their_bytes(seed: int) -> None:
    draw = random.Random(f"slow page {seed}")
    rate, size = draw.uniform(0.8, 3.0), draw.randint(20, 60)
    objects = draw.randint(20, 60)
    page = {"kind": "page", "objects": objects, "object": f"{size}kB", "gap": "1s"}
    changes = {"path.down.rate": f"{rate:.2f}Mbit/s", "path.rtt": "80ms", "flows.0.workload": page}
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=changes)
    explained, text = _explained(result)
    (cause,) = (each for each in explained.ccas[0].causes if each.name == "transfer_time")
    needed_s = 8e-3 * (30 + size * objects) / rate
    assert float(re.search(r"The link needs ([\d.]+) s", text)[1]) == pytest.approx(needed_s, rel=0.15)
    assert explained.ccas[0].causes[0] == cause
    # The picture of the units is that of pages, not of their connections.
    assert explained.ccas[0].unit_key.startswith("page_load:")
    explained.try_remedies(TrialBudget())
    (fewer,) = (each for each in explained.remedies if f"objects={objects // 2}" in each.options)
    assert "page load mean" in fewer.trial


@pytest.mark.parametrize("seed", range(3))
def test_pages_of_a_fast_link_do_not_wait_for_their_bytes(seed: int) -> None:
    draw = random.Random(f"fast page {seed}")
    changes = {
        "path.down.rate": f"{draw.randint(40, 100)}Mbit/s",
        "path.rtt": f"{draw.randint(60, 200)}ms",
        "flows.0.workload": {"kind": "page"},
    }
    explained, _ = _explained(ct.compare("steady-20-68", "cubic", 1, duration="30s", set=changes))
    assert "transfer_time" not in {each.name for each in explained.ccas[0].causes}


@pytest.mark.parametrize("seed", range(3))
def test_frames_beside_a_bulk_flow_have_no_slow_link(seed: int) -> None:
    """The link is fast enough for the call; the queue of the backup delays it."""
    draw = random.Random(f"call {seed}")
    interval_ms = draw.choice([20, 33, 40])
    changes = {
        "path.down.rate": f"{draw.randint(4, 8)}Mbit/s",
        "path.buffer": "600packets",
        "flows": [
            {"name": "backup"},
            {
                "name": "call",
                "workload": {"kind": "frames", "size": "4kB", "interval": f"{interval_ms}ms"},
            },
        ],
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="20s", set=changes)
    explained, _ = _explained(result)
    names = {cause.name for each in explained.ccas if each.flow == "call" for cause in each.causes}
    assert "slow_link" not in names
    assert "queue" in names


@pytest.mark.parametrize("seed", range(3))
def test_frames_that_a_window_holds_back_have_their_rates_and_smaller_frames(seed: int) -> None:
    draw = random.Random(f"live {seed}")
    rate_mbps = draw.uniform(5, 8)
    size = round(rate_mbps * 1e6 / 8 / 30)
    frames = {"kind": "frames", "size": f"{size}B", "interval": "33.3ms", "deadline": "2s"}
    changes = {
        "path.down.rate": "20Mbit/s",
        "path.rtt": "80ms",
        "path.loss": draw.uniform(0.008, 0.015),
        "flows.0.workload": frames,
    }
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="30s", set=changes)
    explained, text = _explained(result)
    assert re.search(r"[\d.]+ Mbit/s of the [\d.]+ Mbit/s of its frames", text), text
    assert "deadline of 2 s" in text
    explained.try_remedies(TrialBudget())
    smaller = next(each for each in explained.remedies if "workload.size=" in each.options)
    # The share of late frames is tried and shown, by which a sender of frames is judged.
    assert "share of late frames" in smaller.trial


def _slow_units(changes: dict[str, Any], duration: str) -> dict[str, str]:
    """Returns the sentence on slow units by CCA."""
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 3, duration=duration, set=changes)
    explained, _ = _explained(result)
    return {
        each.cca: " ".join(cause.text for cause in each.causes if cause.name == "slow_units")
        for each in explained.ccas
    }


@pytest.mark.parametrize("seed", range(3))
def test_frames_in_probe_rtt_have_it_as_their_reason(seed: int) -> None:
    draw = random.Random(f"probe {seed}")
    frames = {"kind": "frames", "size": f"{draw.randint(22, 27)}kB", "interval": "33ms"}
    changes = {"path.rtt": f"{draw.randint(60, 90)}ms", "flows.0.workload": frames}
    slow = _slow_units(changes, "60s")
    met, behind = (
        int(match[1]) if (match := re.search(rf"(\d+) {reason}", slow["bbr"])) else 0
        for reason in ("met BBR's PROBE_RTT", "waited behind earlier ones")
    )
    assert met > behind, slow["bbr"]
    assert "PROBE_RTT" not in slow["cubic"]


@pytest.mark.parametrize("seed", range(3))
def test_probe_rtt_is_no_reason_of_frames_that_are_later_than_it_makes_them(seed: int) -> None:
    """A link that is too slow for seconds makes a backlog of seconds, PROBE_RTT one of some 0.3 s."""
    draw = random.Random(f"slow seconds {seed}")
    steps = [
        {"at": f"{start}s", "rate": f"{rate:.1f}Mbit/s"}
        for index, start in enumerate(range(0, 60, 6))
        for rate in [draw.uniform(1.0, 1.6) if index % 2 else draw.uniform(4, 6)]
    ]
    frames = {"kind": "frames", "size": "10kB", "interval": "33ms", "deadline": "1s"}
    changes = {"path.down.steps": steps, "path.rtt": "60ms", "flows.0.workload": frames}
    slow = _slow_units(changes, "60s")
    met, behind = (
        int(match[1].replace(" ", ""))
        if (match := re.search(rf"([\d ]+) {reason}", slow["bbr"]))
        else 0
        for reason in ("met BBR's PROBE_RTT", "waited behind earlier ones")
    )
    assert met < 0.1 * behind, slow["bbr"]


def test_responses_after_losses_have_a_small_window_or_a_low_pacing_rate() -> None:
    answers = {"kind": "request-response", "response": "20kB", "gap": "500ms"}
    changes = {
        "path.rtt": "70ms",
        "path.down.rate": "12Mbit/s",
        "path.loss": 0.01,
        "flows.0.workload": answers,
    }
    slow = _slow_units(changes, "120s")
    assert "had a small window after losses" in slow["cubic"]
    assert "had a low pacing rate after losses" in slow["bbr"]
    assert not any("other reasons" in text for text in slow.values()), slow


@pytest.mark.parametrize("seed", [3, 8, 9])
def test_responses_larger_than_most_windows_after_losses_have_a_small_window(seed: int) -> None:
    """Those of 14 segments take an RTT more while the window has fewer, for much of the time."""
    answers = {"kind": "request-response", "request": "200B", "response": "20kB", "gap": "100ms"}
    changes: dict[str, Any] = {
        "path.rtt": "300ms",
        "path.down.rate": "15Mbit/s",
        "path.loss": 0.01,
        "flows.0.workload": answers,
    }
    result = ct.compare("steady-20-68", "cubic", 1, seed=seed, duration="24s", set=changes)
    text = ExplainedComparison(result).ccas[0].cause_text("slow_units")
    assert "had a small window after losses" in text
    assert "other reasons" not in text


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_more_segments_than_the_window_after_a_loss_have_a_small_window(seed: int) -> None:
    """They take an RTT more, also with a window that is close to the usual one."""
    draw = random.Random(f"cut window {seed}")
    frames = {"kind": "frames", "size": f"{draw.randint(18, 40)}kB", "interval": "33ms"}
    changes = {
        "path.rtt": f"{draw.randint(12, 20)}ms",
        "path.down.rate": "50Mbit/s",
        "path.loss": 0.001,
        "flows.0.workload": {**frames, "deadline": "500ms"},
    }
    text = _slow_units(changes, "60s")["cubic"]
    small, other = (
        int(match[1].replace(" ", "")) if (match := re.search(rf"(\d[\d ]*) {reason}", text)) else 0
        for reason in ("had a small window after losses", "had other reasons")
    )
    assert small > 10 * other, text


@pytest.mark.parametrize("seed", range(4))
def test_nagle_is_the_cause_of_split_responses_and_of_frames_without_losses(seed: int) -> None:
    draw = random.Random(f"nagle {seed}")
    answers = {
        "kind": "request-response",
        "response": f"{draw.randint(300, 1400)}B",
        "writes": draw.randint(2, 3),
        "gap": "200ms",
    }
    frames = {"kind": "frames", "size": "200B", "interval": f"{draw.randint(20, 60)}ms"}
    workload = answers if seed % 2 else {**frames, "deadline": "400ms"}
    changes = {
        "path.rtt": f"{draw.randint(60, 150)}ms",
        "tcp.nodelay": False,
        "flows.0.workload": workload,
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=changes)
    explained, text = _explained(result)
    assert "Nagle's algorithm held" in text
    assert {"nagle", "delayed_acks"} & {each.name for each in explained.ccas[0].causes}
    explained.try_remedies(TrialBudget())
    (nodelay,) = (each for each in explained.remedies if "flows.0.nodelay=true" in each.options)
    assert re.search(r"\(-\d\d %\)", nodelay.trial), nodelay.trial
    has_one_write = any("workload.writes=1" in each.options for each in explained.remedies)
    assert has_one_write == ("writes" in workload)
    without = ct.compare(
        "steady-20-68", "cubic", 1, duration="20s", set={**changes, "tcp.nodelay": True}
    )
    assert not {each.name for each in _explained(without)[0].ccas[0].causes} & {"nagle"}


def test_pauses_of_a_video_are_no_cost_of_losses() -> None:
    video = {"kind": "video", "abr": "throughput", "latency": "8s"}
    changes = {
        "path.rtt": "60ms",
        "path.down.rate": "6Mbit/s",
        "path.loss": 0.005,
        "flows.0.workload": video,
    }
    result = ct.compare("steady-20-68", "bbr", 2, duration="60s", set=changes)
    explained, text = _explained(result)
    (cause,) = (each for each in explained.ccas[0].causes if each.name == "random_loss")
    idle = explained.ccas[0].limits["idle"]
    unused = 1 - explained.ccas[0].used_share
    assert idle > 0.1
    assert cause.weight <= max(unused - idle, 0.0) + 0.01, text


@pytest.mark.parametrize("seed", range(3))
def test_voice_in_the_queue_of_a_download_waits_in_that_queue(seed: int) -> None:
    """Earlier frames wait in the same queue, but the sender holds none of them back."""
    draw = random.Random(f"voice {seed}")
    voice = {"kind": "frames", "size": "160B", "interval": f"{draw.choice([10, 20, 30])}ms"}
    changes = {
        "path.rtt": f"{draw.randint(20, 50)}ms",
        "path.buffer": "500packets",
        "flows": [{"name": "download"}, {"name": "voice", "workload": {**voice, "deadline": "150ms"}}],
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="20s", set=changes)
    explained, _ = _explained(result)
    (text,) = (
        cause.text
        for each in explained.ccas
        for cause in each.causes
        if each.flow == "voice" and cause.name == "slow_units"
    )
    assert "waited in a queue (that of download)" in text
    assert "behind earlier" not in text


def test_the_start_up_of_a_video_is_tried_on_a_long_path() -> None:
    video = {"kind": "video", "abr": "throughput"}
    changes = {"path.rtt": "600ms", "path.down.rate": "20Mbit/s", "flows.0.workload": video}
    result = ct.compare("steady-20-68", "cubic", 1, duration="90s", set=changes)
    explained, _ = _explained(result)
    explained.try_remedies(TrialBudget())
    assert any("start-up" in each.trial for each in explained.remedies)
