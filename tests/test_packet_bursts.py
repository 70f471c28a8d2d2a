"""Bursts of losses that last for packets: their warning, and what `explain` tries in their place."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from drawn_causes import Changes


def _warnings(result: ct.Comparison) -> list[str]:
    return [each for each in result.warnings if each.startswith("bursts of path.loss last for ")]


def test_slow_senders_meet_fewer_bursts_a_second_and_have_their_share_of_the_rate() -> None:
    """CUBIC that no burst stops for long sends at a part of the rate; BBR sends at all of it."""
    changes: Changes = {
        "path.rtt": "300ms",
        "path.down.rate": "20Mbit/s",
        "path.loss": {"kind": "gilbert-elliott", "to_bad": 0.002, "to_good": 0.5},
    }
    slow = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="60s", set=changes)
    (warning,) = _warnings(slow)
    assert "last for 2 packets on average" in warning
    share = re.search(r"fewer a second \(cubic sent at (\d+) % of its rate\)", warning)
    assert share is not None
    goodput = estimate(slow.values("cubic", "goodput_mbps")).mean
    # Headers have some 4 % of the link.
    assert int(share[1]) == pytest.approx(100 * goodput / 19.3, abs=3)
    assert 'good="300ms", bad="1.2ms"' in warning
    over_time = {"kind": "gilbert-elliott-time", "good": "300ms", "bad": "1.2ms"}
    same = ct.compare(
        "steady-20-68", "cubic", 1, duration="10s", set={**changes, "path.loss": over_time}
    )
    assert _warnings(same) == []
    # Bursts of two packets leave a sender at the full rate alone.
    assert _warnings(ct.compare("steady-20-68", "bbr", 1, duration="60s", set=changes)) == []


@pytest.mark.parametrize("seed", range(3))
def test_time_outs_that_meet_one_burst_are_counted_under_every_congestion_control(seed: int) -> None:
    draw = random.Random(seed)
    rate, to_good = draw.randint(8, 20), round(draw.uniform(0.04, 0.08), 3)
    changes: Changes = {
        "path.rtt": f"{draw.randint(300, 600)}ms",
        "path.down.rate": f"{rate}Mbit/s",
        "path.loss": {"kind": "gilbert-elliott", "to_bad": 0.002, "to_good": to_good},
        "flows.0.workload": {"kind": "bulk", "bytes": "10MB"},
    }
    result = ct.compare("steady-20-68", "reno,bbr", 6, duration="120s", set=changes)
    (warning,) = _warnings(result)
    assert "under any congestion control none ends while a sender waits" in warning
    timeouts = result.results.tables["recoveries"].to_pandas().groupby("run")["timeouts"].max()
    assert f"up to {timeouts.max()} in a row: " in warning
    stuck = (timeouts >= 3)[lambda is_stuck: is_stuck].index
    for cca in ("reno", "bbr"):
        count = sum(result.results.lineups[run] == cca for run in stuck)
        assert (f"{cca} in {count} of 6" in warning) == (count > 0)
    bad_ms = re.search(r'bad="([\d.]+)ms"', warning)
    assert bad_ms is not None
    assert float(bad_ms[1]) == pytest.approx(12 / rate / to_good, rel=0.01)


@pytest.mark.parametrize("cca", ["bbr", "cubic", "reno"])
def test_a_single_run_without_such_time_outs_is_no_proof_that_a_cca_is_safe(cca: str) -> None:
    """A lost window leaves a sender in a burst of 17 packets for as many time-outs."""
    loss = {"kind": "gilbert-elliott", "to_bad": 0.0005, "to_good": 0.06}
    changes: Changes = {"path.rtt": "100ms", "path.loss": loss}
    result = ct.compare("steady-20-68", cca, 1, duration="3s", set=changes)
    timeouts = result.results.tables["recoveries"].to_pandas()["timeouts"]
    (warning,) = _warnings(result)
    assert "last for 16.7 packets on average" in warning
    is_stuck = timeouts.max() >= 3
    assert ("(none did in 1 run; more may show one)" in warning) != is_stuck


def test_explain_tries_bursts_over_time_with_every_congestion_control() -> None:
    """The advised table is one that a scenario takes; its figures are those of a comparison with it."""
    changes: Changes = {
        "path.rtt": "560ms",
        "path.down.rate": "12Mbit/s",
        "path.loss": {"kind": "gilbert-elliott", "to_bad": 0.00157, "to_good": 0.06},
        "flows.0.workload": {"kind": "bulk", "bytes": "5MB"},
    }
    result = ct.compare("steady-20-68", "cubic,bbr", 3, duration="200s", set=changes)
    explained = ct.explain(result).comparisons[""]
    (note,) = (each for each in explained.notes if each.startswith("bursts of path.loss"))
    found = re.search(r"--set '(path\.loss)=(\{.*\})' has bursts", note)
    assert found is not None
    parts = {"flows.0.count": 5, "flows.0.workload.bytes": "1MB"}
    # They stand beside the figures of the scenario as given.
    texts = [each for each in explained.rankings if each.startswith("With bursts that last for a time")]
    assert "and with flows.0.count=5 and flows.0.workload.bytes=1MB" in texts[1]
    for text, divided in zip(texts, ({}, parts), strict=True):
        over_time = ct.compare(
            "steady-20-68",
            "cubic,bbr",
            10,
            duration="200s",
            set={**changes, found[1]: found[2], **divided},
        )
        assert _warnings(over_time) == []
        (application,) = over_time.applications
        times = application.values("completion_max_s")
        times_s = [estimate(times[cca]).mean for cca in ("cubic", "bbr")]
        tried = re.search(r", in 10 runs: .* cubic ([\d.]+) ±\S+ s, bbr ([\d.]+) ±\S+ s\.", text)
        assert tried is not None
        assert [float(each) for each in tried.groups()] == pytest.approx(times_s, rel=1e-3)
