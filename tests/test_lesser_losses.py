"""Explanations of losses for two reasons: what stays unused is for the reason of most losses."""

from __future__ import annotations

import random

import pytest

import celltcp as ct
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
