"""Changes: fields of a scenario to override, as Python values or as the texts of `--set`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from celltcp._core import CelltcpError

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

#: Value of a field. A text is parsed like one of `--set`, such as `"2bdp"`; texts in lists and tables
#: are literal.
Value: TypeAlias = (
    "bool | int | float | str | os.PathLike[str] | np.generic | npt.NDArray[Any]"
    " | Sequence[Value] | Mapping[str, Value]"
)

#: Scenario fields to override: a mapping from fields to values, or one or more `"field=value"` texts.
Changes: TypeAlias = "Mapping[str, Value] | Sequence[str]"

#: Text in place of the value of a field that a scenario leaves unset. As a value it removes the field.
UNSET = "unset"

#: Description of allowed values in errors.
_ALLOWED_VALUES = (
    "a number, true or false, a text, a path, or a list or table (with texts as keys) of these"
)

#: Maximum depth of lists and tables, as in files.
_LEVELS = 64


def value_at(scenario: Mapping[str, Any], field: str) -> Any:
    """Returns the value of a field of a parsed scenario, such as `path.queue`; None if unset."""
    value: Any = scenario
    for part in field.split("."):
        if isinstance(value, list):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
    return value


def override_texts(changes: Changes) -> list[str]:
    """Returns changes as `field=value` texts for the scenario parser.

    The table of a section changes only the fields that it has. A number is in seconds if the field is
    a time.

    Raises:
        CelltcpError: a field or a value has a type that is not allowed.
    """
    if isinstance(changes, str):
        return [changes]
    if isinstance(changes, Mapping):
        for field in changes:
            _require_text(field, "a field", '"path.rtt"')
        # Texts need no schema, whose parsing takes time.
        if all(isinstance(value, str) for value in changes.values()):
            return [f"{field}={value}" for field, value in changes.items()]
        from celltcp.scenarios.field_types import flatten, with_seconds

        return [
            f"{field}={_override_value(str(field), with_seconds(str(field), value))}"
            for field, value in flatten(changes).items()
        ]
    if not isinstance(changes, Sequence) or isinstance(changes, bytes | bytearray):
        raise CelltcpError(
            f"set: {changes!r} is of type {type(changes).__name__}; allowed: a mapping from fields to "
            'values, or texts such as "path.rtt=50ms"'
        )
    for change in changes:
        _require_text(change, "a change", '"path.rtt=50ms"')
    return list(changes)


def _require_text(change: object, role: str, example: str) -> None:
    if not isinstance(change, str):
        raise CelltcpError(
            f"set: {change!r} is of type {type(change).__name__}, and {role} is a text; "
            f"allowed: texts such as {example}"
        )


def _override_value(field: str, value: object) -> str:
    """Returns the value in `field=value`: TOML, or a text unchanged."""
    return str(value) if isinstance(value, str) else _toml(field, value, _LEVELS)


def _toml(field: str, value: object, levels: int) -> str:
    """Returns a value as TOML; `levels` is the maximum depth of its lists and tables."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return repr(float(value))
        case str():
            return _quoted(value)
        case os.PathLike():
            return _toml(field, os.fspath(value), 0)
        case bytes() | bytearray() | memoryview():
            raise _type_error(field, value)
        case Mapping() | Sequence() if levels == 0:
            raise CelltcpError(
                f"set: {field}: there are more than {_LEVELS} levels of lists and tables; "
                f"allowed: {_LEVELS} or less"
            )
        case Mapping():
            fields = []
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise _type_error(f"{field}: key", key)
                fields.append(f"{_quoted(key)} = {_toml(f'{field}.{key}', inner, levels - 1)}")
            return f"{{ {', '.join(fields)} }}"
        case Sequence():
            items = (_toml(f"{field}.{index}", item, levels - 1) for index, item in enumerate(value))
            return f"[{', '.join(items)}]"
    return _numpy_toml(field, value, levels)


def _numpy_toml(field: str, value: object, levels: int) -> str:
    # A program that passes a numpy value has imported numpy already.
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic | numpy.ndarray):
        plain = value.tolist()
        # Times (kinds m and M) would lose their unit. Types without a Python equivalent stay numpy's.
        if value.dtype.kind not in "mM" and not isinstance(plain, numpy.generic):
            return _toml(field, plain, levels)
    raise _type_error(field, value)


def _quoted(text: str) -> str:
    """Returns a TOML string. It differs from a JSON string only in DEL, which TOML escapes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _type_error(field: str, value: object) -> CelltcpError:
    return CelltcpError(
        f"set: {field}: {value!r} is of type {type(value).__name__}; allowed: {_ALLOWED_VALUES}"
    )
