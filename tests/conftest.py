"""Fixtures: the command in an empty folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Celltcp = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def celltcp(tmp_path: Path) -> Celltcp:
    """The command, in an empty folder."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("celltcp")), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call
