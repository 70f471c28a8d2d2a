"""Scenarios of captures with random losses: they have no others, and no longer RTTs."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.report.scenario_lines import scenario_block
from celltcp.pcap import analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.path import PathEstimate
from celltcp.pcap.estimation.scenario_files import write_scenario
from celltcp.scenarios.lower_bounds import FEW_LOSSES, OF_CAPTURE


def _captured(file: Path, scenario: Any, cca: str, place: str, **changes: Any) -> dict[str, float]:
    """Returns mean RTT, ms, and share of lost segments of a captured run."""
    ct.run(scenario, cca, 7, "20s", set=changes, samples="off", pcap=file, pcap_at=place)
    tables = analyse(file)
    sent, lost = tables.intervals[tables.intervals["up"] == 0], tables.losses["len"].sum()
    rtts_ms = sent["near_rtt_mean_ms" if place == "phone" else "rtt_mean_ms"]
    weights = sent["bytes"].where(rtts_ms.notna(), 0)
    return {
        "rtt_ms": float((rtts_ms * weights).sum() / weights.sum()),
        "lost": float(lost / (sent["bytes"] + sent["retransmitted_bytes"]).sum()),
    }


def _path(folder: Path, cca: str, place: str, **changes: Any) -> tuple[PathEstimate, dict[str, float]]:
    """Returns the estimate of a captured run, and what the capture has."""
    captured = _captured(folder / "x.pcap", "steady-20-68", cca, place, **changes)
    return estimate_path(analyse(folder / "x.pcap")), captured


@pytest.mark.parametrize("place", ["server", "phone"])
@pytest.mark.parametrize("seed", range(3))
def test_a_window_kept_small_by_losses_shows_the_link_in_its_bursts(
    tmp_path: Path, seed: int, place: str
) -> None:
    """The ten segments of the initial window pass at the rate of the link, however few follow."""
    draw = random.Random(f"bursts of small windows {seed}")
    rate = draw.choice([8, 20, 40])
    changes = {
        "path.loss": "4%",
        "path.down.rate": f"{rate}Mbit/s",
        "path.rtt": f"{draw.choice([68, 100])}ms",
    }
    path, captured = _path(tmp_path, draw.choice(["cubic", "reno"]), place, **changes)
    # Within 10 ms, the initial window gives 12 Mbit/s.
    assert min(0.9 * rate, 11) < path.mean_mbps <= 1.02 * rate
    scenario, _ = write_scenario(path, tmp_path / "path.toml")
    again = _captured(tmp_path / "again.pcap", scenario, "cubic", place)
    assert again["rtt_ms"] == pytest.approx(captured["rtt_ms"], rel=0.05)


def test_random_losses_in_every_round_trip_are_no_leftovers_of_a_full_queue(tmp_path: Path) -> None:
    """Those of BBR have no pauses between them, so that they are few episodes."""
    changes = {"path.loss": "0.8%", "path.down.rate": "80Mbit/s", "path.rtt": "100ms"}
    path, _ = _path(tmp_path, "bbr", "server", **changes)
    assert path.random_loss == pytest.approx(0.008, rel=0.15)


def test_few_losses_leave_the_rate_of_random_losses_to_their_interval(tmp_path: Path) -> None:
    """Of 12 intervals at 95 %, chance leaves out the true rate in more than two in 2 % of cases."""
    draw = random.Random("few losses")
    right = []
    for number in range(12):
        loss, rtt_ms = draw.uniform(0.002, 0.01), draw.randint(40, 120)
        changes = {"path.loss": f"{100 * loss:.3f}%", "path.rtt": f"{rtt_ms}ms"}
        file = tmp_path / f"{number}.pcap"
        ct.run("steady-20-68", "reno", number, "15s", set=changes, samples="off", pcap=file)
        path = estimate_path(analyse(file))
        assert 0 < path.loss_bursts < 100
        (bounds,) = re.findall(r": (\S+) to (\S+) % \(95 % interval\)", path.loss_rate_text)
        low, high = map(float, bounds)
        assert low < 100 * path.random_loss < high
        # By the normal approximation, the root of a number has a standard deviation of 1/2.
        assert high / low == pytest.approx((1 + 2 / path.loss_bursts**0.5) ** 2, rel=0.35)
        right.append(low <= 100 * loss <= high)
    assert sum(right) >= 10
    scenario, _ = write_scenario(path, tmp_path / "path.toml")
    assert any(FEW_LOSSES[1:] in text for text in ct.compare(scenario, ["cubic"], 1).warnings)


@pytest.mark.parametrize("seed", range(2))
def test_a_buffer_that_never_overflowed_holds_the_startup_of_bbr(tmp_path: Path, seed: int) -> None:
    """Startup of BBR has up to 2.9 bandwidth-delay products in flight: 1.9 of them in the buffer."""
    draw = random.Random(f"startup {seed}")
    changes = {
        "path.loss": "1.5%",
        "path.buffer": "3bdp",
        "path.down.rate": f"{draw.choice([40, 80])}Mbit/s",
        "path.rtt": f"{draw.choice([50, 68])}ms",
    }
    path, captured = _path(tmp_path, "bbr", "server", **changes)
    scenario, _ = write_scenario(path, tmp_path / "path.toml")
    again = _captured(tmp_path / "again.pcap", scenario, "bbr", "server")
    assert again["lost"] == pytest.approx(captured["lost"], rel=0.1)


def test_random_losses_are_between_the_capture_and_the_end_that_misses_them(tmp_path: Path) -> None:
    """The path loses segments behind a sender's capture, so that its server has nothing to look for."""
    changes = {"path.loss": "0.1%", "path.down.rate": "60Mbit/s", "path.rtt": "90ms"}
    _captured(tmp_path / "x.pcap", "steady-20-68", "cubic", "server", **changes)
    (sentence,) = analyse(tmp_path / "x.pcap").connections["diagnosis"]
    assert "lost at random between the capture and the client, while" in sentence


def test_buffers_that_the_hosts_of_a_capture_have_are_no_lines_to_set() -> None:
    captured = {"tcp": {"receive_buffer_max": "12MiB", "min_rto": "20ms"}}
    of_capture = captured | {"description": f"{OF_CAPTURE}0 in x.pcap."}
    given, left = (scenario_block(each, ()) for each in (captured, of_capture))
    assert given is not None
    assert left is not None
    assert "tcp_rmem" in given.text
    assert "tcp_rmem" not in left.text
    # The minimum RTO is none that a capture has: a user has set it.
    assert "rto_min 20ms" in left.text
