"""Fixtures: the command in an empty folder, and results that it has made."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commands import Commands
from store import Store

Celltcp = Callable[..., subprocess.CompletedProcess[str]]
Stored = Callable[..., Path]

# Workers of pytest-xdist have it.
os.environ.pop("COLUMNS", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--render", action="store_true", help="render the pictures of all commands")


@pytest.fixture(scope="session")
def commands(pytestconfig: pytest.Config) -> Iterator[Commands]:
    """The process that forks itself into commands."""
    forking = Commands(renders=pytestconfig.getoption("--render"))
    yield forking
    forking.close()


@pytest.fixture(autouse=True)
def _rendering(commands: Commands, request: pytest.FixtureRequest) -> None:
    is_looked_at = request.node.get_closest_marker("rendered") is not None
    commands.renders = is_looked_at or commands.renders_by_default


@pytest.fixture
def celltcp(tmp_path: Path, commands: Commands) -> Celltcp:
    """The command, in an empty folder."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return commands.run(arguments, tmp_path)

    return call


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory, commands: Commands) -> Store:
    """Results of the whole test run: the folders of its workers have the same parent."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "store"
    folder.mkdir(exist_ok=True)
    return Store(folder, commands)


@pytest.fixture
def stored(tmp_path: Path, store: Store) -> Stored:
    """Results of a command, copied to a folder in the empty one."""

    def copy(name: str, *words: str) -> Path:
        return shutil.copytree(store.results(*words), tmp_path / name)

    return copy
