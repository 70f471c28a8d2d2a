"""Parser of `--vary` and of its form in Python: the fields that a sweep varies, and their values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from celltcp._core import CelltcpError
from celltcp.scenarios.changes import override_texts

if TYPE_CHECKING:
    from celltcp.scenarios.changes import Value

#: Maximum number of values of a field, and of points of a sweep.
MAX_POINTS = 1000

#: Range of whole numbers.
_RANGE_PATTERN = re.compile(r"(-?\d+)\.\.(-?\d+)")

#: Comma between values, not one within a table or a list.
_LIST_PATTERN = re.compile(r",(?![^{}]*\})(?![^\[\]]*\])")

#: Fields with their values: `"field=values"`, several of these, or a mapping from fields to values.
Vary: TypeAlias = "str | Sequence[str] | Mapping[str, Sequence[Value]]"


def varied_fields(vary: Vary) -> dict[str, list[str]]:
    """Returns the values of each field that is varied, as texts of `--set`.

    Raises:
        CelltcpError: if there is no field or no value, or a field or value comes twice.
    """
    if isinstance(vary, Mapping):
        return _of_mapping(vary)
    texts = [vary] if isinstance(vary, str) else list(vary)
    if not texts:
        raise CelltcpError("vary: no field; allowed: such as path.rtt=18ms,68ms")
    result: dict[str, list[str]] = {}
    for text in texts:
        field, values = parse_vary(text)
        if field in result:
            raise CelltcpError(f"vary: {field} is given twice; allowed: each field once")
        result[field] = values
    return result


def _of_mapping(vary: Mapping[str, Sequence[Value]]) -> dict[str, list[str]]:
    result = {}
    for field, values in vary.items():
        if isinstance(values, str):
            field, result[field] = parse_vary(f"{field}={values}")
            continue
        if not isinstance(values, Sequence) and not hasattr(values, "tolist"):
            raise CelltcpError(
                f"vary: {field}: {values!r} is of type {type(values).__name__}; allowed: a list of "
                'values, such as ["18ms", "68ms"]'
            )
        texts = [override_texts({field: value})[0].partition("=")[2] for value in values]
        result[field] = _checked(field, texts)
    if not result:
        raise CelltcpError('vary: no field; allowed: such as {"path.rtt": ["18ms", "68ms"]}')
    return result


def parse_vary(text: str) -> tuple[str, list[str]]:
    """Parses `FIELD=VALUES` into the field and its values.

    Raises:
        CelltcpError: if there is no field or no value, a value comes twice, or there are too many.
    """
    field, _, value_text = text.partition("=")
    if match := _RANGE_PATTERN.fullmatch(value_text.strip()):
        first, last = map(int, match.groups())
        # One value more than allowed suffices to show that there are too many.
        values = [str(number) for number in range(first, min(last, first + MAX_POINTS) + 1)]
    else:
        values = [value.strip() for value in _LIST_PATTERN.split(value_text)]
    if not field.strip() or not values or not all(values):
        raise CelltcpError(
            f"vary: {text!r} is not a field with values; allowed: FIELD=FIRST..LAST, whole numbers "
            "that rise, or FIELD=VALUE,VALUE,..., such as tcp.window_scale=0..14"
        )
    return field.strip(), _checked(text, values)


def _checked(vary: str, values: list[str]) -> list[str]:
    """Returns the values of a field; rejects none, too many and repeated ones, with `vary` as name."""
    if not values:
        raise CelltcpError(f"vary: {vary} has no value; allowed: one or more")
    if vary.startswith("cca."):
        parameter = vary.partition("=")[0].removeprefix("cca.")
        names = ",".join(f"NAME:{parameter}={value}" for value in values[:2])
        raise CelltcpError(
            f"vary: {vary!r} is a parameter of a CCA, and no field; compare CCAs with it: --cca {names}"
        )
    if len(values) > MAX_POINTS:
        raise CelltcpError(f"vary: {vary!r} has too many values; allowed: up to {MAX_POINTS}")
    repeated = next((value for value in values if values.count(value) > 1), None)
    if repeated is not None:
        raise CelltcpError(f"vary: {vary!r} has {repeated} twice; allowed: each value once")
    return values
