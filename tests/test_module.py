"""The package as a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_package_runs_as_the_command_does(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "celltcp", "cca", "nowhere"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'nowhere'" in done.stderr or '"nowhere"' in done.stderr
