"""Man pages and completions: of every command, with whole sentences, as shells take them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from celltcp.cli import celltcp as commands

_SHARE = Path(__file__).parent.parent / "docs" / "share.py"
_CELLTCP = Path(sys.executable).with_name("celltcp")


def _names(command: click.Command, path: str = "celltcp") -> Iterator[str]:
    yield path
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from _names(below, f"{path}-{name}")


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder such as /usr/share."""
    folder = tmp_path_factory.mktemp("share")
    subprocess.run([sys.executable, str(_SHARE), str(folder)], check=True)
    return folder


def test_every_command_has_a_page_with_a_whole_sentence(share: Path) -> None:
    pages = {file.stem: file.read_text() for file in (share / "man" / "man1").iterdir()}
    assert set(pages) == set(_names(commands))
    for name, text in pages.items():
        line = text.split(".SH NAME\n")[1].splitlines()[0]
        assert line.replace("\\-", "-").startswith(name), line
        assert "..." not in line
    assert "\\-\\-dry\\-run" in pages["celltcp-compare"]


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("celltcp sel", ["select"]),
        ("celltcp select ev", ["evaluate"]),
        ("celltcp select compare-engines --scen", ["--scenarios"]),
        ("celltcp pcap ju", []),
        ("celltcp papers --e", []),
        ("celltcp compare driv", ["drive"]),
        ("celltcp compare --engine k", ["kernel"]),
        ("celltcp show r --plot sp", ["spider"]),
    ],
)
def test_bash_completes_commands_options_and_scenarios(
    share: Path, words: str, result: list[str]
) -> None:
    if (bash := shutil.which("bash")) is None:
        pytest.skip("bash is not installed")
    file = share / "bash-completion" / "completions" / "celltcp"
    program = f"""
        compopt() {{ :; }}
        source {file}
        COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _celltcp_completion celltcp
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = f"{_CELLTCP.parent}{os.pathsep}{os.environ['PATH']}"
    told = {**os.environ, "PATH": path}
    done = subprocess.run([bash, "-c", program], env=told, capture_output=True, text=True, check=True)
    assert done.stdout.split() == result, done.stderr


@pytest.mark.parametrize(
    ("file", "part"),
    [("zsh/site-functions/_celltcp", "#compdef celltcp"), ("fish", "--command celltcp")],
)
def test_other_shells_have_their_files(share: Path, file: str, part: str) -> None:
    place = share / file
    (text,) = [each.read_text() for each in (place.rglob("*.fish") if place.is_dir() else [place])]
    assert part in text
