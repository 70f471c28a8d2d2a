"""Writes pages of results from the commands in results.toml: `python docs/results.py [PAGE...]`.

The runs are kept in a folder of work, so that an interrupted call goes on where it was. A command that
is finished under the present build is not run again; with --keep, under any build.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from celltcp.campaign.engines import engine
from celltcp.cli.load_folder import parts_of
from celltcp.cli.write_report import save_pictures
from celltcp.files.atomic_write import write_text
from celltcp.present.markdown import markdown_table
from celltcp.present.markdown_page import PictureNames, escaped, markdown_part
from celltcp.present.section import Column, Part, Table

HERE = Path(__file__).parent
#: Fields of a page, and of a command.
PAGE_FIELDS = {"page", "title", "question", "notes", "pictures", "without", "commands"}
COMMAND_FIELDS = {"run", "prints", "seeds", "title"}
#: Sections of reports that the head of the page replaces.
ORIGIN = ("Versions and seeds", "Command that reproduces the results")


@dataclass(frozen=True)
class Command:
    """A command of a page.

    Attributes:
        run: its words after `celltcp`, without `--out`.
        prints: whether the page has its output; otherwise it has a report on the folder of `--out`.
        seeds: where no table of results has them.
        title: heading of its part of the page.
    """

    run: str
    prints: bool = False
    seeds: str = ""
    title: str = ""

    @property
    def text(self) -> str:
        """The command on one line."""
        return " ".join(["celltcp", *self.run.replace("\\\n", " ").split()])


@dataclass(frozen=True)
class Page:
    """A page of results.

    Attributes:
        page: path from `docs`.
        title: first heading.
        question: of the reader.
        commands: in the order of the page.
        notes: hand-written text in Markdown, below the head.
        pictures: parts of the titles of those sections whose pictures the page shows.
        without: parts of the titles of sections that it leaves out.
    """

    page: str
    title: str
    question: str
    commands: tuple[Command, ...]
    notes: str = ""
    pictures: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass
class Record:
    """Record of the runs of a command, kept beside them."""

    command: str
    build: str
    cpu_s: float = 0.0
    date: str = ""
    is_finished: bool = False


def pages_in(file: Path) -> list[Page]:
    """Reads the list of pages.

    Raises:
        ValueError: names the page and the field that is unknown or missing.
    """
    result = []
    for table in tomllib.loads(file.read_text("utf-8"))["pages"]:
        name = table.get("page", "a page without `page`")
        _check(table, PAGE_FIELDS, PAGE_FIELDS - {"notes", "pictures", "without"}, f"{file}: {name}")
        for command in table["commands"]:
            _check(command, COMMAND_FIELDS, {"run"}, f"{file}: {name}: commands")
        commands = tuple(Command(**each) for each in table["commands"])
        result.append(Page(**{**table, "commands": commands}))
    return result


def _check(table: dict[str, Any], known: set[str], needed: set[str], where: str) -> None:
    for key in sorted(set(table) - known):
        raise ValueError(f"{where}: unknown field {key}; allowed: {', '.join(sorted(known))}")
    for key in sorted(needed - set(table)):
        raise ValueError(f"{where}: the field {key} is missing")


def run(command: Command, folder: Path, *, is_kept: bool = False) -> Record:
    """Runs a command, or what is missing of it, and returns its record.

    Args:
        command: of a page.
        folder: of its record and results.
        is_kept: whether finished runs of another build do.
    """
    words = shlex.split(command.text)
    record = _record(folder, command.text, is_kept)
    if record.is_finished:
        return record
    folder.mkdir(parents=True, exist_ok=True)
    executable = str(Path(sys.executable).with_name("celltcp"))
    out = [] if command.prints else ["--out", str(folder / "out"), "--quiet"]
    before = _children_s()
    try:
        with (folder / "printed.txt").open("w") as printed:
            subprocess.run([executable, *words[1:], *out], stdout=printed, check=True)
        record.is_finished = True
    finally:
        record.cpu_s += _children_s() - before
        record.date = time.strftime("%Y-%m-%d", time.gmtime())
        write_text(folder / "record.json", json.dumps(vars(record), indent=1))
    return record


def _record(folder: Path, command: str, is_kept: bool) -> Record:
    """Returns the record that is there; runs of another command or build are removed."""
    build = engine().build
    file = folder / "record.json"
    if file.exists():
        record = Record(**json.loads(file.read_text("utf-8")))
        is_present = record.build == build or (is_kept and record.is_finished)
        if record.command == command and is_present:
            return record
        shutil.rmtree(folder)
    return Record(command, build)


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


def write(page: Page, docs: Path, work: Path, *, is_kept: bool = False) -> Path:
    """Runs the commands of a page and writes it, with its pictures in `images` beside it.

    Args:
        page: what is written.
        docs: folder of all pages.
        work: folder of the runs.
        is_kept: whether finished runs of another build do.
    """
    file = docs / page.page
    pictures = PictureNames(f"images/{file.stem}")
    rows, bodies = [], []
    for number, command in enumerate(page.commands, 1):
        folder = work / file.stem / str(number)
        record = run(command, folder, is_kept=is_kept)
        parts = [] if command.prints else parts_of(folder / "out")
        seeds = command.seeds or _seeds(parts)
        cpu = f"{record.cpu_s:.0f} s" if record.cpu_s < 120 else f"{record.cpu_s / 60:.0f} min"
        rows.append((f"`{record.command}`", record.build, seeds, cpu, record.date))
        bodies += [f"## {escaped(command.title)}\n"] if command.title else []
        if command.prints:
            text = (folder / "printed.txt").read_text("utf-8")
            bodies.append("```\n" + "\n".join(map(str.rstrip, text.splitlines())) + "\n```\n")
        texts = (markdown_part(_chosen(part, page), pictures) for part in parts)
        bodies += [_below(text) if command.title else text for text in texts]
    head = markdown_table(
        Table(tuple(map(Column, ("command", "build", "seeds", "CPU", "date"))), tuple(rows))
    )
    blocks = [f"# {page.title}", f"*Results: {page.question}*", head]
    blocks.append("`make results` writes this page.")
    blocks += (
        ["\n".join(line.rstrip() for line in page.notes.strip().splitlines())] if page.notes else []
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    save_pictures(pictures, file.parent)
    return write_text(file, "\n\n".join(each.strip("\n") for each in (*blocks, *bodies)) + "\n")


def _below(text: str) -> str:
    """Returns a text whose headings are below that of its command."""
    return re.sub(r"^## ", "### ", text, flags=re.MULTILINE)


def _chosen(part: Part, page: Page) -> Part:
    """Returns the sections that a page shows, with the pictures that it shows."""
    sections = (
        each if _is_named(each.title, page.pictures) else replace(each, figure=None)
        for each in part.sections
        if each.title not in ORIGIN and not each.is_folded and not each.is_front
        if not _is_named(each.title, page.without)
    )
    shown = (each for each in sections if each.table or each.figure or each.code or each.text)
    return replace(part, sections=tuple(shown))


def _is_named(title: str, parts: tuple[str, ...]) -> bool:
    return any(part in title for part in parts)


def _seeds(parts: list[Part]) -> str:
    """Returns the seeds that the tables of results have."""
    for part in parts:
        for section in part.sections:
            for name, value in (
                section.table.rows if section.title == ORIGIN[0] and section.table else ()
            ):
                if name == "seeds":
                    return value.partition(",")[0]
    raise ValueError(
        f"{parts[0].title}: the results have no seeds; allowed: the field seeds of the command"
    )


def main() -> None:
    """Writes the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="path from docs; all without any")
    parser.add_argument("--list", type=Path, default=HERE / "results.toml", help="the list of pages")
    parser.add_argument("--docs", type=Path, default=HERE, help="where the pages go")
    parser.add_argument("--work", type=Path, default=HERE.parent / "target" / "results")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="use finished runs of another build, as after a change of notes",
    )
    arguments = parser.parse_args()
    try:
        pages = pages_in(arguments.list)
    except ValueError as error:
        parser.error(str(error))
    known = {page.page for page in pages}
    for name in arguments.pages:
        if name not in known:
            parser.error(f"unknown page {name}; allowed: {', '.join(sorted(known))}")
    for page in pages:
        if not arguments.pages or page.page in arguments.pages:
            print(write(page, arguments.docs, arguments.work, is_kept=arguments.keep))


if __name__ == "__main__":
    main()
