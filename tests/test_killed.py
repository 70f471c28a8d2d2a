"""Killed commands: wherever one stops, the same command goes on and ends with the same bytes."""

from __future__ import annotations

import itertools
import os
import shutil
import traceback
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

import celltcp as ct
from celltcp.campaign import run as campaign
from celltcp.present.style import save

_SETTINGS = {"cca": ["cubic"], "runs": 2, "duration": "1s"}

#: Exit code of a process that was killed.
_KILLED = 137


def is_killed_at(moment: int, command: Callable[[], object]) -> bool:
    """Runs a command in a process of its own, which ends at a change of the file system.

    As after SIGKILL, nothing is tidied up.

    Returns:
        Whether it came to that; False if the command had ended before.
    """
    child = os.fork()
    if child == 0:
        try:
            _die_at(moment)
            command()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, _KILLED)
    return code == _KILLED


def _die_at(moment: int) -> None:
    """Lets this process end at a change of the file system, counted from 0 on."""
    changes = itertools.count()

    def dies(change: Callable[..., object]) -> Callable[..., object]:
        def changed(*given: object, **named: object) -> object:
            if next(changes) >= moment:
                os._exit(_KILLED)
            return change(*given, **named)

        return changed

    for name in ("replace", "rename", "unlink", "mkdir", "rmdir"):
        setattr(os, name, dies(getattr(os, name)))
    Path.write_bytes = dies(Path.write_bytes)  # type: ignore[method-assign]
    pq.write_table = dies(pq.write_table)


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(folder)): each.read_bytes() if each.is_file() else b""
        for each in sorted(folder.rglob("*"))
    }


def _compared(folder: Path) -> None:
    """Compares, and draws an empty picture."""
    ct.compare("steady-5-18", out=folder, **_SETTINGS)
    save(Figure(), folder / "overview.svg")


def _ran(folder: Path) -> None:
    ct.run("steady-5-18", "cubic", duration="1s", out=folder)


def _swept(folder: Path) -> None:
    ct.sweep("steady-5-18", "path.rtt=20ms,40ms", ["cubic"], 1, duration="1s", out=folder)


@pytest.mark.parametrize("step", [41, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("command", [_compared, _ran, _swept])
def test_a_command_goes_on_from_wherever_it_was_killed(
    command: Callable[[Path], None], step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "_MAX_CHUNK_RUNS", 1)
    command(tmp_path / "whole")
    whole = _files(tmp_path / "whole")
    moments = itertools.count(step=step)
    for moment in moments:
        folder = tmp_path / str(moment)
        if not is_killed_at(moment, lambda folder=folder: command(folder)):
            break
        command(folder)
        assert _files(folder) == whole, moment
    assert moment > 10


def test_results_that_a_killed_command_was_replacing_are_not_read(tmp_path: Path) -> None:
    ct.compare("steady-5-18", out=tmp_path / "old", **_SETTINGS)
    more = {**_SETTINGS, "runs": 3}
    old, new = ct.load(tmp_path / "old").to_json(), ct.compare("steady-5-18", **more).to_json()
    refusals: list[str] = []
    there = old
    for moment in itertools.count(step=3):
        folder = shutil.copytree(tmp_path / "old", tmp_path / str(moment))
        is_killed_at(moment, lambda folder=folder: ct.compare("steady-5-18", out=folder, **more))
        try:
            there = ct.load(folder).to_json()
        except ct.CelltcpError as refusal:
            refusals.append(str(refusal))
        assert there in (old, new)
        if there == new:
            break
    assert refusals
    assert all("killed" in each for each in refusals)


def test_results_are_read_when_only_a_picture_was_begun(tmp_path: Path) -> None:
    ct.compare("steady-5-18", out=tmp_path, **_SETTINGS)
    whole = ct.load(tmp_path).to_json()
    for moment in range(8):
        is_killed_at(moment, lambda: save(Figure(), tmp_path / "overview.svg"))
        assert ct.load(tmp_path).to_json() == whole
    ct.compare("steady-5-18", out=tmp_path, **_SETTINGS)
    assert not [each for each in tmp_path.iterdir() if each.is_dir()]
