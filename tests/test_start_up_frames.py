"""Frames that are late or dropped only while their connection opens, and differences that runs show."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.alternatives import Alternative, Need, first_need
from celltcp.comparison.explanation.trials.best_tried import _best_of
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget


def _live(draw: random.Random) -> dict[str, Any]:
    """Returns changes with frames of some initial windows, of which the uplink carries far more."""
    frames = {
        "kind": "frames",
        "size": f"{draw.randint(30, 50)}kB",
        "interval": "33ms",
        "deadline": "400ms",
        "backlog": "newest",
    }
    return {
        "path.rtt": f"{draw.randint(60, 100)}ms",
        "path.up": "60Mbit/s",
        "path.uplink_buffer": "4bdp",
        "tcp.notsent_lowat": "16kB",
        "flows": [{"from": "phone", "to": "server", "opens": "from", "workload": frames}],
    }


def _explained(changes: dict[str, Any]) -> ExplainedComparison:
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 3, duration="20s", set=changes))
    budget = TrialBudget()
    explained.try_remedies(budget)
    explained.try_together(budget)
    return explained


def _lost_count(explained: ExplainedComparison) -> int:
    """Returns the number of late or dropped frames, from the shares in the tables of the runs."""
    metrics = explained.comparison.applications[0].metrics["cubic"]
    return round(sum(n * s for n, s in zip(metrics["frames"], metrics["late_share"], strict=True)))


@pytest.mark.parametrize("seed", range(4))
def test_frames_dropped_in_slow_start_alone_need_no_other_setting(seed: int) -> None:
    """The first window is a part of a frame, so that a few frames wait until it has grown."""
    explained = _explained(_live(random.Random(seed)))
    count = _lost_count(explained)
    assert count >= 3
    (cubic,) = explained.ccas
    texts = " ".join(cause.text for cause in cubic.causes)
    assert f"{count} frames were late or dropped in the start-up" in texts
    assert explained.conclusion.best is None
    assert explained.conclusion.alternatives is None


@pytest.mark.parametrize("seed", range(2))
def test_frames_that_an_outage_makes_late_are_not_of_the_start_up(seed: int) -> None:
    changes = _live(random.Random(seed))
    changes["path.blackouts"] = [{"at": "10s", "duration": "2s"}]
    explained = _explained(changes)
    # Those of the two seconds are 60 in each run.
    assert _lost_count(explained) > 3 * 50
    texts = " ".join(cause.text for cause in explained.ccas[0].causes)
    assert not re.search("dropped in the start-up", texts)


@pytest.fixture(scope="module")
def need() -> Need:
    """The need of responses in four runs, with about the same time in each."""
    workload = {"kind": "request-response", "response": "20kB", "gap": "500ms"}
    result = ct.compare("steady-20-68", "cubic", 4, duration="20s", set={"flows.0.workload": workload})
    of_responses = first_need(result)
    assert of_responses is not None
    return of_responses


def _with_times(need: Need, factors: list[float], *places: str) -> Alternative:
    """Returns an alternative with times of responses by factors of those without it, run by run."""
    before = need.values(need.comparison, "cubic")
    values = [factor * value for factor, value in zip(factors, before, strict=True)]
    changes = tuple(f"{place}=1" for place in places)
    proposed = ProposedRemedy("slow_units", Remedy("", changes), ("cubic",), {}, after=need.comparison)
    gain = need.gain(before, values)
    return Alternative("cubic", proposed, need.comparison, places, values, gain, ())


def test_a_gain_in_one_run_of_four_is_no_best_of_all(need: Need) -> None:
    by_chance = _with_times(need, [0.2, 1.0, 1.0, 1.0], "server")
    in_all = _with_times(need, [0.8, 0.81, 0.8, 0.79], "server")
    assert by_chance.gain == pytest.approx(in_all.gain, abs=0.1)
    assert not need.is_shown_better(by_chance)
    assert need.is_shown_better(in_all)
    assert _best_of(need, [by_chance]) is None
    assert _best_of(need, [in_all]) is in_all


def test_of_changes_that_runs_do_not_set_apart_that_of_one_host_is_advised(need: Need) -> None:
    server = _with_times(need, [0.7, 0.6, 0.65, 0.7], "server")
    noisy = _with_times(need, [0.4, 0.7, 0.5, 0.8], "client", "server")
    lower = _with_times(need, [0.4, 0.41, 0.4, 0.39], "client", "server")
    assert noisy.gain > server.gain + need.min_gain
    assert _best_of(need, [server, noisy]) is server
    assert _best_of(need, [server, lower]) is lower
