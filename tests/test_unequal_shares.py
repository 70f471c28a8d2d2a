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
    "lowest": "the lowest RTT that it saw is",
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


@pytest.mark.parametrize("buffer", ["4bdp", "8bdp"])
@pytest.mark.parametrize("rtt", ["20ms", "60ms"])
def test_bbr_beside_cubic_in_a_deep_buffer_is_bounded_by_its_window(buffer: str, rtt: str) -> None:
    changes = {"path.buffer": buffer, "path.rtt": rtt, "flows": _TWO}
    result = ct.compare("steady-20-68", "cubic+bbr", 1, duration="60s", set=changes)
    shares = result.shares.set_index("flow_cca")["goodput_mbps"]
    texts = [
        cause.text
        for each in ExplainedComparison(result).ccas
        for cause in each.causes
        if cause.name == "competition" and "two bandwidth-delay products of its own rate" in cause.text
    ]
    assert len(texts) == (shares["cubic"] >= 1.5 * shares["bbr"])


class Target(ct.CongestionControl):
    """Keeps the queue at a target, over the lowest RTT that it has seen."""

    name = "test-target"
    interval = "20ms"

    def __init__(self) -> None:
        self.cwnd = 10.0

    def report(self, report: ct.Report) -> ct.Decision:
        if report.rtt_s and report.min_rtt_s:
            off = (0.02 - (report.rtt_s - report.min_rtt_s)) / 0.02
            step = max(-1.0, min(1.0, off)) * report.interval_s / report.rtt_s
            self.cwnd = max(2.0, self.cwnd + 2 * step)
        return ct.Decision(cwnd=self.cwnd)


@pytest.mark.parametrize("seed", range(2))
def test_a_later_flow_that_takes_a_queue_for_the_path_has_that_reason(seed: int) -> None:
    draw = random.Random(f"later {seed}")
    ct.register(Target)
    flows = f'[{{ name = "a" }}, {{ name = "b", start = "{draw.randint(8, 12)}s" }}]'
    fields = {"path__rtt": f"{draw.randint(30, 60)}ms", "path__buffer": "4bdp"}
    fields["path__down__rate"] = "20Mbit/s"
    named = _reasons("test-target+test-target", flows, 60, **fields)
    assert named["a"] == {"lowest"}
    assert not named["b"]
    together = _reasons("test-target+test-target", _TWO, 60, **fields)
    assert "lowest" not in together["a"] | together["b"]
    # Beside CUBIC it yields.
    assert "queue" in _reasons("test-target+cubic", _TWO, 60, **fields)["a"]


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
