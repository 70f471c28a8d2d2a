"""Reasons for unequal shares of bulk flows: each is named where it holds, and nowhere else."""

from __future__ import annotations

import random
import re
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
    assert named["b"] == named["a"]


@pytest.mark.parametrize(("cca", "buffer"), [("bbr", "6bdp"), ("vegas", "2bdp"), ("ledbat", "2bdp")])
def test_a_flow_that_yields_to_delay_has_that_reason(cca: str, buffer: str) -> None:
    named = _reasons(f"cubic+{cca}", _TWO, path__buffer=buffer)
    assert "queue" in named["b"]
    assert named["a"] <= named["b"]


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
    # The reason is that of both flows.
    assert len(texts) == 2 * (shares["cubic"] >= 1.5 * shares["bbr"])


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


class GentleVegas(ct.CongestionControl):
    """Keeps 3 to 6 segments in the queue, whatever is lost."""

    name = "test-gentle-vegas"
    interval = "20ms"

    def __init__(self) -> None:
        self.cwnd = 10.0

    def report(self, report: ct.Report) -> ct.Decision:
        if report.rtt_s and report.min_rtt_s:
            queued = self.cwnd * (1 - report.min_rtt_s / report.rtt_s)
            step = (queued < 3) - (queued > 6)
            self.cwnd = max(2.0, self.cwnd + step * report.interval_s / report.rtt_s)
        return ct.Decision(cwnd=self.cwnd)


class Fixed(ct.CongestionControl):
    """A window that never changes."""

    name = "test-fixed"

    def report(self, _report: ct.Report) -> ct.Decision:
        return ct.Decision(cwnd=20.0)


def _competition(ccas: str, flow: str, **changes: Any) -> tuple[str, ct.Comparison]:
    """Returns the sentences on the competition of a flow, of two at 20 Mbit/s."""
    fields = {**_BUFFERS, **{name.replace("__", "."): value for name, value in changes.items()}}
    fields = {"flows": _TWO, **fields}
    result = ct.compare("steady-20-68", ccas, 1, duration="60s", set=fields)
    texts = [
        cause.text
        for each in ExplainedComparison(result).ccas
        for cause in each.causes
        if cause.name == "competition" and each.flow == flow
    ]
    return texts[0], result


@pytest.mark.parametrize("other", ["bbr", "cubic"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_window_of_an_own_cca_that_yields_is_none_that_stays_as_it_is(seed: int, other: str) -> None:
    draw = random.Random(f"own {seed}")
    path = {"path__rtt": f"{draw.randint(30, 60)}ms", "path__buffer": f"{draw.uniform(2.5, 5):.1f}bdp"}
    for cca in (GentleVegas, Fixed):
        ct.register(cca)
    yields, _ = _competition(f"test-gentle-vegas+{other}", "a", **path)
    assert "test-gentle-vegas reduces its window without a loss of its own" in yields
    stays, _ = _competition(f"test-fixed+{other}", "a", **path)
    assert "test-fixed keeps its window at 20 segments" in stays
    assert "reduces its window" not in stays


@pytest.mark.parametrize("buffer", ["4bdp", "8bdp"])
@pytest.mark.parametrize("cca", ["bbr", "bbr3"])
def test_bbr_beside_cubic_has_twice_its_rate_and_the_lowest_rtt_that_it_measures_in_flight(
    cca: str, buffer: str
) -> None:
    changes = {"path__rtt": "40ms", "path__buffer": buffer}
    text, result = _competition(f"cubic+{cca}", "b", **changes)
    match = re.search(
        r"lowest RTT is (\d+) ms on average instead of (\d+) ms.* ([\d.]+) times as", text
    )
    measured_ms, path_ms, ratio = map(float, match.groups())
    assert path_ms == pytest.approx(40.6, abs=2)
    assert measured_ms / path_ms == pytest.approx(ratio, abs=0.1)
    rows = result.slots.merge(result.flows[["run", "flow", "name"]], on=["run", "flow"])
    own = rows[(rows["name"] == "b") & (rows["t_s"] > 10)]
    # Headers are 52 of 1500 bytes.
    in_flight_ms = own["inflight"].mean() * 1500 * 8e-3 / (own["rate_mbps"].mean() * 1500 / 1448)
    assert 0.9 * measured_ms < in_flight_ms < 2.3 * measured_ms
    empty, _ = _competition(f"{cca}+{cca}", "b", **changes)
    assert "in which BBR measures it" not in empty


@pytest.mark.parametrize("seed", [1, 2])
def test_a_flow_that_never_met_an_empty_queue_has_its_own_lowest_rtt(seed: int) -> None:
    draw = random.Random(f"late {seed}")
    flows = f'[{{ name = "a" }}, {{ name = "b", start = "{draw.uniform(9, 15):.1f}s" }}]'
    rtt_ms = draw.randint(40, 80)
    fields = {**_BUFFERS, "flows": flows, "path.rtt": f"{rtt_ms}ms", "path.buffer": "5bdp"}
    result = ct.compare("steady-20-68", "cubic+bbr3", 1, duration="40s", set=fields)
    texts = {each.flow: each.cause_text("queue") for each in ExplainedComparison(result).ccas}
    (late_ms,) = re.findall(r"and (\d+) ms in this flow, which met no empty queue", texts["b"])
    seen_ms = result.flows.set_index("name")["rtt_min_ms"]
    assert float(late_ms) == pytest.approx(seen_ms["b"], abs=1)
    assert seen_ms["b"] > 1.1 * rtt_ms
    assert "met no empty queue" not in texts["a"]


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
    """The capacity beside others varies, that of the link does not: a shaper has its rate."""
    fields = {
        **_BUFFERS,
        "flows": '[{ name = "a" }, { name = "b", start = "15s" }]',
        "path.rtt": "40ms",
    }
    result = ct.compare("steady-100-68", f"{cca}+{cca}", 1, duration="40s", set=fields)
    explained = ExplainedComparison(result)
    texts = [cause.text for each in explained.ccas for cause in each.causes]
    assert not [text for text in texts if "follows the rate" in text or "PROBE_RTT" in text]
    shapers = [each.remedy for each in explained._all_remedies if "shaper" in each.remedy.against]
    rates = {each.changes[0].partition("=")[2] for each in shapers}
    assert rates <= {"90Mbit/s", "95Mbit/s"}


def _two_ways(far: str) -> dict[str, Any]:
    """Returns a link of 50 Mbit/s that flows of RTT 20 ms, and of 20 ms and twice a delay, share."""
    link = {"name": "far", "from": "far-server", "to": "gateway", "delay": far}
    flows = [{"name": "near"}, {"name": "far", "from": "far-server", "to": "phone"}]
    path = {"path.rtt": "20ms", "path.down.rate": "50Mbit/s", "path.buffer": "500kB"}
    return {**path, "links": [link], "flows": flows}


def _competition_text(result: ct.Comparison, flow: str) -> str:
    causes = next(each.causes for each in ExplainedComparison(result).ccas if each.flow == flow)
    return next(cause.text for cause in causes if cause.name == "competition")


def test_shares_of_two_rtts_have_the_part_that_the_start_has_in_them() -> None:
    """CUBIC without a loss grows by round trips, so that the shorter RTT begins with more."""
    result = ct.compare("steady-20-68", "cubic+cubic", 2, duration="60s", set=_two_ways("40ms"))
    names = dict(zip(result.flows["flow"], result.flows["name"], strict=False))
    slots = result.slots.assign(name=result.slots["flow"].map(names), late=result.slots["t_s"] >= 30)
    rates = slots.groupby(["late", "name"])["goodput_mbps"].sum()
    first, second = (rates[late]["near"] / rates[late]["far"] for late in (False, True))
    assert first > 1.5 * second
    text = _competition_text(result, "far")
    found = re.search(
        r"near had ([\d.]+) times the rate in the first half of a run, and ([\d.]+)", text
    )
    assert found
    assert [float(each) for each in found.groups()] == pytest.approx([first, second], rel=0.02)
    before = re.search(r"the first losses came at ([\d.]+) \(far\) and ([\d.]+) \(near\)", text)
    assert before
    assert float(before[2]) > 2 * float(before[1])
    assert any(text.startswith(("near gets", "far gets")) for text in result.warnings)


def test_settled_shares_of_two_rtts_are_no_matter_of_the_start() -> None:
    """After 200 s of a buffer of half the BDP, hundreds of losses have left nothing of the start."""
    fields = {**_two_ways("47ms"), "path.buffer": "120kB", "path.down.rate": "20Mbit/s"}
    result = ct.compare("steady-20-68", "cubic+cubic", 2, duration="200s", set=fields)
    assert "The RTTs differ" in _competition_text(result, "far")
    assert "The start is a part" not in _competition_text(result, "far")
    assert not any("shares depend on the start" in text for text in result.warnings)
