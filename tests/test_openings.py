"""Outages before the first data of a connection: in shares of time, goodput and limits."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.results.limits import flow_limits
from celltcp.results.openings import union_s
from celltcp.scenarios.frames import MAX_FRAME_SHARE
from celltcp.scenarios.quantity_texts import rate_text

_BULK = "{ kind = 'bulk' }"
_FRAMES = "{ kind = 'frames', size = '20kB', interval = '40ms', deadline = '500ms' }"


def _percent(text: str) -> float:
    return float(re.findall(r"for ([\d.]+) % of the time", text)[0])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["no capacity", "loss of all"])
@pytest.mark.parametrize("workload", [_BULK, _FRAMES])
def test_an_outage_at_the_start_has_its_share_of_the_time_from_the_request_on(
    workload: str, kind: str, seed: int
) -> None:
    draw = random.Random(f"{workload} {kind} {seed}")
    outage_s, duration_s = draw.uniform(2.5, 6), draw.uniform(10, 16)
    changes = {"flows.0.workload": workload, "variation.start_jitter": "0s"}
    if kind == "no capacity":
        changes["path.down.steps"] = (
            f"[{{ at = '0s', rate = '0bit/s' }}, {{ at = '{outage_s:.2f}s', rate = '5Mbit/s' }}]"
        )
    else:
        changes["path.blackouts"] = f"[{{ at = '0s', duration = '{outage_s:.2f}s' }}]"
    length = f"{duration_s:.1f}s"
    result = ct.compare("steady-20-68", "cubic", 1, duration=length, set=changes)
    explained = ExplainedComparison(result)
    (each,) = explained.ccas
    (text,) = (cause.text for cause in each.causes if cause.name == "outage")
    assert _percent(text) == pytest.approx(100 * outage_s / duration_s, abs=1)
    (limits,) = flow_limits(result.results)
    assert sum(limits.shares.values()) == pytest.approx(1.0)
    # Time-outs of the handshake after the outage are in no limit.
    (flow,) = result.flows.to_dict("records")
    life_s = flow["duration_s"] + outage_s
    assert limits.shares["outage"] == pytest.approx(outage_s / life_s, abs=0.03)
    (warning,) = (each for each in result.warnings if "opened up to" in each)
    assert any(warning == note for note in explained.notes)
    assert ("in which frames wait" in warning) == (workload == _FRAMES)
    from_request = float(re.findall(r"([\d.]+) from the request", warning)[0])
    assert from_request == pytest.approx(flow["bytes"] * 8e-6 / duration_s, rel=0.02)
    if workload == _FRAMES:
        assert each.frames_goodput_mbps == pytest.approx(from_request, rel=0.02)
        is_behind = each.frames_goodput_mbps < 4 * MAX_FRAME_SHARE
        assert is_behind == (" of the 4.00 Mbit/s of its frames" in explained.texts(each)[0])
        # The figure of the tables stays that since the first data.
        assert each.goodput_mbps == pytest.approx(flow["goodput_mbps"])


@pytest.mark.parametrize("seed", range(3))
def test_without_an_outage_frames_have_the_goodput_of_the_tables(seed: int) -> None:
    draw = random.Random(seed)
    changes = {"flows.0.workload": _FRAMES, "path.down.rate": f"{draw.uniform(1, 3):.1f}Mbit/s"}
    changes["path.rtt"] = f"{draw.randint(20, 120)}ms"
    result = ct.compare("steady-20-68", "cubic", 2, duration="20s", set=changes)
    (each,) = ExplainedComparison(result).ccas
    assert each.frames_goodput_mbps == each.goodput_mbps


@pytest.mark.parametrize("seed", range(4))
def test_frames_exceed_what_the_path_carries_with_its_outage_at_the_start(seed: int) -> None:
    """Frames of 2 Mbit/s pass 3 Mbit/s, but not within what an outage of half the run leaves."""
    draw = random.Random(seed)
    duration_s = draw.uniform(10, 14)
    dark_s = draw.uniform(0.5, 0.7) * duration_s
    steps = f"{{ at = '0s', rate = '0bit/s' }}, {{ at = '{dark_s:.2f}s', rate = '3Mbit/s' }}"
    changes = {
        "flows.0.workload": "{ kind = 'frames', size = '10kB', interval = '40ms', deadline = '1s' }",
        "variation.start_jitter": "0s",
        "path.down.steps": f"[{steps}]",
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration=f"{duration_s:.1f}s", set=changes)
    (warning,) = (each for each in result.warnings if "the path carries" in each)
    carried = float(re.findall(r"the path carries ([\d.]+)", warning)[0])
    payload_mbps = result.slots["capacity_mbps"].max()
    assert carried == pytest.approx(payload_mbps * (1 - dark_s / duration_s), rel=0.05)
    (each,) = ExplainedComparison(result).ccas
    (text,) = (cause.text for cause in each.causes if cause.name == "overload")
    assert f"what the path carries ({rate_text(carried)})" in text


def test_a_run_without_data_is_an_outage_in_the_table_of_limits() -> None:
    changes = {
        "path.down.steps": "[{ at = '0s', rate = '0bit/s' }, { at = '5s', rate = '5Mbit/s' }]",
        "variation.start_jitter": "0s",
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="4s", set=changes)
    (limits,) = flow_limits(result.results)
    assert limits.shares["outage"] == 1.0
    assert sum(limits.shares.values()) == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_a_connection_that_is_given_up_is_limited_by_nothing_after_that(seed: int) -> None:
    draw = random.Random(seed)
    dark_s, timeout_s, outage_s = draw.uniform(2, 4), draw.uniform(2, 4), draw.uniform(1, 9)
    changes = {
        "flows.0.workload": "{ kind = 'frames', size = '500B', interval = '100ms', deadline = '1s' }",
        "path.blackouts": f"[{{ at = '{dark_s:.2f}s', duration = '{outage_s + timeout_s:.2f}s' }}]",
        "tcp.user_timeout": f"{timeout_s:.1f}s",
        "variation.start_jitter": "0s",
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="30s", set=changes)
    events = result.results.tables["events"].to_pandas()
    aborts_s = events.loc[events["kind"] == "timed_out", "t_ns"] * 1e-9
    end_s = 30 if aborts_s.empty else aborts_s.min()
    life_s = end_s - result.flows["first_data_s"].item()
    (limits,) = flow_limits(result.results)
    assert sum(limits.shares.values()) == pytest.approx(1.0)
    dark_until_s = min(dark_s + outage_s + timeout_s, end_s)
    assert limits.shares["outage"] == pytest.approx((dark_until_s - dark_s) / life_s, abs=0.03)
    assert aborts_s.empty or limits.shares["recovery"] + limits.shares["timeout"] < 0.05


def test_the_union_of_intervals_has_each_instant_once() -> None:
    draw = random.Random(5)
    for _ in range(20):
        starts = [draw.randrange(50) for _ in range(draw.randint(0, 8))]
        intervals = [(start, start + draw.randrange(20)) for start in starts]
        instants = {t for start, end in intervals for t in range(start, end)}
        assert union_s(intervals) == len(instants)
