"""Buffers in captures: their size where the rate varies, and overflows where the base RTT is near 0."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.diagnosis.episodes import find_episodes
from celltcp.pcap.estimation.buffer_size import Departures
from celltcp.pcap.estimation.estimate import estimate_path

#: Factors of the mean rate in steps of a second.
FACTORS = (0.4, 0.7, 1, 1.6, 2.5)


def _steps(draw: random.Random, mbps: float) -> dict[str, Any]:
    rates = [f"{mbps * draw.choice(FACTORS):.2f}Mbit/s" for _ in range(20)]
    return {"steps": [{"at": f"{second}s", "rate": rate} for second, rate in enumerate(rates)]}


def _wander(draw: random.Random, mbps: float) -> dict[str, Any]:
    spread, correlation = round(draw.uniform(0.3, 0.8), 2), f"{draw.choice([1, 2, 5])}s"
    return {"generate": {"mean": f"{mbps}Mbit/s", "variability": spread, "correlation": correlation}}


def _constant(_draw: random.Random, mbps: float) -> dict[str, Any]:
    return {"rate": f"{mbps}Mbit/s"}


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("rate", [_steps, _wander, _constant])
def test_an_overflow_shows_the_buffer_whatever_the_rate(
    rate: Any, seed: int, place: str, tmp_path: Path
) -> None:
    draw = random.Random(f"buffer {rate.__name__} {seed}")
    mbps, rtt_ms = draw.choice([4, 8, 15]), draw.uniform(10, 150)
    packets = max(round(draw.uniform(0.6, 3) * mbps * 125 * rtt_ms / 1500), 20)
    changes: dict[str, Any] = {
        "path.down": rate(draw, mbps),
        "path.rtt": f"{rtt_ms:.1f}ms",
        "path.buffer": draw.choice([f"{packets}packets", f"{1500 * packets}B"]),
    }
    file = tmp_path / "x.pcap"
    cca = draw.choice(["cubic", "reno"])
    ct.run("steady-20-68", cca, 1, "20s", set=changes, samples="off", pcap=file, pcap_at=place)
    path = estimate_path(analyse(file))
    if path.is_buffer_full:
        assert path.buffer_bytes == pytest.approx(1500 * packets, rel=0.15)
    else:
        assert path.buffer_bytes <= 1.15 * 1500 * packets


@pytest.mark.parametrize("place", ["server", "node-1", "phone"])
@pytest.mark.parametrize("seed", range(3))
def test_an_overflow_is_none_at_random_where_the_rtt_is_that_of_a_queue(
    seed: int, place: str, tmp_path: Path
) -> None:
    """Labs in namespaces have base RTTs of microseconds, and queues of hundreds of milliseconds."""
    draw = random.Random(f"low RTT {seed}")
    half_ns, mbps = round(10 ** draw.uniform(4, 5.5)), draw.choice([5, 10, 20])
    size = round(mbps * 125 * draw.uniform(50, 300))
    before_ns = round(0.3 * half_ns)
    changes: dict[str, Any] = {
        "path.down": draw.choice([_steps, _constant])(draw, mbps),
        "path.rtt": f"{2 * half_ns}ns",
        "path.buffer": f"{size}B",
        "path.wired": [
            {"name": "wan", "delay": f"{before_ns}ns"},
            {"name": "ran", "delay": f"{half_ns - before_ns}ns"},
        ],
        "path.middleboxes": [{"kind": "reset-tracker", "at": "node-1"}],
    }
    file = tmp_path / "x.pcap"
    ct.run("steady-20-68", "cubic", 1, "20s", set=changes, samples="off", pcap=file, pcap_at=place)
    analyses = analyse(file)
    (row,) = analyses.connections.to_dict("records")
    assert row["losses_congestion"] > 20 * row["losses_random"]
    places = {"server": {"sender"}, "phone": {"receiver"}, "node-1": {"sender", "between"}}
    assert row["place"] in places[place]
    assert "at random" not in row["diagnosis"]
    assert "of the ACKs" not in row["diagnosis"]
    path = estimate_path(analyses)
    assert path.is_buffer_full
    assert path.buffer_bytes == pytest.approx(size, rel=0.15)


@pytest.mark.parametrize("seed", range(4))
def test_a_shallow_buffer_is_whole_where_its_overflow_takes_a_part_of_an_interval(
    seed: int, tmp_path: Path
) -> None:
    draw = random.Random(f"shallow buffer {seed}")
    mbps, rtt_ms = draw.choice([50, 83, 150]), draw.choice([15, 40, 90])
    size = max(round(draw.uniform(0.1, 0.3) * mbps * 125 * rtt_ms), 30_000)
    changes = {
        "path.down.rate": f"{mbps}Mbit/s",
        "path.rtt": f"{rtt_ms}ms",
        "path.buffer": f"{size}B",
    }
    file = tmp_path / "x.pcap"
    ct.run("steady-20-68", "cubic", 1, "15s", set=changes, samples="off", pcap=file)
    path = estimate_path(analyse(file))
    assert path.has_overflow
    assert path.buffer_bytes == pytest.approx(size, rel=0.2)


def test_departures_follow_the_capacity_of_their_time() -> None:
    departures = Departures(np.array([0.0, 0.1, 0.2]), np.array([8.0, 0.0, 16.0]))
    from_s, until_s = np.array([0.0, 0.05, 0.15, 0.25, 0.3]), np.array([0.1, 0.15, 0.25, 0.35, 0.4])
    found = departures.between(from_s, until_s)
    assert found == pytest.approx([100e3, 50e3, 100e3, 200e3, 200e3])


def test_losses_of_repairs_are_counted_beside_their_segments() -> None:
    """With them the number is that of the table."""
    seqs = [0, 1448, 2896, 1448, 1448]
    losses = pd.DataFrame(
        {
            "t_s": [1.0, 1.001, 1.002, 1.1, 1.2],
            "repaired_s": [1.1, 1.1, 1.1, 1.2, 1.3],
            "seq": seqs,
            "kind": "congestion",
            "repair": "fast",
            "is_upstream": 0,
            "is_near": False,
            "is_back": False,
            "rtt_ms": 90.0,
            "queue": 1.0,
            "reason": "the queue beside it was full",
        }
    )
    (episode,) = find_episodes(losses, 50.0, (50.0, 0.0), 1448.0)
    assert (episode.count, episode.repairs) == (3, 2)
