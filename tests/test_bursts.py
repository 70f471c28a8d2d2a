"""Bursts of segmentation offload that do not fit into a buffer."""

from __future__ import annotations

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.lines.linux_lines import linux_line

FAST = {
    "path.down": "500Mbit/s",
    "path.up": "100Mbit/s",
    "path.rtt": "20ms",
    "path.wired.0.rate": "10Gbit/s",
    "tcp.send_buffer_max": "64MB",
    "tcp.receive_buffer_max": "64MB",
}


def _explained(cca: str, buffer: str, **tcp: object) -> ExplainedComparison:
    changes = {**FAST, "path.buffer": buffer, **{f"tcp.{name}": value for name, value in tcp.items()}}
    result = ct.compare("steady-20-68", cca, 1, duration="5s", set=changes)
    return ExplainedComparison(result)


def _text(explained: ExplainedComparison) -> str:
    return {each.name: each.text for each in explained.ccas[0].causes}.get("shallow_buffer", "")


@pytest.mark.parametrize("cca", ["reno", "bbr"])
def test_a_burst_that_does_not_fit_is_named_and_single_segments_are_the_advice(cca: str) -> None:
    explained = _explained(cca, "2packets")
    # 500 Mbit/s times 1/1024 s.
    assert "less than a burst of segmentation offload (41 segments at this rate)" in _text(explained)
    explained.try_remedies(TrialBudget())
    first = explained.remedies[0]
    assert "tcp.tso=1" in first.remedy.changes
    assert "sender (server): ip link set dev INTERFACE gso_max_segs 1" in first.text
    changes = {
        **FAST,
        "path.buffer": "2packets",
        **dict(each.split("=") for each in first.remedy.changes),
    }
    (new,) = first.replacement_ccas
    after = ct.compare("steady-20-68", new, 1, duration="5s", set=changes)
    before = explained.comparison.values(cca, "goodput_mbps")[0]
    assert after.values(new, "goodput_mbps")[0] > 3 * before


@pytest.mark.parametrize(("buffer", "tso"), [("2packets", 1), ("0.2bdp", "linux")])
def test_where_bursts_fit_nothing_is_said_of_them(buffer: str, tso: object) -> None:
    explained = _explained("reno", buffer, tso=tso)
    assert _text(explained)
    assert "burst" not in _text(explained)
    assert not any("tcp.tso=1" in each.options for each in explained.remedies)


def test_bursts_of_linux_are_the_largest_of_the_interface() -> None:
    assert linux_line("tcp.tso=linux").endswith("ip link set dev INTERFACE gso_max_segs 65535")
