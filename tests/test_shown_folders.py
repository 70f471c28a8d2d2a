"""Folders of every kind that `--out` writes, read back: finished ones and unfinished ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.campaign import run as campaign
from celltcp.campaign.shards import Shards
from celltcp.cli.load_folder import parts_of
from celltcp.comparison.verdicts.verdict_tables import verdicts_table

_SETTINGS: dict[str, Any] = {"cca": ["cubic", "bbr"], "runs": 2, "duration": "1s", "jobs": 1}
_GRID = {"path.buffer": ["1bdp", "4bdp"], "path.rtt": ["20ms", "40ms"]}


def _compared(folder: Path) -> Any:
    return ct.compare("drive", out=folder, **_SETTINGS)


def _set(folder: Path) -> Any:
    return ct.compare_all(["drive", "steady-5-18"], out=folder, **_SETTINGS)


def _swept(folder: Path) -> Any:
    return ct.sweep("drive", "path.rtt=100ms,20ms", out=folder, **_SETTINGS)


def _gridded(folder: Path) -> Any:
    return ct.sweep(["steady-5-18", "drive"], _GRID, out=folder, **_SETTINGS)


def _viewed(folder: Path) -> Any:
    return ct.compare_video(["steady-5-18", "drive"], "bola-e", out=folder, **_SETTINGS)


_COMMANDS = (_compared, _set, _swept, _gridded, _viewed)


def _stopped_after(
    runs: int, command: Callable[[Path], Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupts a command once so many runs are kept."""
    write = Shards.write
    left = [runs]

    def counted(self: Shards, jobs: Any, tables: Any) -> None:
        if left[0] < len(jobs):
            raise KeyboardInterrupt
        write(self, jobs, tables)
        left[0] -= len(jobs)

    with monkeypatch.context() as changed:
        changed.setattr(campaign, "_MAX_CHUNK_RUNS", 1)
        changed.setattr(Shards, "write", counted)
        with pytest.raises(KeyboardInterrupt):
            command(folder)


@pytest.mark.parametrize(
    "command",
    [pytest.param(each, marks=[pytest.mark.slow] * (each is _gridded)) for each in _COMMANDS],
)
def test_each_kind_of_folder_is_loaded_as_what_was_saved(
    command: Callable[[Path], Any], tmp_path: Path
) -> None:
    made = command(tmp_path / "out")
    made.save(tmp_path / "saved")
    for folder in ("out", "saved"):
        loaded = ct.load(tmp_path / folder)
        assert type(loaded) is type(made)
        assert loaded.to_json() == made.to_json()
    assert all(part.findings for part in parts_of(tmp_path / "saved"))


@pytest.mark.parametrize(
    "command",
    [pytest.param(each, marks=[pytest.mark.slow] * (each is _gridded)) for each in _COMMANDS],
)
def test_an_unfinished_folder_has_the_finished_runs_and_says_so(
    command: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = command(tmp_path / "whole").to_json()
    _stopped_after(3, command, tmp_path / "out", monkeypatch)
    before = sorted(tmp_path.glob("out/**/*"))
    loaded = ct.load(tmp_path / "out")
    total = {_compared: 4, _gridded: 32}.get(command, 8)
    text = "unfinished: 3 of 4 runs"
    if command is not _compared:
        text = f"unfinished: 1 of {total // 2} combinations, 3 of {total} runs"
        assert loaded.unfinished == text
    assert any(text in part.warnings for part in parts_of(tmp_path / "out"))
    assert sorted(tmp_path.glob("out/**/*")) == before
    assert command(tmp_path / "out").to_json() == whole
    assert ct.load(tmp_path / "out").to_json() == whole


def test_an_unfinished_comparison_pairs_the_seeds_that_all_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {**_SETTINGS, "runs": 5, "cca": ["cubic", "bbr", "reno"]}
    _stopped_after(8, lambda folder: ct.compare("drive", out=folder, **settings), tmp_path, monkeypatch)
    loaded = ct.load(tmp_path)
    assert loaded.ccas == ["cubic", "bbr"]
    assert loaded.warnings[0] == "unfinished: 8 of 15 runs"
    alone = ct.compare("drive", **{**settings, "runs": 3, "cca": ["cubic", "bbr"]})
    assert loaded.to_json()["differences"] == alone.to_json()["differences"]


def test_every_command_says_that_results_are_unfinished(
    celltcp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """9 of 16 runs: the first value has both CCAs, the second a single run of one of them."""
    settings = {**_SETTINGS, "runs": 4}
    _stopped_after(
        9,
        lambda folder: ct.sweep("drive", "path.rtt=100ms,20ms", out=folder, **settings),
        tmp_path / "s",
        monkeypatch,
    )
    text = "unfinished: 2 of 4 combinations, 9 of 16 runs"
    for arguments in (("show", "s"), ("explain", "s"), ("show", "s", "--plot", "sweep")):
        done = celltcp(*arguments)
        assert done.returncode == 0, done.stderr
        assert text in done.stdout + done.stderr, arguments
    assert "drive: mean and 95 % interval over 1 to 4 runs" in celltcp("show", "s").stdout
    assert json.loads(celltcp("explain", "s", "--json", "-").stdout)["unfinished"] == text
    loaded = ct.load(tmp_path / "s")
    assert [each for each in loaded.warnings if each.endswith(": ")] == []
    table = verdicts_table(loaded.axes, loaded.points)
    assert table.rows[1] == ("20ms", *["-"] * 3)
    assert {"undecided", "-"}.isdisjoint(table.rows[0])
    (part,) = parts_of(tmp_path / "s")
    assert "in 1 to 4 runs" in part.question
    assert text in part.warnings


def test_a_folder_without_a_finished_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stopped_after(0, _gridded, tmp_path / "out", monkeypatch)
    with pytest.raises(ct.CelltcpError, match="unfinished: 0 of 16 combinations, 0 of 32 runs"):
        ct.load(tmp_path / "out")


def test_a_sweep_of_scenarios_and_fields_has_a_verdict_for_each_point(celltcp, tmp_path: Path) -> None:
    done = celltcp(
        *("sweep", "steady-5-18,drive", "--vary", "path.buffer=1bdp,4bdp", "--vary", "path.rtt=20ms"),
        *("--cca", "cubic,bbr", "--runs", "2", "--duration", "1s", "--out", "s"),
    )
    assert done.returncode == 0, done.stderr
    table = done.stdout.partition("for goodput")[2]
    for scenario in ("steady-5-18", "drive"):
        for buffer in ("1bdp", "4bdp"):
            point = [scenario, buffer, "20ms"]
            rows = [row.replace("│", " ").split()[:3] for row in table.splitlines()]
            assert point in rows
    shown = celltcp("show", "s")
    assert shown.stdout == done.stdout
    assert celltcp("report", "s", "--out", "s.html").returncode == 0
    page = (tmp_path / "s.html").read_text()
    assert "celltcp sweep steady-5-18,drive" in page
    assert "--vary path.buffer=1bdp,4bdp --vary path.rtt=20ms" in page
    exported = celltcp("show", "s", "--format", "csv")
    assert exported.returncode == 0, exported.stderr
    assert (tmp_path / "s" / "csv" / "drive,path.buffer=1bdp,path.rtt=20ms" / "runs.csv").is_file()


def test_sweeps_in_one_folder_that_differ_in_the_scenario_have_it_as_an_axis(tmp_path: Path) -> None:
    ct.sweep("drive", "path.rtt=20ms", out=tmp_path, **_SETTINGS)
    ct.sweep("steady-5-18", "path.rtt=40ms", out=tmp_path, **_SETTINGS)
    assert list(ct.load(tmp_path).points) == [("steady-5-18", "40ms"), ("drive", "20ms")]
