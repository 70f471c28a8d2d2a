"""Explanations of a lowered minimum RTO: what it sends again in vain."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from drawn_causes import interrupted


@pytest.mark.parametrize("seed", range(3))
def test_a_minimum_rto_below_the_pauses_of_a_link_sends_data_in_vain(seed: int) -> None:
    draw = random.Random(f"vain {seed}")
    pause_s = draw.uniform(0.04, 0.08)
    workload = {"kind": "request-response", "request": "60B", "response": "3kB", "gap": "20ms"}
    for min_rto in ("5ms", "200ms"):
        changes: dict[str, Any] = {
            "path.rtt": "4ms",
            "path.down": {"steps": interrupted("20Mbit/s", [(at / 2, pause_s) for at in range(1, 30)])},
            "tcp.min_rto": min_rto,
            "flows.0.workload": workload,
        }
        result = ct.compare("steady-20-68", "cubic", 1, duration="15s", set=changes)
        (each,) = ExplainedComparison(result).ccas
        texts = {cause.name: cause.text for cause in each.causes}
        assert ("vain_retransmissions" in texts) == (min_rto == "5ms")
        if min_rto == "5ms":
            count = int(result.flows["spurious_retransmissions"].sum())
            assert texts["vain_retransmissions"].startswith(f"{count} of ")
