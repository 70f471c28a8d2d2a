"""Kernels that fail: one error type with the end of the console, and an exit code of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import celltcp

#: A checkout has them from `make setup` on.
_PROGRAMS = Path(celltcp.__file__).parent / "engine" / "celltcp-guest"

pytestmark = pytest.mark.skipif(
    not _PROGRAMS.is_file(),
    reason="the programs of the kernel engine are not built; make setup builds them",
)

#: Kernels that fail, as scripts, and what the error says of each.
KERNELS = {
    "exits": ("echo no memory; exit 3", "ended early (exit status: 3)", "no memory"),
    "crashes": ("echo oops; kill -SEGV $$", "signal: 11", "oops"),
    "talks nonsense": ("echo nonsense > reports; exec /bin/sleep 60", "the kernel's reports", ""),
    "is no program": ("", "cannot be started", "linux"),
}


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of kernels, in which one is built."""
    folder = tmp_path / "cache" / "celltcp" / "kernels" / "7.9"
    folder.mkdir(parents=True)
    about = {"version": "7.9", "ccas": ["reno", "cubic"], "source": {}, "kernel_side": ""}
    (folder / "about.json").write_text(json.dumps({**about, "built": "", "size_bytes": 1}))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder / "linux"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "command",
    [("run", "--cca", "reno"), ("compare", "--cca", "reno,cubic", "--runs", "1", "--jobs", "1")],
)
def test_a_kernel_that_fails_is_one_error_with_what_it_printed(
    celltcp, built: Path, kernel: str, command: tuple[str, ...]
) -> None:
    script, what, printed = KERNELS[kernel]
    built.write_text(f"#!/bin/sh\n{script}\n" if script else "")
    built.chmod(0o755)
    name, *options = command
    done = celltcp(name, "steady-5-18", *options, "--engine", "kernel", "--duration", "2s", "-q")
    assert done.returncode == 69, done.stderr
    assert "Traceback" not in done.stderr
    first = done.stderr.splitlines()[0]
    assert first.startswith("celltcp: scenario steady-5-18, cca reno, seed 1, engine kernel: "), first
    assert what in done.stderr
    assert printed in done.stderr


def test_verbose_says_that_a_kernel_has_started(celltcp, built: Path) -> None:
    built.write_text("#!/bin/sh\nexit 3\n")
    built.chmod(0o755)
    done = celltcp("run", "-v", "steady-5-18", "--cca", "reno", "--engine", "kernel")
    events = re.findall(r"^\d\d:\d\d:\d\d (.*)$", done.stderr, re.M)
    assert events[0] == "begin: scenario steady-5-18, cca reno, seed 1, engine kernel"
    assert re.fullmatch(r"kernel \d+ has started", events[1])
