"""Types of scenario fields by the JSON Schema: tables that are merged, and numbers that are seconds."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from celltcp._core import scenario_schema

#: Ending of the pattern of times in the schema.
_TIME = "(ns|us|µs|ms|s|min|h)\\s*$"

#: Maximum depth of lists and tables that is searched.
_LEVELS = 32

#: Kinds of numbers of numpy.
_NUMBER_KINDS = ("i", "u", "f")

#: Node of the schema.
_Node = Mapping[str, Any]


@functools.cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(scenario_schema())
    return schema


def flattened(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns changes with the tables of sections and list items as fields of their own.

    `{"path": {"rtt": "50ms"}}` is `{"path.rtt": "50ms"}`, which leaves the other fields of `path`. A
    table that has a `kind` replaces another one; without it the fields are those of the table there.
    """
    result: dict[str, Any] = {}
    for field, value in changes.items():
        if isinstance(value, Mapping) and (_is_section(field) or _lacks_kind(field, value)):
            inner = {f"{field}.{key}": each for key, each in value.items() if _is_key(key)}
            # An unknown key is reported with its table.
            result |= flattened(inner) if len(inner) == len(value) else {field: value}
        else:
            result[field] = value
    return result


def with_seconds(field: str, value: object) -> object:
    """Returns the value of a field with numbers as seconds wherever only a time is allowed."""
    return _with_seconds(value, _nodes(field))


def _nodes(field: str) -> list[_Node]:
    """Returns the nodes of a field, one for each alternative that has it."""
    nodes: list[_Node] = [_schema()]
    for part in field.split("."):
        nodes = _fields(nodes, part)
    return nodes


def _with_seconds(value: object, nodes: Sequence[_Node], levels: int = _LEVELS) -> object:
    known = [alternative for node in nodes for alternative in _alternatives(node)]
    if not known or levels == 0:
        return value
    if isinstance(value, Mapping):
        fitting = [node for node in known if _fits(node, value)]
        return {
            key: _with_seconds(each, _fields(fitting, str(key)), levels - 1)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_with_seconds(each, _fields(known, "0"), levels - 1) for each in value]
    is_time = any(str(node.get("pattern", "")).endswith(_TIME) for node in known)
    if is_time and not any(node.get("type") in ("number", "integer") for node in known):
        number = _number(value)
        return value if number is None else f"{number!r}s"
    return value


def _number(value: object) -> int | float | None:
    """Returns a number, also one of numpy, as a Python number; None for other values."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    plain = value.item() if kind in _NUMBER_KINDS and hasattr(value, "item") else value
    return plain if isinstance(plain, int | float) and not isinstance(plain, bool) else None


def _fields(nodes: Sequence[_Node], part: str) -> list[_Node]:
    """Returns the nodes of a field or list item of any of these."""
    return [inner for node in nodes for inner in _inside(node, part)]


def _is_section(field: str) -> bool:
    """Returns whether a field is a section of the scenario, or an item of a list that is one."""
    section, *items = field.split(".")
    is_item = len(items) == 1 and items[0].isdecimal()
    return section in _schema()["properties"] and (not items or is_item)


def _lacks_kind(field: str, table: Mapping[Any, object]) -> bool:
    """Returns whether a table has no `kind`, though each alternative of its field needs one."""
    tables = [
        alternative
        for node in _nodes(field)
        for alternative in _alternatives(node)
        if "properties" in alternative
    ]
    return (
        bool(table and tables)
        and "kind" not in table
        and all("const" in each["properties"].get("kind", {}) for each in tables)
    )


def _is_key(key: object) -> bool:
    return isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool))


def _fits(node: _Node, value: Mapping[Any, object]) -> bool:
    """Returns whether a table may be of this alternative, by its constant fields such as `kind`."""
    constants = {
        name: each["const"] for name, each in node.get("properties", {}).items() if "const" in each
    }
    return all(value.get(name, constant) == constant for name, constant in constants.items())


def _inside(node: _Node, part: str) -> Iterator[_Node]:
    """Yields the nodes of a field or list item."""
    for alternative in _alternatives(node):
        if part in alternative.get("properties", {}):
            yield alternative["properties"][part]
        elif part.isdecimal() and isinstance(alternative.get("items"), Mapping):
            yield alternative["items"]


def _alternatives(node: _Node) -> Iterator[_Node]:
    """Yields a node and all its alternatives, with references resolved."""
    yield node
    if "$ref" in node:
        yield from _alternatives(_schema()["$defs"][node["$ref"].rpartition("/")[2]])
    for key in ("anyOf", "oneOf", "allOf"):
        for each in node.get(key, ()):
            yield from _alternatives(each)
