"""Reasons for unequal shares of bulk flows: each is named where it holds, and nowhere else."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison

_BUFFERS: dict[str, Any] = {
    "tcp.send_buffer_max": "64MB",
    "tcp.receive_buffer_max": "64MB",
    "path.wired.0.rate": "10Gbit/s",
}
#: A part of each reason.
_REASONS = {
    "losses": "does not reduce its rate at such losses",
    "reduction": " of its window, and ",
    "queue": "fills the buffer until it overflows",
    "connections": "connections with",
    "start": "its share still grew",
}


def _reasons(ccas: str, flows: str, seconds: int = 30, **changes: Any) -> dict[str, set[str]]:
    """Returns the reasons for the share of each flow."""
    fields = {**_BUFFERS, **{name.replace("__", "."): value for name, value in changes.items()}}
    result = ct.compare(
        "steady-100-18", ccas, 1, duration=f"{seconds}s", set={"flows": flows, **fields}
    )
    texts = {
        each.flow: "".join(cause.text for cause in each.causes if cause.name == "competition")
        for each in ExplainedComparison(result).ccas
    }
    return {
        flow: {name for name, part in _REASONS.items() if part in text} for flow, text in texts.items()
    }


_TWO = '[{ name = "a" }, { name = "b" }]'


@pytest.mark.parametrize("seed", [1, 2])
def test_bbr_in_a_shallow_buffer_does_not_reduce_at_losses(seed: int) -> None:
    draw = random.Random(seed)
    buffer = f"{draw.uniform(0.4, 0.8):.2f}bdp"
    rtt = f"{draw.randint(18, 40)}ms"
    named = _reasons("cubic+bbr", _TWO, path__buffer=buffer, path__rtt=rtt)
    assert named["a"] <= {"losses", "reduction"}
    assert named["a"]
    assert not named["b"]


@pytest.mark.parametrize(("cca", "buffer"), [("bbr", "6bdp"), ("vegas", "2bdp"), ("ledbat", "2bdp")])
def test_a_flow_that_yields_to_delay_has_that_reason(cca: str, buffer: str) -> None:
    named = _reasons(f"cubic+{cca}", _TWO, path__buffer=buffer)
    assert "queue" in named["b"]
    assert not named["a"]


def test_more_connections_are_the_reason_of_a_larger_share() -> None:
    flows = '[{ name = "a" }, { name = "b", count = 4, start_spread = "2s" }]'
    named = _reasons("cubic", flows, path__rtt="40ms")
    assert named == {"a": {"connections"}}


@pytest.mark.parametrize("cca", ["cubic", "reno"])
def test_a_late_start_is_a_reason_while_the_share_grows(cca: str) -> None:
    flows = '[{ name = "a", start = "15s" }, { name = "b" }]'
    late = _reasons(f"{cca}+{cca}", flows, 40, path__rtt="68ms", path__buffer="0.3bdp")
    assert late["a"] == {"start"}
    assert not late["b"]


def test_equal_shares_have_no_reason() -> None:
    queued = _reasons("cubic+bbr", _TWO, path__queue="fq-codel")
    alike = _reasons("cubic+cubic", _TWO)
    assert not any([*queued.values(), *alike.values()])


@pytest.mark.parametrize("cca", ["bbr", "cubic"])
def test_a_link_that_others_share_has_no_varying_rate(cca: str) -> None:
    """The capacity beside others varies, that of the link does not: no shaper, no varying rate."""
    fields = {
        **_BUFFERS,
        "flows": '[{ name = "a" }, { name = "b", start = "15s" }]',
        "path.rtt": "40ms",
    }
    result = ct.compare("steady-100-68", f"{cca}+{cca}", 1, duration="40s", set=fields)
    explained = ExplainedComparison(result)
    texts = [cause.text for each in explained.ccas for cause in each.causes]
    assert not [text for text in texts if "follows the rate" in text or "PROBE_RTT" in text]
    assert not [each for each in explained.remedies if "shaper" in each.remedy.against]
