"""Explanations of connections that a middlebox splits."""

from __future__ import annotations

import random

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from drawn_causes import Changes


def causes(seed: int, **changes: object) -> dict[str, str]:
    """Returns the causes of a download over a split path drawn by a seed."""
    draw = random.Random(seed)
    box: Changes = {"kind": "split", "at": "node-1", **changes}
    rtt_ms = draw.choice([24, 44, 64])
    path = {
        "path.rtt": f"{rtt_ms}ms",
        "path.wired": [{"name": "internet", "delay": f"{rtt_ms / 2 - 2}ms"}, {"name": "cell"}],
        "path.down.rate": f"{draw.choice([20, 40, 60])}Mbit/s",
        "path.loss": draw.choice([0.03, 0.04]),
        "path.middleboxes": [box],
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="20s", set=path)
    return {cause.name: cause.text for cause in ExplainedComparison(result).ccas[0].causes}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_leg_with_the_losses_is_the_limit_and_not_the_window_of_the_first_one(seed: int) -> None:
    texts = causes(seed)
    assert texts["later_leg"].startswith("The leg behind the split host was the limit: ")
    assert "receive_window" not in texts
    # The wait is in the host, which the RTT of the first leg does not have.
    assert "at the split host" in texts["queue"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_small_buffer_of_the_split_host_is_a_window_of_the_first_leg(seed: int) -> None:
    texts = causes(seed, buffer="12kB")
    assert "(the buffer of the split host, 12kB)" in texts["receive_window"]
    assert "later_leg" not in texts
