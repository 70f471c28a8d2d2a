"""Explanations of delays of frames: a cause explains no more than the delay that it makes."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget

_BLOCKS = {"kind": "frames", "size": "90kB", "interval": "2500ms", "deadline": "1s"}


def _bulk(draw: random.Random) -> dict[str, object]:
    """Returns a workload of frames, each of which fills the link for seconds."""
    size = f"{draw.randint(9, 14)}MB"
    return {"kind": "frames", "size": size, "interval": "20s", "jitter": 0, "deadline": "10s"}


@pytest.mark.parametrize("seed", range(3))
def test_frames_beside_a_flow_that_fills_the_link_have_a_link_that_is_fast_enough(seed: int) -> None:
    draw = random.Random(f"blocks {seed}")
    changes: dict[str, Any] = {
        "path.down.rate": "20Mbit/s",
        "path.rtt": f"{draw.randint(60, 150)}ms",
        "flows": [
            {"name": "blocks", "workload": _BLOCKS},
            {"name": "bulk", "cca": "cubic", "workload": _bulk(draw)},
        ],
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="60s", set=changes)
    explained = ExplainedComparison(result)
    causes = {each.flow: {cause.name: cause.text for cause in each.causes} for each in explained.ccas}
    assert "slow_link" not in causes["blocks"]
    # Later segments of a frame show its losses, whenever the next frame comes.
    assert "a lost frame arrives after" not in " ".join(causes["blocks"].values())
    # The flow with most data in flight fills the queue, and blocks have none of another size.
    assert "blocks" not in causes["bulk"].get("queue", "")
    explained.try_remedies(TrialBudget())
    assert not any("workload.size" in remedy.options for remedy in explained.remedies)


@pytest.mark.parametrize("seed", range(2))
def test_frames_behind_one_that_is_too_large_wait_for_it_and_in_no_queue(seed: int) -> None:
    draw = random.Random(f"mux {seed}")
    beside = [{key: _BLOCKS[key] for key in ("size", "interval")}]
    workload = {**_bulk(draw), "deadline": "1s", "beside": beside}
    changes: dict[str, Any] = {
        "path.down.rate": "20Mbit/s",
        "path.rtt": "150ms",
        "flows.0.workload": workload,
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=changes)
    (each,) = ExplainedComparison(result).ccas
    (slow,) = (cause for cause in each.causes if cause.name == "slow_units")
    assert slow.reasons["were too large for it"] == 3
    # A queue of one BDP holds nothing back for seconds.
    assert slow.reasons.get("waited in a queue", 0) <= 1
    assert "on this link alone" in slow.text
    assert slow.reasons["waited behind earlier ones"] > 0
    assert "With a connection of its own" in slow.text


@pytest.mark.parametrize("seed", range(3))
def test_a_full_buffer_is_as_large_as_it_is_between_the_slots_too(seed: int) -> None:
    """Answers of many servers at once are shorter than a slot, at whose end the queue is empty."""
    draw = random.Random(f"incast {seed}")
    servers, size = draw.randint(24, 40), draw.randint(24, 40)
    changes: dict[str, Any] = {
        "path.rtt": "0.2ms",
        "path.wired": [{"name": "fabric", "rate": "40Gbit/s"}],
        "variation.start_jitter": "0s",
        "path.down.rate": "1Gbit/s",
        "path.up.rate": "1Gbit/s",
        "path.buffer": "64kB",
        "flows.0.count": servers,
        "flows.0.workload": {"kind": "sequence", "size": f"{size}kB", "count": 1},
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="3s", set=changes)
    explained = ExplainedComparison(result)
    names = {cause.name for cause in explained.ccas[0].causes}
    assert "shallow_buffer" not in names
    assert "overshoot" in names
    # A buffer of two BDPs would be less than there is.
    options = [proposed.options for proposed in explained._all_remedies]
    assert not any("path.buffer=" in each and "packets" in each for each in options)


@pytest.mark.parametrize("seed", range(3))
def test_frames_behind_the_backlog_of_an_outage_are_for_the_outage(seed: int) -> None:
    """A backlog of L seconds at a rate m drains in L m / (c - m) over a link of rate c."""
    draw = random.Random(f"backlog {seed}")
    length_s, load = draw.uniform(0.8, 1.5), draw.uniform(0.6, 0.8)
    link_mbps = draw.randint(10, 30)
    size = round(load * link_mbps * 1448 / 1500 * 1e6 / 8 * 0.02)
    steps = [
        {"at": f"{at:.2f}s", "rate": rate}
        for at, rate in (
            (0.0, f"{link_mbps}Mbit/s"),
            (7.0, "0bit/s"),
            (7.0 + length_s, f"{link_mbps}Mbit/s"),
        )
    ]
    frames = {
        "kind": "frames",
        "size": f"{size}B",
        "interval": "20ms",
        "deadline": "100ms",
        "jitter": 0,
    }
    changes: dict[str, Any] = {
        "path.rtt": "20ms",
        "path.buffer": "5000packets",
        "path.down": {"steps": steps},
        "flows.0.workload": frames,
    }
    result = ct.compare("steady-20-68", "bbr,cubic", 1, duration="20s", set=changes)
    for each in ExplainedComparison(result).ccas:
        text = each.cause_text("slow_units")
        needed_s = load / (1 - load)
        assert re.search(r"link needs ([\d.]+) s", text)[1] == f"{needed_s:.2g}"
        count = int(re.search(r"Of the slow ones, ([\d ]+) waited for the backlog", text)[1])
        assert 0.02 * count == pytest.approx(length_s * needed_s, rel=0.3)
    no_outage = {**changes, "path.down": f"{link_mbps}Mbit/s", "path.loss": 0.01}
    result = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=no_outage)
    assert "backlog" not in ExplainedComparison(result).ccas[0].cause_text("slow_units")


FRAMES = {"kind": "frames", "size": "25kB", "interval": "33ms", "deadline": "250ms"}


@pytest.mark.parametrize(("cca", "mbps"), [("vegas", 50), ("vegas", 100), ("cubic", 3)])
def test_frames_behind_earlier_ones_name_the_window_only_if_the_link_had_room(
    cca: str, mbps: int
) -> None:
    """Vegas takes jitter for a queue; CUBIC fills a link that is slower than the frames (6 Mbit/s)."""
    draw = random.Random(mbps)
    rtt_ms = draw.randint(60, 120)
    changes: dict[str, Any] = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": f"{mbps}Mbit/s",
        "flows.0.workload": FRAMES,
    }
    if cca == "vegas":
        jitter = {"distribution": "exponential", "mean": f"{draw.randint(15, 40)}ms"}
        changes["path.jitter"] = jitter
    result = ct.compare("steady-20-68", cca, 1, duration="20s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    (slow,) = (cause for cause in explained.causes if cause.name == "slow_units")
    window = re.search(r"window was full with (\d+) segments on average at ([\d.]+) of", slow.text)
    assert (window is not None) == (cca == "vegas")
    if window is not None:
        # Little's law: data in flight are the rate times the RTT.
        rtt_s = result.summary["rtt_mean_ms", "mean"][cca] / 1e3
        in_flight = float(window[2]) * 1e6 / 8 / 1448 * rtt_s
        assert int(window[1]) == pytest.approx(in_flight, rel=0.25)


@pytest.mark.parametrize("seed", range(2))
def test_frames_wait_for_no_queue_on_the_way_of_their_acks_but_for_the_acks_at_a_full_window(
    seed: int,
) -> None:
    """A backup fills the uplink: frames of 3 kB need a window of their rate times its long RTT."""
    draw = random.Random(f"acks {seed}")
    upload = {"name": "backup", "from": "phone", "to": "server", "opens": "from"}
    call = {"kind": "frames", "size": "3kB", "interval": "20ms", "deadline": "150ms"}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(25, 50)}ms",
        "path.down": {"rate": f"{draw.randint(50, 90)}Mbit/s"},
        "path.up": {"rate": "12Mbit/s"},
        "path.uplink_buffer": "1.5MB",
        "flows": [upload, {"name": "call", "cca": "cubic", "workload": call}],
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=changes)
    explained = next(each for each in ExplainedComparison(result).ccas if each.flow == "call")
    (slow,) = (cause for cause in explained.causes if cause.name == "slow_units")
    # The downlink has ten times the rate of the frames, and no queue.
    assert "waited in a queue" not in slow.reasons
    assert slow.reasons["waited for ACKs at a full congestion window"] > 0


@pytest.mark.parametrize("count", [3, 10])
def test_responses_above_the_window_of_their_own_connection_have_that_as_reason(count: int) -> None:
    """Windows of all connections together are above any response."""
    draw = random.Random(f"own {count}")
    size = {"kind": "lognormal", "median": f"{draw.randint(12, 18)}kB", "sigma": 0.7}
    calls = {"kind": "request-response", "request": "500B", "response": size, "gap": "2s"}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(110, 160)}ms",
        "path.down": {"rate": "50Mbit/s"},
        "path.loss": {"kind": "gilbert-elliott", "to_bad": 0.00337, "to_good": 0.3333},
        "tcp.initial_window": 32,
        "flows": [{"name": "api", "count": count, "start_spread": "2s", "workload": calls}],
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="120s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    (slow,) = (cause for cause in explained.causes if cause.name == "slow_units")
    counted = re.match(r"([\d ]+) of [\d ]+ responses", slow.text)
    assert counted is not None
    assert sum(slow.reasons.values()) >= 0.98 * int(counted[1].replace(" ", ""))
    assert slow.reasons["were larger than the window, and took further round trips"] > 0
