"""Slow start without HyStart: its window doubles until a loss shows."""

from __future__ import annotations

import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison


@pytest.mark.parametrize("rtt_ms", [40, 80])
def test_an_overflow_of_slow_start_has_its_window_and_losses(rtt_ms: int) -> None:
    """A round trip after path and buffer are full, the window is twice what they hold."""
    changes = {"path.rtt": f"{rtt_ms}ms", "path.down": "80Mbit/s", "path.buffer": "1bdp"}
    result = ct.compare("steady-20-68", "cubic:hystart=off", 1, duration="30s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    text = explained.start_text
    assert text.startswith("Slow start ended at an overflow: ")
    full = 2 * 80e6 * rtt_ms / 1e3 / 8 / 1500
    window = float(re.findall(r"to (\d+) segments", text)[0])
    assert full < window <= 2.1 * full
    rows = result.results.tables["recoveries"].to_pylist()
    # A recovery right after that of slow start repairs what its last round trip lost.
    own, every = (
        sum(row["overflow"] for row in rows if row["slow_start"] or not is_own)
        for is_own in (True, False)
    )
    lost = int(re.findall(r"and ([\d ]+) segments were lost", text)[0].replace(" ", ""))
    assert 0.4 * full < own <= lost <= every
    # Of few losses the exit is none.
    gentle = ct.compare("steady-20-68", "cubic", 1, duration="30s", set=changes)
    (explained,) = ExplainedComparison(gentle).ccas
    assert "Slow start ended at an overflow" not in explained.start_text
