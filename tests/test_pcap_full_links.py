"""Losses of a full link, which are normal, in captures on both sides; no others are called so."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.next_steps import next_steps

PLACES = ["server", "phone"]


def _sentence(file: Path, place: str, cca: str, changes: dict[str, Any]) -> str:
    ct.run("steady-20-68", cca, 1, "20s", set=changes, samples="off", pcap=file, pcap_at=place)
    sentence: str = analyse(file).connections["diagnosis"].iloc[0]
    return sentence


def _path(draw: random.Random) -> dict[str, Any]:
    rate, rtt = draw.choice([5, 8, 16]), draw.choice([30, 40, 60])
    return {"path.down.rate": f"{rate}Mbit/s", "path.rtt": f"{rtt}ms", "path.buffer": "4bdp"}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", range(3))
def test_losses_of_a_full_link_are_normal(seed: int, place: str, tmp_path: Path) -> None:
    draw = random.Random(f"full link {seed}")
    # Few segments at a time are lost in a queue of less than 50 ms, after an overshoot of slow start.
    changes = _path(draw) | {"path.buffer": f"{draw.uniform(0.7, 0.8):.2f}bdp"}
    sentence = _sentence(tmp_path / "x.pcap", place, "reno", changes)
    assert sentence.startswith("a full queue on the path limits the rate: ")
    assert re.search(
        r"in \d+ episodes, one every [\d.]+ m?s on average \(\d+ duplicate ACKs\)", sentence
    )
    assert "the link is full" in sentence
    assert "such losses are normal" in sentence


def _random(draw: random.Random) -> dict[str, Any]:
    return {"path.loss": f"{draw.uniform(0.05, 0.5):.2f}%"}


def _codel(draw: random.Random) -> dict[str, Any]:
    return {"path.queue": {"kind": "codel", "target": f"{draw.choice([5, 15, 30])}ms"}}


def _pie(draw: random.Random) -> dict[str, Any]:
    return {"path.queue": {"kind": "pie", "target": f"{draw.choice([10, 20, 30])}ms"}}


def _bursts(draw: random.Random) -> dict[str, Any]:
    good, bad = f"{draw.uniform(1, 3):.1f}s", f"{draw.uniform(5, 40):.0f}ms"
    return {"path.loss": {"kind": "gilbert-elliott-time", "good": good, "bad": bad}}


def _policer(draw: random.Random) -> dict[str, Any]:
    return {"path.policer": {"rate": f"{draw.uniform(2, 4):.1f}Mbit/s", "burst": "50kB"}}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cause", [_random, _codel, _pie, _bursts, _policer])
def test_losses_of_another_cause_are_not_called_normal(cause: Any, place: str, tmp_path: Path) -> None:
    for seed in range(2):
        draw = random.Random(f"{cause.__name__} {seed}")
        changes = _path(draw) | cause(draw)
        sentence = _sentence(tmp_path / f"{seed}.pcap", place, draw.choice(["reno", "cubic"]), changes)
        assert "normal" not in sentence


@pytest.mark.parametrize("place", PLACES)
def test_connections_that_share_a_full_link_are_named(place: str, tmp_path: Path) -> None:
    changes = {"path.rtt": "30ms", "path.buffer": "1bdp", "flows": [{"name": "iperf", "count": 4}]}
    file = tmp_path / "x.pcap"
    ct.run("steady-20-68", "reno", 1, "15s", set=changes, samples="off", pcap=file, pcap_at=place)
    analyses = analyse(file)
    assert len(analyses.connections) == 4
    total = float(analyses.connections["throughput_mbps"].sum())
    for sentence in analyses.connections["diagnosis"]:
        if sentence.startswith("a full queue"):
            assert "it shares that with 3 connections between the same hosts" in sentence
            assert f"{total:.1f} Mbit/s together" in sentence
    path = estimate_path(analyses)
    assert path.flows_beside.count("[[flows]]") == 3
    assert path.mean_mbps == pytest.approx(20, rel=0.03)


@pytest.mark.parametrize(
    ("place", "shared"), [("server", "it shares that"), ("phone", "it shares the path")]
)
def test_connections_that_share_a_shallow_buffer_are_named(
    place: str, shared: str, tmp_path: Path
) -> None:
    flows = [{"name": "iperf", "count": 3}]
    changes = {
        "path.down.rate": "80Mbit/s",
        "path.rtt": "90ms",
        "path.buffer": "0.16bdp",
        "flows": flows,
    }
    file = tmp_path / "x.pcap"
    ct.run("steady-20-68", "cubic", 1, "15s", set=changes, samples="off", pcap=file, pcap_at=place)
    analyses = analyse(file)
    for sentence in analyses.connections["diagnosis"]:
        assert f"; {shared} with 2 connections between the same hosts: " in sentence
    if place == "server":
        assert "a buffer of a BDP (--set path.buffer=1bdp)" in next_steps(analyses)[-1]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", range(2))
def test_a_full_link_whose_rate_changes_once_has_both_rates(
    seed: int, place: str, tmp_path: Path
) -> None:
    draw = random.Random(f"step {seed}")
    high, low, at_s = draw.uniform(20, 50), draw.uniform(3, 8), draw.uniform(5, 12)
    steps = [
        {"at": "0s", "rate": f"{high:.1f}Mbit/s"},
        {"at": f"{at_s:.2f}s", "rate": f"{low:.1f}Mbit/s"},
    ]
    changes = {"path.down.steps": steps, "path.rtt": "25ms", "path.buffer": "60packets"}
    sentence = _sentence(tmp_path / "x.pcap", place, "cubic", changes)
    found = re.search(r"; ([\d.]+) Mbit/s passed until ([\d.]+) s, and ([\d.]+) Mbit/s later", sentence)
    assert found, sentence
    before, until_s, after = map(float, found.groups())
    assert (before, after) == pytest.approx((high * 1448 / 1500, low * 1448 / 1500), rel=0.05)
    assert until_s == pytest.approx(at_s, abs=0.4)
    steady = {"path.rtt": "25ms", "path.buffer": "60packets"}
    assert "passed until" not in _sentence(tmp_path / "y.pcap", place, "cubic", steady)
