"""Harm to other flows: a congestion control is not set where another application fails with it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.application import MAX_LATE_SHARE
from celltcp.comparison.choices import ccas_to_set, choices_of
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials import TrialBudget
from celltcp.comparison.harm import failing_under
from celltcp.comparison.report.front_page import answer_of
from celltcp.results.statistics import estimate


def _beside_a_stream(transfer: str, frame: str, path: dict[str, Any]) -> Comparison:
    """A transfer beside a stream of CUBIC, over a link whose buffer holds a fraction of its BDP."""
    frames = {"kind": "frames", "size": frame, "interval": "33ms", "deadline": "200ms"}
    changes: dict[str, Any] = {
        **{f"path.{field}": value for field, value in path.items()},
        "flows": [
            {"name": "backup", "workload": {"kind": "bulk", "bytes": transfer}},
            {"name": "stream", "cca": "cubic", "workload": frames},
        ],
    }
    return ct.compare("steady-20-68", ["cubic", "bbr", "reno"], 3, duration="30s", set=changes)


def _late(result: Comparison, cca: str) -> float:
    (stream,) = (each for each in result.applications if each.flow == "stream")
    return estimate(stream.metrics[cca]["late_share"]).mean


@pytest.mark.parametrize("seed", range(2))
def test_a_faster_transfer_is_not_worth_a_stream_that_fails(seed: int) -> None:
    """BBR ignores the losses of a shallow buffer, which halve the window of the stream's CUBIC."""
    path: dict[str, Any] = {"rtt": f"{random.Random(seed).randint(18, 24)}ms", "buffer": "60packets"}
    path |= {"down.rate": "100Mbit/s", "wired": [{"name": "nic", "rate": "1Gbit/s"}]}
    result = _beside_a_stream("150MB", "40kB", path)
    first = choices_of(result)[0]
    assert first.flows == ("backup",)
    assert first.verdict.leader == "bbr"
    assert _late(result, "bbr") > MAX_LATE_SHARE > _late(result, "cubic")
    assert failing_under(result, "bbr") == {"stream"}
    assert failing_under(result, "cubic") == frozenset()
    ((cca, needs),) = ccas_to_set(result).items()
    assert cca == "cubic"
    late = f"stream share of late frames {100 * _late(result, 'bbr'):.3g} % instead of 0 %"
    assert any(late in need and "bbr has" in need for need in needs)
    assert "set cubic on backup (bbr has" in answer_of(result)


@pytest.mark.parametrize("seed", range(2))
def test_the_cca_of_a_transfer_that_needs_it_is_set_with_its_cost_to_others(seed: int) -> None:
    """Random losses keep the windows of CUBIC and Reno so small that the transfer does not end."""
    path: dict[str, Any] = {"rtt": f"{random.Random(seed).randint(75, 85)}ms", "buffer": "40packets"}
    result = _beside_a_stream("40MB", "5kB", {**path, "down.rate": "30Mbit/s", "loss": 0.002})
    (cca, needs) = next(iter(ccas_to_set(result).items()))
    assert cca == "bbr"
    harm = f"at the cost of stream share of late frames {100 * _late(result, 'bbr'):.3g} % instead of"
    assert _late(result, "bbr") > MAX_LATE_SHARE > _late(result, "cubic")
    assert harm in needs[0]
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    explained.try_together(TrialBudget())
    best = explained.conclusion.best
    assert best is not None
    assert best.remedy.after is not None
    assert failing_under(best.remedy.after, best.cca) == frozenset()


@pytest.mark.parametrize("seed", range(2))
def test_the_cca_of_a_call_is_not_set_for_a_few_per_cent_of_a_backup(seed: int) -> None:
    """Reno's call leaves the backup some more of the uplink, as fewer of its own frames arrive."""
    up = {"from": "phone", "to": "server"}
    call = {"kind": "frames", "size": "3kB", "interval": "20ms", "deadline": "150ms"}
    changes: dict[str, Any] = {
        "path.rtt": f"{random.Random(seed).randint(25, 45)}ms",
        "path.up": "12Mbit/s",
        "path.uplink_buffer": "1.5MB",
        "flows": [{"name": "call", "workload": call, **up}, {"name": "backup", "cca": "cubic", **up}],
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr", "reno"], 3, duration="40s", set=changes)
    needs = {choice.flows: choice.verdict.leader for choice in choices_of(result)}
    assert needs[("call",)] == "cubic" != needs[("backup",)]
    # Whether Reno's median delay is longer, few runs may leave open.
    assert {*ccas_to_set(result)} <= {"cubic"}
