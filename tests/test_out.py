"""Folders of --out: what is replaced, what is kept, and who writes."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.campaign import run as campaign
from celltcp.campaign.engines import Engine

SETTINGS = {"cca": ["cubic", "bbr"], "duration": "2s"}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list:
    """The runs that are carried out."""
    real, result = campaign.run_batch, []

    def counted(chunks, *rest):
        result.extend(each for chunk in chunks for each in chunk)
        return real(chunks, *rest)

    monkeypatch.setattr(campaign, "run_batch", counted)
    return result


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_a_finished_comparison_is_not_run_again(tmp_path: Path, calls: list) -> None:
    first = ct.compare("drive", runs=2, out=tmp_path, **SETTINGS)
    before = files(tmp_path)
    calls.clear()
    again = ct.compare("drive", runs=2, out=tmp_path, **SETTINGS)
    assert calls == []
    assert again.results.is_repeat
    assert again.to_json() == first.to_json()
    assert files(tmp_path) == before


def test_only_runs_that_are_missing_are_run(tmp_path: Path, calls: list) -> None:
    at_once = ct.compare("drive", runs=4, **SETTINGS)
    ct.compare("drive", runs=3, out=tmp_path, **SETTINGS)
    calls.clear()
    extended = ct.compare("drive", runs=4, out=tmp_path, **SETTINGS)
    assert [(label, seed) for _, label, _, seed, _ in calls] == [("cubic", 4), ("bbr", 4)]
    assert extended.to_json() == at_once.to_json()
    assert ct.load(tmp_path).to_json() == at_once.to_json()
    calls.clear()
    other = {**SETTINGS, "cca": ["reno", "cubic", "bbr"]}
    ct.compare("drive", runs=4, out=tmp_path, **other)
    assert {label for _, label, _, _, _ in calls} == {"reno"}
    assert not (tmp_path / "parts").exists()


def test_selectors_of_finished_runs_are_kept_with_their_decisions(tmp_path: Path, calls: list) -> None:
    settings = {"cca": ["cubic", "auto:policy=rules"], "duration": "3s"}
    at_once = ct.compare("drive", runs=3, **settings)
    ct.compare("drive", runs=2, out=tmp_path, **settings)
    calls.clear()
    extended = ct.compare("drive", runs=3, out=tmp_path, **settings)
    assert len(calls) == 2
    assert extended.to_json() == at_once.to_json()
    assert extended.decisions["reason"].tolist() == at_once.decisions["reason"].tolist()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"set": {"path.rtt": "90ms"}}, "the scenario has other values"),
        ({"cca": ["cubic"]}, "it is without bbr"),
        ({"runs": 1}, "it has 1 run from seed 1"),
        ({"seed": 2}, "it has 2 runs from seed 2"),
        ({"build": "another"}, "they are of another build of celltcp"),
        ({"scenario": "steady-5-18"}, "it is about steady-5-18"),
    ],
)
def test_other_results_are_not_replaced(tmp_path: Path, monkeypatch, change: dict, reason: str) -> None:
    ct.compare("drive", runs=2, out=tmp_path, **SETTINGS)
    before = files(tmp_path)
    if build := change.pop("build", None):
        monkeypatch.setattr(Engine, "build", property(lambda _: build))
    settings = {"scenario": "drive", "runs": 2, **SETTINGS, **change}
    with pytest.raises(ct.CelltcpError, match=reason):
        ct.compare(**settings, out=tmp_path)
    assert files(tmp_path) == before
    replaced = ct.compare(**settings, out=tmp_path, overwrite=True)
    assert ct.load(tmp_path).to_json() == replaced.to_json()


@pytest.mark.parametrize("name", ["flows.parquet", "overview.png"])
def test_files_of_others_are_not_replaced(celltcp, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / name).write_text("mine")
    (folder / "notes.txt").write_text("mine, too")
    command = ("compare", "drive", "--runs", "1", "--duration", "2s", "--cca", "bbr", "--out", "out")
    done = celltcp(*command)
    assert done.returncode == 2
    assert f"out/{name}: is there, and no result of celltcp" in done.stderr
    assert (folder / name).read_text() == "mine"
    assert celltcp(*command, "--overwrite").returncode == 0
    assert (folder / "notes.txt").read_text() == "mine, too"


def test_the_error_describes_the_existing_results(tmp_path: Path) -> None:
    ct.compare("drive", ["bbr"], 1, duration="2s", out=tmp_path)
    with pytest.raises(ct.CelltcpError, match=r"\(bbr; 1 run from seed 1, native\)"):
        ct.compare("drive", ["cubic"], 1, duration="2s", out=tmp_path)


def test_pictures_of_earlier_results_are_removed(celltcp, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    command = ("compare", "drive", "--duration", "2s", "--cca", "bbr,cubic", "--out", "out")
    assert celltcp(*command, "--runs", "1").returncode == 0
    assert celltcp("show", "out", "--plot", "ecdf").returncode == 0
    done = celltcp(*command, "--runs", "1")
    assert "nothing was run" in done.stderr
    assert (folder / "ecdf.png").is_file()
    drawn_ns = (folder / "overview.png").stat().st_mtime_ns
    assert celltcp(*command, "--runs", "2").returncode == 0
    assert not (folder / "ecdf.png").exists()
    assert (folder / "overview.png").stat().st_mtime_ns > drawn_ns


def test_a_folder_is_one_command_s_at_a_time(tmp_path: Path) -> None:
    with (tmp_path / ".celltcp-lock").open("w") as held:
        held.write("4711\n")
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        for command in (ct.compare, ct.run):
            with pytest.raises(ct.CelltcpError, match=r"another .* \(process 4711\) writes"):
                command("drive", cca="cubic", duration="1s", out=tmp_path)
    ct.run("drive", cca="cubic", duration="1s", out=tmp_path)
    assert not (tmp_path / ".celltcp-lock").exists()


def test_a_finished_run_is_not_run_again(tmp_path: Path, monkeypatch) -> None:
    from celltcp.comparison import single_run as single

    first = ct.run("drive", cca="cubic", duration="2s", out=tmp_path)
    monkeypatch.setattr(single, "_run", None)
    again = ct.run("drive", cca="cubic", duration="2s", out=tmp_path)
    assert again.flows.equals(first.flows)
    with pytest.raises(ct.CelltcpError, match="it is without cubic"):
        ct.run("drive", cca="reno", duration="2s", out=tmp_path)


def test_an_interrupt_reports_and_keeps_finished_runs(tmp_path: Path) -> None:
    def stops(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    settings = {"cca": ["cubic", "bbr"], "duration": "400s", "jobs": 1, "out": tmp_path}
    with pytest.raises(KeyboardInterrupt) as stopped:
        ct.compare("drive", runs=2, progress=stops, **settings)
    assert 1 <= stopped.value.stored_runs <= 3
    assert stopped.value.total == 4
    with pytest.raises(ct.CelltcpError, match="another command that was interrupted"):
        ct.compare("steady-5-18", "reno", 1, duration="1s", out=tmp_path)
    ct.compare("steady-5-18", "reno", 1, duration="1s", out=tmp_path, overwrite=True)
    assert not (tmp_path / "parts").exists()


def test_a_sweep_is_extended_by_values(tmp_path: Path, calls: list) -> None:
    settings = {"cca": ["cubic"], "runs": 1, "duration": "1s", "out": tmp_path}
    ct.sweep("steady-5-18", "path.rtt=20ms,40ms", **settings)
    calls.clear()
    result = ct.sweep("steady-5-18", "path.rtt=20ms,40ms,80ms", **settings)
    assert len(calls) == 1
    assert [len(each.runs) for each in result.comparisons.values()] == [1, 1, 1]
