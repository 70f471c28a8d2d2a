"""Unequal shares of equal connections: losses that hit some, and windows that slow start left."""

from __future__ import annotations

import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.connection_shares import connection_shares_text
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.results.tables import frame


def _explained(
    cca: str, rate: int, rtt_ms: int, bdps: float, seconds: int
) -> tuple[ct.Comparison, str]:
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": f"{rate}Mbit/s",
        "path.buffer": f"{bdps}bdp",
        "flows": [{"name": "backup", "count": 10}],
    }
    result = ct.compare("steady-20-68", cca, 1, duration=f"{seconds}s", set=changes)
    return result, connection_shares_text(Evidence(result, cca, result.tested))


def test_a_short_run_of_reno_has_the_shares_that_slow_start_left() -> None:
    result, text = _explained("reno", 100, 80, 0.1, 10)
    exits = result.flows.sort_values("goodput_mbps")["slow_start_exit_cwnd"]
    found = re.search(r"faster half of them windows of (\d+) segments .*? slower half (\d+)\.", text)
    assert found is not None, text
    assert [int(each) for each in found.groups()] == [
        pytest.approx(half.mean(), abs=0.51) for half in (exits[5:], exits[:5])
    ]
    assert "shares have no time to even out" in text


def test_over_many_sawtooths_the_connections_that_lose_more_often_have_less() -> None:
    result, text = _explained("reno", 300, 30, 0.1, 40)
    losses = frame(result.results.tables["recoveries"]).groupby("flow").size()
    in_order = losses.reindex(result.flows.sort_values("goodput_mbps")["flow"])
    found = re.search(r"faster half had ([\d.]+) reductions .*? slower half ([\d.]+)\.", text)
    assert found is not None, text
    fast, slow = map(float, found.groups())
    assert (fast, slow) == (
        pytest.approx(in_order.iloc[5:].mean(), abs=0.06),
        pytest.approx(in_order.iloc[:5].mean(), abs=0.06),
    )
    assert "no time" not in text
    (hit,) = map(float, re.findall(r"an overflow hits ([\d.]+) of 10 connections", text))
    assert 1 <= hit < 10


def test_connections_of_the_same_receive_window_have_equal_shares_and_no_reason() -> None:
    changes = {"tcp.receive_window_max": "50kB", "flows": [{"name": "backup", "count": 10}]}
    result = ct.compare("steady-100-68", "reno", 1, duration="10s", set=changes)
    assert connection_shares_text(Evidence(result, "reno", result.tested)) == ""


def test_the_spread_of_connections_is_that_of_all_runs_and_of_ccas_without_a_sawtooth() -> None:
    flow = {"name": "backup", "count": 6, "workload": {"kind": "bulk", "bytes": "2MB"}}
    result = ct.compare("steady-20-68", "bbr", 3, duration="20s", set={"flows": [flow]})
    text = connection_shares_text(Evidence(result, "bbr", result.tested))
    goodputs = result.flows["goodput_mbps"]
    found = re.fullmatch(r"Its 6 connections had (\S+) Mbit/s to (\S+) Mbit/s over all runs\.", text)
    assert found is not None, text
    ends = [float(each) for each in found.groups()]
    assert ends == pytest.approx([goodputs.min(), goodputs.max()], abs=0.006)
