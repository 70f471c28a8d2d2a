"""Tables of a JSON Schema as Markdown: the fields of its definitions, and the allowed values."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from celltcp.present.markdown import markdown_table
from celltcp.present.markdown_page import escaped
from celltcp.present.section import Column, Table

#: Definition in a schema.
Definition = Mapping[str, Any]


def table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Returns a table of texts, with code between backticks."""
    cells = tuple(tuple(map(_cell, row)) for row in rows)
    return markdown_table(Table(tuple(map(Column, headings)), cells))


def _cell(text: str) -> str:
    return "".join(part if part[:1] == "`" else escaped(part) for part in re.split("(`[^`]*`)", text))


def sections(schema: Definition, title: str, without: Container[str] = ()) -> Iterator[str]:
    """Yields a section with a table for the schema itself and for each of its definitions.

    Args:
        schema: schema of a file.
        title: title of the section about the top of the file.
        without: names of definitions to leave out.
    """
    yield section(title, "", _fields(schema))
    headings: set[str] = set()
    for name, definition in schema["$defs"].items():
        # Definitions such as the distributions of times and of sizes differ in a number only.
        if (heading := name.rstrip("0123456789")) in headings or heading in without:
            continue
        headings.add(heading)
        yield from _definition(heading, definition)


def _definition(heading: str, definition: Definition) -> Iterator[str]:
    text = _meaning(definition)
    forms: list[Definition] = definition.get("oneOf") or definition.get("anyOf") or []
    if values_of(definition):
        yield section(heading, text, values_table(definition))
    elif any(_kind(form) for form in forms):
        for form in filter(_kind, forms):
            yield section(f'{heading}, kind = "{_kind(form)}"', _meaning(form) or text, _fields(form))
    elif forms:
        rows = [(_form(form), _meaning(form)) for form in forms]
        yield section(heading, text, table(("form", "meaning"), rows))
    elif definition.get("properties"):
        yield section(heading, text, _fields(definition))


def meanings(definition: Definition) -> str:
    """Returns the table of the fields that have a meaning."""
    fields = ((name, _meaning(field)) for name, field in definition["properties"].items())
    return table(("field", "meaning"), [(name, meaning) for name, meaning in fields if meaning])


def values_table(definition: Definition) -> str:
    """Returns the table of the names that a definition allows."""
    return table(("value", "meaning"), values_of(definition))


def values_of(definition: Definition) -> list[tuple[str, str]]:
    """Returns each name that a definition allows, with its meaning."""
    names = definition.get("oneOf", [])
    return [(name["const"], _meaning(name)) for name in names if isinstance(name.get("const"), str)]


def section(title: str, *parts: str) -> str:
    """Returns a section with a heading, of those parts that are not empty."""
    return "\n\n".join(part for part in (f"### {title}", *parts) if part) + "\n"


def _kind(form: Definition) -> str:
    """Returns the `kind` of an alternative of a table; empty without one."""
    return str(form.get("properties", {}).get("kind", {}).get("const", ""))


def _fields(definition: Definition) -> str:
    required = definition.get("required", ())
    rows = [
        (name, _type(field), "required" if name in required else _default(field), _meaning(field))
        for name, field in definition["properties"].items()
        if "const" not in field
    ]
    return table(("field", "type", "default", "meaning"), rows) if rows else ""


def _form(form: Definition) -> str:
    """Returns the fields of a table, or the type of another value."""
    return ", ".join(form["properties"]) if form.get("properties") else _type(form)


def _type(field: Definition) -> str:
    """Returns the type of a field in a file: `text`, `number`, or the name of a section."""
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2].rstrip("0123456789"))
    if "enum" in field:
        return ", ".join(json.dumps(value) for value in field["enum"] if value is not None)
    if "anyOf" in field or "oneOf" in field:
        forms: list[Definition] = field.get("anyOf") or field.get("oneOf") or []
        parts = [_type(form) for form in forms]
        return " or ".join(dict.fromkeys(part for part in parts if part != "null"))
    stated = field.get("type", "any")
    types = [name for name in ([stated] if isinstance(stated, str) else stated) if name != "null"]
    if types == ["array"]:
        return f"list of {_type(field.get('items', {}))}"
    return (
        " or ".join({"string": "text", "object": "table"}.get(name, name) for name in types) or "null"
    )


def _default(field: Definition) -> str:
    value = field.get("default")
    return "" if value is None or isinstance(value, dict) else json.dumps(value)


def _meaning(definition: Definition) -> str:
    return " ".join(definition.get("description", "").split())
