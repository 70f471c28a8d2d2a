"""Queue discipline of the uplink: its drops, and the advice for a queue of one direction."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.results.tested import FlowUnderTest

UPLOAD = {"name": "up", "from": "phone", "to": "server"}
SLOW = {"path.rtt": "40ms", "path.down.rate": "4Mbit/s", "path.up.rate": "1Mbit/s"}
BUFFERS = {"path.buffer": "100packets", "path.uplink_buffer": "100packets"}


def compared(*flows: dict[str, Any], **changes: Any) -> ct.Comparison:
    """Returns a comparison of CUBIC on a slow link; changes are those of `path`."""
    path = {f"path.{name}": value for name, value in changes.items()}
    changes = {**SLOW, **BUFFERS, "flows": list(flows), **path}
    return ct.compare("steady-20-18", "cubic", 1, duration="30s", set=changes)


def rtts_ms(result: ct.Comparison) -> dict[str, float]:
    """Returns the mean RTT of each flow."""
    flows = result.flows
    return dict(zip(flows["name"], flows["rtt_mean_ms"], strict=True))


@pytest.mark.parametrize("kind", ["codel", "fq-codel", "pie"])
def test_each_direction_has_its_queue_discipline(kind: str) -> None:
    deep, both, up, down = (
        rtts_ms(compared(UPLOAD, **queues))["up"]
        for queues in (
            {},
            {"queue": kind},
            {"uplink_queue": kind},
            {"queue": kind, "uplink_queue": "droptail"},
        )
    )
    assert both == up < deep / 3
    assert down == deep


#: FQ-CoDel in an option, with or without a target, which slow links need.
_AQM = r'{}=(fq-codel|{{ kind = "fq-codel")'


def test_the_advice_for_an_upload_alone_is_about_the_uplink() -> None:
    (options,) = (
        remedy.options
        for remedy in ExplainedComparison(compared(UPLOAD)).remedies
        if "queue=" in remedy.options
    )
    assert re.search(_AQM.format("path.uplink_queue"), options)
    # Pages that fill the downlink are no reason for a queue discipline of the operator's alone.
    page = {"name": "web", "workload": {"kind": "page"}}
    for change in ({}, {"uplink_queue": "droptail"}):
        explained = ExplainedComparison(compared(UPLOAD, page, **change))
        options = " ".join(each.options for each in explained.remedies)
        assert re.search(_AQM.format("path.uplink_queue"), options)


@pytest.mark.parametrize("seed", range(3))
def test_what_acks_wait_and_what_data_wait_are_the_rtt_beyond_the_path(seed: int) -> None:
    draw = random.Random(f"both ways {seed}")
    rtt_ms = draw.randint(20, 50)
    ping = {
        "kind": "request-response",
        "request": "56B",
        "response": "56B",
        "think": "0s",
        "gap": "200ms",
    }
    flows = [{"name": "down", "count": 2}, {**UPLOAD, "count": 2}, {"name": "ping", "workload": ping}]
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": "20Mbit/s",
        "path.up.rate": "2Mbit/s",
        "path.buffer": "256packets",
        "path.uplink_buffer": f"{draw.randint(60, 128)}packets",
        "flows": flows,
    }
    result = ct.compare("steady-20-18", "cubic", 1, duration="40s", set=changes)
    for explained in ExplainedComparison(result).ccas[::2]:
        (ack_ms,) = re.findall(r"ACKs took (\d+) ms longer", explained.cause_text("uplink"))
        flow = FlowUnderTest(explained.flow)
        evidence = Evidence(result, "cubic", flow)
        found_ms = rtt_ms + int(ack_ms) + evidence.queue_wait_ms
        assert found_ms == pytest.approx(evidence.mean("rtt_mean_ms"), rel=0.15)
