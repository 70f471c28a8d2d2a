"""Minimum RTO of the hosts of one side: `rto_min` of a route is of the host that has the route."""

from __future__ import annotations

import functools
import random
import statistics

import pandas as pd
import pytest

import celltcp as ct
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.lines.linux_lines import linux_line
from celltcp.comparison.report.scenario_lines import scenario_block
from celltcp.results.tables import frame

_SERVER, _PHONE = "tcp.server.min_rto", "tcp.phone.min_rto"
#: Maximum time by which ticks of 4 ms, links and the variation of the RTT delay a repair, s.
_MAX_FURTHER_S = 0.025


def _rtt_ms(seed: int) -> int:
    return random.Random(seed).randint(50, 120)


@functools.cache
def _compared(seed: int, *changes: str, runs: int = 2) -> Comparison:
    """Requests and responses of a segment, with random losses in both directions."""
    draw = random.Random(seed)
    scenario = {
        "path.rtt": f"{_rtt_ms(seed)}ms",
        "path.loss": round(draw.uniform(0.015, 0.03), 3),
        "path.uplink_loss": round(draw.uniform(0.015, 0.03), 3),
        "flows.0.workload": {
            "kind": "request-response",
            "request": f"{draw.randint(20, 200)}B",
            "response": f"{draw.randint(200, 900)}B",
            "think": "0ms",
            "gap": {"kind": "uniform", "min": "25ms", "max": f"{draw.randint(300, 500)}ms"},
        },
        **dict(each.split("=") for each in changes),
    }
    return ct.compare("steady-20-68", "cubic", runs, duration="300s", set=scenario)


def _repairs_s(result: Comparison) -> tuple[float, float]:
    """Returns the median times of slow responses that were lost, and of those of lost requests, s."""
    units = result.units[result.units["unit"] == "response"].dropna(subset=["duration_s"])
    slow = units[units["duration_s"] > 1.5 * units["duration_s"].median()]
    lost = frame(result.results.tables["far_losses"])
    lost = lost[lost["kind"] == "data"]
    times_s: dict[bool, list[float]] = {False: [], True: []}
    for run, start_s, time_s in slow[["run", "start_s", "duration_s"]].itertuples(index=False):
        own: pd.DataFrame = lost[(lost["run"] == run) & lost["t_s"].between(start_s, start_s + time_s)]
        times_s[not own.empty].append(time_s)
    return statistics.median(times_s[False]), statistics.median(times_s[True])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("changes", "response_ms", "request_ms"),
    [
        ((), 200, 200),
        ((f"{_SERVER}=20ms",), 20, 200),
        ((f"{_PHONE}=20ms",), 200, 20),
        (("tcp.min_rto=20ms",), 20, 20),
        (("tcp.min_rto=20ms", f"{_PHONE}=100ms"), 20, 100),
    ],
)
def test_losses_are_repaired_after_the_minimum_rto_of_the_host_that_sent_them(
    seed: int, changes: tuple[str, ...], response_ms: int, request_ms: int
) -> None:
    """A lone segment is sent again an RTT and the minimum later (RFC 6298), and takes one more RTT."""
    for time_s, min_ms in zip(
        _repairs_s(_compared(seed, *changes)), (response_ms, request_ms), strict=True
    ):
        further_s = time_s - (2 * _rtt_ms(seed) + min_ms) / 1e3
        assert 0 <= further_s < _MAX_FURTHER_S


@pytest.mark.parametrize("seed", range(2))
def test_thin_flows_have_alternatives_for_the_timer_of_each_host(seed: int) -> None:
    explained = ExplainedComparison(_compared(seed, runs=6))
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    table = explained.conclusion.alternatives
    assert table is not None
    rows = {places: each for each in table.to_json() for places in each["places"]}
    changes = {
        "both hosts": "tcp.min_rto=20ms",
        "sender (server)": f"{_SERVER}=20ms",
        "client": f"{_PHONE}=20ms",
    }
    # The other host repeats what it loses later, so that one alone gains little of the tail.
    assert {"both hosts"} <= {*rows} <= {*changes}
    for place, row in rows.items():
        change = changes[place]
        assert row["options"] == f"--cca cubic --set {change}"
        (line,) = row["lines"]
        assert line.startswith(place)
        assert line.endswith(": ip route change default via GATEWAY dev INTERFACE rto_min 20ms")
        (application,) = _compared(seed, change, runs=6).applications
        for name, mean in row["metrics"].items():
            values = application.metrics["cubic"][name.partition(":")[0]]
            assert mean == pytest.approx(statistics.mean(values))
    # One of the three is what to try next: a single host unless both gain more.
    (timer,) = (each for each in explained.remedies if "min_rto" in each.options)
    best = explained.conclusion.best
    assert best is not None
    assert timer.remedy.changes == best.remedy.remedy.changes


def test_a_host_of_one_side_has_its_line() -> None:
    requests = {"workload": {"kind": "request-response"}}
    upload = {"from": "phone", "to": "server"}
    for flow, mobile, server, phone in (
        (requests, {}, "sender (server)", "client"),
        (requests, {"radio": {}}, "sender (server)", "phone"),
        (upload, {"radio": {}}, "server", "sender (phone)"),
    ):
        scenario = {"flows": [flow], **mobile}
        for field, host in ((_SERVER, server), (_PHONE, phone)):
            line = linux_line(f"{field}=30ms", scenario)
            assert line.startswith(f"{host}: ip route change default ")
            assert line.endswith(" rto_min 30ms")
    ues = {"radio": {"ues": [{"name": "phone"}, {"name": "meter", "count": 3}]}}
    meters = {"flows": [{**requests, "to": f"meter-{number}"} for number in (1, 2)], **ues}
    assert linux_line(f"{_PHONE}=30ms", meters).startswith("phones: ")


@pytest.mark.parametrize(
    ("tcp", "flows", "routes"),
    [
        (
            {"initial_window": 20, "server": {"min_rto": "20ms"}},
            [{}],
            {"sender": "initcwnd 20 rto_min 20ms"},
        ),
        (
            {"receive_window_max": "100kB", "initial_window": 20, "phone": {"min_rto": "20ms"}},
            [{}],
            {"sender": "initcwnd 20", "receiver": "window 100000 rto_min 20ms"},
        ),
        (
            {"mss": "1000B", "phone": {"min_rto": "20ms"}},
            [{"from": "phone", "to": "server"}],
            {"sender": "advmss 1000 rto_min 20ms", "receiver": "advmss 1000"},
        ),
        (
            {"initial_window": 20, "delayed_ack": False, "server": {"min_rto": "20ms"}},
            [{"to": "gateway"}],
            {"sender": "initcwnd 20 rto_min 20ms", "receiver": "quickack 1 rto_min 20ms"},
        ),
        # The minimum of a side is in place of that of all hosts.
        (
            {"min_rto": "40ms", "server": {"min_rto": "20ms"}},
            [{}, {"from": "phone", "to": "server"}],
            {"server": "rto_min 20ms", "phone": "rto_min 40ms"},
        ),
    ],
)
def test_results_change_the_route_of_each_host_once(
    tcp: dict[str, object], flows: list[dict[str, str]], routes: dict[str, str]
) -> None:
    """A later change of the route would take the first one's options away."""
    block = scenario_block({"tcp": tcp, "flows": flows}, ())
    assert block is not None
    lines = [line.removeprefix("# ") for line in block.text.splitlines()]
    command = "ip route change default via GATEWAY dev INTERFACE "
    pairs = zip(lines[::2], lines[1::2], strict=True)
    assert {host: line.removeprefix(command) for host, line in pairs} == routes


def test_a_scenario_without_one_is_as_before() -> None:
    scenario = ct.load_scenario("steady-20-68")
    for side in ("server", "phone"):
        assert f"[tcp.{side}]" not in scenario.to_toml()
        changed = scenario.with_changes([f"tcp.{side}.min_rto=20ms"])
        assert changed.hash != scenario.hash
        assert changed.with_changes(["tcp.tlp=true"]).hash == changed.hash
    with pytest.raises(ct.CelltcpError, match=r"tcp\.server\.min_rto"):
        scenario.with_changes(["tcp.server.min_rto=0ms"])
    with pytest.raises(ct.CelltcpError, match=r"tcp\.rto_max: 1s is below phone\.min_rto"):
        scenario.with_changes(["tcp.phone.min_rto=2s", "tcp.rto_max=1s"])
