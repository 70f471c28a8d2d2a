"""Runs that end before the window has grown back after slow start have words at their verdicts."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from drawn_causes import Changes


def _backups(rate: float, rtt_ms: float, bdps: float, count: int) -> Changes:
    return {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": f"{rate}Mbit/s",
        "path.buffer": f"{bdps}bdp",
        "flows": [{"name": "backup", "count": count}],
    }


def _warned(comparison: ct.Comparison, cca: str) -> str:
    return next(
        (text for text in comparison.warnings if text.startswith(f"{cca}, backup: a window")), ""
    )


@pytest.mark.parametrize("seed", range(4))
def test_reno_needs_half_its_window_in_round_trips_to_fill_the_buffer_again(seed: int) -> None:
    """RFC 5681: a segment per round trip; RFC 9438: K, or less in the Reno-friendly region."""
    draw = random.Random(seed)
    rate, rtt_ms, bdps = draw.choice([50, 100]), draw.choice([60, 80]), draw.uniform(0.6, 1)
    count = draw.choice([1, 2])
    window = 1e3 * rate * rtt_ms * (1 + bdps) / (8 * 1500 * count)
    reno_s = window / 2 * rtt_ms / 1e3 * (1 + bdps / 2)
    k_s = (0.3 * window / 0.4) ** (1 / 3)
    changes = _backups(rate, rtt_ms, bdps, count)
    short = ct.compare("steady-20-18", "cubic,reno", 1, duration=f"{0.3 * reno_s:.1f}s", set=changes)
    text = _warned(short, "reno")
    ((needs_s, advised_s),) = re.findall(r"needs (\S+) s to grow .* --duration (\S+)s", text)
    assert float(needs_s) == pytest.approx(reno_s, rel=0.15), text
    if k_s < 0.2 * reno_s:
        # CUBIC has overflowed the buffer again meanwhile.
        assert _warned(short, "cubic") == ""
    whole = ct.compare("steady-20-18", "reno", 1, duration=f"{advised_s}s", set=changes)
    assert _warned(whole, "reno") == ""
    # At its end, the window does not fill path and buffer yet.
    slots = short.slots[(short.slots["cca"] == "reno")]
    assert (slots[slots["t_s"] == slots["t_s"].max()]["cwnd"] < 0.95 * window).all()


def test_verdicts_say_that_a_run_is_shorter_than_the_sawtooth_of_their_congestion_control(
    celltcp,
) -> None:
    options = (
        "--set",
        "path.rtt=80ms",
        "--set",
        "path.down.rate=100Mbit/s",
        "--set",
        "path.buffer=1bdp",
    )
    run = ("steady-20-18", "--cca", "reno,vegas", "--runs", "1", *options)
    output = " ".join(celltcp("compare", *run, "--duration", "12s").stdout.split())
    assert "note: verdicts on reno hold for such short runs: a sawtooth is longer than a run" in output
    changes = dict(each.split("=") for each in options[1::2])
    short = ct.compare("steady-20-18", "reno,vegas", 1, duration="12s", set=changes)
    row = next(each for each in ExplainedComparison(short).settings if each["cca"] == "reno")
    assert "its sawtooth is longer than a run" in row["need"]


def test_a_full_path_without_a_queue_is_explained_by_a_window_that_still_grows() -> None:
    """Half of the window that fills a buffer of 0.7 BDP is 0.85 BDP, and slow start left 1.0 BDP."""
    changes = _backups(100, 80, 0.7, 1)
    short = ct.compare("steady-20-18", "reno", 1, duration="8s", set=changes)
    (reno,) = ExplainedComparison(short).ccas
    text = reno.cause_text("growing_window")
    assert re.search(r"needs \S+ s to grow back after a loss, and a run has \S+ s", text)
    assert reno.used_share > 0.85
    changes["flows"] = [{"name": "backup", "workload": {"kind": "bulk", "bytes": "20MB"}}]
    ended = ct.compare("steady-20-18", "reno", 1, duration="8s", set=changes)
    assert _warned(ended, "reno") == ""
