"""Store: results shared by tests, made once per test run by the first worker that needs them."""

from __future__ import annotations

import fcntl
import hashlib
from pathlib import Path

from commands import Commands

#: A comparison that many tests read.
COMPARED = ("compare", "drive", "--runs", "2", "--duration", "3s", "--cca", "cubic,bbr")


class Store:
    """Folders of results by the command that makes them."""

    def __init__(self, folder: Path, commands: Commands) -> None:
        self._folder = folder
        self._commands = commands

    def results(self, *words: str) -> Path:
        """Returns the folder of results of a command; tests must not change it."""
        name = hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
        folder = self._folder / name
        with (self._folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                part = self._folder / f"{name}.part"
                # The test that happens to be the first decides nothing.
                asked = self._commands.renders
                self._commands.renders = self._commands.renders_by_default
                done = self._commands.run((*words, "--out", str(part)), self._folder)
                self._commands.renders = asked
                assert done.returncode == 0, done.stderr
                part.rename(folder)
        return folder
