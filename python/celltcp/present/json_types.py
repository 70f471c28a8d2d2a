"""JSON Schema (draft 2020-12) from Python type hints."""

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

_PLAIN_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


class SchemaWriter:
    """Writer of schemas. Each class has one schema in `definitions`, to which others refer by name."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._by_name: dict[str, type] = {}

    def schema(self, hint: Any) -> Schema:
        """Returns the schema of a type hint.

        Raises:
            TypeError: if JSON cannot represent the type, or two classes have the same name.
        """
        origin, parts = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._annotated(parts[0], hint.__metadata__)
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
            return self._tuple(parts)
        if origin in (dict, Mapping):
            values = self.schema(parts[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if hint in (object, Any):
            return {}
        if hint in _PLAIN_TYPES:
            return {"type": _PLAIN_TYPES[hint]}
        return self._reference(hint)

    def _annotated(self, hint: Any, metadata: Sequence[object]) -> Schema:
        """Returns the schema of a type with description, keywords and columns from its `Annotated`."""
        columns = [item.types() for item in metadata if isinstance(item, Columns)]
        result = self._object(columns[-1]) if columns else self.schema(hint)
        for item in metadata:
            if isinstance(item, str):
                result = {**result, "description": item}
            elif isinstance(item, Keywords):
                result = {**result, **item.keywords}
        return result

    def _tuple(self, hints: Sequence[Any]) -> Schema:
        """Returns the schema of an array with one value of each of these types, in this order."""
        items = [self.schema(hint) for hint in hints]
        return {
            "type": "array",
            "prefixItems": items,
            "minItems": len(items),
            "maxItems": len(items),
        }

    def _reference(self, kind: Any) -> Schema:
        """Returns a reference to the schema of a class, and writes that on first use."""
        if not isinstance(kind, type):
            raise TypeError(f"JSON cannot represent {kind!r}")
        name = kind.__name__
        if self._by_name.setdefault(name, kind) is not kind:
            modules = f"in {kind.__module__} and in {self._by_name[name].__module__}"
            raise TypeError(f"two classes are named {name}: {modules}")
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self._class(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _class(self, kind: type) -> Schema:
        hints = get_type_hints(kind, include_extras=True)
        # Without a docstring, `dataclass` generates one and `TypedDict` has none.
        title = {"title": (inspect.getdoc(kind) or kind.__name__).splitlines()[0].rstrip(".")}
        if is_typeddict(kind):
            # Postponed annotations (PEP 563) hide `NotRequired` from `__required_keys__`.
            return {**title, **self._object(hints, set(hints) - vars(kind)["__required_keys__"])}
        if dataclasses.is_dataclass(kind):
            fields = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
            return {**title, **self._object(fields)}
        if issubclass(kind, tuple):
            return {**title, **self._tuple(list(hints.values()))}
        raise TypeError(f"JSON cannot represent {kind.__module__}.{kind.__name__}")

    def _object(self, types: Mapping[str, Any], optional: Container[str] = ()) -> Schema:
        """Returns the schema of an object with fields of these types."""
        required = [
            name
            for name, hint in types.items()
            if name not in optional and get_origin(hint) is not NotRequired
        ]
        return {
            "type": "object",
            "properties": {name: self.schema(hint) for name, hint in types.items()},
            **({"required": required} if required else {}),
        }


def _any_of(parts: Sequence[Schema]) -> Schema:
    """Returns a schema for values of any of these: with a list of types if that is enough."""
    structured = [part for part in parts if part.keys() != {"type"}]
    if len(structured) > 1 or not all(isinstance(part.get("type"), str) for part in parts):
        return {"anyOf": list(parts)}
    merged = dict(structured[0]) if structured else {}
    return {**merged, "type": [part["type"] for part in parts]}
