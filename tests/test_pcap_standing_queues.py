"""Queues that a limit of the sender bounds: the sentence of a capture, and the scenario of its path."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario

PLACES = ["server", "phone"]


def _captured(
    file: Path, place: str, cca: str, seconds: int, changes: dict[str, Any]
) -> tuple[ct.Comparison, str]:
    """Returns a run, and the sentence of its capture."""
    run = ct.compare("steady-20-68", [cca], 1, duration=f"{seconds}s", set=changes)
    ct.run("steady-20-68", cca, 1, f"{seconds}s", set=changes, samples="off", pcap=file, pcap_at=place)
    sentence: str = analyse(file).connections["diagnosis"].iloc[0]
    return run, sentence


def _path(draw: random.Random) -> tuple[float, dict[str, Any]]:
    """Returns the bandwidth-delay product, bytes, and a path with a buffer that never overflows."""
    rate, rtt = draw.choice([4, 8, 16]), draw.choice([30, 60, 80])
    changes = {
        "path.down.rate": f"{rate}Mbit/s",
        "path.rtt": f"{rtt}ms",
        "path.buffer": "500bdp",
        "tcp.receive_buffer_max": "64MB",
        "variation.start_jitter": "0s",
    }
    return rate * rtt * 125.0, changes


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", range(3))
def test_a_send_buffer_that_bounds_a_queue_stays_in_the_scenario(
    place: str, seed: int, tmp_path: Path
) -> None:
    draw = random.Random(f"send buffer {seed}")
    bdp, changes = _path(draw)
    changes["tcp.send_buffer_max"] = f"{draw.uniform(12, 25) * bdp:.0f}B"
    file = tmp_path / "x.pcap"
    run, sentence = _captured(file, place, "cubic", 40, changes)
    before = "" if place == "server" else " before the capture"
    assert sentence.startswith(f"a queue stands on the path{before}: the RTT is ")
    assert re.search(
        r"; the server keeps to (about )?[\d.]+ [kM]B in flight \(send buffer or", sentence
    )
    scenario, _ = write_scenario(estimate_path(analyse(file)), tmp_path / "path.toml")
    assert "receive_window_max" in tomllib.loads(scenario.read_text())["tcp"]
    again = ct.compare(scenario, ["cubic"], 1)
    for metric, margin in (("rtt_p95_ms", 0.12), ("goodput_mbps", 0.05)):
        truth, estimate = (each.values("cubic", metric)[0] for each in (run, again))
        assert estimate == pytest.approx(truth, rel=margin), metric
    assert again.values("cubic", "retransmissions") == [0]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cca", ["cubic", "reno", "bbr", "vegas"])
def test_a_window_that_grows_or_follows_the_path_is_no_limit_of_the_sender(
    place: str, cca: str, tmp_path: Path
) -> None:
    _, changes = _path(random.Random(f"window {cca}"))
    changes["tcp.send_buffer_max"] = "64MB"
    file = tmp_path / "x.pcap"
    _, sentence = _captured(file, place, cca, 15, changes)
    assert "keeps to" not in sentence
    scenario, _ = write_scenario(estimate_path(analyse(file)), tmp_path / "path.toml")
    assert "receive_window_max" not in tomllib.loads(scenario.read_text())["tcp"]
