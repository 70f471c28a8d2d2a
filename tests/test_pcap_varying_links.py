"""Captures at the phone of downloads over links of varying rate, with outages."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.diagnosis.trains import link_rate
from celltcp.pcap.estimation.endpoint_settings import HEADERS_RATIO
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario

#: Length of the download, MB, and number and length of its outages, s.
_MB, _OUTAGES, _OUTAGE_S = 25, 2, 1.5


@pytest.mark.parametrize("seed", range(3))
def test_a_standing_queue_before_a_phone_shows_a_varying_rate_and_outages_are_no_pauses(
    seed: int, tmp_path: Path
) -> None:
    """BBR keeps a queue: all the time in which its data come, they come at the rate of the link."""
    draw = random.Random(f"varying link {seed}")
    mbps, rtt_ms = draw.uniform(10, 20), draw.choice([50, 70])
    truth, capture = tmp_path / "truth.toml", tmp_path / "x.pcap"
    truth.write_text(
        'duration = "60s"\n[variation]\nstart_jitter = "0s"\ntrace_offset = false\n[path]\n'
        f'rtt = "{rtt_ms}ms"\nbuffer = "600packets"\ndown = {{ generate = {{ '
        f'mean = "{mbps:.1f}Mbit/s", variability = {draw.uniform(0.3, 0.5):.2f}, '
        'correlation = "2s" } }\nblackouts = ['
        f'{{ at = "5s", duration = "{_OUTAGE_S}s" }}, {{ at = "9s", duration = "{_OUTAGE_S}s" }}]\n'
        f'[[flows]]\nworkload = {{ kind = "bulk", bytes = "{_MB}MB" }}\n'
    )
    ct.run(truth, "bbr", 1, pcap=capture, pcap_at="phone", samples="off")
    analyses = analyse(capture)
    row = analyses.connections.iloc[0]
    # Time-outs of 0.2 + 0.4 + 0.8 + 1.6 s find an outage of 1.5 s over after 1.4 to 3 s.
    waited_s = float(row["stalled_s"]) + 0.2 * _OUTAGES
    assert row["pauses_down_s"] < 0.2
    assert _OUTAGES * 1.4 <= waited_s <= _OUTAGES * 3.2
    sent_mbps = 8 * _MB / (float(row["download_s"]) - waited_s)

    estimate = estimate_path(analyses)
    assert estimate.measured_share > 0.3
    assert 0.95 <= estimate.mean_mbps / (HEADERS_RATIO * sent_mbps) <= 1.15
    # The rate changes by the drawn variability, and the estimate with it.
    rates_mbps = estimate.capacity_mbps[estimate.is_measured]
    assert rates_mbps.std() > 0.1 * rates_mbps.mean()
    link = link_rate(row.to_dict())
    assert link is None or link.high_mbps >= 0.98 * sent_mbps

    scenario, _ = write_scenario(estimate, tmp_path / "path.toml")
    (flow,) = tomllib.loads(scenario.read_text())["flows"]
    assert flow["workload"] == {"kind": "bulk", "bytes": f"{_MB * 10**6}B"}

    sentence = row["diagnosis"]
    assert "for an outage of the path before the capture (2 times" in sentence
    (carried,) = re.findall(r"a full link limits the rate, with a queue: it carried ([\d.]+)", sentence)
    assert float(carried) == pytest.approx(sent_mbps, rel=0.05)
    doubled = re.findall(r"up to ([\d.]+) (m?s) of that is of last time-outs", sentence)
    if waited_s > _OUTAGES * 2:
        ((time, unit),) = doubled
        assert float(time) * (0.001 if unit == "ms" else 1) == pytest.approx(waited_s / 2, rel=0.1)


def test_old_echoes_of_a_server_that_pauses_are_no_queue_of_a_varying_link(tmp_path: Path) -> None:
    """Segments of a video at a quarter of the rate leave the link empty for most of the time."""
    truth, capture = tmp_path / "truth.toml", tmp_path / "x.pcap"
    truth.write_text(
        'duration = "30s"\n[path]\nrtt = "50ms"\ndown = { generate = { mean = "20Mbit/s", '
        'variability = 0.4, correlation = "2s" } }\n[[flows]]\n'
        'workload = { kind = "on-off", on = "300ms", off = "900ms" }\n'
    )
    ct.run(truth, "bbr", 1, pcap=capture, pcap_at="phone", samples="off")
    (sentence,) = analyse(capture).connections["diagnosis"]
    assert "a queue stands" not in sentence
    assert "full link" not in sentence
