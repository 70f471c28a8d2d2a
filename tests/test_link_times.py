"""Slow responses and pages of a link whose rate varies: its time for their bytes is no queue."""

from __future__ import annotations

from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison

#: A link that is slow for every other ten seconds.
_STEPS = [{"at": f"{at}s", "rate": rate} for at, rate in ((0, "8Mbit/s"), (10, "1.5Mbit/s"))]
_API = {"kind": "request-response", "request": "300B", "response": "120kB", "gap": "400ms"}


def _reasons(changes: dict[str, Any], cca: str, duration: str = "20s") -> dict[str, int]:
    result = ct.compare("steady-20-68", [cca], 1, duration=duration, set=changes)
    causes = {each.name: each for each in ExplainedComparison(result).ccas[0].causes}
    return dict(causes["slow_units"].reasons)


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_responses_of_a_slow_link_waited_in_no_queue(cca: str) -> None:
    """120 kB take 0.12 s at 8 Mbit/s, and 0.64 s at 1.5 Mbit/s, whoever sends them."""
    path = {"path.rtt": "40ms", "path.down": {"steps": _STEPS}, "path.buffer": "60packets"}
    reasons = _reasons({**path, "flows.0.workload": _API}, cca)
    slow = reasons.get("met a slow link", 0)
    # Ten seconds of a response and a pause each.
    assert slow == pytest.approx(10 / (0.64 + 0.4), abs=3)
    assert slow > 0.8 * sum(reasons.values())


def test_responses_behind_a_download_wait_in_its_queue_also_on_a_slow_link() -> None:
    path = {"path.rtt": "40ms", "path.down": {"steps": _STEPS}, "path.buffer": "200packets"}
    flows = [{"name": "api", "workload": {**_API, "response": "2kB"}}, {"name": "bulk", "cca": "cubic"}]
    reasons = _reasons({**path, "flows": flows}, "cubic")
    assert "met a slow link" not in reasons
    assert reasons["waited in a queue"] > 0


@pytest.mark.parametrize(("share", "amount"), [(0.97, "hardly more"), (1.03, "less")])
def test_a_link_carries_less_than_frames_only_if_it_does(share: float, amount: str) -> None:
    """For half of the time, frames need 97 or 103 % of the payload that the link carries."""
    payload = 6e6 * 1448 / 1500
    frames = {"kind": "frames", "size": f"{share * payload / 8 / 30:.0f}B", "interval": "33.33ms"}
    changes = {
        "path.rtt": "40ms",
        "path.down": {"steps": [{"at": "0s", "rate": "6Mbit/s"}, {"at": "10s", "rate": "8Mbit/s"}]},
        "path.loss": 0.002,
        "flows.0.workload": {**frames, "deadline": "100ms"},
    }
    result = ct.compare("steady-20-68", ["cubic"], 1, duration="20s", set=changes)
    causes = {each.name: each.text for each in ExplainedComparison(result).ccas[0].causes}
    assert f"The link carried {amount} than the " in causes["slow_link"]
