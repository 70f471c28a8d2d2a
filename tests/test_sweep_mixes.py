"""Best values and trade-offs of a sweep under CCA mixes, and reversals between statistics."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.report.sweep import sweep_part
from celltcp.comparison.sweep.best_value_tables import best_values_texts
from celltcp.comparison.sweep.best_values import FieldRanking
from celltcp.comparison.verdicts.reversals import best_reversal_text, change_reversal_text
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest


def _shared_line(draw: random.Random) -> dict[str, Any]:
    ping = {"kind": "request-response", "request": "64B", "response": "64B", "think": "0ms"}
    return {
        "path.rtt": f"{draw.randint(4, 12)}ms",
        "path.down.rate": f"{draw.randint(8, 12)}Mbit/s",
        "flows": [
            {"name": "download", "cca": "reno"},
            {"name": "ping", "cca": "reno", "workload": {**ping, "gap": "100ms"}},
        ],
    }


@pytest.mark.parametrize("seed", range(3))
def test_a_mix_has_the_best_value_and_the_trade_off_of_each_flow(seed: int) -> None:
    vary = {"path.buffer": ["100packets", "400packets"]}
    changes = _shared_line(random.Random(seed))
    sweep = ct.sweep("steady-20-68", vary, "own", 4, duration="60s", set=changes)
    texts = [*best_values_texts(sweep), *sweep.field_changes]
    assert any(text.startswith("Best value of path.buffer for ping (") for text in texts), texts
    assert any(re.match(r"(trade-off|best of both).* ping .* download ", text) for text in texts), texts
    assert sweep.best_values["flow"].nunique() == 2
    assert sweep.ranking_metrics == {"ping": "response_p95_s"}


def test_each_flow_has_its_means_in_one_run_with_the_runs_that_decide() -> None:
    vary = {"path.buffer": ["100packets", "400packets"]}
    changes = {**_shared_line(random.Random(1)), "path.loss": 0.001}
    sweep = ct.sweep("steady-20-68", vary, "own", 1, duration="10s", set=changes)
    texts = best_values_texts(sweep)
    needs = ("download (goodput)", "ping (95th percentile of the response time)")
    for text, need in zip(texts, needs, strict=True):
        assert text.startswith(f"path.buffer for {need} in one run")
    assert all(text.endswith(" (try --runs 10 next)") for text in texts)
    assert not sweep.field_changes


def test_congestion_controls_that_compete_are_ranked_by_fairness() -> None:
    """CUBIC gains by a deep buffer what BBR loses: both have shares, and Jain's index a best value."""
    changes: dict[str, Any] = {"path.rtt": "40ms", "flows": [{"name": "one"}, {"name": "two"}]}
    vary = {"path.buffer": ["20packets", "400packets"]}
    sweep = ct.sweep("steady-20-68", vary, "cubic+bbr,bbr+cubic", 2, duration="20s", set=changes)
    for mix, cubic in (("cubic+bbr", "one"), ("bbr+cubic", "two")):
        (ranking,) = (each for each in sweep.field_rankings if each.cca == mix)
        (stake,) = ranking.stakes
        assert stake.metric == "fairness"
        goodput = {
            value: [
                estimate(comparison.values_of(flow, mix, "goodput_mbps")).mean
                for flow in FlowUnderTest.each(comparison.results.about)
            ]
            for (value,), comparison in sweep.points.items()
        }
        index = {
            value: sum(of) ** 2 / (2 * sum(each**2 for each in of)) for value, of in goodput.items()
        }
        assert stake.verdict.leader == max(index, key=index.__getitem__)
        own = ["one", "two"].index(cubic)
        assert goodput["400packets"][own] > goodput["20packets"][own]
        assert goodput["400packets"][1 - own] < goodput["20packets"][1 - own]
    questions = [finding.question for finding in sweep_part(sweep).findings]
    assert "Best path.buffer under bbr+cubic for Jain's index" in questions


def _ranking(sweep: ct.Sweep) -> FieldRanking:
    (ranking,) = sweep.field_rankings
    return ranking


@pytest.mark.parametrize("seed", range(3))
def test_a_value_that_is_better_by_median_and_mean_is_best_and_its_p95_is_named(seed: int) -> None:
    """A short queue loses requests, which wait for a timer, and makes all others faster."""
    vary = {"path.buffer": ["20packets", "100packets"]}
    changes = _shared_line(random.Random(seed))
    sweep = ct.sweep("steady-20-68", vary, "own", 2, duration="60s", set=changes)
    ranking = _ranking(sweep)
    (stake,) = (stake for stake in ranking.stakes if stake.flow == "ping")
    p50, p95, mean = (
        ranking.application_values("ping", f"response{each}_s") for each in ("_p50", "_p95", "")
    )
    for of in (p50, mean):
        assert max(of["20packets"]) < min(of["100packets"])
    assert min(p95["20packets"]) > max(p95["100packets"])
    assert (stake.metric, stake.verdict.leader) == ("response_s", "20packets")
    means = {name: sum(values) / len(values) for name, values in p95.items()}
    better, worse = (f"{means[value]:.3f}" for value in ("100packets", "20packets"))
    reversal = f"but by response p95 100packets, {better} s instead of {worse}"
    assert best_reversal_text(ranking, stake) == reversal
    change = change_reversal_text(ranking, stake, "20packets", "100packets")
    assert change == f", but response p95 {worse} s instead of {better}"
    (trade_off,) = (text for text in sweep.field_changes if "path.buffer=20packets, with ping" in text)
    assert reversal in trade_off
    findings = [each for each in sweep_part(sweep).findings if "for ping" in each.question]
    assert [each.answer for each in findings] == ["20packets"]
    assert reversal in findings[0].effect_size
    # What is asked for decides.
    (chosen, *_) = ranking.deciding_stakes(["response_p95_s:ping"])
    assert chosen.verdict.leader == "100packets"


@pytest.mark.parametrize("seed", range(2))
def test_a_buffer_in_which_one_flow_starves_another_is_no_advice(seed: int) -> None:
    """BBR does not reduce at losses: half a BDP of buffer starves the CUBIC beside it, two do not."""
    draw = random.Random(seed)
    changes = {
        "path.rtt": f"{draw.randint(40, 60)}ms",
        "path.down": f"{draw.randint(20, 40)}Mbit/s",
        "flows": [{"name": "new"}, {"name": "old", "cca": "cubic"}],
    }
    vary = {"path.buffer": ["0.5bdp", "2bdp"]}
    result = ct.sweep("steady-20-68", vary, "bbr", 3, duration="40s", set=changes)
    shares = [
        {each.flow: each.goodput.mean for each in result[value].mean_shares()}
        for value in vary["path.buffer"]
    ]
    assert shares[0]["old"] < sum(shares[0].values()) / 6
    assert shares[1]["old"] > sum(shares[1].values()) / 6
    texts = result.field_changes
    assert any(text.startswith("old fails with 0.5bdp: it gets ") for text in texts)
    starving = ("best of both: path.buffer=0.5bdp", "On Linux, 0.5bdp")
    assert not any(text.startswith(starving) for text in texts)
