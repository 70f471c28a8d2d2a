"""Sentences of captures at senders whose windows losses keep small, or whose send buffers are full."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario

_WINDOW = re.compile(
    r"losses \((\d+) times in (\d+) segments\) keep the congestion window at about (\d+) segments, "
    r"which limits the rate; in the long run (\S+)'s law gives (\S+) Mbit/s"
)
_BOUND = "the send buffer of the server, or its application, limits the rate: most of the time"


def captured(file: Path, cca: str, draw: random.Random, **changes: Any) -> Any:
    """Returns the analysis of a capture at the sender of a download over a drawn path."""
    path: dict[str, Any] = {
        "path.rtt": f"{draw.choice([20, 40, 60])}ms",
        "path.down.rate": f"{draw.choice([200, 300])}Mbit/s",
        "path.up.rate": "100Mbit/s",
        "path.loss": 10 ** draw.uniform(-4.2, -3.5),
        "path.buffer": "1bdp",
        **changes,
    }
    seed = draw.randrange(1, 100)
    ct.run("steady-100-68", cca, duration="12s", seed=seed, samples="off", set=path, pcap=file)
    return analyse(file)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_losses_that_keep_a_window_small_have_the_law_of_the_cca(
    tmp_path: Path, cca: str, seed: int
) -> None:
    analyses = captured(tmp_path / "loss.pcap", cca, random.Random(seed))
    row = analyses.connections.iloc[0]
    found = _WINDOW.search(str(row["diagnosis"]))
    assert found is not None, row["diagnosis"]
    events, segments, window = map(int, found.groups()[:3])
    assert found[4] == {"cubic": "CUBIC", "reno": "Reno"}[cca]
    assert events >= 3
    assert segments == pytest.approx(row["segments_down"], rel=0.05)
    mbps = 8e-3 * window * row["segment_max"] / row["far_rtt_p50_ms"]
    assert mbps == pytest.approx(row["throughput_mbps"], rel=0.2)
    assert float(found[5]) == pytest.approx(row["throughput_mbps"], rel=0.6)


@pytest.mark.parametrize(("seed", "is_bound"), [(1, True), (3, True), (4, False)])
def test_a_send_buffer_bounds_the_flight_of_a_sender_that_losses_do_not_slow_down(
    tmp_path: Path, seed: int, is_bound: bool
) -> None:
    """Losses that bend a flight leave the limit unknown: they never are the limit of BBR."""
    draw = random.Random(seed)
    small = {
        "path.rtt": "80ms",
        "path.loss": 1e-4,
        "tcp.send_buffer_max": f"{draw.randint(300, 600)}kB",
    }
    analyses = captured(tmp_path / "bound.pcap", "bbr", draw, **small)
    text = str(analyses.connections.iloc[0]["diagnosis"])
    assert (_BOUND in text) == is_bound
    assert "congestion window" not in text


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_neither_limits_a_sender_that_fills_the_path(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    analyses = captured(tmp_path / "full.pcap", "bbr", draw, **{"path.down.rate": "50Mbit/s"})
    text = str(analyses.connections.iloc[0]["diagnosis"])
    assert _BOUND not in text
    assert "congestion window" not in text


def test_the_send_buffer_of_a_scenario_is_no_larger_than_the_capture_shows(tmp_path: Path) -> None:
    draw = random.Random(1)
    high = {"path.rtt": "100ms", "path.down.rate": "600Mbit/s", "path.loss": 2e-5}
    analyses = captured(tmp_path / "loss.pcap", "cubic", draw, **high)
    row = analyses.connections.iloc[0]
    assert row["in_flight_max"] > 2_000_000
    size = max(int(row["in_flight_max"]), 4 << 20)
    toml, _ = write_scenario(estimate_path(analyses), tmp_path / "path.toml")
    assert f'send_buffer_max = "{size}B"' in toml.read_text()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_a_full_send_buffer_makes_no_bbr_of_another_cca(tmp_path: Path, cca: str, seed: int) -> None:
    """After slow start, its window is twice the flight, so that losses leave the flight as it is."""
    draw = random.Random(seed)
    small = {"tcp.send_buffer_max": f"{draw.randint(300, 800)}kB", "path.loss": 3e-5}
    row = captured(tmp_path / "full.pcap", cca, draw, **small).connections.iloc[0]
    assert row["cca"] in (cca, "unknown")


@pytest.mark.parametrize("seed", range(3))
def test_a_small_window_under_losses_is_no_send_buffer(seed: int, tmp_path: Path) -> None:
    """A transfer of seconds at 1 % of loss has windows of some ten segments, which differ by few."""
    flows = [{"name": "own", "workload": {"kind": "bulk", "bytes": "3MB"}}]
    changes = {"path.rtt": "60ms", "path.loss": "1%", "flows": flows}
    run: dict[str, Any] = {"set": changes, "samples": "off", "pcap": tmp_path / "x.pcap"}
    ct.run("steady-20-68", "cubic", 30 + seed, "40s", **run)
    text = str(analyse(tmp_path / "x.pcap").connections["diagnosis"][0])
    assert "the send buffer" not in text, text
