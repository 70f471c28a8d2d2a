"""Windows of the hosts that are full at times beside losses: their part of the unused capacity."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.results.statistics import estimate


@pytest.mark.parametrize("seed", range(2))
def test_what_bbr_gains_by_a_larger_send_buffer_is_not_left_to_its_losses(seed: int) -> None:
    """The send buffer also holds what waits for a repair: twice the BDP is too little with losses."""
    draw = random.Random(f"send buffer {seed}")
    rtt_ms, mbps = draw.randint(70, 90), draw.randint(80, 120)
    bdp = mbps * 125 * rtt_ms
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down": f"{mbps}Mbit/s",
        "path.loss": 0.001,
        "tcp.send_buffer_max": f"{round(2.3 * bdp)}B",
        "path.buffer": "2bdp",
        "tcp.receive_buffer_max": "64MB",
    }
    result = ct.compare("steady-20-68", "bbr", 2, duration="30s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    text = explained.ccas[0].cause_text("slow_growth")
    found = re.search(
        r"Larger ones, tried in 2 runs with .*?, have .*: ([\d.]+) of the ([\d.]+) points", text
    )
    assert found is not None, text
    points, unused = map(float, found.groups())
    large = {**changes, "tcp.send_buffer_max": "64MB"}
    larger = ct.compare("steady-20-68", "bbr", 2, duration="30s", set=large)
    rates = [estimate(each.values("bbr", "goodput_mbps")).mean for each in (result, larger)]
    # Payload is 1448 of the 1500 bytes of a packet.
    assert points == pytest.approx(100 * (rates[1] - rates[0]) / (mbps * 1448 / 1500), abs=3)
    assert points <= unused
    # Without a full window there is none to enlarge.
    free = ExplainedComparison(larger)
    free.try_remedies(TrialBudget())
    assert not any("Larger ones" in cause.text for cause in free.ccas[0].causes)
