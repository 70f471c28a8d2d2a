"""Evaluations and comparisons have tables of the same names, and folders of their own."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import celltcp as ct
from celltcp._core import policy_text
from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import jobs_for
from celltcp.results.folder import require_own
from celltcp.results.working import UNFINISHED, working_folder
from celltcp.scenarios.scenarios import load_scenario
from celltcp.selection import Evaluation, evaluate, scenario_runs
from celltcp.selection.checkpoint import save_frames

COMPARE = ("compare", "steady-5-18", "--cca", "cubic", "--runs", "1", "--duration", "2s")
RUN = ("run", "steady-5-18", "--cca", "cubic", "--duration", "2s")
EVALUATE = (
    *("select", "evaluate", "--policy", "rules", "--scenarios", "steady-5-18", "--runs", "1"),
    *("--cca", "cubic", "--against", "", "--requirement", "goodput", "--set", "duration=2s"),
)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize(("first", "then"), [(COMPARE, EVALUATE), (EVALUATE, COMPARE), (EVALUATE, RUN)])
def test_what_is_there_is_not_replaced(celltcp, tmp_path: Path, first, then) -> None:
    assert celltcp(*first, "--out", "out").returncode == 0
    before = contents(tmp_path / "out")
    done = celltcp(*then, "--out", "out")
    assert done.returncode == 2
    assert done.stderr.startswith("celltcp: out: holds ")
    assert len(done.stderr.splitlines()) == 1
    assert contents(tmp_path / "out") == before


@pytest.mark.slow
def test_its_own_are(celltcp, tmp_path: Path) -> None:
    for command in (COMPARE, RUN, COMPARE):
        assert celltcp(*command, "--out", "runs", "--overwrite").returncode == 0
    for _ in range(2):
        assert celltcp(*EVALUATE, "--out", "cases").returncode == 0
    assert (tmp_path / "cases" / "cases.parquet").is_file()


@pytest.mark.slow
def test_more_runs_go_on_from_fewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []

    def counted(jobs, **given):
        done.append(len(jobs))
        return run_jobs(jobs, **given)

    run_jobs = scenario_runs.run_jobs
    monkeypatch.setattr(scenario_runs, "run_jobs", counted)

    def evaluated(runs: int, folder: str) -> Evaluation:
        given = {"against": "bpftune", "switches": True, "history": 1, "seed": 3}
        settings = {"set": ["duration=6s"], "out": tmp_path / folder}
        return evaluate(
            "rules", "drive,steady-5-18", runs, ["goodput", "delay"], "cubic,bbr", **given, **settings
        )

    whole = evaluated(3, "whole")
    done.clear()
    evaluated(2, "grown")
    assert max(done) == 2 * 6
    done.clear()
    grown = evaluated(3, "grown")
    assert max(done) == 6
    assert grown.to_json() == whole.to_json()
    for frame in ("runs", "decisions", "costs", "cases"):
        pd.testing.assert_frame_equal(getattr(grown, frame), getattr(whole, frame))
    done.clear()
    assert evaluated(3, "grown").to_json() == whole.to_json()
    assert not any(done)
    with pytest.raises(ct.CelltcpError, match=r"other settings \(runs\)"):
        evaluated(2, "grown")


def test_a_policy_that_has_changed_is_evaluated_again(celltcp, tmp_path: Path) -> None:
    policy = tmp_path / "mine.toml"
    command = [word.replace("rules", "mine.toml") for word in EVALUATE]
    policy.write_text(policy_text("rules"))
    assert celltcp(*command, "--out", "out").returncode == 0
    policy.write_text(policy_text("default"))
    done = celltcp(*command, "--out", "out")
    assert done.returncode == 2
    assert "other settings (digests)" in done.stderr


def test_an_evaluation_that_was_interrupted_counts(tmp_path: Path) -> None:
    working_folder(tmp_path / UNFINISHED)
    with pytest.raises(
        ct.CelltcpError, match="what celltcp select evaluate or compare-engines has begun"
    ):
        ct.compare("steady-5-18", "cubic", 1, duration="2s", out=tmp_path)
    for command in ("evaluate", "engines"):
        require_own(tmp_path, command)


def test_comparisons_of_engines_are_told_apart(tmp_path: Path) -> None:
    told = {"requirements": ["delay"], "kernel_version": "7.3"}
    save_frames({"runs": pd.DataFrame({"seed": [1]})}, told, tmp_path, "engines")
    require_own(tmp_path, "engines")
    for command in ("evaluate", "compare", "run"):
        with pytest.raises(ct.CelltcpError, match=r"a comparison of engines \(celltcp"):
            require_own(tmp_path, command)


@pytest.mark.parametrize("command", [("show", "out"), ("select", "explain", "out")])
def test_a_folder_of_an_evaluation_is_told(celltcp, command) -> None:
    celltcp(*EVALUATE, "--out", "out")
    done = celltcp(*command)
    assert done.returncode == 2
    assert "holds an evaluation of policies (celltcp select evaluate)" in done.stderr
    assert "Traceback" not in done.stderr


def test_policies_may_have_long_paths(tmp_path: Path) -> None:
    folder = tmp_path / "/".join("deep" * 10 for _ in range(6))
    folder.mkdir(parents=True)
    fixed = 'name = "mine"\ndescription = "A test."\n[method.fixed]\ncca = "reno"\n'
    ccas = []
    for name in ("one.toml", "two.toml"):
        (folder / name).write_text(fixed)
        ccas.append(f"auto:policy={folder / name}")
    result = ct.compare("steady-5-18", ccas, 1, duration="2s", out=tmp_path / "out")
    assert len(result.ccas) == 2
    jobs = jobs_for(load_scenario("steady-5-18"), ccas, 1, 1, engine())
    assert len({job.key for job in jobs}) == 2
    assert max(len(job.key) for job in jobs) < 250
