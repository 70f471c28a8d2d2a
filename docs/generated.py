"""Writes the generated parts of pages, as Markdown: `python docs/generated.py FOLDER`.

The site puts each of them in the place of a line `<!-- generated: NAME -->`.
"""

from __future__ import annotations

import itertools
import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from celltcp._core import auto_parameters, capture_tables, result_tables, scenario_schema
from celltcp.cli import celltcp
from celltcp.present.cca_tables import catalogue_table, parameters_table
from celltcp.present.markdown import markdown_table
from celltcp.present.markdown_page import plain_table
from celltcp.present.section import Column, Table
from celltcp.results.json_fields import sentence
from celltcp.scenarios.ccas import catalogue
from celltcp.scenarios.scenarios import description, scenario_names, variants_of

ROOT = Path(__file__).parent.parent


def options() -> Iterator[str]:
    """Yields the help of each command, in the order of the list of commands."""
    yield from _help(celltcp, "celltcp", None)


def _help(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    with click.Context(command, info_name=name.rpartition(" ")[2], parent=parent) as context:
        context.max_content_width = context.terminal_width = 100
        yield f"### {name}\n\n```\n{command.get_help(context)}\n```\n"
        if isinstance(command, click.Group):
            for each in command.list_commands(context):
                below = command.get_command(context, each)
                if below is not None and not below.hidden:
                    yield from _help(below, f"{name} {each}", context)


def fields() -> Iterator[str]:
    """Yields a table for each section of a scenario file."""
    schema = json.loads(scenario_schema())
    yield _section("top of the file", schema, "")
    seen = set()
    # Times and sizes have distributions of the same names.
    for name, definition in schema["$defs"].items():
        if (title := name.rstrip("0123456789")) in seen:
            continue
        seen.add(title)
        kinds = [each for each in definition.get("oneOf", [definition]) if each.get("properties")]
        for kind in kinds:
            constant = kind["properties"].get("kind", {}).get("const")
            heading = f'{title}, kind = "{constant}"' if constant else title
            yield _section(heading, kind, kind.get("description", definition.get("description", "")))


def _section(title: str, definition: dict[str, Any], text: str) -> str:
    needed = definition.get("required", ())
    rows = [
        (name, _type(each), "required" if name in needed else _default(each), _words(each))
        for name, each in definition["properties"].items()
        if "const" not in each
    ]
    parts = [f"### {title}", " ".join(text.split())]
    parts += [_table(("field", "type", "default", "meaning"), rows)] if rows else []
    return "\n\n".join(part for part in parts if part) + "\n"


def _type(field: dict[str, Any]) -> str:
    """Returns the type of a field in a scenario file: `text`, `number`, or the name of a section."""
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2].rstrip("0123456789"))
    if "enum" in field:
        return ", ".join(json.dumps(each) for each in field["enum"] if each is not None)
    if "anyOf" in field or "oneOf" in field:
        parts = [_type(each) for each in field.get("anyOf", field.get("oneOf", []))]
        return " or ".join(dict.fromkeys(part for part in parts if part != "null"))
    names = field.get("type", "any")
    plain = [each for each in ([names] if isinstance(names, str) else names) if each != "null"]
    if plain == ["array"]:
        return f"list of {_type(field.get('items', {}))}"
    return (
        " or ".join({"string": "text", "object": "table"}.get(each, each) for each in plain) or "null"
    )


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    return "" if value is None or isinstance(value, dict) else json.dumps(value)


def _words(field: dict[str, Any]) -> str:
    return " ".join(field.get("description", "").split())


def scenarios() -> Iterator[str]:
    """Yields a table of the built-in scenarios of each folder, with their variants."""
    for folder, names in itertools.groupby(scenario_names(), lambda name: name.rpartition("/")[0]):
        rows = [(name, description(name)) for name in names]
        if folder:
            variants = variants_of(folder).items()
            rows += [(f"NAME@{name}", str(each["description"])) for name, each in variants]
        yield f"### {folder or 'Without a folder'}\n\n{_table(('name', 'description'), rows)}\n"


def ccas() -> Iterator[str]:
    """Yields the catalogue of CCAs, then the parameters of each."""
    entries = catalogue()
    yield f"{markdown_table(plain_table(catalogue_table(entries)))}\n"
    for entry in entries:
        if entry["parameters"]:
            table = parameters_table(entry["parameters"])
            yield f"### {entry['name']}\n\n{markdown_table(plain_table(table))}\n"
    rows = [(name, default, meaning) for name, meaning, default in auto_parameters()]
    yield f"### auto\n\n{_table(('parameter', 'default', 'meaning'), rows)}\n"


def columns() -> Iterator[str]:
    """Yields the columns of the tables of results and of captures."""
    for heading, tables in (("Results", result_tables()), ("Captures", capture_tables())):
        for table in tables:
            rows = [(name, sentence(meaning)) for name, meaning in table.columns]
            head = f"### {heading}: {table.name}\n\n{table.meaning}"
            yield f"{head}\n\n{_table(('column', 'meaning'), rows)}\n"


def crates() -> Iterator[str]:
    """Yields a table of the crates, each below those that it is built on.

    Of the latter it has those that are not below another one of them already.
    """
    workspace = _manifest(ROOT)["workspace"]
    names = {each["path"]: name for name, each in workspace["dependencies"].items() if "path" in each}
    folders = {
        names.get(path, path): ROOT / path
        for path in workspace["members"]
        if path.startswith("crates/")
    }
    manifests = {name: _manifest(folder) for name, folder in folders.items()}
    below = {name: set(each.get("dependencies", ())) & set(folders) for name, each in manifests.items()}

    def all_below(name: str) -> set[str]:
        return below[name].union(*map(all_below, below[name]))

    rows = []
    for name in sorted(folders, key=lambda name: (len(all_below(name)), name)):
        nearest = below[name].difference(*map(all_below, below[name]))
        path = folders[name].relative_to(ROOT / "crates").as_posix()
        rows.append((path, ", ".join(sorted(nearest)), manifests[name]["package"]["description"]))
    yield f"{_table(('crate', 'built on', 'contents'), rows)}\n"


def _manifest(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "Cargo.toml").read_text("utf-8"))


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return markdown_table(plain_table(Table(tuple(map(Column, headings)), tuple(rows))))


#: Generated parts by their names.
PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "options": options,
    "fields": fields,
    "scenarios": scenarios,
    "ccas": ccas,
    "columns": columns,
    "crates": crates,
}


def write(folder: Path) -> None:
    """Writes a file for each part."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in PARTS.items():
        (folder / f"{name}.md").write_text("\n".join(part()), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
