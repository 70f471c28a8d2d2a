"""Shares of a link that several flows have, its utilisation, and what is unused of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.sweep.field_changes import field_texts
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.comparison.tables import shares_table
from celltcp.comparison.tables_of_several import sweep_shares_table
from celltcp.comparison.utilisation import utilisation
from celltcp.results.statistics import estimate

#: Payload of a full segment with timestamps, in bytes, and that of its packet on the link.
MSS, PACKET = 1448, 1500
SCENARIO = {
    "path.down": "20Mbit/s",
    "path.up": "20Mbit/s",
    "path.rtt": "50ms",
    "path.buffer": "2bdp",
    "flows": [
        {"name": "downloads", "count": 4},
        {"name": "web", "cca": "cubic", "workload": {"kind": "page"}},
    ],
}


@pytest.fixture(scope="module")
def swept() -> Sweep:
    vary = "path.queue=droptail,codel,fq-codel"
    return ct.sweep("steady-20-68", vary, "cubic", 3, duration="40s", set=SCENARIO)


def _carried(comparison: ct.Comparison) -> list[float]:
    """All payload that arrived in a run over the payload that 20 Mbit/s carry in 40 s."""
    sizes = comparison.slots.groupby("run", observed=True)["goodput_mbps"].sum() * 0.1
    return [size / (20 * MSS / PACKET * 40) for size in sizes]


def test_the_utilisation_of_a_link_is_that_of_all_its_flows(swept: Sweep) -> None:
    table = sweep_shares_table(swept)
    assert table is not None
    column = next(n for n, each in enumerate(table.columns) if "utilisation" in each.heading)
    for (_, comparison), row in zip(swept.points.items(), table.rows, strict=True):
        carried = _carried(comparison)
        # The time before the first data, a hundredth of a run, is not one of the flow under test.
        assert utilisation(comparison)["cubic"] == pytest.approx(carried, abs=0.015)
        shown = float(row[column].split()[0])
        assert shown == pytest.approx(100 * sum(carried) / len(carried), abs=1.5)


def test_what_is_unused_is_a_share_of_the_whole_link(swept: Sweep) -> None:
    """Of 20 Mbit/s the downloads leave as much as is unused: no share of what the pages left."""
    comparison = swept.points["codel",]
    (text,) = (
        text
        for block in ExplainedComparison(comparison).blocks
        for text in block
        if "queue discipline dropped" in text and "stayed unused" in text
    )
    unused = float(re.search(r"([\d.]+) % of the capacity stayed unused", text)[1])  # type: ignore[index]
    used = utilisation(comparison)["cubic"]
    assert unused == pytest.approx(100 * (1 - sum(used) / len(used)), abs=0.7)
    assert unused > 4


def test_a_loss_that_another_flow_gains_has_the_total_of_the_link(swept: Sweep) -> None:
    (change,) = (text for text in field_texts(swept, ()) if " instead of droptail" in text)
    loss = r"\S+ Mbit/s instead of \S+ \(-(\d+) %\)"
    total_loss = r"\S+ instead of \S+ \(-(\d+) %\)"
    shown = re.search(
        f"downloads goodput {loss}, with the other flows on its link {total_loss}", change
    )
    assert shown is not None, change
    carried = {queue: sum(_carried(each)) for (queue,), each in swept.points.items()}
    assert int(shown[2]) == pytest.approx(
        100 * (1 - carried["fq-codel"] / carried["droptail"]), abs=1.5
    )
    assert int(shown[1]) > int(shown[2]) + 5


def test_of_queues_that_are_alike_that_with_less_delay_is_set(swept: Sweep) -> None:
    """FQ-CoDel serves a download's own queue: less waits in it than in the one that all share."""
    delays = {
        queue: estimate(each.values("cubic", "rtt_mean_ms")).mean
        for (queue,), each in swept.points.items()
    }
    assert delays["fq-codel"] < 0.95 * delays["codel"]
    texts = field_texts(swept, ())
    assert any("INTERFACE root fq_codel" in text for text in texts)
    assert not any("INTERFACE root codel" in text for text in texts)


def test_shares_leave_out_streams_of_frames_by_their_rate_and_requests_by_their_pauses() -> None:
    frames = {"kind": "frames", "size": "5kB", "interval": "20ms", "deadline": "80ms"}
    ping = {"kind": "request-response", "response": "120B", "gap": "1s"}
    games = [{"name": name, "workload": frames} for name in ("game", "call")]
    for names, does in (
        (["game", "ping"], "ping left out, which sends now and then; game left out, which sends at a "),
        (["game", "call"], "game, call left out, which send at rates of their own"),
    ):
        flows = [each for each in (*games, {"name": "ping", "workload": ping}) if each["name"] in names]
        changes: dict[str, Any] = {"flows": [*flows, {"name": "bulk", "cca": "cubic"}]}
        result = ct.compare("steady-20-68", "cubic", 1, duration="6s", set=changes)
        assert str(shares_table(result).title).split("; ", 1)[1].startswith(does)
