"""Progress, --quiet and --verbose."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.campaign.run import RunsDone
from celltcp.cli.progress import ProgressLines, done_text

COMMAND = ("compare", "drive", "--cca", "cubic,bbr", "--runs", "3", "--duration", "3s")


def test_progress_counts_runs() -> None:
    told: list[float] = []
    ct.compare("drive", ["cubic", "bbr"], 3, duration="3s", progress=told.append)
    last = told[-1]
    assert isinstance(last, RunsDone)
    assert (last, last.finished, last.total) == (1.0, 6, 6)
    assert done_text(last) == "6 of 6 runs"
    assert done_text(0.123) == "12 %"


def test_kept_runs_count_as_done(tmp_path: Path) -> None:
    ct.compare("drive", ["cubic", "bbr"], 2, duration="3s", out=tmp_path)
    told: list[RunsDone] = []
    ct.compare("drive", ["cubic", "bbr"], 3, duration="3s", out=tmp_path, progress=told.append)  # type: ignore[arg-type]
    assert all(each.finished >= 4 for each in told)
    assert told[-1].total == 6


def test_the_bar_says_how_many_runs_are_done_and_what_is_left(tmp_path: Path) -> None:
    mine, theirs = pty.openpty()
    command = [str(Path(sys.executable).with_name("celltcp")), *COMMAND]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, cwd=tmp_path, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(mine, 4096):
                shown += piece
        except OSError:
            pass
        assert process.wait() == 0
    os.close(mine)
    assert b"6 of 6 runs" in shown
    assert b"left" in shown


def test_quiet_prints_outcomes_only(celltcp, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("time_s,mbps\n0,5\n9,10\n")
    command = ("compare", "x.csv", "--cca", "cubic", "--runs", "1", "--duration", "3s")
    loud = celltcp(*command, "--out", "a")
    assert loud.stderr.startswith("downlink ")
    assert "picture: " in loud.stderr
    quiet = celltcp(*command, "--out", "b", "--quiet")
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout


@pytest.mark.parametrize("option", ["-v", "--verbose"])
def test_verbose_says_what_was_done_in_how_long(celltcp, option: str) -> None:
    assert "comparing: 6 of 6 runs in " in celltcp(*COMMAND, option).stderr


def test_what_is_left_of_a_stage_follows_from_its_own_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("celltcp.cli.progress.time.monotonic", lambda: now[0])
    lines = ProgressLines()
    for at_s, stage, share in [(60, "first", 0.5), (100, "second", 0.0), (110, "second", 0.25)]:
        now[0] = at_s
        lines.report(stage, share)
    lines.end()
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "first: 50 %, 60 s left",
        "second: 0 %",
        "second: 25 %, 150 s left",
        "second: 25 % in 110.0 s",
    ]
