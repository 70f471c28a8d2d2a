"""The slowest per cents of responses, with what they waited for and their times."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp._core import in_unit
from celltcp.comparison.explanation.explanation import ExplainedComparison

#: Minimum RTO of Linux, s.
_MIN_RTO_S = 0.2


@pytest.mark.parametrize("seed", range(3))
def test_the_slowest_responses_on_a_lossy_path_have_their_reasons_and_times(seed: int) -> None:
    draw = random.Random(seed)
    rtt_ms, size = draw.randint(50, 90), draw.randint(8, 25)
    workload = {"kind": "request-response", "response": f"{size}kB", "gap": "300ms", "think": "0s"}
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down": "20Mbit/s",
        "path.up": "10Mbit/s",
        "path.loss": "1%",
        "path.uplink_loss": "1%",
        "flows.0.workload": workload,
    }
    result = ct.compare("steady-20-68", "cubic", 3, duration="120s", set=changes)
    text = ExplainedComparison(result).ccas[0].cause_text("slow_units")
    units = result.units
    responses = units[units["unit"] == "response"]
    durations_s = responses["duration_s"].sort_values(ascending=False).tolist()
    found = re.findall(
        r"The slowest (\d) % \((\d+), from ([\d.]+ m?s) on; p\d+[^)]*\): (.*?)\.(?= |$)", text
    )
    assert found
    for share, count, least, parts in found:
        number = int(count)
        assert number == len(durations_s) * int(share) // 100
        assert in_unit(least.replace(" ", ""), "s") == pytest.approx(durations_s[number - 1], rel=0.01)
        assert sum(map(int, re.findall(r"(?:^|, )(\d+) \w", parts))) == number
        # A lone request that is lost waits for a timer of an RTT and the minimum RTO.
        for shortest in re.findall(r"lost their request \(([\d.]+ m?s)", parts):
            assert (in_unit(shortest.replace(" ", ""), "s") or 0) > _MIN_RTO_S + rtt_ms / 1e3
    assert any("lost their request" in parts for *_, parts in found)


def test_few_responses_have_no_slowest_per_cent() -> None:
    workload = {"kind": "request-response", "response": "20kB", "gap": "1s"}
    changes = {"path.loss": "2%", "flows.0.workload": workload}
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=changes)
    assert "The slowest" not in ExplainedComparison(result).ccas[0].cause_text("slow_units")
