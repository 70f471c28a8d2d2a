"""Pages of results: made from commands in a list, whose finished runs are not done again."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands import Commands
from docs_pages import DOCS, MAX_SENTENCE_WORDS, sentences

LIST = """
[[pages]]
page = "results/made-up.md"
title = "Two CCAs"
question = "Which is best?"
notes = "A note."
pictures = ["Start-up"]
without = ["What limited"]
commands = [
    { run = "compare steady-5-18 --cca cubic,reno \\\\\\n --runs 2 --duration 1s" },
    { run = "traces info --help", prints = true, seeds = "none", title = "Help" },
]
"""


def written(folder: Path, text: str, *words: str) -> Path:
    """Writes the pages of a list."""
    (folder / "list.toml").write_text(text)
    arguments = ["results.py", "--list", str(folder / "list.toml"), "--docs", str(folder / "docs")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [*arguments, "--work", str(folder / "work"), *words])
        runpy.run_path(str(DOCS / "results.py"), run_name="__main__")
    return folder / "docs" / "results" / "made-up.md"


@pytest.fixture
def _forks(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the commands of pages be forks."""
    started = subprocess.run

    def run(words: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
        if Path(words[0]).name != "celltcp":
            return started(words, **how)
        done = commands.run(tuple(words[1:]), Path.cwd())
        assert done.returncode == 0, done.stderr
        how["stdout"].write(done.stdout)
        return done

    monkeypatch.setattr(subprocess, "run", run)


@pytest.mark.usefixtures("_forks")
def test_a_page_has_commands_build_seeds_notes_results_and_chosen_pictures(tmp_path: Path) -> None:
    file = written(tmp_path, LIST)
    page = file.read_text()
    record = json.loads((tmp_path / "work" / "made-up" / "1" / "record.json").read_text())
    assert page.startswith("# Two CCAs\n\n*Results: Which is best?*\n")
    command = "`celltcp compare steady-5-18 --cca cubic,reno --runs 2 --duration 1s`"
    assert f"| {command} | {record['build']} | 1 to 2 | " in page
    assert "| `celltcp traces info --help` |" in page
    assert "\nA note.\n" in page
    assert "| CCA | goodput Mbit/s |" in page
    assert "## Help\n\n```\nUsage: " in page
    assert page.count("![") == 1
    assert "## Start-up" in page
    assert "## What limited the flows" not in page
    assert "images/made-up/start-up.png" in page
    assert [each.name for each in (file.parent / "images" / "made-up").iterdir()] == ["start-up.png"]
    # What is finished is not run again, and gives the same page.
    table = tmp_path / "work" / "made-up" / "1" / "out" / "flows.parquet"
    before = table.stat().st_mtime_ns
    written(tmp_path, LIST, "results/made-up.md")
    assert table.stat().st_mtime_ns == before
    assert file.read_text() == page
    # Runs of another build are, unless they are to be kept.
    other = json.dumps({**record, "build": "other"})
    (tmp_path / "work" / "made-up" / "1" / "record.json").write_text(other)
    written(tmp_path, LIST, "--keep")
    assert table.stat().st_mtime_ns == before
    assert file.read_text() == page.replace(record["build"], "other", 1)
    written(tmp_path, LIST)
    assert table.stat().st_mtime_ns > before


@pytest.mark.parametrize(
    ("old", "new", "words", "fault"),
    [
        ("notes", "note", (), "results/made-up.md: unknown field note; allowed: commands"),
        ('question = "Which is best?"', "", (), "results/made-up.md: the field question is missing"),
        ("", "", ("results/other.md",), "unknown page results/other.md; allowed: results/made-up.md"),
    ],
)
def test_faults_of_the_list_name_page_and_field(
    old: str,
    new: str,
    words: tuple[str, ...],
    fault: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        written(tmp_path, LIST.replace(old, new), *words)
    assert end.value.code == 2
    assert fault in capsys.readouterr().err
    assert not (tmp_path / "docs").exists()


def test_notes_are_short_and_have_short_sentences() -> None:
    for page in tomllib.loads((DOCS / "results.toml").read_text())["pages"]:
        assert len(page.get("notes", "").split()) <= 900, page["page"]
        long = [
            each for each in sentences(page.get("notes", "")) if len(each.split()) > MAX_SENTENCE_WORDS
        ]
        assert not long, page["page"]


def test_pages_have_the_present_notes() -> None:
    for page in tomllib.loads((DOCS / "results.toml").read_text())["pages"]:
        file = DOCS / page["page"]
        assert not file.exists() or page.get("notes", "").strip() in file.read_text(), page["page"]
