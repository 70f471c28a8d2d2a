"""Types of scenario fields from the JSON Schema: which tables are merged, which numbers are seconds."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from celltcp._core import scenario_schema

#: Ending of the regular expression of times in the schema.
_TIME_PATTERN = "(ns|us|µs|ms|s|min|h)\\s*$"

#: Maximum depth of lists and tables in which numbers are converted.
_LEVELS = 32

#: Kinds of numpy's dtypes that are numbers.
_NUMBER_KINDS = ("i", "u", "f")

#: Node of the schema.
_Node = Mapping[str, Any]


@functools.cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(scenario_schema())
    return schema


def flatten(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns changes with the tables of sections and list items split into dotted fields.

    `{"path": {"rtt": "50ms"}}` becomes `{"path.rtt": "50ms"}`, which keeps the other fields of `path`.
    A table with a `kind` replaces the scenario's table. Without a `kind` it changes fields of it.
    """
    result: dict[str, Any] = {}
    for field, value in changes.items():
        if isinstance(value, Mapping) and (_is_section(field) or _lacks_kind(field, value)):
            inner = {f"{field}.{key}": item for key, item in value.items() if _is_key(key)}
            # A table with an invalid key stays whole, so that the error names the table.
            result |= flatten(inner) if len(inner) == len(value) else {field: value}
        else:
            result[field] = value
    return result


def with_seconds(field: str, value: object) -> object:
    """Returns the value of a field with numbers as texts in seconds where only a time is allowed."""
    return _with_seconds(value, _nodes(field))


def _nodes(field: str) -> list[_Node]:
    """Returns the schema nodes of a dotted field, one for each alternative that has the field."""
    nodes: list[_Node] = [_schema()]
    for part in field.split("."):
        nodes = _fields(nodes, part)
    return nodes


def _with_seconds(value: object, nodes: Sequence[_Node], levels: int = _LEVELS) -> object:
    alternatives = [alternative for node in nodes for alternative in _alternatives(node)]
    if not alternatives or levels == 0:
        return value
    if isinstance(value, Mapping):
        matches = [node for node in alternatives if _matches_constants(node, value)]
        return {
            key: _with_seconds(item, _fields(matches, str(key)), levels - 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_with_seconds(item, _fields(alternatives, "0"), levels - 1) for item in value]
    is_time = any(str(node.get("pattern", "")).endswith(_TIME_PATTERN) for node in alternatives)
    if is_time and not any(node.get("type") in ("number", "integer") for node in alternatives):
        number = _number(value)
        return value if number is None else f"{number!r}s"
    return value


def _number(value: object) -> int | float | None:
    """Returns a Python or numpy number as a Python number; None for other values."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    plain = value.item() if kind in _NUMBER_KINDS and hasattr(value, "item") else value
    return plain if isinstance(plain, int | float) and not isinstance(plain, bool) else None


def _fields(nodes: Sequence[_Node], part: str) -> list[_Node]:
    """Returns the nodes that these have for a field or list index."""
    return [inner for node in nodes for inner in _inner_nodes(node, part)]


def _is_section(field: str) -> bool:
    """Returns whether a field is a section (`path`), or an item of a list of sections (`flows.0`)."""
    section, *indices = field.split(".")
    is_item = len(indices) == 1 and indices[0].isdecimal()
    return section in _schema()["properties"] and (not indices or is_item)


def _lacks_kind(field: str, table: Mapping[Any, object]) -> bool:
    """Returns whether a table has no `kind`, although each alternative of its field has one."""
    tables = [
        alternative
        for node in _nodes(field)
        for alternative in _alternatives(node)
        if "properties" in alternative
    ]
    return (
        bool(table and tables)
        and "kind" not in table
        and all("const" in table_node["properties"].get("kind", {}) for table_node in tables)
    )


def _is_key(key: object) -> bool:
    return isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool))


def _matches_constants(node: _Node, value: Mapping[Any, object]) -> bool:
    """Returns whether a table has no other values for the constants of a node, such as `kind`."""
    return all(
        value.get(name, inner["const"]) == inner["const"]
        for name, inner in node.get("properties", {}).items()
        if "const" in inner
    )


def _inner_nodes(node: _Node, part: str) -> Iterator[_Node]:
    """Yields the nodes of a field or list index."""
    for alternative in _alternatives(node):
        if part in alternative.get("properties", {}):
            yield alternative["properties"][part]
        elif part.isdecimal() and isinstance(alternative.get("items"), Mapping):
            yield alternative["items"]


def _alternatives(node: _Node) -> Iterator[_Node]:
    """Yields a node and, recursively, its alternatives and the node that it refers to."""
    yield node
    if "$ref" in node:
        yield from _alternatives(_schema()["$defs"][node["$ref"].rpartition("/")[2]])
    for key in ("anyOf", "oneOf", "allOf"):
        for alternative in node.get(key, ()):
            yield from _alternatives(alternative)
