"""Queues that downloads of different clients share at a captured server, by their RTTs."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario

#: Payload of a packet of 1500 bytes with timestamps.
_PAYLOAD = 1_448 / 1_500


def _captured(folder: Path, scenario: str) -> CaptureAnalyses:
    """Returns the analyses of a capture of a scenario of 30 s at its server."""
    truth = folder / "truth.toml"
    truth.write_text(f'duration = "30s"\n{scenario}')
    ct.run(truth, seed=1, pcap=folder / "x.pcap", samples="off")
    return analyse(folder / "x.pcap")


def _shared(mbps: int, rtt_ms: int, farther_ms: int, ccas: list[str]) -> str:
    """Returns downloads of a near client and of one that is farther, through one bottleneck."""
    near, far = ccas
    return (
        f'[path]\nrtt = "{rtt_ms}ms"\ndown.rate = "{mbps}Mbit/s"\nbuffer = "{mbps * 8}kB"\n'
        f'[[links]]\nname = "more"\nfrom = "phone"\nto = "far"\nrate = "1Gbit/s"\n'
        f'delay = "{farther_ms / 2}ms"\n[[flows]]\nname = "a"\ncca = "{near}"\n'
        f'[[flows]]\nname = "b"\nto = "far"\ncca = "{far}"\n'
    )


@pytest.mark.parametrize("seed", range(4))
def test_equal_changes_of_rtts_show_the_rate_that_clients_share(tmp_path: Path, seed: int) -> None:
    """A server sees how late all data come, and not where; the sum is the rate of the bottleneck."""
    draw = random.Random(f"clients {seed}")
    mbps, rtt_ms, farther_ms = draw.choice([10, 20, 40]), draw.randint(20, 60), draw.randint(10, 60)
    ccas = [draw.choice(["cubic", "reno"]) for _ in range(2)]
    analyses = _captured(tmp_path, _shared(mbps, rtt_ms, farther_ms, ccas))
    for number, row in enumerate(analyses.connections.sort_values("connection").to_dict("records")):
        (text,) = re.findall(
            r"it shares (?:that|the path) with 1 connection of another client, whose RTTs rise and "
            r"fall with its own: ([\d.]+) Mbit/s together",
            row["diagnosis"],
        )
        assert float(text) == pytest.approx(mbps * _PAYLOAD, rel=0.05)
        estimate = estimate_path(analyses, number)
        assert estimate.mean_mbps == pytest.approx(mbps, rel=0.03)
        assert estimate.rtt_ms == pytest.approx(rtt_ms, abs=2)
        # The scenario of one has the other as a flow, behind the delay that it has more.
        written = tmp_path / f"{number}.toml"
        write_scenario(estimate, written)
        assert len(tomllib.loads(written.read_text())["flows"]) == 2
        assert not [text for text in estimate.left_out if "connection" in text]


@pytest.mark.parametrize(("own", "others"), [(20, 20), (20, 19), (30, 12)])
def test_clients_on_own_links_share_nothing_however_alike_their_rtts(
    tmp_path: Path, own: int, others: int
) -> None:
    """Equal links have equal queues, but neither rate yields to the other one."""
    analyses = _captured(
        tmp_path,
        f'[path]\nrtt = "20ms"\ndown.rate = "{own}Mbit/s"\nbuffer = "200packets"\n'
        '[[links]]\nname = "b"\nfrom = "server"\nto = "other"\nbuffer = "200packets"\n'
        f'rate = "{others}Mbit/s"\ndelay = "10ms"\n[[flows]]\n[[flows]]\nto = "other"\n',
    )
    assert not analyses.connections["diagnosis"].str.contains("it shares").any()
    for number, row in enumerate(analyses.connections.sort_values("connection").to_dict("records")):
        mbps = float(row["throughput_mbps"]) / _PAYLOAD
        assert estimate_path(analyses, number).mean_mbps == pytest.approx(mbps, rel=0.05)
