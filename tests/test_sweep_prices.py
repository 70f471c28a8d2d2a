"""Prices beside the values of a sweep, delivered rates in tables, and warnings on transfers."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.comparison.retransmitted import retransmitted_share
from celltcp.comparison.sweep.field_changes import field_texts
from celltcp.comparison.tables import means_table
from celltcp.comparison.tables_of_several import sweep_table
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from drawn_causes import Changes


@pytest.mark.parametrize("seed", range(3))
def test_a_better_value_has_the_retransmissions_that_it_costs(seed: int) -> None:
    """A larger initial window fills a small buffer before a slow link, and is faster all the same."""
    draw = random.Random(seed)
    changes: Changes = {
        "path.rtt": f"{draw.randint(100, 150)}ms",
        "path.down.rate": "2Mbit/s",
        "path.buffer": "20packets",
        "flows.0.workload": {
            "kind": "request-response",
            "response": f"{draw.randint(90, 120)}kB",
            "gap": "2s",
        },
    }
    sweep = ct.sweep(
        "steady-20-68",
        cca="cubic",
        runs=3,
        duration="60s",
        set=changes,
        vary={"tcp.initial_window": [4, 30]},
    )
    small, large = sweep.points.values()
    old, new = (estimate(each.values("cubic", "retransmissions")).mean for each in (small, large))
    share = retransmitted_share(large, large.tested, "cubic")
    (text,) = (each for each in field_texts(sweep, []) if each.startswith("tcp.initial_window=30"))
    found = re.search(r"retransmissions ([\d.]+) \(([\d.]+) %\) instead of ([\d.]+)", text)
    assert found is not None, text
    assert [float(each) for each in found.groups()] == pytest.approx([new, 100 * share, old], abs=0.06)
    # The table has the share, too.
    assert f"({found[2]} %)" in " ".join(sweep_table(sweep).rows[-1])


@pytest.mark.parametrize("seed", range(2))
def test_a_longer_queue_is_a_price_of_a_faster_transfer(seed: int) -> None:
    draw = random.Random(seed)
    changes: Changes = {
        "path.rtt": f"{draw.randint(60, 100)}ms",
        "flows.0.workload": {"kind": "bulk", "bytes": f"{draw.randint(8, 12)}MB"},
    }
    sweep = ct.sweep(
        "steady-20-68",
        cca="reno",
        runs=2,
        duration="30s",
        set=changes,
        vary={"path.buffer": ["0.2bdp", "3bdp"]},
    )
    (text,) = (each for each in field_texts(sweep, []) if each.startswith("path.buffer=3bdp"))
    assert re.search(r"completion mean [\d.]+ s instead of [\d.]+; mean RTT [\d.]+ ms instead of", text)


_LOOP = {"kind": "request-response", "response": "200kB", "think": "0ms"}
_FRAMES = {"kind": "frames", "size": "20kB", "interval": "20ms"}


@pytest.mark.parametrize(
    ("workload", "more", "is_shown"),
    [
        ({**_LOOP, "gap": "0s"}, {}, True),
        ({**_LOOP, "gap": "300ms"}, {}, False),
        (_FRAMES, {"path.loss": 0.01, "path.rtt": "150ms"}, True),
        (_FRAMES, {}, False),
    ],
)
def test_tables_have_the_goodput_where_it_says_how_well_the_path_serves(
    workload: Changes, more: Changes, is_shown: bool
) -> None:
    result = ct.compare(
        "steady-20-68", "cubic", 2, duration="15s", set={"flows.0.workload": workload, **more}
    )
    headings = [column.name for column in means_table(result).columns]
    assert ("goodput_mbps" in headings) == is_shown
    assert "pm_balanced" not in headings


@pytest.mark.parametrize("window", [10, 60])
def test_transfers_with_an_end_have_no_warning_on_an_idle_application(window: int) -> None:
    """Once the one that the end of the run cut was taken for all of them."""
    workload = {"kind": "sequence", "size": "100kB", "gap": "1s"}
    changes: Changes = {
        "path.rtt": "130ms",
        "path.down.rate": "2Mbit/s",
        "path.buffer": "20packets",
        "tcp.initial_window": window,
        "flows.0.workload": workload,
    }
    result = ct.compare("steady-20-68", "cubic", 3, duration="60s", set=changes)
    assert not any("no more to send" in each for each in result.warnings)


@pytest.mark.parametrize("seed", range(2))
def test_each_value_that_is_best_for_a_flow_has_its_line(seed: int) -> None:
    """A cap of the window shortens the queue in front of a call, at little more time of an upload."""
    draw = random.Random(seed)
    caps = [f"{draw.randint(25, 35)}kB", "100kB", f"{draw.randint(800, 1200)}kB"]
    draw.shuffle(caps)
    changes: Changes = {
        "path.rtt": "60ms",
        "path.up": "4Mbit/s",
        "path.uplink_buffer": "3000packets",
        "flows": [
            {"name": "backup", "from": "phone", "to": "server", "opens": "from"}
            | {"workload": {"kind": "bulk", "bytes": "8MB"}},
            {"name": "call", "from": "phone", "to": "server", "opens": "from"}
            | {"workload": {"kind": "frames", "size": "4kB", "interval": "33ms", "deadline": "150ms"}},
        ],
    }
    sweep = ct.sweep(
        ct.load_scenario("steady-20-68", changes={"tcp.receive_window_max": "100kB"}),
        cca="cubic",
        runs=3,
        duration="40s",
        set=changes,
        vary={"tcp.receive_window_max": caps},
    )
    short, long = sorted(caps, key=lambda cap: int(cap.removesuffix("kB")))[::2]
    texts = field_texts(sweep, [])
    assert texts[0].startswith(f"tcp.receive_window_max={short} instead of 100kB: backup")
    lines = [re.match(r"On Linux, (\w+) for (\w+): .* window (\d+)$", text) for text in texts[1:]]
    needs = [line.groups() for line in lines if line]
    assert (short, "call") in [need[:2] for need in needs]
    assert {need[:2] for need in needs} <= {(short, "call"), (long, "backup")}
    assert all(int(size) == 1000 * int(cap.removesuffix("kB")) for cap, _, size in needs)


@pytest.mark.parametrize("seed", range(3))
def test_a_value_that_the_table_sets_for_its_price_is_that_of_the_advice(seed: int) -> None:
    """An initial window that overflows the buffer saves less time than what it sends again is worth."""
    draw = random.Random(f"set {seed}")
    buffer, fits = draw.randint(20, 22), 10
    changes: Changes = {
        "path.rtt": f"{draw.randint(200, 230)}ms",
        "path.down.rate": f"{draw.randint(8, 11)}Mbit/s",
        "path.buffer": f"{buffer}packets",
        "flows.0.workload": {"kind": "sequence", "size": "100kB", "gap": "1s"},
    }
    windows = [fits, buffer + 12]
    sweep = ct.sweep(
        "steady-20-68",
        cca="cubic",
        runs=2,
        duration="10s",
        set=changes,
        vary={"tcp.initial_window": windows},
    )
    ranking = next(each for each in sweep.field_rankings if each.cca)
    (stake,) = ranking.deciding_stakes(())
    assert stake.verdict.leader == str(windows[1])
    assert stake.verdict.cost is not None
    assert stake.verdict.cost.instead == str(fits)
    texts = field_texts(sweep, [])
    assert not [each for each in texts if f"initcwnd {windows[1]}" in each]
    assert any("a gain at a larger loss" in each or f"initcwnd {fits}" in each for each in texts)
