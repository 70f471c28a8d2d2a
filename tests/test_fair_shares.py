"""Frames beside transfers: fair queueing helps those that fit into a fair share of the link."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp._core import in_unit
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.fair_share_remedies import frames_of_fair_share
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.trials import TrialBudget

_FAIR_QUEUEING = Remedy("a standing queue", ("path.queue=fq-codel",))


def _beside(downloads: int, rate_mbps: float, frames_mbps: float, rtt_ms: int = 20) -> ct.Comparison:
    """Compares CUBIC for a game of 50 frames a second beside CUBIC downloads."""
    frames = {"kind": "frames", "size": f"{frames_mbps * 1e6 / 8 / 50:.0f}B", "interval": "20ms"}
    changes: dict[str, Any] = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down": f"{rate_mbps}Mbit/s",
        "path.buffer": "5bdp",
        "flows": [
            {"name": "game", "workload": {**frames, "deadline": "80ms"}},
            {"name": "download", "cca": "cubic", "count": downloads},
        ],
    }
    return ct.compare("steady-20-68", "cubic", 2, duration="15s", set=changes)


@pytest.mark.parametrize("seed", range(3))
def test_frames_above_a_fair_share_get_its_size_with_fair_queueing(seed: int) -> None:
    """A share of n flows is 1/n of the payload of the link, whatever FIFO leaves them."""
    draw = random.Random(f"fair {seed}")
    downloads, rate_mbps, rtt_ms = draw.randint(1, 3), draw.randint(20, 60), draw.randint(15, 40)
    share_mbps = rate_mbps * 1448 / 1500 / (downloads + 1)
    for ratio in (0.7, 1.3):
        result = _beside(downloads, rate_mbps, ratio * share_mbps, rtt_ms)
        evidence = Evidence(result, "cubic", result.tested)
        remedies = list(frames_of_fair_share(evidence, _FAIR_QUEUEING))
        assert bool(remedies) == (ratio > 1)
    first, *_, encoder = remedies
    assert first.changes[0] == encoder.changes[0] == "path.queue=fq-codel"
    size = in_unit(first.changes[1].partition("=")[2], "B") or 0.0
    assert 8e-6 * size * 50 == pytest.approx(0.95 * share_mbps, rel=0.03)
    assert {"flows.0.workload.backlog=newest", "tcp.notsent_lowat=16kB"} < {*encoder.changes}


def test_smaller_frames_with_fair_queueing_are_on_time_and_leave_the_download_its_share() -> None:
    """Alone, neither is: the queue of a FIFO is as long, and whole frames need over half of a link."""
    result = _beside(1, 40, 25)
    assert result.applications[0].means("late_share")[0] > 0.9
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    explained.try_together(TrialBudget())
    table = explained.conclusion.alternatives
    assert table is not None
    (pair, *_) = (each for each in table.shown if "path.queue=fq-codel" in each.changes)
    assert any(each.startswith("flows.0.workload.") for each in pair.changes)
    assert max(pair.values) < 0.02
    shared = pair.comparison.mean_shares()
    (download,) = (each.goodput.mean for each in shared if each.flow == "download")
    assert download > 0.48 * 40 * 1448 / 1500
    # What leaves most frames late is no advice, and where many are late still, texts begin with it.
    for each in explained.remedies:
        shares = re.findall(r"late frames [\d.]+ to ([\d.]+) %", each.trial)
        assert not shares or min(map(float, shares)) < 50, each.trial


@pytest.mark.parametrize("seed", range(2))
def test_a_trial_that_leaves_frames_late_says_so_before_their_delay(seed: int) -> None:
    """Drops of frames that wait shorten seconds to a tenth, in a queue longer than the deadline."""
    explained = ExplainedComparison(_beside(1, 40, 25 + 3 * seed))
    explained.try_remedies(TrialBudget())
    late = [each for each in explained._with_trials if each.leaves_most_late]
    assert any("flows.0.workload.backlog=newest" in each.remedy.changes for each in late)
    for each in late:
        assert re.search(r"cubic (?:game )?share of late frames [\d.]+ to [\d.]+ %, ", each.trial)
    explained.try_together(TrialBudget())
    assert not any(each.leaves_most_late for each in explained.remedies)
