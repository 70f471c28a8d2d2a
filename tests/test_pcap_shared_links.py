"""Transfers that share a link: shares, their reasons, and losses of its shallow buffer."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.diagnosis.trains import link_rate
from celltcp.pcap.next_steps import next_steps
from celltcp.pcap.shared_queue import link_text


def _captured(folder: Path, path: str, ccas: tuple[str, str], seconds: int = 30) -> CaptureAnalyses:
    """Returns the analyses of a capture at the server of two downloads over a path."""
    flows = "".join(f'[[flows]]\nname = "{cca}"\ncca = "{cca}"\n' for cca in ccas)
    scenario = folder / "shared.toml"
    scenario.write_text(f'duration = "{seconds}s"\n[path]\n{path}\n{flows}')
    ct.run(scenario, seed=1, pcap=folder / "x.pcap", samples="off")
    return analyse(folder / "x.pcap")


@pytest.mark.parametrize("seed", range(4))
def test_bbr_takes_the_link_of_a_shallow_buffer_from_cubic_at_overflows_of_both(
    tmp_path: Path, seed: int
) -> None:
    """No queue stands in 0.2 to 0.5 BDP: RTTs show nothing, but the times of the losses do."""
    draw = random.Random(f"shallow {seed}")
    path = (
        f'rtt = "{draw.choice([40, 60, 90])}ms"\ndown.rate = "{draw.choice([10, 20, 40])}Mbit/s"\n'
        f'buffer = "{draw.choice([0.2, 0.3, 0.5])}bdp"'
    )
    analyses = _captured(tmp_path, path, ("cubic", "bbr"), 60)
    rows: list[dict[str, Any]] = analyses.connections.to_dict("records")
    for row in rows:
        # Nothing is lost at random on that path.
        assert row["losses_random"] <= 0.02 * row["losses"]
        assert row["losses_congestion"] > 0.9 * row["losses"]
        # Where the CCA is not known, how much of the window each keeps.
        reasons = (
            "BBR keeps its window at losses, to which CUBIC yields",
            "after losses the larger one",
        )
        assert any(reason in row["diagnosis"] for reason in reasons)
        share = 100 * row["throughput_mbps"] / sum(each["throughput_mbps"] for each in rows)
        assert f"of which it has {share:.0f} %: " in row["diagnosis"]
    # Both have the rate of the link, of which headers take 3.5 %.
    one, other = link_text(rows[0], rows[1:]), link_text(rows[1], rows[:1])
    assert one == other
    mbps = float(re.findall(r'down.rate = "(\d+)', path)[0]) * 1_448 / 1_500
    assert float(one.removeprefix("≥")) == pytest.approx(mbps, rel=0.05)


@pytest.mark.parametrize("seed", range(2))
def test_random_losses_of_both_are_at_other_times(tmp_path: Path, seed: int) -> None:
    loss = [0.003, 0.01][seed]
    analyses = _captured(
        tmp_path, f'down.rate = "20Mbit/s"\nrtt = "60ms"\nloss = {loss}', ("cubic", "bbr")
    )
    reasons = analyses.losses["reason"].astype(str)
    assert not reasons.str.contains("another transfer").any()


def test_transfers_that_leave_a_link_free_share_no_bottleneck(tmp_path: Path) -> None:
    path = 'down.rate = "50Mbit/s"\nrtt = "60ms"\n[tcp]\nreceive_window_max = "64kB"'
    for row in _captured(tmp_path, path, ("cubic", "bbr")).connections.to_dict("records"):
        assert "it shares" not in row["diagnosis"]


@pytest.mark.parametrize(
    ("trains", "low", "median", "high", "text"),
    [
        (6, 16.8, 19.3, 19.3, "19.3"),
        (6, 13.2, 15.1, 18.7, "13.2 to 18.7"),
        (3, 2.63, 10.5, 19.3, ""),
        (3, 19.2, 19.3, 19.3, "19.3"),
    ],
)
def test_others_on_a_link_of_constant_rate_make_no_range_of_it(
    trains: int, low: float, median: float, high: float, text: str
) -> None:
    """Their packets stretch the gaps of some trains. A few trains that differ show no rate."""
    rates = {"far_train_low_mbps": low, "far_train_mbps": median, "far_train_high_mbps": high}
    times = {"download_s": 10.0, "stalled_s": 0.0, "pauses_down_s": 0.0, "direction": "down"}
    row = {"place": "sender", "far_trains": trains, "throughput_mbps": 5.0, **times, **rates}
    assert str(link_rate(row) or "") == text


def test_one_overflowing_buffer_is_the_reason_of_all_its_losses_and_its_loser_gets_the_step(
    tmp_path: Path,
) -> None:
    """CUBIC beside BBR in a buffer of 0.15 BDPs loses its share, and segments, in that buffer only."""
    path = 'rtt = "60ms"\ndown.rate = "20Mbit/s"\nbuffer = "0.15bdp"'
    analyses = _captured(tmp_path, path, ("bbr", "cubic"), 40)
    bbr, cubic = analyses.connections.sort_values("connection")["diagnosis"]
    assert bbr.startswith("a shallow buffer")
    # However little the loser has, its winner shares the link.
    assert "BBR keeps its window at losses" in bbr
    assert "BBR keeps its window at losses" in cubic
    assert "the buffer that connection 0 overflows" in cubic
    assert "AQM" not in cubic
    assert "--connection 1 " in next_steps(analyses)[0]
