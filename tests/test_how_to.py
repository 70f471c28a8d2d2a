"""Commands of celltcp on pages: all options are known; those of how-to pages and tutorials run."""

from __future__ import annotations

import itertools
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from celltcp.cli import celltcp as command_line
from docs_pages import DOCS, ROOT, kind_of, name_of, pages, prose_lines

if TYPE_CHECKING:
    from conftest import Celltcp

PAGES = sorted([*DOCS.glob("how-to/*.md"), *DOCS.glob("tutorial/*.md")])
#: Pages whose commands are written by hand.
WRITTEN = [page for page in pages() if kind_of(page) != "Results"]
#: Manifests of the packages of the workspace.
CRATES = [*ROOT.glob("crates/**/Cargo.toml"), *ROOT.glob("tests/*/Cargo.toml")]
#: Smaller numbers that prove that a command runs.
SMALL = {"--runs": "1", "--duration": "5s"}
#: Commands that take a duration, which is short here where the page gives none.
TIMED = ("compare", "run", "sweep")
#: Pages whose commands always run; those of the others take long.
QUICK = ("how-to/choose-a-cca.md", "tutorial/first-comparison.md")
#: Commands that need a library of Rust to be built.
OTHER = re.compile(r"target/release/")
#: Commands that need a kernel, or would build or remove one.
KERNEL = re.compile(r"^kernel |--engine kernel|^fidelity ")
#: Commands that run programs of the machine in real time, which tests/live does.
REAL_TIME = re.compile(r"^shell |^replay ")
#: Scenarios whose flows would begin after a short run.
LATE = re.compile(r"fairness|'")


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yields language and text of each block of code."""
    yield from re.findall(r"^```([a-z]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def commands(text: str) -> Iterator[str]:
    """Yields the command lines in the blocks of a page, without those of other programs."""
    for language, block in blocks(text):
        if language not in ("", "sh"):
            continue
        for line in block.replace("\\\n", "").splitlines():
            command = line.removeprefix("$ ")
            if command.startswith("celltcp ") and not OTHER.search(command):
                yield command.removeprefix("celltcp ")


def shorter(command: str) -> tuple[list[str], str]:
    """Returns the words of a command with small numbers, and the file of its output if it has one."""
    words = shlex.split(command, comments=True)
    words, file = (words[:-2], words[-1]) if ">" in words else (words, "")
    small = [SMALL.get(before, word) for before, word in itertools.pairwise(["", *words])]
    if words[0] in TIMED and "--duration" not in words and not LATE.search(command):
        small += ["--duration", SMALL["--duration"]]
    if words[0] in ("compare", "sweep") and "--runs" not in words and "--dry-run" not in words:
        small += ["--runs", "1"]
    return small, file


def run_all(celltcp: Celltcp, folder: Path, page: Path) -> None:
    """Runs the commands of a page in their order."""
    text = page.read_text()
    subprocess.run(
        [sys.executable, DOCS / "examples" / "data" / "drive_test.py"], cwd=folder, check=True
    )
    pattern = r"[Ww]rite (?:it |this )?(?:as )?`([a-z]+\.(?:toml|py))`"
    bodies = [body for language, body in blocks(text) if language in ("toml", "python")]
    for name, body in zip(re.findall(pattern, text), bodies, strict=False):
        (folder / name).write_text(body)
    for command in commands(text):
        if KERNEL.search(command) or REAL_TIME.search(command):
            continue
        words, file = shorter(command)
        done = celltcp(*words)
        assert done.returncode == 0, (command, words, done.stderr)
        if file:
            (folder / file).write_text(done.stdout)


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_the_options_of_every_command_of_a_page_are_known(page: Path) -> None:
    for command in commands(page.read_text()):
        words, _ = shorter(command)
        parsed: click.Command = command_line
        while isinstance(parsed, click.Group) and words and words[0] in parsed.commands:
            parsed, words = parsed.commands[words[0]], words[1:]
        parsed.make_parser(click.Context(parsed)).parse_args(words)


def test_commands_within_sentences_have_known_names_options_and_packages() -> None:
    packages = {tomllib.loads(each.read_text())["package"]["name"] for each in CRATES}
    texts = [page.read_text() for page in WRITTEN] + [(DOCS / "results.toml").read_text()]
    for line in re.findall(r"`([^`]+)`", "\n".join("\n".join(prose_lines(text)) for text in texts)):
        program, *words = line.split()
        parsed: click.Command = command_line
        if program == "celltcp":
            while isinstance(parsed, click.Group) and words and words[0] in parsed.commands:
                parsed, words = parsed.commands[words[0]], words[1:]
            known = {option for each in parsed.params for option in each.opts}
            named = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert named <= known | {"--help", "--version"}, line
            assert not (
                parsed is command_line and words and words[0].isalpha() and words[0].islower()
            ), line
        if program == "cargo":
            assert set(re.findall(r"celltcp-[a-z-]+(?= |$)", line)) <= packages, line


@pytest.mark.parametrize(
    "page",
    [pytest.param(each, marks=[pytest.mark.slow] * (name_of(each) not in QUICK)) for each in PAGES],
    ids=name_of,
)
def test_every_command_of_a_page_runs(celltcp: Celltcp, tmp_path: Path, page: Path) -> None:
    run_all(celltcp, tmp_path, page)
