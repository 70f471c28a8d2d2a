"""Explanations of waits in a queue: the flow that fills it is the one with most data in flight."""

from __future__ import annotations

from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison

_PING = {
    "name": "ping",
    "cca": "reno",
    "workload": {
        "kind": "request-response",
        "request": "64B",
        "response": "64B",
        "think": "0ms",
        "gap": "50ms",
    },
}


def owners(cca: str, pages: str) -> str:
    """Returns the sentence about slow answers beside a bulk flow and pages under Reno."""
    web = {"name": "web", "cca": "reno", "workload": {"kind": "sequence", "size": pages, "gap": "1.5s"}}
    changes: dict[str, Any] = {
        "path.rtt": "4ms",
        "path.down.rate": "10Mbit/s",
        "path.buffer": "100packets",
        "flows": [{"name": "bulk"}, _PING, web],
    }
    result = ct.compare("steady-20-18", cca, 2, duration="30s", set=changes)
    (ping,) = [each for each in ExplainedComparison(result).ccas if each.flow == "ping"]
    return {cause.name: cause.text for cause in ping.causes}.get("slow_units", "")


def test_bursts_of_pages_fill_the_queue_beside_bbr() -> None:
    assert "waited in a queue (that of web)" in owners("bbr", "177kB")


@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_a_bulk_flow_that_fills_the_buffer_is_the_owner_of_its_queue(cca: str) -> None:
    text = owners(cca, "20kB")
    assert "that of web" not in text
