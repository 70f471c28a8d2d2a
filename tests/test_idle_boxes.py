"""Middleboxes that bring nothing: the reason is where the queue, the losses and the RTT are."""

from __future__ import annotations

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from drawn_causes import Changes

_WIRED = [{"name": "internet", "rate": "1Gbit/s", "delay": "25ms"}, {"name": "core", "rate": "1Gbit/s"}]


def _notes(boxes: list[str], changes: Changes) -> list[str]:
    """Returns the notes on boxes that bring nothing to CUBIC on a path whose 60 ms are wired."""
    path: Changes = {"path.rtt": "60ms", "path.wired": _WIRED, **changes}
    ccas = ["cubic", *(f"cubic@{box}" for box in boxes)]
    result = ct.compare("steady-20-68", ccas, 3, duration="15s", set=path)
    return [each for each in ExplainedComparison(result).notes if " nothing: " in each]


def test_a_split_whose_far_leg_has_the_queue_brings_nothing_and_says_so() -> None:
    """CUBIC fills the buffer of the access link from either host; no loss is there to repair."""
    split, freeze = _notes(["split", "freeze"], {"path.buffer": "3bdp"})
    assert split.startswith("split brings nothing: the queue (up to ")
    assert "stands behind it as without it, no segment is lost at random and 60" in split
    assert split.endswith(" are before it")
    assert freeze == (
        "freeze brings nothing: the access link has no interruption, on which alone it acts"
    )


def test_boxes_that_repair_random_losses_are_not_said_to_bring_nothing() -> None:
    """Behind the host, a leg of 1 ms repairs what an RTT of 60 ms took longer for."""
    notes = _notes(["split", "snoop"], {"path.loss": 0.003, "path.buffer": "1bdp"})
    assert not [each for each in notes if "split" in each]
