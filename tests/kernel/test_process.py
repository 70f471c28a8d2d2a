"""The kernel as a process: captures, interrupts, crashes."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from celltcp._core import Run
from celltcp.engines import Engine
from celltcp.scenarios import load_scenario


def processes() -> set[str]:
    """Command lines of all kernels that run now."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"time-travel=inf-cpu" in words:
                found.add(entry.name)
    return found


def wait(running: Run) -> None:
    while not running.advance(2.0):
        pass


def folders() -> set[str]:
    return {entry.name for entry in Path(tempfile.gettempdir()).glob("celltcp-*")}


def test_a_capture_of_the_kernels_packets(linux: Engine, tmp_path: Path) -> None:
    capture = tmp_path / "one.pcap"
    running = linux.start(load_scenario("steady-5-18", changes=["duration=2s"]), 1, pcap=str(capture))
    wait(running)
    running.finish()
    assert capture.stat().st_size > 50_000
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed: the capture is not read")
    reading = ["tshark", "-r", str(capture), "-o", "tcp.check_checksum:TRUE"]
    wrong = "_ws.malformed or ip.checksum.status == 0 or tcp.checksum.status == 0"
    assert not subprocess.check_output([*reading, "-Y", wrong], stderr=subprocess.DEVNULL)
    syn = subprocess.check_output([*reading, "-c", "1"], stderr=subprocess.DEVNULL, text=True)
    assert "[SYN]" in syn


def test_an_interrupt_leaves_no_process_and_no_file(linux: Engine, tmp_path: Path) -> None:
    assert linux.kernel is not None
    running, there = processes(), folders()
    command = Path(sys.executable).with_name("celltcp")
    arguments = ["compare", "steady-100-68", "--engine", "kernel", "--runs", "4", "--out", "kept"]
    child = subprocess.Popen(
        [str(command), *arguments], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not processes() - running and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes() - running, "a kernel has started"
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 130
    assert not processes() - running
    assert not folders() - there


def test_the_kernel_dies_with_the_program_that_started_it(linux: Engine, tmp_path: Path) -> None:
    assert linux.kernel is not None
    running = processes()
    command = Path(sys.executable).with_name("celltcp")
    arguments = ["run", "steady-100-68", "--engine", "kernel", "--cca", "cubic", "--duration", "600s"]
    child = subprocess.Popen([str(command), *arguments], cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not processes() - running and time.monotonic() < deadline:
        time.sleep(0.05)
    child.kill()
    child.wait()
    deadline = time.monotonic() + 30
    while processes() - running and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not processes() - running


def test_a_crash_is_told_with_the_console(linux: Engine, tmp_path: Path) -> None:
    assert linux.kernel is not None
    guest = tmp_path / "not-a-program"
    guest.write_text("this is no program")
    part = Path(sys.modules["celltcp"].__file__ or "").parent / "engine" / "libkernel_path.so"
    scenario = load_scenario("steady-5-18", changes=["duration=2s"])
    running = Run.on_kernel(str(linux.kernel.binary), str(guest), str(part), scenario, 1)
    with pytest.raises(RuntimeError, match=r"(?s)ended early.*init"):
        wait(running)


def test_a_kernel_that_is_missing_is_named(linux: Engine) -> None:
    assert linux.kernel is not None
    gone = replace(linux, kernel=replace(linux.kernel, binary=Path("/nowhere/linux")))
    with pytest.raises(RuntimeError, match="/nowhere/linux"):
        gone.start(load_scenario("steady-5-18"), 1)
