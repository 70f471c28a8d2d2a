"""Reports on videos, engines and fidelity: their answers, and the commands that make them again."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd
import pytest

import celltcp as ct
from celltcp import CelltcpError
from celltcp.campaign.engines import engine
from celltcp.cli.load_folder import parts_of
from celltcp.cli.write_report import write_reports
from celltcp.fidelity.campaign import EnginePair, judge, rerun_undecided
from celltcp.fidelity.cases import choose_cases
from celltcp.fidelity.random_cases import random_cases
from celltcp.fidelity.rows import csv_text
from celltcp.fidelity.saved import DECIDED, ROWS, load_fidelity
from celltcp.selection.checkpoint import save_frames
from reports import Taken
from test_fidelity import Altered, Slower


def written(folder: Path) -> Taken:
    """The page on a folder, which is the same when it is made again."""
    file = folder.parent / "report.html"
    first = write_reports([folder], file)[0].read_bytes()
    assert write_reports([folder], file)[0].read_bytes() == first
    return Taken(first.decode())


@pytest.mark.slow
def test_a_video_has_its_best_cca_scores_and_sessions(celltcp, tmp_path: Path) -> None:
    options = ("--abr", "bola-e,robust-mpc", "--cca", "cubic,vegas", "--runs", "2", "--duration", "16s")
    assert celltcp("video", "drive", "steady-5-18", *options, "--out", "a").returncode == 0
    taken = written(tmp_path / "a")
    assert "does the viewer of a video get most on drive, steady-5-18" in taken.text("p")
    assert taken.text("div").count("Best on ") == 2
    assert "Scores by adaptation" in taken.text("h3")
    (part,) = parts_of(tmp_path / "a")
    command = shlex.split(part.sections[-1].code)
    assert celltcp(*command[1:-1], "b").returncode == 0
    for name in ("drive-bola-e", "steady-5-18-robust-mpc"):
        tables = [ct.load(tmp_path / folder / name).results.tables["runs"] for folder in ("a", "b")]
        assert tables[0].equals(tables[1])


@pytest.mark.slow
def test_videos_of_another_command_stay_a_set(celltcp, tmp_path: Path) -> None:
    video = ("--set", "flows.0.workload={ kind = 'video', abr = 'bola-e' }")
    options = ("--cca", "cubic,vegas", "--runs", "1", "--duration", "8s", "--out", "set")
    assert celltcp("compare", "drive", "fall", *video, *options).returncode == 0
    assert "Which of cubic, vegas is best on drive, fall?" in written(tmp_path / "set").text("p")


def compared_engines(folder: Path, kernel: float) -> Path:
    """A kept comparison of engines, of which the kernel gives reno this goodput."""
    rows = [
        {
            "engine": name,
            "scenario": "drive",
            "label": cca,
            "seed": seed,
            "goodput_mbps": goodput + 0.01 * seed,
        }
        for name, goodputs in (("native", (10.0, 8.0)), ("kernel", (10.0, kernel)))
        for cca, goodput in zip(("cubic", "reno"), goodputs, strict=True)
        for seed in (1, 2)
    ]
    about = {
        "version": "0.1.0",
        "build": "0",
        "kernel_version": "6.12",
        "requirements": ["goodput"],
        "cca": ["cubic", "reno"],
        "scenarios": {"drive": "abc"},
        "digests": {"drive": ["a", "b"]},
        "left_out": [],
        "runs": 2,
        "seed": 1,
        "set": ["duration=5s"],
    }
    return save_frames({"runs": pd.DataFrame(rows)}, about, folder, "engines")


@pytest.mark.parametrize(("kernel", "answer"), [(8.0, "same in 1 of 1"), (12.0, "same in 0 of 1")])
def test_engines_have_the_number_of_common_answers(tmp_path: Path, kernel: float, answer: str) -> None:
    taken = written(compared_engines(tmp_path / "engines", kernel))
    assert answer in taken.text("div")
    assert ("Best under one engine only" in taken.text("h3")) == (kernel > 10)
    assert "--cca cubic,reno --runs 2 --seed 1 --set duration=5s --kernel 6.12" in taken.text("pre")


def judged(folder: Path, names: list[str], other: type[Altered]) -> Path:
    """A kept campaign of fidelity, with the native engine in the place of the kernel."""
    cases = choose_cases(names, "2s") if names else random_cases(2, 1, "2s")
    result = judge(cases, ["reno", "cubic"], 2, 1, EnginePair(engine(), other("kernel"), out=folder))
    again = EnginePair(engine(), other("kernel"), out=folder / DECIDED)
    result = rerun_undecided(result, cases, 3, again) if result.undecided else result
    (folder / ROWS).write_text(csv_text(result, []))
    saved = load_fidelity(folder)
    assert saved is not None
    assert csv_text(saved.fidelity, []) == csv_text(result, [])
    return folder


@pytest.mark.slow
def test_fidelity_has_what_is_within_and_the_windows(tmp_path: Path) -> None:
    # The case of the library is in a folder of folders.
    folder = judged(tmp_path / "fidelity", ["steady-5-18-1bdp", "mobility/forward-60-4g"], Slower)
    taken = written(folder)
    assert "How far is the native TCP from that of Linux" in taken.text("p")
    assert "Within their bands" in taken.text("div")
    assert "Steady links" in taken.text("h3")
    assert "reno on steady-5-18-1bdp, seed 1" in taken.text("h3")
    command = "--cca reno,cubic --scenario steady-5-18-1bdp,mobility/forward-60-4g --duration 2s"
    assert command in taken.text("pre")


@pytest.mark.slow
def test_fidelity_on_random_cases_has_their_traits(tmp_path: Path) -> None:
    taken = written(judged(tmp_path / "random", [], Altered))
    assert "in 2 cases drawn at random" in taken.text("p")
    assert "Comparisons by what their scenario has" in taken.text("h3")
    assert "--random 2 --duration 2s --runs 2 --seed 1" in taken.text("pre")


def test_a_damaged_campaign_of_fidelity_is_named(tmp_path: Path) -> None:
    folder = judged(tmp_path / "fidelity", ["steady-5-18-1bdp"], Altered)
    (folder / "steady-5-18-1bdp" / "kernel" / "slots.parquet").unlink()
    with pytest.raises(CelltcpError, match=r"kernel/slots\.parquet"):
        parts_of(folder)
