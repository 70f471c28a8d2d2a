"""The kernel as a process: captures, interrupts, crashes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from celltcp._core import KernelEngineError, Run
from celltcp.campaign.engines import Engine
from celltcp.scenarios.scenarios import load_scenario


def kernels_in(folder: Path) -> list[int]:
    """Kernels that work in folders below `folder`."""
    result = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if b"time-travel=inf-cpu" in words and (entry / "cwd").readlink().is_relative_to(folder):
                result.append(int(entry.name))
        except OSError:
            continue
    return result


def started(arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """The command, whose kernels work below `folder`, as soon as one runs."""
    command = [str(Path(sys.executable).with_name("celltcp")), *arguments]
    child = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Where the tests run in the background of a shell, interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert soon(lambda: bool(kernels_in(folder))), "a kernel has started"
    return child


def soon(what: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not what() and time.monotonic() < deadline:
        time.sleep(0.05)
    return what()


def wait(running: Run) -> None:
    while not running.advance(2.0):
        pass


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


@pytest.mark.usefixtures("linux")
def test_an_interrupt_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    arguments = ["compare", "steady-100-68", "--engine", "kernel", "--runs", "4", "--out", "kept"]
    child = started([*arguments, "--duration", "600s"], tmp_path)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == 130
    assert not kernels_in(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["kept"]


@pytest.mark.usefixtures("linux")
def test_the_kernel_dies_with_the_program_that_started_it(tmp_path: Path) -> None:
    arguments = ["run", "steady-100-68", "--engine", "kernel", "--cca", "cubic"]
    child = started([*arguments, "--duration", "600s"], tmp_path)
    child.kill()
    child.wait()
    assert soon(lambda: not kernels_in(tmp_path))


def test_a_crash_is_told_with_the_console(linux: Engine, tmp_path: Path) -> None:
    assert linux.kernel is not None
    guest = tmp_path / "not-a-program"
    guest.write_text("this is no program")
    part = Path(sys.modules["celltcp"].__file__ or "").parent / "engine" / "libkernel_network.so"
    scenario = load_scenario("steady-5-18", changes=["duration=2s"])
    running = Run.on_kernel(str(linux.kernel.binary), str(guest), str(part), scenario, 1)
    with pytest.raises(KernelEngineError, match=r"(?s)ended early.*init"):
        wait(running)


def test_a_kernel_that_is_missing_is_named(linux: Engine) -> None:
    assert linux.kernel is not None
    gone = replace(linux, kernel=replace(linux.kernel, binary=Path("/nowhere/linux")))
    with pytest.raises(KernelEngineError, match="/nowhere/linux"):
        gone.start(load_scenario("steady-5-18"), 1)
