"""Frames behind a lost one: sent in time, and delivered with the repair of the frame before them."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.unit_reasons import BEHIND_LOST, RECOVERY
from celltcp.comparison.explanation.explanation import ExplainedComparison

if TYPE_CHECKING:
    from drawn_causes import Changes


@pytest.mark.parametrize("seed", range(4))
def test_frames_behind_a_lost_one_are_counted_apart(seed: int) -> None:
    """A frame of one segment waits 1.5 RTTs for the repair of the one before, which takes longer."""
    draw = random.Random(seed)
    rtt, interval = draw.randint(60, 160), draw.randint(100, 200)
    deadline = 1.3 * rtt
    frames = {
        "kind": "frames",
        "size": "120B",
        "interval": f"{interval}ms",
        "deadline": f"{deadline:.0f}ms",
        "jitter": 0,
    }
    changes: Changes = {"path.rtt": f"{rtt}ms", "path.loss": 0.02, "flows.0.workload": frames}
    result = ct.compare("steady-20-68", "cubic", 3, duration="120s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    (cause,) = (each for each in explained.causes if each.name == "slow_units")
    # By construction, a frame that arrives with an earlier one, or just after it, stood behind that.
    units = result.units.sort_values(["run", "start_s"])
    by_run = units.groupby("run")
    arrives_with = units["end_s"] - by_run["end_s"].transform(lambda ends: ends.shift().cummax()) < 1e-3
    late = units["duration_s"] > deadline / 1e3
    expected = int((late & arrives_with).sum())
    reasons = cause.reasons
    assert reasons[BEHIND_LOST] + reasons[RECOVERY] >= 0.7 * sum(reasons.values())
    # Some stand behind one that waits for a loss probe or a time-out.
    assert 0.8 * expected <= reasons[BEHIND_LOST] <= expected
    next_s = np.median(units.loc[late & arrives_with, "duration_s"])
    assert next_s == pytest.approx(1.5 * rtt / 1e3, rel=0.05)
    found = re.search(r"and the next one after (\d+):", cause.text)
    assert found is not None
    assert int(found[1]) == pytest.approx(1.5 * rtt, rel=0.02)
