"""Recoveries after outages, whose lost ACKs look like reordering, and reordering on the path."""

from __future__ import annotations

import random

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.scenarios.changes import Value


def _names(seed: int, *, has_jitter: bool) -> set[str]:
    """Returns the causes of an upload with outages, and with jitter that reorders packets."""
    draw = random.Random(seed)
    length_s = draw.uniform(1.0, 2.5)
    starts_s = range(10, 40, draw.choice([5, 8, 10]))
    changes: dict[str, Value] = {
        "path.rtt": f"{draw.choice([40, 80, 120])}ms",
        "path.up": "4Mbit/s",
        "path.uplink_loss": 0.01,
        "path.blackouts": [{"at": f"{at}s", "duration": f"{length_s:.2f}s"} for at in starts_s],
        "flows.0.from": "phone",
        "flows.0.to": "server",
    }
    if has_jitter:
        changes["path.wired"] = [
            {
                "name": "wan",
                "rate": "1Gbit/s",
                "jitter": {"distribution": "exponential", "mean": "10ms", "reorder": True},
            }
        ]
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="45s", set=changes)
    explained = ExplainedComparison(result)
    return {cause.name for each in explained.ccas for cause in each.causes}


@pytest.mark.parametrize("seed", range(4))
def test_acks_that_an_outage_lost_are_no_reordering(seed: int) -> None:
    assert "reordering" not in _names(seed, has_jitter=False)
    assert "reordering" in _names(seed, has_jitter=True)
