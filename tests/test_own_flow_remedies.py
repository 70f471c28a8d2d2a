"""Explanations of flows after the first one: their own congestion control, and remedies for it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison


def _lossy(seed: int, own: str) -> ct.Comparison:
    """Returns a comparison of BBR and Reno beside a long upload with a CCA of its own."""
    draw = random.Random(f"own flow {seed}")
    transfer = {"kind": "bulk", "bytes": "12MB"}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(40, 80)}ms",
        "path.up.rate": "60Mbit/s",
        "path.uplink_buffer": "2bdp",
        "path.uplink_loss": round(draw.uniform(0.003, 0.008), 4),
        "flows": [
            {"name": "down"},
            {"name": "up", "from": "phone", "to": "server", "cca": own, "workload": transfer},
        ],
    }
    return ct.compare("steady-20-68", ["bbr", "reno"], 1, duration="60s", set=changes)


@pytest.mark.parametrize("seed", range(2))
def test_the_law_of_a_further_flow_is_that_of_its_own_cca(seed: int) -> None:
    explained = ExplainedComparison(_lossy(seed, "cubic"))
    texts = [each.cause_text("random_loss") for each in explained.ccas if each.flow == "up"]
    assert len(texts) == 2
    assert all("By CUBIC's law" in text for text in texts)


@pytest.mark.parametrize("seed", range(2))
def test_a_further_flow_gets_another_cca_by_its_own_field(seed: int) -> None:
    options = [each.options for each in ExplainedComparison(_lossy(seed, "cubic"))._all_remedies]
    assert any("--set flows.1.cca=bbr" in each for each in options)
    # BBR is compared in the first flow already, and that changes nothing for the other one.
    assert not any("flows.1.cca" in each for each in _options_of_bbr(seed))


def _options_of_bbr(seed: int) -> list[str]:
    return [each.options for each in ExplainedComparison(_lossy(seed, "bbr"))._all_remedies]


@pytest.mark.parametrize("seed", range(2))
def test_pages_of_other_passengers_have_no_setting_of_who_asks(seed: int) -> None:
    """Settings of six other passengers' pages are no remedy for a page of one's own."""
    draw = random.Random(seed)
    page = {"kind": "page", "document": "30kB", "objects": draw.randint(20, 40), "object": "30kB"}
    flow = {"name": "web", "workload": {**page, "gap": "5s"}}
    rate = {"mean": f"{draw.randint(8, 14)}Mbit/s", "variability": 0.6, "correlation": "3s"}
    changes: dict[str, Any] = {
        "path.rtt": "60ms",
        "path.down": {"generate": rate},
        "path.buffer": "750packets",
        "flows": [flow, {**flow, "name": "others", "count": 6, "cca": "cubic", "start_spread": "5s"}],
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="100s", set=changes)
    fields = [
        change.partition("=")[0]
        for each in ExplainedComparison(result)._all_remedies
        for change in each.remedy.changes
    ]
    assert "flows.0.workload.multiplexed" in fields
    assert not any(field.startswith("flows.1.") for field in fields)
