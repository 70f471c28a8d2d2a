"""Explanations of losses for two reasons: what stays unused is for the one that cut the window last."""

from __future__ import annotations

import random

import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.explanation.explanation import ExplainedComparison


def causes(buffer: str, loss: float, cca: str = "reno") -> dict[str, str]:
    """Returns the causes of a bulk flow on a short path by name."""
    changes = {
        "path.rtt": "20ms",
        "path.down.rate": "30Mbit/s",
        "path.buffer": buffer,
        "path.loss": loss,
    }
    result = ct.compare("steady-20-18", cca, 2, duration="30s", set=changes)
    return {cause.name: cause.text for cause in ExplainedComparison(result).ccas[0].causes}


@pytest.mark.parametrize("seed", range(3))
def test_a_buffer_that_hardly_overflows_beside_random_losses_is_no_reason(seed: int) -> None:
    draw = random.Random(seed)
    found = causes(
        f"{draw.randint(35, 60)}kB", draw.uniform(0.008, 0.02), draw.choice(["reno", "cubic"])
    )
    assert "of the capacity stayed unused" in found["random_loss"]
    assert "of the capacity stayed unused" not in found.get("shallow_buffer", "")


def test_a_shallow_buffer_with_few_random_losses_is_the_reason() -> None:
    found = causes("15kB", 2e-5)
    assert "of the capacity stayed unused" in found["shallow_buffer"]
    assert "of the capacity stayed unused" not in found.get("random_loss", "")


@pytest.mark.parametrize("seed", range(3))
def test_an_overflow_of_slow_start_is_no_reason_for_what_later_losses_leave_unused(seed: int) -> None:
    draw = random.Random(seed)
    changes = {
        "path.rtt": "40ms",
        "path.down.rate": f"{draw.randint(80, 120)}Mbit/s",
        "path.buffer": "2bdp",
        "path.loss": draw.uniform(8e-5, 2e-4),
    }
    result = ct.compare("steady-20-18", "reno", 3, seed=1 + seed, duration="60s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    # The burst of one overflow is more than all random losses.
    assert (
        result.results.tables["recoveries"]
        .to_pandas()[["overflow", "random"]]
        .sum()
        .is_monotonic_decreasing
    )
    found = {cause.name: cause.text for cause in explained.causes}
    assert "of the capacity stayed unused" in found["random_loss"]
    assert "of the capacity stayed unused" not in found.get("overflows", "")


@pytest.mark.parametrize("cca", ["bbr", "cubic"])
def test_transfers_of_a_sequence_have_no_pauses_beside_their_losses(cca: str) -> None:
    """Each has a connection of its own, on which all is in flight until its last repair."""
    changes = {
        "path.rtt": "200ms",
        "path.loss": 0.03,
        "flows.0.workload": {"kind": "sequence", "size": "2MB", "gap": "2s", "count": 2},
    }
    result = ct.compare("steady-20-18", cca, 2, duration="120s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    text = explained.cause_text("random_loss")
    assert "of the capacity stayed unused" in text
    assert "pauses" not in text
    unused = 1.0 - explained.used_share
    assert explained.causes[0].weight <= unused - explained.limits["startup"] + 1e-9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_full_link_that_a_transfer_overflows_has_what_its_buffer_dropped(seed: int) -> None:
    """A short file over a slow link: the first recovery is much of it, and the link stays full."""
    draw = random.Random(f"slow link {seed}")
    path = {
        "rtt": f"{draw.randint(800, 1600)}ms",
        "buffer": f"{draw.randint(16, 24)}packets",
        "down": {"rate": f"{draw.randint(50, 90)}kbit/s"},
        "up": {"rate": "30kbit/s"},
    }
    flow = {"name": "firmware", "workload": {"kind": "bulk", "bytes": "300kB"}}
    scenario = {"name": "slow", "duration": "90s", "path": path, "flows": [flow]}
    result = ct.compare(scenario, ["cubic"], 2)
    flows = result.flows
    share = flows["retransmissions"].sum() / flows["segments"].sum()
    assert share > 0.02
    (explained,) = ExplainedComparison(result).ccas
    assert explained.used_share > 0.9
    # Most of it is lost by slow start, or later.
    later = explained.cause_text("overflows")
    assert f"({percent_text(share)})" in later or explained.cause_text("overshoot")
