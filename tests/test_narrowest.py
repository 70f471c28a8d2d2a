"""A part of the path that is narrower than the access link bounds its capacity."""

from __future__ import annotations

import random
import re
import tomllib
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.scenarios.changes import Value
from celltcp.scenarios.narrow_hop import narrow_hop

_WIDE: dict[str, Any] = {
    "path.rtt": "50ms",
    "path.buffer": "1000packets",
    "path.down.rate": "100Mbit/s",
}
_POLICED = {**_WIDE, "path.policer": {"rate": "10Mbit/s", "burst": "32kB"}}


def _explained(changes: dict[str, Any], *ccas: str) -> ExplainedComparison:
    result = ct.compare("steady-20-68", list(ccas), 2, duration="20s", set=changes)
    return ExplainedComparison(result)


def test_what_passes_a_policer_is_compared_with_its_rate_and_a_larger_burst_helps() -> None:
    explained = _explained(_POLICED, "cubic", "bbr")
    cubic, bbr = explained.ccas
    assert 0.5 < cubic.used_share < 0.8
    assert bbr.used_share > 0.85
    first = cubic.causes[0]
    assert first.name == "policer"
    assert "A policer of 10Mbit/s, whose burst of 32 kB is 0.5" in first.text
    burst = next(each for each in explained.remedies if "burst=" in each.options)
    (change,) = burst.remedy.changes
    after = _explained({**_POLICED, **dict([change.split("=")])}, "cubic").ccas[0]
    assert after.goodput_mbps > 1.2 * cubic.goodput_mbps


def test_a_cca_that_is_as_good_by_pm_has_its_differences_beside_that() -> None:
    explained = _explained(_POLICED, "cubic", "bbr")
    heading = explained.texts(explained.ccas[0])[0]
    assert "as good as bbr for balanced (-" in heading or "against bbr" in heading


def test_a_shaper_that_is_full_leaves_nothing_unused_and_slow_start_was_not_early() -> None:
    hops = [{"name": "wan"}, {"name": "shaper", "rate": "8Mbit/s", "queue": "fq-codel"}]
    (cubic,) = _explained({**_WIDE, "path.wired": hops}, "cubic").ccas
    assert cubic.used_share > 0.85
    assert "early_exit" not in {cause.name for cause in cubic.causes}


@pytest.mark.parametrize("seed", range(3))
def test_a_sender_below_the_rate_of_a_policer_loses_next_to_nothing(seed: int) -> None:
    draw = random.Random(seed)
    mbps, rtt_ms = draw.choice([8, 10, 25]), draw.choice([30, 50, 80])
    burst = 125 * mbps * rtt_ms * draw.uniform(0.3, 0.8)
    policer = {"rate": f"{mbps}Mbit/s", "burst": f"{burst:.0f}B"}
    changes: dict[str, Value] = {**_WIDE, "path.policer": policer, "path.rtt": f"{rtt_ms}ms"}
    result = ct.compare("steady-100-68", ["cubic"], 1, duration="20s", set=changes)
    explained = ExplainedComparison(result)
    share = burst / (125 * mbps * rtt_ms)
    assert f" is {share:.2f} of the bandwidth-delay product" in explained.ccas[0].causes[0].text
    (change,) = (
        change
        for each in explained.remedies
        for change in each.remedy.changes
        if "max_pacing_rate" in change
    )
    field, _, rate = change.partition("=")
    capped = ct.compare("steady-100-68", ["cubic"], 1, duration="20s", set={**changes, field: rate})
    # The initial window may not fit into the burst.
    lost = max(result.values("cubic", "retransmissions"))
    assert max(capped.values("cubic", "retransmissions")) < 0.1 * lost
    assert min(capped.values("cubic", "goodput_mbps")) > 0.9 * mbps


def test_a_receive_window_that_fills_a_policer_is_no_limit() -> None:
    enough: dict[str, Any] = {
        "path.policer": {"rate": "10Mbit/s", "burst": "250kB"},
        "tcp.receive_window_max": "64kB",
    }
    result = ct.compare("steady-20-68", ["cubic"], 1, duration="20s", set={**_WIDE, **enough})
    assert not any("receive window" in each for each in result.warnings)
    half = {**enough, "tcp.receive_window_max": "24kB"}
    result = ct.compare("steady-20-68", ["cubic"], 1, duration="20s", set={**_WIDE, **half})
    assert any("receive window" in each for each in result.warnings)


def test_pm_uses_the_capacity_of_the_narrowest_part() -> None:
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="20s", set=_POLICED)
    capacity = result.slots.groupby("run")["capacity_mbps"].mean()
    assert (capacity < 10.5).all()
    used = [result.values(cca, "goodput_mbps")[0] / 9.65 for cca in ("cubic", "bbr")]
    for cca, share in zip(("cubic", "bbr"), used, strict=True):
        run = result.values(cca, "run")[0]
        mine = result.slots[result.slots["run"] == run]
        assert abs(mine["a"].mean() - share) < 0.15


@pytest.mark.parametrize(
    ("bdps", "text"),
    [(2.05, "2.0[3-7] bandwidth-delay products"), (0.5, r"0\.(49|50) of the bandwidth-delay product")],
)
def test_the_burst_of_a_policer_is_a_part_or_several_of_the_bandwidth_delay_product(
    bdps: float, text: str
) -> None:
    mbps, rtt_ms = 10, 50
    policer = {"rate": f"{mbps}Mbit/s", "burst": f"{bdps * 125 * mbps * rtt_ms:.0f}B"}
    changes: dict[str, Value] = {**_WIDE, "path.policer": policer, "path.rtt": f"{rtt_ms}ms"}
    result = ct.compare("steady-100-68", ["cubic"], 1, duration="10s", set=changes)
    assert re.search(f" is {text}, ", ExplainedComparison(result).ccas[0].cause_text("policer"))


@pytest.mark.parametrize("seed", range(3))
def test_a_hop_whose_steps_stay_below_the_access_link_has_the_queue_and_no_shaper_above_it(
    seed: int,
) -> None:
    """A shaper that is faster than the narrowest hop never has a queue to manage."""
    draw = random.Random(f"steps {seed}")
    low, high = draw.randint(8, 15), draw.randint(20, 40)
    access = draw.randint(60, 200)
    steps = [{"at": "0s", "rate": f"{high}Mbit/s"}, {"at": "4s", "rate": f"{low}Mbit/s"}]
    hops = [{"name": "satellite", "rate": {"steps": steps}, "buffer": "300packets"}, {"name": "lan"}]
    changes: dict[str, Any] = {
        "path.rtt": "40ms", "path.down": f"{access}Mbit/s", "path.wired": hops,
    }  # fmt: skip
    result = ct.compare("steady-20-68", "cubic", 1, duration="10s", set=changes)
    scenario = tomllib.loads(result.results.about["scenario"])
    assert narrow_hop(scenario, is_upload=False) == 0
    explained = ExplainedComparison(result)
    assert "before the hop satellite" in explained.ccas[0].cause_text("queue")
    changed = [change for each in explained.remedies for change in each.remedy.changes]
    assert not [each for each in changed if each.startswith("path.wired.1.rate")]
    # With a slower access link, the queue is there.
    changes["path.down"] = f"{high // 2}Mbit/s"
    slower = ct.compare("steady-20-68", "cubic", 1, duration="1s", set=changes)
    scenario = tomllib.loads(slower.results.about["scenario"])
    assert narrow_hop(scenario, is_upload=False) is None
