"""Explanations of full queues: the RTT that the buffer allows."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison


def notes(changes: dict[str, Any], cca: str = "cubic") -> str:
    """Returns the notes of an explanation of a comparison with changes."""
    result = ct.compare("steady-20-18", cca, 1, duration="20s", set=changes)
    return " ".join(ExplainedComparison(result).notes)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("unit", ["ms", "bdp", "packets", "B"])
def test_a_buffer_has_the_longest_rtt(unit: str, seed: int) -> None:
    draw = random.Random(seed)
    rate, rtt_ms, wait_ms = draw.choice([8, 12, 20]), draw.choice([20, 40, 60]), draw.randint(60, 180)
    size = wait_ms * rate * 125
    texts = {
        "ms": f"{wait_ms}ms",
        "bdp": f"{wait_ms / rtt_ms}bdp",
        "packets": f"{size // 1500}packets",
        "B": f"{size}B",
    }
    path = {"path.rtt": f"{rtt_ms}ms", "path.down.rate": f"{rate}Mbit/s", "path.buffer": texts[unit]}
    text = re.search(r"the buffer holds ([\d.]+) ms.*at most about ([\d.]+) ms", notes(path))
    assert text is not None
    assert float(text[1]) == pytest.approx(wait_ms, abs=2)
    assert float(text[2]) == pytest.approx(wait_ms + rtt_ms, abs=5)


@pytest.mark.parametrize(
    "change",
    [
        {"path.queue": "fq-codel"},
        {"tcp.receive_window_max": "100kB"},
        {"path.jitter.sd": "10ms"},
        {"path.down": {"steps": [{"at": "0s", "rate": "8Mbit/s"}, {"at": "9s", "rate": "9Mbit/s"}]}},
    ],
)
def test_a_buffer_that_does_not_decide_has_none(change: dict[str, Any]) -> None:
    path = {"path.rtt": "20ms", "path.down.rate": "8Mbit/s", "path.buffer": "200packets", **change}
    if "path.down" in change:
        del path["path.down.rate"]
    assert "an RTT is at most" not in notes(path)


@pytest.mark.parametrize("seed", range(3))
def test_a_buffer_does_not_bound_the_rtt_where_acks_wait_in_the_queue_of_uploads(seed: int) -> None:
    draw = random.Random(f"both ways {seed}")
    path = {
        "path.rtt": f"{draw.randint(20, 60)}ms",
        "path.down.rate": "20Mbit/s",
        "path.up.rate": f"{draw.randint(2, 5)}Mbit/s",
        "path.buffer": "256packets",
        "path.uplink_buffer": f"{draw.randint(60, 200)}packets",
        "flows": [{"name": "down"}, {"name": "up", "from": "phone", "to": "server"}],
    }
    assert "an RTT is at most" not in notes(path)
