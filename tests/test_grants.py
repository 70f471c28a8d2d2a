"""Explanations of data that waits for grants of a cell's uplink."""

from __future__ import annotations

import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from drawn_causes import GAME

#: Flows of a phone that send little.
THIN_FLOWS: dict[str, dict[str, Any]] = {
    "frames": {"from": "phone", "to": "server", "workload": GAME},
    "requests": {
        "workload": {
            "kind": "request-response",
            "request": "200B",
            "response": "500B",
            "think": "0ms",
            "gap": "300ms",
        }
    },
}


def compared(flow: dict[str, Any], **uplink: str) -> Comparison:
    """Returns a flow of a phone at mid-cell."""
    changes = {f"radio.uplink.{name}": value for name, value in uplink.items()}
    changes |= {"path.rtt": "20ms", "flows": [flow]}
    return ct.compare("static/mid-cell", "cubic", 2, duration="15s", set=changes)


@pytest.mark.parametrize("kind", THIN_FLOWS)
@pytest.mark.parametrize("sr_period", ["10ms", "20ms"])
def test_data_that_waits_for_grants_has_its_delay_and_a_remedy_that_helps(
    kind: str, sr_period: str
) -> None:
    flow = THIN_FLOWS[kind]
    result = compared(flow) if sr_period == "10ms" else compared(flow, sr_period=sr_period)
    explained = ExplainedComparison(result)
    texts = {cause.name: cause.text for cause in explained.ccas[0].causes}
    assert texts["grants"].endswith(f"which the phone requests every {sr_period} at most.")
    explained.try_remedies(TrialBudget())
    # Configured grants have no period of requests, so that a scenario that sets it cannot have them.
    change = "access=configured" if sr_period == "10ms" else "sr_period=5ms"
    remedies = [each for each in explained.remedies if change in each.options]
    assert remedies
    assert remedies[0].gain > 0
    # The delay of the cell without grants to wait for is what remains.
    granted, configured = (
        each.slots["rtt_mean_ms"].median() for each in (result, compared(flow, access="configured"))
    )
    assert granted - configured > 5


def test_configured_grants_and_bulk_flows_are_no_wait_for_grants() -> None:
    configured = ExplainedComparison(compared(THIN_FLOWS["frames"], access="configured"))
    upload = ExplainedComparison(compared({"from": "phone", "to": "server"}))
    for explained in (configured, upload):
        assert "grants" not in {cause.name for cause in explained.ccas[0].causes}


@pytest.mark.parametrize("sinr", ["-3dB", "-2dB", "-1dB"])
def test_the_delays_of_a_queue_in_the_phone_are_neither_of_grants_nor_of_the_downlink(
    sinr: str,
) -> None:
    """Lowest RTT and queue are the mean RTT in sum, where nothing but the phone holds data up."""
    frames = {"kind": "frames", "size": "25kB", "interval": "33ms", "deadline": "300ms"}
    live = {**frames, "backlog": "newest", "encoder": {"lowest": 0.167}}
    changes: dict[str, Any] = {
        "path.rtt": "40ms",
        "radio.uplink.sinr": sinr,
        "flows": [{"from": "phone", "to": "server", "opens": "from", "workload": live}],
    }
    result = ct.compare("static/mid-cell", ["cubic", "bbr"], 2, duration="20s", set=changes)
    for each in ExplainedComparison(result).ccas:
        texts = {cause.name: cause.text for cause in each.causes}
        assert "uplink" not in texts
        if "queue" not in texts:
            continue
        waited, lowest = re.findall(
            r"packets waited (\d+) ms .* lowest RTT is (\d+) ms", texts["queue"]
        )[0]
        added = re.findall(r"The cell adds ([\d.]+) ms", texts.get("grants", ""))
        # The wired hops are 40 ms, and what the cell adds at best is in the lowest RTT.
        assert float(waited) + 40 + float(added[0] if added else 0) <= 1.05 * each.rtt_mean_ms
        assert float(waited) + float(lowest) == pytest.approx(each.rtt_mean_ms, rel=0.15)
