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


def captured(folder: Path, cca: str, changes: dict[str, Any]) -> tuple[CaptureAnalyses, Any]:
    """Returns the analysis of a capture at the sender, and the slots of its run."""
    file = folder / "run.pcap"
    run = ct.run("steady-100-68", cca, duration="20s", samples="off", set=changes, pcap=file)
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
    # What the losses took of the data in flight, and the time in which it grows back.
    reduced = re.search(r"before the losses, repaired by \S+ m?s, they were (\S+) (kB|MB)", text)
    assert reduced, text
    before = float(reduced[1]) * _BYTES[reduced[2]]
    assert before == pytest.approx(slots[slots["t_s"] < 3]["inflight"].max() * 1448, rel=0.4)
    # Slow start may have had more in flight than path and buffer hold: the time is until those.
    held = (
        r"; at least (\S+) s more until (\S+) (kB|MB) are in flight again, which path and buffer held"
    )
    rest = re.fullmatch(rf", and up to \S+ Mbit/s passed(?:{held})?", text[reduced.end() :])
    assert rest, text
    if rest[1] is not None:
        more = float(rest[2]) * _BYTES[rest[3]] - last
        rtt_s = float(changes["path.rtt"].removesuffix("ms")) / 1e3
        assert float(rest[1]) == pytest.approx(more / 1448 * rtt_s, rel=0.3)
    # Nothing but the growth of its window shows the CCA.
    assert analyses.connections.iloc[0]["cca"] == "reno"
    rate = float(changes["path.down.rate"].removesuffix("Mbit/s"))
    assert 0.1 * rate < float(text.split(" up to ")[1].split()[0]) < 1.02 * rate
    # The window of the sender itself, in segments of 1448 bytes.
    windows = slots[slots["t_s"] > 5]["cwnd"] * 1448
    assert last == pytest.approx(windows.iloc[-1], rel=0.1)
    assert first < last
    # The path was never full, so that no scenario of it is advised.
    (step,) = next_steps(analyses)
    rate = r"\d+(\.\d+)?"
    by_gaps = rf"by gaps it carries {rate}( to {rate})? Mbit/s"
    assert re.search(rf"SO_MAX_PACING_RATE; (up to {rate} Mbit/s passed|{by_gaps})\)", step)
    assert "sender: tc qdisc replace dev INTERFACE root fq; sender: sysctl -w" in step


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
