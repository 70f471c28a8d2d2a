"""Fixtures: the command in an empty folder."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commands import Commands

Celltcp = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """The process that forks itself into commands."""
    forking = Commands()
    yield forking
    forking.close()


@pytest.fixture
def celltcp(tmp_path: Path, commands: Commands) -> Celltcp:
    """The command, in an empty folder."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return commands.run(arguments, tmp_path)

    return call
