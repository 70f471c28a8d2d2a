"""Imports of commands: what takes long is imported only by those that need it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from celltcp.cli import celltcp as commands
from celltcp.cli.commands import SENTENCES
from celltcp.cli.json_schema import SCHEMAS


def imported(*arguments: str, folder: Path) -> set[str]:
    """The modules that a command imports."""
    command = [sys.executable, "-X", "importtime", "-m", "celltcp", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_no_command_and_no_table(option: str, tmp_path: Path) -> None:
    result = imported(option, folder=tmp_path)
    assert "celltcp.cli" in result
    assert not {f"celltcp.cli.{name}" for name in SENTENCES} & result
    assert not {"numpy", "pyarrow", "pandas", "matplotlib", "rich"} & result


def test_a_comparison_on_the_terminal_imports_few_modules(tmp_path: Path) -> None:
    arguments = ("steady-20-68", "--cca", "cubic", "--runs", "1", "--duration", "100ms")
    found = imported("compare", *arguments, folder=tmp_path)
    own = {name for name in found if name.partition(".")[0] == "celltcp"}
    # The module that runs is `__main__`, and is not among those that are imported.
    assert len(own) <= 54, sorted(own)
    assert not {"pyarrow.compute", "pyarrow.parquet", "numpy.ma", "distributed"} & found


#: Runs that are over at once.
_SHORT = ("--cca", "cubic,auto", "--runs", "2", "--duration", "500ms")


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "steady-20-68", *_SHORT),
        ("compare", "steady-20-68", *_SHORT, "--cca", "cubic+bbr", "--json", "o.json"),
        ("compare", "steady-20-68", "short/100k", *_SHORT),
        ("sweep", "steady-20-68", "--vary", "path.rtt=20ms,1h", *_SHORT),
        ("run", "steady-20-68", "--cca", "auto", "--duration", "500ms"),
        ("run", "limits/parallel", "--duration", "500ms", "--json", "-"),
    ],
)
def test_no_pandas_and_no_matplotlib_before_a_picture_is_asked_for(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    result = imported(*arguments, folder=tmp_path)
    assert "pyarrow" in result
    assert not {"pandas", "matplotlib"} & result


def test_a_plan_of_a_training_needs_no_library_for_it(tmp_path: Path) -> None:
    result = imported(
        *("select", "train", "--runs", "2", "--dry-run", "--out", "p.toml"), folder=tmp_path
    )
    assert "celltcp.selection.training.train" in result
    assert not {"sklearn", "scipy"} & result


#: Prints a line for each command: the modules that a fork has imported to describe its JSON.
_SCHEMAS = """
import os
import sys

from celltcp.cli.json_schema import SCHEMAS, schema_of

for command in SCHEMAS:
    child = os.fork()
    if child == 0:
        schema_of(command)
        print(command, *sys.modules, sep=",", flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def of_schemas() -> dict[str, set[str]]:
    """The modules that the schema of each command needs."""
    command = [sys.executable, "-c", _SCHEMAS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = (line.split(",") for line in done.stdout.splitlines())
    return {name: set(modules) for name, *modules in lines}


@pytest.mark.parametrize("command", SCHEMAS)
def test_a_schema_needs_no_table(command: str, of_schemas: dict[str, set[str]]) -> None:
    assert "celltcp.cli.json_schema" in of_schemas[command]
    assert not {"numpy", "pyarrow", "pandas", "matplotlib", "rich"} & of_schemas[command]


def test_help_has_the_first_sentence_of_each_command() -> None:
    assert list(commands.commands) == list(SENTENCES)
    told = {name: each.get_short_help_str(200) for name, each in commands.commands.items()}
    assert told == SENTENCES
