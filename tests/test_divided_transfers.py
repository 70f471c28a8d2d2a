"""Transfers divided among connections, and those that the end of a run cuts: figures and words."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.comparison.applications.applications import shown_metrics
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.results.statistics import estimate

if TYPE_CHECKING:
    from drawn_causes import Changes


def _lossy(draw: random.Random, count: int) -> Changes:
    return {
        "path.rtt": f"{draw.randint(60, 160)}ms",
        "path.down.rate": f"{draw.randint(10, 30)}Mbit/s",
        "path.loss": round(draw.uniform(0.005, 0.015), 4),
        "flows.0.count": count,
        "flows.0.workload": {"kind": "bulk", "bytes": f"{draw.randint(800, 2000)}kB"},
    }


@pytest.mark.parametrize("seed", range(3))
def test_parts_that_start_together_rank_by_the_last_one(seed: int) -> None:
    draw = random.Random(seed)
    changes = _lossy(draw, draw.randint(2, 6))
    result = ct.compare("steady-20-68", "cubic,bbr", 3, duration="60s", set=changes)
    (application,) = result.applications
    assert application.ranking == ("completion_max_s", "completion time of all parts", "")
    (stake,) = result.stakes
    for cca, values in stake.values.items():
        ends = result.flows.merge(result.runs[["run", "cca", "seed"]], on="run", suffixes=("_flow", ""))
        ends = ends[ends["cca"] == cca].groupby("seed")["completion_s"].max()
        assert values == pytest.approx(list(ends))
    assert not any("same instant" in each for each in result.warnings)
    # A cut part is in the time of the last one, and needs no column of its own.
    cut = ct.compare("steady-20-68", "cubic,bbr", 1, duration="1s", set=changes)
    assert "completion_least_s" in cut.applications[0].names
    assert "completion_least_s" not in shown_metrics(cut.applications)
    # Those of independent users have a mean, and so has a transfer of its own.
    for own in ({"flows.0.start_spread": "1s"}, {"flows.0.count": 1}):
        result = ct.compare("steady-20-68", "cubic,bbr", 1, duration="60s", set={**changes, **own})
        assert result.applications[0].ranking.metric == "completion_s"


@pytest.mark.parametrize("seed", range(3))
def test_the_cost_of_a_verdict_is_the_time_of_all_parts(seed: int) -> None:
    """BBR is fast and fills the queue, so that the delay leads with Reno, at a price in time."""
    draw = random.Random(seed)
    changes = {**_lossy(draw, 4), "path.loss": 0.02, "path.buffer": "3bdp", "path.rtt": "150ms"}
    result = ct.compare("steady-20-68", "reno,bbr", 4, duration="120s", set=changes)
    (application,) = result.applications
    costs = [verdict.cost.text for verdict in result.verdicts.values() if verdict.cost]
    times = [text for text in costs if "the completion time" in text]
    assert times
    old, new = application.means("completion_max_s")
    for text in times:
        assert f"{old:.3f} instead of {new:.3f} s with bbr" in text


@pytest.mark.parametrize("seed", range(3))
def test_the_trial_of_parts_has_the_figure_of_the_advised_command(seed: int) -> None:
    draw = random.Random(seed)
    changes: Changes = {
        "path.rtt": f"{draw.randint(200, 500)}ms",
        "path.down.rate": f"{draw.randint(10, 20)}Mbit/s",
        "path.loss": round(draw.uniform(0.002, 0.006), 4),
        "flows.0.workload": {"kind": "bulk", "bytes": f"{draw.randint(5, 12)}MB"},
    }
    runs = draw.randint(3, 5)
    result = ct.compare("steady-20-68", "cubic", runs, duration="300s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    (divided,) = (each for each in explained.remedies if "flows.0.count=5" in each.remedy.changes)
    more = dict(each.split("=", 1) for each in divided.remedy.changes)
    after = ct.compare("steady-20-68", "cubic", runs, duration="300s", set={**changes, **more})
    (of_one,), (of_parts,) = (each.applications for each in (result, after))
    ends = [of_one.means(of_one.completion_metric)[0], of_parts.means("completion_max_s")[0]]
    assert (
        f"in {runs} runs, cubic completion of the last part {ends[0]:.3f} to {ends[1]:.3f} s"
        in divided.trial
    )


def test_a_trial_of_few_runs_has_the_range_of_the_runs() -> None:
    from celltcp.comparison.explanation.trials.metric_changes import MetricChange

    wide = MetricChange("f", "completion_max_s", [10.0, 10.0], [3.0, 9.0])
    assert wide.text(names_flow=False, has_range=True).endswith("(-40 %; -70 to -10 % in single runs)")
    # One unit for both ends of the range.
    far = MetricChange("f", "completion_max_s", [10.0, 10.0], [0.9, 3.3])
    assert "(-79 %; -91 to -67 % in single runs)" in far.text(names_flow=False, has_range=True)
    more = MetricChange("f", "completion_max_s", [10.0, 10.0], [13.0, 150.0])
    assert "(8.15 times; 1.3 to 15 times in single runs)" in more.text(names_flow=False, has_range=True)
    assert wide.text(names_flow=False, has_range=False).endswith("(-40 %)")
    narrow = MetricChange("f", "completion_max_s", [10.0, 10.0], [5.0, 6.0])
    assert narrow.text(names_flow=False, has_range=True).endswith("(-45 %)")


def test_a_trial_with_cut_transfers_has_the_runs_without_them_too() -> None:
    from celltcp.comparison.explanation.trials.metric_changes import MetricChange
    from celltcp.comparison.explanation.trials.trial_metrics import complete_runs

    cut = {"completed_share": [1.0, 0.0, 1.0]}, {"completed_share": [1.0, 1.0, 0.8]}
    assert complete_runs(*cut) == (0,)
    assert complete_runs(cut[0], {"completed_share": [1.0]}) is None
    change = MetricChange(
        "f", "completion_max_s", [60.0, 300.0, 70.0], [20.0, 50.0, 300.0], complete_runs=(0,)
    )
    text = change.text(names_flow=False, has_range=False)
    assert text.endswith("with cut ones until the end, 60.000 to 20.000 s in the 1 of 3 runs without")


@pytest.mark.parametrize("seed", range(3))
def test_times_of_cut_transfers_are_said_to_be_lower_bounds(seed: int) -> None:
    """A duration between the times of the runs: some transfers are complete, some are not."""
    draw = random.Random(seed)
    changes = {**_lossy(draw, 1), "path.loss": 0.03, "variation.start_jitter": "0s"}
    whole = ct.compare("steady-20-68", "reno,bbr", 5, duration="200s", set=changes)
    (application,) = whole.applications
    times = sorted(application.values("completion_s")["reno"])
    duration_s = (times[2] + times[3]) / 2
    assert duration_s > max(application.values("completion_s")["bbr"])
    cut = ct.compare("steady-20-68", "reno,bbr", 5, duration=f"{duration_s:.1f}s", set=changes)
    (application,) = cut.applications
    share = application.means("completed_share")[0]
    assert 0 < share < 1
    (warning,) = (each for each in cut.warnings if "lower bounds" in each)
    assert warning.startswith(f"reno: {round(5 * (1 - share))} of 5 transfers of flow-1")
    advice = re.search(r"--duration (\d+)s would likely do", warning)
    assert advice is not None
    longer = ct.compare("steady-20-68", "reno", 5, duration=f"{advice[1]}s", set=changes)
    assert longer.applications[0].means("completed_share") == [1.0]
    reno, bbr = ExplainedComparison(cut).ccas
    least = estimate(application.values("completion_least_s")["reno"]).mean
    assert reno.standing.metric_text == (
        f"completion at least {least:.3f} s ({100 * (1 - share):.0f} % of the transfers not complete)"
    )
    assert bbr.standing.metric_text.startswith("completion mean ")
    assert "at least" not in bbr.standing.metric_text
