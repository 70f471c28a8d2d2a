"""Links on which a packet is longer than a slot: no cause claims more than what a flow left unused."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison

#: Resolution of the shares in texts.
_RESOLUTION = 0.006


@pytest.mark.parametrize("seed", range(1, 7))
def test_no_cause_claims_more_than_the_unused_share(seed: int) -> None:
    draw = random.Random(seed)
    rate = draw.choice([2, 3, 5, 8, 12, 20, 35, 50])
    changes = {
        "path.down.rate": f"{rate}kbit/s",
        "path.up.rate": f"{rate}kbit/s",
        "path.rtt": f"{draw.choice([100, 400, 700])}ms",
        "path.buffer": f"{draw.choice([10, 20, 50])}packets",
        "path.loss": draw.choice(["0%", "1%", "5%"]),
    }
    duration = f"{max(120, round(1800 / rate))}s"
    result = ct.compare("steady-20-68", ["bbr", "bbr3", "cubic"], 1, duration=duration, set=changes)
    for explained in ExplainedComparison(result).ccas:
        for cause in explained.causes:
            for unused in re.findall(r"([\d.]+) % of the capacity (?:stayed )?unused", cause.text):
                unused_share = float(unused) / 100
                assert unused_share <= 1 - explained.used_share + _RESOLUTION, (changes, cause)


@pytest.mark.parametrize("rate", [2, 5, 20])
def test_four_segments_that_fill_the_path_make_no_cost_of_probe_rtt(rate: int) -> None:
    changes = {
        "path.down.rate": f"{rate}kbit/s",
        "path.up.rate": f"{rate}kbit/s",
        "path.rtt": "400ms",
        "path.loss": "5%",
        "path.buffer": "20packets",
    }
    result = ct.compare("steady-20-68", ["bbr"], 2, duration=f"{1800 // rate}s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    assert "probe_rtt" not in {cause.name for cause in explained.causes}
