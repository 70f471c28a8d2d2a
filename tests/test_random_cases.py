"""Random cases of the fidelity command, and the summary of their differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from celltcp.fidelity.cases import Case
from celltcp.fidelity.differences import Difference, Fidelity, Judgement
from celltcp.fidelity.distribution import distribution_of, traits_of
from celltcp.fidelity.random_cases import random_cases
from celltcp.fidelity.trajectory import Trajectory
from celltcp.results.statistics import Estimate
from celltcp.scenarios.scenarios import load_scenario


@pytest.mark.parametrize("seed", [0, 1, 17, 2**31])
def test_every_seed_draws_scenarios_that_run(seed: int) -> None:
    three = random_cases(3, seed)
    assert [case.name for case in three] == [f"random-{seed}-{n:03d}" for n in (1, 2, 3)]
    again = random_cases(2, seed)
    assert [case.scenario.hash for case in again] == [case.scenario.hash for case in three[:2]]


def test_many_draws_have_every_trait() -> None:
    from celltcp.fidelity.distribution import TRAITS

    seen = {trait for case in random_cases(300, 1) for trait in traits_of(case.scenario)}
    assert seen == set(TRAITS)


def test_traits_name_what_the_simplest_path_does_not_have() -> None:
    changes = ["path.mtu=576B", "path.wired.0.rate=2Mbit/s", "tcp.timestamps=false"]
    assert traits_of(load_scenario("steady-20-68")) == []
    assert traits_of(load_scenario("steady-20-68", changes=changes)) == [
        "wired hop slower than the access link",
        "MTU",
        "no timestamps",
    ]


def _judgement(case: str, percent: float, ci95: float | None) -> Judgement:
    empty = Trajectory(0.0, *[np.array([]) for _ in range(4)])
    goodput = Difference(10.0, 10.0, percent, ci95, 5.0)
    rtt = Difference(50.0, 50.0, 0.0, None, 10.0)
    # Of the three cases only b has connections that are complete.
    completion = Difference(1.0, 1.0, 2.0, None, 10.0 if case == "b" else None)
    differences = {"goodput_mbps": goodput, "rtt_mean_ms": rtt, "completion_s": completion}
    return Judgement(case, "random", "cubic", "", differences, Estimate(0.0, None), (empty, empty))


def test_a_difference_whose_interval_reaches_back_is_not_beyond() -> None:
    plain = load_scenario("steady-20-68")
    odd = load_scenario("steady-20-68", changes=["path.mtu=9000B"])
    cases = [Case("a", "random", plain), Case("b", "random", plain), Case("c", "random", odd)]
    judged = [_judgement("a", 6.0, 2.0), _judgement("b", 1.0, None), _judgement("c", -20.0, 2.0)]
    result = distribution_of(Fidelity(judged, "", "", 2, 1), cases)
    assert [(each.judgement.case, each.guess) for each in result.outside] == [("c", "MTU")]
    assert result.traits == {"MTU": (1, 1)}
    assert math.isclose(result.within_share["goodput_mbps"], 2 / 3)
    assert result.within_share["completion_s"] == 1
    assert result.quantiles["completion_s"][0.95] == 2.0
    assert result.quantiles["goodput_mbps"][0.5] == 6.0
