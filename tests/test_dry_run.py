"""--dry-run of every campaign: runs, time and size without a run, and nothing left in folders."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from celltcp.campaign.cost_estimate import estimate_cost
from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import Jobs
from celltcp.scenarios.scenarios import load_scenario
from celltcp.selection.training import counterfactual, full_runs, moment_features
from celltcp.selection.training.plan import Plan
from celltcp.selection.training.train import training_request


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        (("compare", "drive", "--cca", "cubic,bbr", "--runs", "3", "--out", "out"), 6),
        (("sweep", "drive", "--vary", "path.rtt=20ms,80ms", "--cca", "cubic", "--out", "out"), 20),
        (("video", "drive", "--abr", "bola,bba-2", "--cca", "cubic", "--out", "out"), 10),
        (("papers", "atxutegi2017", "figure-2", "--runs", "7", "--out", "out"), None),
        pytest.param(("papers", "atxutegi2017", "table-1", "--sweep"), None, marks=pytest.mark.slow),
        (("pcap", "validate"), 14),
        (("pcap", "validate", "--cases", "tail"), 1),
        (("select", "train", "--runs", "2", "--out", "out/policy.toml"), None),
        (("select", "evaluate", "--scenarios", "drive", "--against", "", "--out", "out"), None),
    ],
)
def test_a_plan_has_runs_time_and_size_and_leaves_nothing(
    celltcp, tmp_path: Path, command: tuple[str, ...], runs: int | None
) -> None:
    done = celltcp(*command, "--dry-run")
    assert done.returncode == 0, done.stderr
    first, words, simulated, *_ = done.stdout.split()
    assert (words, simulated.replace(".", "").replace("e+", "").isdecimal()) == ("runs,", True)
    assert runs in (None, int(first))
    assert "h of CPU time and" in done.stdout
    assert done.stdout.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_papers_that_share_places_count_them_once(celltcp) -> None:
    def runs(*names: str) -> int:
        return int(celltcp("papers", *names, "--runs", "1", "--dry-run").stdout.split()[0])

    assert runs("atxutegi2017", "table-1", "figure-3") == runs("atxutegi2017", "table-1")


@pytest.mark.slow
@pytest.mark.parametrize("requirement", ["goodput", "delay"])
def test_a_training_is_planned_with_as_many_runs_as_it_does(
    requirement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(["lossy", "stepping"], [requirement], ["cubic", "reno", "vegas"], 2, 2, 2, 8, 2, 1)
    request = training_request("p", plan, None, None)
    told = request.estimate()
    counted = []
    for module in (counterfactual, moment_features, full_runs):
        real = module.run_jobs
        monkeypatch.setattr(
            module,
            "run_jobs",
            lambda jobs, real=real, **other: counted.append(jobs) or real(jobs, **other),
        )
    request.run()
    assert told.runs == sum(map(len, counted))
    simulated_s = sum(job.scenario.duration_s for jobs in counted for job in jobs)
    assert told.simulated_h == pytest.approx(simulated_s / 3600, rel=0.1)


def test_time_in_which_other_work_has_the_machine_is_no_cpu_time() -> None:
    def advance(_: float) -> bool:
        time.sleep(0.02)
        return True

    run = SimpleNamespace(advance=advance, finish=dict)
    here = SimpleNamespace(kernel=None, start=lambda *_: run)
    job = SimpleNamespace(engine=here, scenario=SimpleNamespace(duration_s=2.0), seed=1)
    taken, _ = sys.modules["celltcp.campaign.cost_estimate"]._trial(job)
    assert 0 < taken < 0.04


@pytest.mark.parametrize("count", [1, 7, 8, 9, 31, 1000])
def test_few_runs_are_begun_for_any_plan(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    begun = []
    outlining = sys.modules["celltcp.campaign.cost_estimate"]
    monkeypatch.setattr(outlining, "_trial", lambda job: begun.append(job) or (0.1, 10.0))
    scenario = load_scenario("drive")
    plans = (Jobs([("cubic", scenario)], 5, seed, engine()) for seed in range(count))
    told = estimate_cost(plans)
    assert told.runs == 5 * count
    assert told.cpu_h == pytest.approx(0.1 * told.simulated_h)
    assert len(begun) == min(count, 8)
    assert max(job.seed for job in begun) >= 0.6 * (count - 1)
