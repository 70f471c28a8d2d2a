"""Least time of a transfer: below what any CCA takes, and near what a sender without losses takes."""

from __future__ import annotations

import random
import re
import tomllib
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp._core import in_unit
from celltcp.comparison.explanation.evidence.least_time import LeastTime
from celltcp.comparison.explanation.explanation import ExplainedComparison

if TYPE_CHECKING:
    from drawn_causes import Changes


def _drawn(seed: int) -> tuple[random.Random, Changes]:
    draw = random.Random(seed)
    changes: Changes = {
        "path.rtt": f"{draw.randint(20, 600)}ms",
        "path.down.rate": f"{draw.randint(5, 50)}Mbit/s",
        "path.buffer": "4bdp",
        "flows.0.workload": {"kind": "bulk", "bytes": f"{draw.choice([40, 300, 5000, 20000])}kB"},
        "flows.0.count": draw.choice([1, 1, 4]),
        "tcp.initial_window": draw.choice([4, 10, 30]),
    }
    return draw, changes


def _least(result: ct.Comparison) -> LeastTime:
    explained = ExplainedComparison(result)
    assert explained.least_time is not None
    assert explained.least_time.text in explained.notes
    # Hybla's window, for one, grows faster.
    found = re.search(
        r" in (one|\d+) connections? with a window that at most doubles with each round trip, "
        r"(each )?from \d+ segments on",
        explained.least_time.text,
    )
    assert found is not None
    # More connections have more initial windows, and less time.
    count = tomllib.loads(result.results.about["scenario"])["flows"][0].get("count", 1)
    assert found[1] == ("one" if count == 1 else str(count))
    assert bool(found[2]) == (count > 1)
    document = explained.to_json()["least_time"]
    assert document is not None
    assert document["total_s"] == explained.least_time.total_s
    return explained.least_time


@pytest.mark.parametrize("seed", range(10))
def test_a_sender_without_losses_takes_little_more_than_the_least_time(seed: int) -> None:
    _, changes = _drawn(seed)
    result = ct.compare("steady-20-68", "cubic:hystart=off,bbr", 1, duration="120s", set=changes)
    (application,) = result.applications
    least = _least(result)
    cubic, bbr = application.means("completion_max_s")
    assert least.size_bytes == changes["flows.0.count"] * (
        in_unit(changes["flows.0.workload"]["bytes"], "B") or 0.0
    )
    assert 0.99 * least.total_s <= min(cubic, bbr)
    assert cubic <= 1.15 * least.total_s + 0.01


@pytest.mark.parametrize("seed", range(6))
def test_a_rate_that_varies_counts_as_it_was_at_each_time(seed: int) -> None:
    draw, changes = _drawn(seed)
    del changes["path.down.rate"]
    rates = [draw.randint(5, 50) for _ in range(4)]
    changes["path.down.steps"] = [
        {"at": f"{2 * index}s", "rate": f"{rate}Mbit/s"} for index, rate in enumerate(rates)
    ]
    changes |= {"flows.0.workload": {"kind": "bulk", "bytes": "25MB"}, "path.rtt": "50ms"}
    result = ct.compare("steady-20-68", "cubic:hystart=off", 1, duration="120s", set=changes)
    (application,) = result.applications
    least = _least(result)
    (cubic,) = application.means("completion_max_s")
    assert 0.99 * least.total_s <= cubic <= 1.2 * least.total_s


def test_flows_that_share_the_path_or_have_no_end_have_none() -> None:
    finite = {"kind": "bulk", "bytes": "1MB"}
    cases: list[Changes] = [
        {},
        {"flows": [{"workload": finite}, {"name": "other"}]},
        {"flows.0.workload": finite, "flows.0.count": 3, "flows.0.start_spread": "1s"},
        {"flows.0.workload": {"kind": "page"}},
    ]
    for changes in cases:
        result = ct.compare("steady-20-68", "cubic", 1, duration="5s", set=changes)
        assert ExplainedComparison(result).least_time is None


@pytest.mark.parametrize("seed", range(3))
def test_each_transfer_of_a_sequence_has_the_least_time_of_one_alone(seed: int) -> None:
    _, changes = _drawn(seed)
    alone = {**changes, "flows.0.count": 1}
    size = changes["flows.0.workload"]["bytes"]
    sequence = {**alone, "flows.0.workload": {"kind": "sequence", "size": size, "gap": "2s"}}
    least = [
        _least(ct.compare("steady-20-68", "cubic:hystart=off", 1, duration="60s", set=each))
        for each in (alone, sequence)
    ]
    assert least[1].total_s == pytest.approx(least[0].total_s, rel=0.02)
    drawn = {"kind": "uniform", "min": size, "max": "30MB"}
    sequence["flows.0.workload"] = {"kind": "sequence", "size": drawn, "gap": "2s"}
    result = ct.compare("steady-20-68", "cubic", 1, duration="60s", set=sequence)
    assert ExplainedComparison(result).least_time is None


def test_what_is_left_above_the_least_time_is_said_where_it_is_little() -> None:
    """A random loss of a per cent costs most of the goodput."""
    changes: Changes = {"path.buffer": "4bdp", "flows.0.workload": {"kind": "bulk", "bytes": "20MB"}}
    for loss, is_little in ((0.0, True), (0.01, False)):
        lossy = {**changes, "path.loss": loss}
        result = ct.compare("steady-20-68", "cubic:hystart=off", 1, duration="120s", set=lossy)
        assert ("little is left to gain" in _least(result).text) == is_little


def test_a_transfer_in_its_least_time_gains_by_a_larger_initial_window_alone() -> None:
    """After HyStart the window holds data back, and no CCA is faster; a first window of a BDP is."""
    changes: Changes = {
        "path.rtt": "30ms",
        "path.buffer": "4bdp",
        "path.down.rate": "40Mbit/s",
        "flows.0.workload": {"kind": "bulk", "bytes": "2MB"},
    }
    result = ct.compare("steady-20-68", "cubic", 1, set=changes)
    least = _least(result)
    (explained,) = ExplainedComparison(result).ccas
    assert explained.limits["congestion_window"] > 0.5
    assert least.best_s == pytest.approx(least.total_s, rel=0.05)
    assert not explained.cause_text("slow_growth")
    assert ", from 10 segments on: " in least.text
    assert least.text.endswith(", but for a larger initial window")
    larger = ct.compare("steady-20-68", "cubic", 1, set={**changes, "tcp.initial_window": 128})
    filled = _least(larger)
    assert filled.best_s < least.total_s
    assert filled._replace(best_s=filled.total_s).text.endswith("little is left to gain by a CCA")


@pytest.mark.parametrize("seed", range(3))
def test_an_outage_stands_beside_the_rate_of_the_rest(seed: int) -> None:
    draw = random.Random(seed)
    mbps, length_s = draw.choice([20, 50]), draw.choice([2, 4])
    changes: Changes = {
        "path.down.rate": f"{mbps}Mbit/s",
        "path.blackouts": [{"at": "2s", "duration": f"{length_s}s"}],
        "flows.0.workload": {"kind": "bulk", "bytes": f"{mbps * 500}kB"},
    }
    least = _least(ct.compare("steady-20-68", "bbr", 1, duration="40s", set=changes))
    assert f"then {length_s} s in outages of the link and " in least.text
    rate = least.full_rate_bytes * 8e-6 / (least.full_rate_s - least.outage_s)
    # Payload of full packets.
    assert rate == pytest.approx(mbps * 1448 / 1500, rel=0.02)


@pytest.mark.parametrize("seed", range(6))
def test_the_least_time_of_a_short_transfer_is_no_more_than_any_takes(seed: int) -> None:
    """The first segment of each round trip is sent in it, and is not sent once more after it."""
    draw = random.Random(f"bound {seed}")
    size = draw.randint(30, 200)
    changes: Changes = {
        "path.rtt": f"{draw.randint(30, 250)}ms",
        "path.down.rate": f"{draw.randint(5, 30)}Mbit/s",
        "path.buffer": "4bdp",
        "tcp.initial_window": draw.choice([4, 10, 32]),
        "flows.0.workload": {"kind": "sequence", "size": f"{size}kB", "gap": "1s"},
    }
    result = ct.compare("steady-20-68", "cubic", 1, duration="8s", set=changes)
    least = _least(result)
    assert 0.9 * least.best_s < least.total_s <= least.best_s
