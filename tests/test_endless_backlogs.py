"""Applications that make or ask for more than the path carries, other than frames of one size."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.scenarios.demand import sustained_mbps


def _overload(mbps: float, flow: dict[str, Any], duration: str = "30s") -> tuple[str, ct.Comparison]:
    """Returns the sentence on the overload of a flow over a link of a rate; empty without one."""
    changes: dict[str, Any] = {
        "path.rtt": "40ms",
        "path.down": f"{mbps:.3f}Mbit/s",
        "path.buffer": "200packets",
        "flows": [{"name": "own", **flow}],
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration=duration, set=changes)
    return ExplainedComparison(result).ccas[0].cause_text("overload"), result


def _ratio(text: str) -> float:
    return float(re.search(r"([\d.]+) times what the path carries", text)[1])


@pytest.mark.parametrize("field", ["size", "interval"])
@pytest.mark.parametrize("seed", [1, 2])
def test_frames_of_random_sizes_or_intervals_overload_a_path_by_their_mean_rate(
    seed: int, field: str
) -> None:
    draw = random.Random(f"{field} {seed}")
    means = {"size": f"{draw.randint(4, 12)}kB", "interval": f"{draw.randint(20, 40)}ms"}
    made = 8 * int(means["size"][:-2]) / int(means["interval"][:-2])
    frames = {"kind": "frames", "deadline": "300ms", **means}
    frames[field] = {"kind": "exponential", "mean": means[field]}
    text, result = _overload(made / 2, {"workload": frames})
    # Headers are 52 of 1500 bytes.
    assert _ratio(text) == pytest.approx(2 * 1500 / 1448, abs=0.1)
    assert any("makes frames of" in each for each in result.warnings)
    assert not _overload(2 * made, {"workload": frames})[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_pieces_that_are_asked_for_faster_than_they_come_overload_a_path(seed: int) -> None:
    draw = random.Random(seed)
    size, period_s = draw.randint(300, 900), draw.uniform(1, 3)
    pieces = {"kind": "chunked", "piece": f"{size}kB", "period": f"{period_s:.2f}s"}
    asked = 8e-3 * size / period_s
    assert sustained_mbps(pieces) == pytest.approx(asked, rel=0.01)
    text, _ = _overload(asked / 1.5, {"workload": pieces})
    assert text.startswith("The application asks for pieces of ")
    assert _ratio(text) == pytest.approx(1.5 * 1500 / 1448, abs=0.1)
    assert not _overload(1.5 * asked, {"workload": pieces})[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_transfers_that_arrive_faster_than_they_end_overload_a_path(seed: int) -> None:
    draw = random.Random(seed)
    count, size = draw.randint(40, 80), draw.randint(60, 120)
    asked = 8e-3 * count * size / 20
    flow = {"count": count, "workload": {"kind": "bulk", "bytes": f"{size}kB"}}
    text, _ = _overload(asked / 1.6, {**flow, "start_spread": "20s"})
    assert text.startswith(f"{count} sessions start transfers of ")
    assert _ratio(text) == pytest.approx(1.6 * 1500 / 1448, abs=0.1)
    assert not _overload(1.6 * asked, {**flow, "start_spread": "20s"})[0]
    # A burst of them ends.
    assert not _overload(asked / 1.6, {**flow, "start_spread": "2s"})[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sessions_of_requests_follow_the_response_time_law(seed: int) -> None:
    """N sessions with pauses Z have responses of N D - Z: Denning and Buzen (1978), section 4."""
    draw = random.Random(seed)
    count, size, gap_s = draw.randint(10, 20), draw.randint(30, 60), draw.uniform(0.5, 1.5)
    workload = {
        "kind": "request-response",
        "request": "200B",
        "response": f"{size}kB",
        "gap": {"kind": "constant", "value": f"{gap_s:.2f}s"},
        "think": "0s",
    }
    flow = {"count": count, "start_spread": "1s", "workload": workload}
    mbps = 8e-3 * count * size / (gap_s + draw.uniform(2, 4))
    text, result = _overload(mbps, flow, "60s")
    value, unit = re.search(r"responses take ([\d.]+) (ms|s) or more", text).groups()
    least_s = float(value) / (1e3 if unit == "ms" else 1)
    assert least_s == pytest.approx(8e-3 * count * size * 1500 / 1448 / mbps - gap_s, rel=0.05)
    times_s = result.units.loc[result.units["unit"] == "response", "duration_s"]
    assert 0.85 * least_s < times_s[times_s.index > 2 * count].mean() < 1.6 * least_s
    assert not _overload(20 * mbps, flow)[0]
    assert not _overload(mbps / count, {"workload": workload})[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_requests_of_sessions_overload_their_own_link_and_hold_up_acks_there(seed: int) -> None:
    draw = random.Random(f"up {seed}")
    count, size, up_kbps = draw.randint(8, 14), draw.randint(20, 40), draw.randint(400, 700)
    workload = {
        "kind": "request-response",
        "request": f"{size}kB",
        "response": "10kB",
        "gap": {"kind": "constant", "value": "1s"},
        "think": "0s",
    }
    flow = {"count": count, "start_spread": "1s", "workload": workload}
    changes = {"path.up": f"{up_kbps}kbit/s", "path.uplink_buffer": "300packets", "path.rtt": "40ms"}
    flows = [{"name": "own", **flow}]
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set={**changes, "flows": flows})
    explained = ExplainedComparison(result)
    (each,) = explained.ccas
    text = each.cause_text("overload")
    assert text.startswith(f"{count} sessions have requests of ")
    (least,) = re.findall(r"responses take ([\d.]+) s or more", text)
    assert float(least) == pytest.approx(8 * count * size * 1500 / 1448 / up_kbps - 1, rel=0.05)
    times_s = result.units.loc[result.units["unit"] == "response", "duration_s"]
    assert times_s[times_s.index > 2 * count].mean() > 0.85 * float(least)
    # The receiver delays no ACK for seconds: requests are before them in the queue.
    assert each.cause_text("uplink").startswith("The uplink held up ACKs")
    assert "delayed ACKs" not in explained.blocks[0][0]


def test_a_few_large_responses_take_the_time_of_their_bytes() -> None:
    workload = {"kind": "request-response", "request": "200B", "response": "400kB", "gap": "1s"}
    result = ct.compare(
        "steady-20-68",
        "cubic",
        1,
        duration="24s",
        set={"path.down": "1Mbit/s", "path.rtt": "10ms", "flows.0.workload": workload},
    )
    text = ExplainedComparison(result).ccas[0].cause_text("transfer_time")
    (time_s,) = re.findall(r"The link needs ([\d.]+) s for the 400 kB of a response", text)
    assert float(time_s) == pytest.approx(0.4 * 8 * 1500 / 1448, rel=0.02)
