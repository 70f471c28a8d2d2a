"""Bursts at the rate of the sender's link in front of a shallow buffer, as `celltcp explain` says."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct


@pytest.mark.parametrize("seed", [3, 8])
def test_a_shallow_buffer_has_the_rate_at_which_bursts_arrive(seed: int) -> None:
    """A paced sender has no bursts."""
    draw = random.Random(seed)
    rate, ratio = draw.choice([20, 40, 80]), draw.choice([4, 10, 25])

    def sentence(ratio: int, pacing: bool) -> str:
        hops = [{"name": "nic", "rate": f"{rate * ratio}Mbit/s", "buffer": "10000packets"}]
        fields = {
            "path.rtt": "120ms",
            "path.down": {"rate": f"{rate}Mbit/s"},
            "path.buffer": "0.08bdp",
            "path.wired": hops,
            "tcp.pacing": pacing,
        }
        result = ct.compare("steady-20-68", "reno", 1, duration="20s", set=fields)
        causes = ct.explain(result).causes.set_index("cause")
        return str(causes.loc["shallow_buffer", "text"]) if "shallow_buffer" in causes.index else ""

    text = sentence(ratio, pacing=False)
    found = re.search(r"Bursts arrive at (\d+)Mbit/s \(nic\), (\d+) times", text)
    assert found is not None, text
    assert (int(found[1]), int(found[2])) == (rate * ratio, pytest.approx(ratio, abs=1.5))
    assert "Bursts arrive" not in sentence(ratio, pacing=True)
