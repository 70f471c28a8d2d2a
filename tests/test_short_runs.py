"""Runs that end before the window has grown back after slow start have words at their verdicts."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.results.tables import frame
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


@pytest.mark.parametrize(
    ("seed", "cca"), [(0, "reno"), (1, "reno"), (0, "cubic:hystart=off"), (1, "cubic:hystart=off")]
)
def test_a_window_fills_path_and_buffer_again_when_a_long_run_has_its_next_overflow(
    seed: int, cca: str
) -> None:
    """Slow start may leave less than beta of the full window, from which CUBIC lacks a W_max."""
    draw = random.Random(seed)
    rate, rtt_ms = draw.choice([40, 80]), draw.choice([90, 120])
    bdps, count = draw.uniform(0.03, 0.5), draw.choice([1, 2])
    changes = _backups(rate, rtt_ms, bdps, count)
    short = ct.compare("steady-20-18", cca, 1, duration="4s", set=changes)
    (text,) = (text for text in short.warnings if "comes" in text)
    numbers = re.search(
        r"window of ([\d ]+) segm.* comes (\S+) s .* left (\d+),.* --duration (\S+)s", text
    )
    assert numbers is not None, text
    window, comes_s, trough, advised_s = (float(each.replace(" ", "")) for each in numbers.groups())
    # A packet of 1500 bytes has a segment.
    assert window == pytest.approx(1e3 * rate * rtt_ms * (1 + bdps) / (8 * 1500 * count), rel=0.03)
    if cca == "reno":
        # RFC 5681: a segment per round trip, and queues make that of the full path longer.
        assert comes_s > (window - trough) * rtt_ms / 1e3
    whole = ct.compare("steady-20-18", cca, 1, duration=f"{advised_s}s", set=changes)
    assert not any("comes" in text for text in whole.warnings)
    starts_s = frame(whole.results.tables["recoveries"]).groupby("flow")["t_s"]
    last_s = frame(short.results.tables["recoveries"]).groupby("flow")["t_s"].max()
    nexts_s = starts_s.apply(lambda each: each[each > last_s[each.name] + 0.1].min())
    assert comes_s == pytest.approx((nexts_s - last_s).mean(), rel=0.1), text


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
    assert re.search(r"comes \S+ s after the last overflow left \d+, and a run has \S+ s", text)
    assert reno.used_share > 0.85
    changes["flows"] = [{"name": "backup", "workload": {"kind": "bulk", "bytes": "20MB"}}]
    ended = ct.compare("steady-20-18", "reno", 1, duration="8s", set=changes)
    assert _warned(ended, "reno") == ""
