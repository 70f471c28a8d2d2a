"""End of a live run: exit codes, signals, killed runs, and what they leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from celltcp._core import CelltcpError
from celltcp.live.shell import Shell
from live.programs import MACHINE, NOBODY, WIRED, need_pasta, network_state


def test_the_command_has_its_exit_code_and_nothing_is_left(wired: Path) -> None:
    before = network_state()
    command = [sys.executable, "-m", "celltcp", "shell", str(wired), "--server", "sleep 1000", "--"]
    done = subprocess.run([*command, "sh", "-c", "exit 7"], timeout=60)
    assert done.returncode == 7
    assert network_state() == before


def test_programs_of_a_killed_run_end_with_the_next(wired: Path) -> None:
    before = network_state()
    command = [sys.executable, "-m", "celltcp", "shell", str(wired), "--server", "sleep 4321", "--"]
    run = subprocess.Popen(
        [*command, "sh", "-c", "echo ready; sleep 4321"], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    run.send_signal(signal.SIGKILL)
    run.wait()
    again = subprocess.run([*command, "true"], timeout=60, capture_output=True, text=True)
    assert again.returncode == 0
    assert "was killed: its programs were ended" in again.stderr
    assert not [each for each in Path("/proc").glob("[0-9]*/cmdline") if b"4321" in _read(each)]
    assert network_state() == before


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def test_ctrl_c_ends_the_command_and_keeps_the_tables(wired: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "celltcp", "shell", str(wired), "--out", str(out), "--"]
    run = subprocess.Popen(
        [*command, "sh", "-c", "echo ready; exec sleep 1000"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    time.sleep(0.2)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(timeout=30) == 128 + signal.SIGINT
    assert (out / "runs.parquet").is_file()


def test_a_killed_run_of_a_user_who_is_not_root_leaves_nothing(home_of_nobody: Path) -> None:
    """Neither its programs, nor those to the networks of the machine."""
    need_pasta()
    wired = home_of_nobody / "wired.toml"
    wired.write_text(WIRED)
    machine = ["unshare", "--net", "sh", "-c", MACHINE, "sh", *NOBODY]
    command = [*machine, sys.executable, "-m", "celltcp", "shell", str(wired), "--outside", "--"]
    home = {**os.environ, "HOME": str(home_of_nobody), "XDG_RUNTIME_DIR": str(home_of_nobody)}
    run = subprocess.Popen(
        [*command, "sh", "-c", "echo ready; exec sleep 4322"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env=home,
    )
    with run:
        assert run.stdout is not None
        if run.stdout.readline() != "ready\n":
            assert run.stderr is not None
            pytest.skip(run.stderr.read())
        run.send_signal(signal.SIGKILL)
    again = subprocess.run([*command, "true"], capture_output=True, text=True, cwd="/", env=home)
    assert "was killed: its programs were ended" in again.stderr
    left = [_read(each) for each in Path("/proc").glob("[0-9]*/cmdline")]
    assert not [each for each in left if b"4322" in each or (b"pasta" in each and b"outside0" in each)]


def test_what_cannot_be_is_refused_and_leaves_nothing(wired: Path, tmp_path: Path) -> None:
    before = network_state()
    with pytest.raises(CelltcpError, match=r'cca: "nosuch" .*allowed: .*cubic'), Shell(wired, "nosuch"):
        pass
    with Shell(wired) as shell:
        with pytest.raises(CelltcpError, match="on: there is no host 'tablet'; allowed: server, phone"):
            shell.start(["true"], on="tablet")
        with pytest.raises(CelltcpError, match="phone: 'no-such-program' does not start"):
            shell.start(["no-such-program"])
    split = tmp_path / "split.toml"
    split.write_text(WIRED + '[[path.middleboxes]]\nkind = "es"\n')
    with pytest.raises(CelltcpError, match="allowed in real time: snoop"), Shell(split):
        pass
    assert network_state() == before
