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

#: Value of a field. A text is read as that of `--set` is, such as `"2bdp"`; one in a list or a table is
#: literal.
Value: TypeAlias = (
    "bool | int | float | str | os.PathLike[str] | np.generic | npt.NDArray[Any]"
    " | Sequence[Value] | Mapping[str, Value]"
)

#: Scenario fields to override: a mapping from fields to values, or one or more `"field=value"` texts.
Changes: TypeAlias = "Mapping[str, Value] | Sequence[str]"

#: Description of allowed values in errors.
_ALLOWED_VALUES = (
    "a number, true or false, a text, a path, or a list or table (with texts as keys) of these"
)

#: Maximum depth of lists and tables, as in files.
_LEVELS = 64


def override_texts(changes: Changes) -> list[str]:
    """Returns changes as `field=value` texts for the scenario reader.

    Tables of sections change the fields that they name, and numbers are seconds where a time is due.

    Raises:
        CelltcpError: a field or a value has a type that is not allowed.
    """
    if isinstance(changes, str):
        return [changes]
    if isinstance(changes, Mapping):
        for field in changes:
            _require_text(field, "a field", '"path.rtt"')
        if not any(not isinstance(value, str) for value in changes.values()):
            return [f"{field}={value}" for field, value in changes.items()]
        from celltcp.scenarios.field_types import flattened, with_seconds

        return [
            f"{field}={_top(str(field), with_seconds(str(field), value))}"
            for field, value in flattened(changes).items()
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


def _top(field: str, value: object) -> str:
    """Returns the value of a field; a text stays as it is, because it is read as that of `--set` is."""
    return str(value) if isinstance(value, str) else _toml(field, value, _LEVELS)


def _toml(field: str, value: object, levels: int) -> str:
    """Returns a value with at most this depth of lists and tables in TOML."""
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
            path = os.fspath(value)
            return _toml(field, path, 0)
        case bytes() | bytearray() | memoryview():
            raise _refused(field, value)
        case Mapping() | Sequence() if levels == 0:
            raise CelltcpError(
                f"set: {field}: there are more than {_LEVELS} levels of lists and tables; "
                f"allowed: {_LEVELS} or less"
            )
        case Mapping():
            fields = []
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise _refused(f"{field}: key", key)
                fields.append(f"{_quoted(key)} = {_toml(f'{field}.{key}', inner, levels - 1)}")
            return f"{{ {', '.join(fields)} }}"
        case Sequence():
            items = (_toml(f"{field}.{at}", item, levels - 1) for at, item in enumerate(value))
            return f"[{', '.join(items)}]"
    return _of_numpy(field, value, levels)


def _of_numpy(field: str, value: object, levels: int) -> str:
    # Programs that pass values of numpy have imported it already.
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic | numpy.ndarray):
        plain = value.tolist()
        # Times would become numbers without a unit, and what Python lacks stays as it is.
        if value.dtype.kind not in "mM" and not isinstance(plain, numpy.generic):
            return _toml(field, plain, levels)
    raise _refused(field, value)


def _quoted(text: str) -> str:
    """Returns a text of TOML, which is one of JSON but for the last character of ASCII."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _refused(field: str, value: object) -> CelltcpError:
    return CelltcpError(
        f"set: {field}: {value!r} is of type {type(value).__name__}; allowed: {_ALLOWED_VALUES}"
    )
