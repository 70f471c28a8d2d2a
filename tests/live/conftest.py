"""Fixtures of live runs: scenario files, folders of runs, a user who is not root."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from celltcp._core import CelltcpError
from celltcp.live.doctor import measure_floor
from live.programs import NOBODY, WIRED


@pytest.fixture(scope="module", autouse=True)
def real_time() -> None:
    """Skips where no path can be played."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    try:
        measure_floor(0.01)
    except CelltcpError as error:
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the folders of runs apart from those of other tests."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def wired(tmp_path: Path) -> Path:
    """Scenario file of the path."""
    file = tmp_path / "wired.toml"
    file.write_text(WIRED)
    return file


@pytest.fixture
def home_of_nobody() -> Iterator[Path]:
    """Folder of that user; skips if it cannot run this Python."""
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, 65534, 65534)
        command = [*NOBODY, sys.executable, "-m", "celltcp", "units"]
        environment = {**os.environ, "HOME": name}
        if subprocess.run(command, capture_output=True, cwd="/", env=environment).returncode:
            pytest.skip("nobody cannot run this Python")
        yield Path(name)
