"""BBR's estimate of the bandwidth: frames wait while few segments set its maximum."""

from __future__ import annotations

import math
import random

import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.bandwidth_estimates import LOW_ESTIMATE, LowEstimates
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.results.tables import frame
from drawn_causes import Changes

#: Pictures from a vehicle whose ACKs wait behind a download, over an uplink of 2.5 Mbit/s.
_PICTURES = {"kind": "frames", "size": "200kB", "interval": "4s", "deadline": "3s"}
_RADIO: Changes = {
    "path.rtt": "70ms",
    "path.buffer": "1000packets",
    "path.uplink_buffer": "1000packets",
    "path.down": "12Mbit/s",
    "path.up": {
        "generate": {
            "mean": "2.5Mbit/s",
            "variability": 0.5,
            "correlation": "10s",
            "outage_interval": "60s",
            "outage_duration": "2s",
        }
    },
    "flows": [
        {"name": "pictures", "from": "phone", "to": "server", "workload": _PICTURES},
        {"name": "map", "workload": {"kind": "bulk"}},
    ],
}


def test_frames_wait_for_an_estimate_that_a_lone_segment_set_and_not_for_an_outage() -> None:
    """The pacing rate of BBR falls to a tenth of what it was, and of what the link carries."""
    run = ct.run("steady-20-68", "bbr", seed=7, duration="120s", set=_RADIO)
    result = ct.Comparison(run.results)
    evidence = Evidence(result, "bbr", result.tested)
    (low,) = LowEstimates(evidence, result.units).all
    samples = frame(result.results.tables["samples"]).query("flow == 0")
    times_s = samples["t_ns"] / 1e9
    before = samples[times_s < low.start_s]
    own = samples[(times_s > low.start_s + 1) & (times_s < low.end_s)]
    assert own["pacing_rate_bps"].median() < 0.1 * own["capacity_bps"].median()
    assert own["pacing_rate_bps"].median() < 0.1 * before["pacing_rate_bps"].max()
    explained = ExplainedComparison(result).ccas[0]
    text = explained.cause_text("slow_units")
    reasons = next(each.reasons for each in explained.causes if each.name == "slow_units")
    # Most late frames were made after the fall.
    units = result.units.fillna({"duration_s": math.inf})
    late = units[(units["unit"] == "frame_delay") & (units["duration_s"] > 3)]
    assert reasons[LOW_ESTIMATE] >= 0.9 * (late["start_s"] > low.start_s).sum() >= 5
    assert f"from {low.start_s:.1f} to {low.end_s:.1f} s it sent" in text
    assert "backlog of an outage" not in text


@pytest.mark.parametrize("seed", range(3))
def test_small_windows_of_probe_rtt_or_of_a_slow_link_are_no_low_estimate(seed: int) -> None:
    draw = random.Random(seed)
    mbps, interval_s = draw.uniform(0.1, 3.0), draw.uniform(0.5, 3.0)
    size = draw.uniform(0.3, 0.8) * mbps * 1e6 / 8 * interval_s
    pictures = {**_PICTURES, "size": f"{size:.0f}B", "interval": f"{interval_s:.2f}s"}
    changes: Changes = {
        **_RADIO,
        "path.rtt": f"{draw.uniform(0.05, 1.0):.2f}s",
        "path.up": f"{mbps:.2f}Mbit/s",
        "flows": [{**_RADIO["flows"][0], "workload": pictures}],
    }
    result = ct.compare("steady-20-68", ["bbr", "bbr3"], 1, duration="60s", set=changes)
    for cca in result.ccas:
        assert not LowEstimates(Evidence(result, cca, result.tested), result.units).all
