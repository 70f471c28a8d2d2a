"""Late frames that no sender avoids, and the queue before small frames in an uplink with outages."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.results.tested import FlowUnderTest
from drawn_causes import interrupted

_CAMERA = {"kind": "frames", "size": "15kB", "interval": "33ms", "deadline": "400ms"}
_SENSOR = {"kind": "frames", "size": "200B", "interval": "100ms", "deadline": "200ms"}


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_an_outage_that_outlasts_their_deadline_are_late_whatever_is_sent(seed: int) -> None:
    """Of an outage of length L, those of its first L - D are late, with a deadline D."""
    draw = random.Random(seed)
    length_s, deadline_s, interval_s = draw.uniform(0.8, 2.0), draw.uniform(0.2, 0.6), 0.02
    frames = {"kind": "frames", "size": "400B", "interval": "20ms", "deadline": f"{deadline_s:.3f}s"}
    changes: dict[str, Any] = {
        "path.down.steps": interrupted("10Mbit/s", [(draw.uniform(3, 6), length_s)]),
        "flows.0.workload": frames,
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="15s", set=changes)
    for each in ExplainedComparison(result).ccas:
        text = each.cause_text("slow_units")
        counted = re.search(r"(\d+) of the (\d+) late ones began in an outage that lasted", text)
        assert counted is not None, text
        assert int(counted[1]) == pytest.approx((length_s - deadline_s) / interval_s, abs=1.5)
        # Those of its last part need the end of the outage, the path and what waits before them.
        assert int(counted[1]) < int(counted[2])


def test_frames_that_an_outage_only_delays_within_their_deadline_are_avoidable() -> None:
    frames = {"kind": "frames", "size": "400B", "interval": "20ms", "deadline": "100ms"}
    changes: dict[str, Any] = {
        "path.down.steps": interrupted("10Mbit/s", [(4.0, 0.09)]),
        "flows.0.workload": frames,
    }
    result = ct.compare("steady-20-68", ["cubic"], 1, duration="10s", set=changes)
    texts = [each.cause_text("slow_units") for each in ExplainedComparison(result).ccas]
    assert not any("began in an outage" in text for text in texts)


def test_the_rate_of_transfers_with_pauses_is_that_while_they_last() -> None:
    """The rates of a download and of pauses between transfers do not add up to more than the link."""
    transfers = {"kind": "sequence", "size": "200kB", "gap": "2s"}
    flows = [{"name": "download"}, {"name": "web", "cca": "cubic", "workload": transfers}]
    changes: dict[str, Any] = {"path.down.rate": "10Mbit/s", "flows": flows}
    result = ct.compare("steady-20-68", ["cubic"], 1, duration="30s", set=changes)
    web, download = sorted(ExplainedComparison(result).ccas, key=lambda each: each.flow, reverse=True)
    transfers_s = result.units["duration_s"].sum() / 30
    assert web.active_share == pytest.approx(transfers_s, rel=0.15)
    mbps = f"{web.goodput_mbps:.2f} Mbit/s while it sends ("
    assert mbps in web.metrics_text()
    assert "while" not in download.metrics_text()
    assert web.active_share * web.goodput_mbps + download.goodput_mbps < 10


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_a_sensor_fills_no_queue_beside_a_camera(cca: str) -> None:
    """Of 3.6 Mbit/s in an uplink, 16 kbit/s of small segments are half a per cent."""
    gaps = [(at, 1.0) for at in (6.0, 14.0, 22.0)]
    changes: dict[str, Any] = {
        "path.up": {"steps": interrupted("4.5Mbit/s", gaps)},
        "path.uplink_buffer": "400packets",
        "flows": [
            {"name": "camera", "from": "phone", "to": "server", "workload": _CAMERA},
            {"name": "sensor", "from": "phone", "to": "server", "workload": _SENSOR},
        ],
    }
    result = ct.compare("steady-20-68", [cca], 2, duration="30s", set=changes)
    sensor = FlowUnderTest.each(result.results.about)[1]
    parts = Evidence(result, cca, sensor).queue_parts
    # Slots have what is in flight at their end, between two frames of the camera nothing of it.
    assert parts["sensor"] < 0.15
    (text,) = (
        each.cause_text("queue") for each in ExplainedComparison(result).ccas if each.flow == "sensor"
    )
    assert "which camera (" in text
    assert "its own data" not in text


def test_an_encoder_that_waits_for_the_backlog_of_an_outage_has_it_counted() -> None:
    changes: dict[str, Any] = {
        "path.up": {"steps": interrupted("5Mbit/s", [(5.0, 1.2), (15.0, 1.2)])},
        "path.uplink_buffer": "400packets",
        "flows": [
            {
                "name": "camera",
                "from": "phone",
                "to": "server",
                "workload": {**_CAMERA, "encoder": {"lowest": 0.5}},
            }
        ],
    }
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="25s", set=changes)
    text = ExplainedComparison(result).ccas[0].cause_text("slow_units")
    assert "waited for the backlog of an outage" in text
