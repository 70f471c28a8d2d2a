"""Commands that messages, help and comments name: each exists, so that no message leads nowhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import celltcp
from celltcp.cli import celltcp as commands

SOURCE = Path(celltcp.__file__).parent
#: A command, and the word after it, which is a subcommand if the command is a group.
NAMED = re.compile(r"\bcelltcp ([a-z][a-z-]*) ([a-z][a-z-]*)")


def _texts(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("room", sorted(each.name for each in SOURCE.iterdir() if each.is_dir()))
def test_commands_in_texts_exist(room: str) -> None:
    wrong = []
    for file in (SOURCE / room).rglob("*.py"):
        for text in _texts(file):
            for name, inner in NAMED.findall(text):
                command = commands.commands.get(name)
                # `celltcp shell` runs any program.
                if name == "shell" or not isinstance(command, click.Group):
                    continue
                if inner not in command.commands:
                    wrong.append(f"{file.relative_to(SOURCE)}: celltcp {name} {inner}")
    assert wrong == []
