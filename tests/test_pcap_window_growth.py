"""Sentences of captures at senders whose congestion window limits them after losses in slow start."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.analysis import CaptureAnalyses
from celltcp.pcap.next_steps import next_steps

_GROWTH = re.compile(
    r"the congestion window is the limit: the data in flight grow from (\S+) (kB|MB) to (\S+) (kB|MB), "
    r"by (\S+) segments a round trip"
)
_BYTES = {"kB": 1e3, "MB": 1e6}
_DURATION = "20s"
#: Payload of a full packet, as a share.
_PAYLOAD = 1448 / 1500


def captured(folder: Path, cca: str, changes: dict[str, Any]) -> tuple[CaptureAnalyses, Any]:
    """Returns the analysis of a capture at the sender, and the slots of its run."""
    file = folder / "run.pcap"
    run = ct.run("steady-100-68", cca, duration=_DURATION, samples="off", set=changes, pcap=file)
    return analyse(file), run.slots


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_window_that_grows_by_a_segment_a_round_trip_is_the_limit(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    changes = {
        "path.rtt": f"{draw.choice([60, 90, 120])}ms",
        "path.down.rate": f"{draw.choice([100, 150])}Mbit/s",
        "path.buffer": f"{draw.choice([80, 120, 160])}kB",
    }
    analyses, slots = captured(tmp_path, "reno", changes)
    text = str(analyses.connections.iloc[0]["diagnosis"])
    match = _GROWTH.search(text)
    assert match, text
    first, last = (float(match[n]) * _BYTES[match[n + 1]] for n in (1, 3))
    assert float(match[5]) == pytest.approx(1.0, abs=0.3)
    # What the losses took of the data in flight.
    reduced = re.search(r"losses, sent again until \S+ m?s, had reduced them from (\S+) (kB|MB)", text)
    assert reduced, text
    before = float(reduced[1]) * _BYTES[reduced[2]]
    assert before == pytest.approx(slots[slots["t_s"] < 3]["inflight"].max() * 1448, rel=0.4)
    # The gaps of bursts have the rate of the link, whose window is a BDP.
    rate = float(changes["path.down.rate"].removesuffix("Mbit/s"))
    link = re.search(
        r"link has (\S+) (?:to \S+ )?Mbit/s of payload by the gaps of bursts, "
        r"and a round trip (\S+) (kB|MB)",
        text,
    )
    assert link, text
    assert float(link[1]) == pytest.approx(_PAYLOAD * rate, rel=0.02)
    rtt_s = float(changes["path.rtt"].removesuffix("ms")) / 1e3
    bdp = 1e6 / 8 * _PAYLOAD * rate * rtt_s
    assert float(link[2]) * _BYTES[link[3]] == pytest.approx(bdp, rel=0.03)
    # Nothing but the growth of its window shows the CCA.
    assert analyses.connections.iloc[0]["cca"] == "reno"
    # The window of the sender itself, in segments of 1448 bytes.
    windows = slots[slots["t_s"] > 5]["cwnd"] * 1448
    assert last == pytest.approx(windows.iloc[-1], rel=0.1)
    assert first < last
    pacing, cap, bbr = next_steps(analyses)
    assert "sender: tc qdisc replace dev INTERFACE root fq" in pacing
    assert f"narrowest link, of {link[1]} " in cap
    assert "sender: sysctl -w" in bbr


@pytest.mark.parametrize("seed", [1, 2])
def test_the_time_until_the_window_fills_the_path_is_that_of_a_longer_run(
    tmp_path: Path, seed: int
) -> None:
    """Bursts at twice the rate of the link overflow a buffer of less than half a BDP in slow start."""
    draw = random.Random(f"longer {seed}")
    rate, rtt_ms = draw.choice([150, 200]), draw.choice([50, 60])
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": f"{rate}Mbit/s",
        "path.buffer": f"{draw.uniform(0.2, 0.35):.2f}bdp",
        "tcp.receive_buffer_max": "64MB",
        "tcp.send_buffer_max": "64MB",
    }
    file = tmp_path / "run.pcap"
    length_s = 6
    ct.run("steady-100-68", "reno", duration=f"{length_s}s", samples="off", set=changes, pcap=file)
    text = str(analyse(file).connections.iloc[0]["diagnosis"])
    more = re.search(r"some (\S+) (m?s) more until the window has those", text)
    assert more, text
    more_s = float(more[1]) * {"s": 1.0, "ms": 1e-3}[more[2]]
    longer = ct.run("steady-100-68", "reno", duration="40s", samples="off", set=changes).slots
    later = longer[longer["t_s"] > 2]
    full_s = float(later[later["rate_mbps"].rolling(5).mean() >= 0.995 * rate]["t_s"].iloc[0])
    assert length_s + more_s == pytest.approx(full_s, rel=0.15)
    assert re.search(r"less than the \S+ [kM]B of a round trip: bursts overflowed the buffer", text)


@pytest.mark.parametrize(
    ("cca", "changes"),
    [
        ("reno", {"path.buffer": "2bdp", "path.down.rate": "20Mbit/s"}),
        ("bbr", {"path.buffer": "100kB"}),
        ("reno", {"tcp.receive_window_max": "150kB"}),
        ("cubic", {"path.loss": 0.002}),
    ],
)
def test_other_limits_are_no_growth_of_a_window(
    tmp_path: Path, cca: str, changes: dict[str, Any]
) -> None:
    analyses, _ = captured(tmp_path, cca, changes)
    assert "the congestion window is the limit" not in str(analyses.connections["diagnosis"].iloc[0])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_window_grows_from_the_last_repair_on(tmp_path: Path, seed: int) -> None:
    """Without SACK, each loss takes a round trip, in which the window does not grow."""
    draw = random.Random(f"repair {seed}")
    rtt_ms = draw.choice([40, 60])
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": f"{draw.choice([150, 200])}Mbit/s",
        "path.buffer": "0.05bdp",
        "tcp.sack": False,
    }
    analyses, _ = captured(tmp_path, "reno", changes)
    text = str(analyses.connections.iloc[0]["diagnosis"])
    match = _GROWTH.search(text)
    assert match, text
    assert float(match[5]) == pytest.approx(1.0, abs=0.1)
    assert "as those of Reno" in text
    assert analyses.connections.iloc[0]["cca"] == "reno"


def test_the_growth_of_cubic_is_not_that_of_reno(tmp_path: Path) -> None:
    changes = {"path.rtt": "100ms", "path.down.rate": "150Mbit/s", "path.buffer": "100kB"}
    analyses, _ = captured(tmp_path, "cubic", changes)
    assert analyses.connections.iloc[0]["cca"] in ("cubic", "unknown")
