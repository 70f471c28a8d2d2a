"""Commands of celltcp on how-to pages: each runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Celltcp

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ("how-to/choose-a-cca.md",)
#: Smaller numbers that prove that a command runs.
SMALL = {"--runs": "1", "--duration": "3s"}


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_runs(celltcp: Celltcp, tmp_path: Path, page: str) -> None:
    text = (DOCS / page).read_text().replace("\\\n", "")
    subprocess.run(
        [sys.executable, DOCS / "examples" / "data" / "drive_test.py"], cwd=tmp_path, check=True
    )
    for name, body in re.findall(r"write `([a-z]+\.toml)`:\n\n```toml\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(body)
    commands = re.findall(r"^\$ celltcp (.*)$", text, re.MULTILINE)
    assert len(commands) > 3
    for command in commands:
        words = shlex.split(command)
        small = [SMALL.get(before, word) for before, word in zip(["", *words], words, strict=False)]
        done = celltcp(*small)
        assert done.returncode == 0, (command, done.stderr)
