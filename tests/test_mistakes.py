"""Mistakes that nobody expects, and interrupts at any time: one line, no traceback."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def main_with(statement: str) -> subprocess.CompletedProcess[str]:
    """The command `celltcp units`, in which this statement stands for what it does."""
    code = (
        "import sys\nfrom celltcp.cli import main\nfrom celltcp.cli.units import units\n"
        f"def fails():\n    {statement}\n"
        "units.callback = fails\nsys.argv = ['celltcp', 'units']\nmain()"
    )
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("statement", "code", "shown"),
    [
        ("{}['none']", 70, "KeyError: 'none'"),
        ("from celltcp.video.comparison import compare_video; compare_video(3)", 70, "celltcp/"),
        ("raise EOFError('marshal data too short')", 70, "EOFError: marshal data too short"),
        ("raise MemoryError('8 GiB')", 71, "out of memory: 8 GiB"),
        ("type('PanicException', (BaseException,), {}).__call__; raise type('PanicException', "
         "(BaseException,), {})('index out of bounds')", 70, "index out of bounds"),
    ],
)  # fmt: skip
def test_a_mistake_in_celltcp_is_one_line(statement: str, code: int, shown: str) -> None:
    done = main_with(statement)
    assert done.returncode == code
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("celltcp: ")
    assert shown in line
    if code == 70:
        assert "this is a fault of celltcp: please report it" in line


def test_a_traceback_is_printed_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELLTCP_TRACEBACK", "1")
    done = main_with("{}['none']")
    assert done.returncode == 70
    assert done.stderr.startswith("Traceback")


def test_a_mistake_in_an_own_cca_is_told_by_its_line(celltcp, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import celltcp as ct\n\n\n"
        "class Mine(ct.CongestionControl):\n    name = 'mine'\n\n"
        "    def report(self, report):\n        return 1 / 0\n"
    )
    for command in (("run", "drive"), ("compare", "drive", "--runs", "1")):
        done = celltcp(*command, "--cca-file", "mine.py", "--cca", "mine", "--duration", "2s", "-q")
        assert done.returncode == 2
        last = done.stderr.splitlines()[-1]
        place = r"mine\.py:8, \w+\.report at \d+\.\d{3} s: "
        assert re.search(f"{place}ZeroDivisionError: division by zero$", last), last
        assert "Traceback" not in done.stderr


def test_an_interrupt_while_modules_are_loaded_is_quiet() -> None:
    for last in ("click.core", "rich.text", "rich.console"):
        command = [sys.executable, "-X", "importtime", "-m", "celltcp", "compare"]
        child = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            # Where the tests run in the background of a shell, interrupts are ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert child.stderr is not None
        for line in child.stderr:
            if line.rstrip().endswith(f" {last}"):
                child.send_signal(signal.SIGINT)
                break
        rest = child.stderr.read()
        assert child.wait(timeout=60) == 130, rest
        said = [line for line in rest.splitlines() if not line.startswith("import time:")]
        assert said == ["celltcp: interrupted"]
