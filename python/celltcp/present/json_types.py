"""JSON Schema (draft 2020-12) of types: what a value has as JSON that is annotated with them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Container, Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from celltcp.results.json_fields import Columns, Keywords

#: A schema, or a part of it.
Schema = dict[str, Any]

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


class SchemaWriter:
    """Writer of schemas. A class is written once, into `definitions`, and referred to by its name."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._named: dict[str, type] = {}

    def schema(self, kind: Any) -> Schema:
        """Returns the schema of a type.

        Raises:
            TypeError: if it has no form in JSON, or two classes have the same name.
        """
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(parts[0], kind.__metadata__)
        if origin in (Required, NotRequired):
            return self.schema(parts[0])
        if origin is Literal:
            return {"enum": list(parts)}
        if origin in (Union, UnionType):
            return _any_of([self.schema(part) for part in parts])
        if origin in (list, Sequence):
            return {"type": "array", "items": self.schema(parts[0])}
        if origin is tuple:
            if parts[1:] == (...,):
                return {"type": "array", "items": self.schema(parts[0])}
            return self._positions(parts)
        if origin in (dict, Mapping):
            values = self.schema(parts[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if kind in (object, Any):
            return {}
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        return self._referred(kind)

    def _annotated(self, kind: Any, notes: Sequence[object]) -> Schema:
        """Returns the schema of a type with the description, keywords and columns of its notes."""
        columns = [note.types() for note in notes if isinstance(note, Columns)]
        result = self._object(columns[-1]) if columns else self.schema(kind)
        for note in notes:
            if isinstance(note, str):
                result = {**result, "description": note}
            elif isinstance(note, Keywords):
                result = {**result, **note.keywords}
        return result

    def _positions(self, kinds: Sequence[Any]) -> Schema:
        """Returns the schema of an array that has a value of each of these types."""
        items = [self.schema(kind) for kind in kinds]
        return {
            "type": "array",
            "prefixItems": items,
            "minItems": len(items),
            "maxItems": len(items),
        }

    def _referred(self, kind: Any) -> Schema:
        """Returns a reference to the schema of a class, which it writes on the first use."""
        if not isinstance(kind, type):
            raise TypeError(f"{kind!r} has no form in JSON")
        name = kind.__name__
        if self._named.setdefault(name, kind) is not kind:
            raise TypeError(f"{name}: {kind.__module__} and {self._named[name].__module__} have it")
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self._class(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _class(self, kind: type) -> Schema:
        hints = get_type_hints(kind, include_extras=True)
        # A class without a line of its own gets one from `dataclass`, and none from `TypedDict`.
        title = {"title": (inspect.getdoc(kind) or kind.__name__).splitlines()[0].rstrip(".")}
        if is_typeddict(kind):
            # With annotations as texts, as in all modules, Python takes `NotRequired` for required.
            return {**title, **self._object(hints, set(hints) - vars(kind)["__required_keys__"])}
        if dataclasses.is_dataclass(kind):
            fields = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
            return {**title, **self._object(fields)}
        if issubclass(kind, tuple):
            return {**title, **self._positions(list(hints.values()))}
        raise TypeError(f"{kind.__module__}.{kind.__name__} has no form in JSON")

    def _object(self, types: Mapping[str, Any], optional: Container[str] = ()) -> Schema:
        """Returns the schema of an object with fields of these types."""
        required = [
            name
            for name, kind in types.items()
            if name not in optional and get_origin(kind) is not NotRequired
        ]
        return {
            "type": "object",
            "properties": {name: self.schema(kind) for name, kind in types.items()},
            **({"required": required} if required else {}),
        }


def _any_of(parts: Sequence[Schema]) -> Schema:
    """Returns a schema for values that fit one of these: a list of types where that says the same."""
    structured = [part for part in parts if part.keys() != {"type"}]
    if len(structured) > 1 or not all(isinstance(part.get("type"), str) for part in parts):
        return {"anyOf": list(parts)}
    merged = dict(structured[0]) if structured else {}
    return {**merged, "type": [part["type"] for part in parts]}
