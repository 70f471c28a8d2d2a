"""Time in which a window grows back to the bandwidth-delay product after bursts and blackouts."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison


def _text(cca: str, changes: dict[str, Any]) -> tuple[str, ct.Comparison]:
    result = ct.compare("steady-20-68", cca, 2, duration="60s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    return explained.cause_text("random_loss"), result


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_time_in_the_window_is_tied_to_the_bursts_and_gaps_before_it(cca: str, seed: int) -> None:
    """A loss at the BDP leaves 0.7 or 0.5 of it; Reno grows by a segment per round trip."""
    draw = random.Random(seed)
    rtt_ms, mbps = draw.randint(40, 60), draw.randint(40, 60)
    changes: dict[str, Any] = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down": f"{mbps}Mbit/s",
        "path.buffer": "2bdp",
        "path.loss": {"kind": "gilbert-elliott-time", "good": "2s", "bad": "20ms"},
        "path.blackouts": [{"at": f"{at}s", "duration": "300ms"} for at in (10, 25, 40, 55)],
    }
    text, result = _text(cca, changes)
    bdp = int(re.findall(r"below the (\d+) segments", text)[0])
    assert bdp == pytest.approx(1e6 * mbps * rtt_ms / 1e3 / 8 / 1500, rel=0.05)
    shares = [float(each) for each in re.findall(r"([\d.]+) % (?:of the time:|after)", text)]
    assert shares[0] == pytest.approx(sum(shares[1:]), abs=1)
    below = 100 * (result.slots["cwnd"] < bdp).mean()
    assert shares[0] == pytest.approx(below, abs=6)
    beta = 0.7 if cca == "cubic" else 0.5
    assert float(re.findall(r"leaves (\d+)", text)[0]) == pytest.approx(beta * bdp, abs=1)
    back_s = float(re.findall(r"grow back in ([\d.]+) s", text)[0])
    linear_s = (1 - beta) * bdp * rtt_ms / 1e3 / (1 if cca == "reno" else 3 * 0.3 / 1.7)
    # Linux counts whole segments: the window is there a segment ahead of the cubic function.
    cubic_s = (0.3 * bdp / 0.4) ** (1 / 3) - (1 / 0.4) ** (1 / 3) if cca == "cubic" else linear_s
    assert back_s == pytest.approx(min(linear_s, cubic_s), rel=0.1)


def test_independent_losses_have_their_law_instead() -> None:
    text, _ = _text("reno", {"path.loss": 0.001, "path.down": "50Mbit/s"})
    assert "By Reno's law" in text
    assert "grow back" not in text
