"""Table files: lines, header and rows, with errors that name the file, the line and allowed values."""

from __future__ import annotations

import csv
import fnmatch
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.scenarios.scenarios import is_trace, scenario_names, unknown_error

#: Prefix of the keys that define conditions.
CONDITION_PREFIX = "place "

_PUBLICATIONS = Path(__file__).parent / "publications"

#: Pattern of the name of an experiment.
_NAME = re.compile(r"[A-Za-z0-9.-]+")

#: Required and optional keys of the header.
_REQUIRED = ("publication", "experiment", "figure", "title")
_OPTIONAL = ("interval", "form", "note")
#: Required columns.
_COLUMNS = ("scenario", "cca", "quantity", "unit", "published")
_OPTIONAL_COLUMNS = (
    *("phase", "published_ci95", "claim", "window", "zone", "note"),
    *("line", "column", "said", "why"),
)


def read_lines(file: Path) -> list[str]:
    """Returns the lines of a file."""
    try:
        return file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CelltcpError(f"{file}: {error}") from None


def header_of(file: Path, lines: Sequence[str]) -> dict[str, str]:
    """Returns the values of the lines `# key: value` by key."""
    result: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.startswith("#"):
            continue
        key, colon, value = (part.strip() for part in line.removeprefix("#").partition(":"))
        if not colon or (key not in (*_REQUIRED, *_OPTIONAL) and not key.startswith(CONDITION_PREFIX)):
            raise CelltcpError(
                f"{file}, line {number}: {key!r}: allowed: lines # key: value with "
                f"{', '.join((*_REQUIRED, *_OPTIONAL))} or place NAME"
            )
        if key in result:
            raise CelltcpError(f"{file}, line {number}: {key} is there twice")
        result[key] = value
    if missing := [key for key in _REQUIRED if not result.get(key)]:
        raise CelltcpError(f"{file}: {missing[0]} is missing; the header needs {', '.join(_REQUIRED)}")
    if not _NAME.fullmatch(result["experiment"]):
        raise CelltcpError(
            f"{file}: experiment: {result['experiment']!r}: allowed: letters, digits, dots and hyphens"
        )
    publications = sorted(path.stem for path in _PUBLICATIONS.glob("*.toml"))
    if result["publication"] not in publications:
        raise CelltcpError(
            f"{file}: publication: {result['publication']!r}: allowed: {', '.join(publications)}, "
            f"each of which a file in {_PUBLICATIONS} describes"
        )
    return result


def rows_of(file: Path, lines: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the location (file and line) and the stripped fields of each row."""
    columns: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        location = f"{file}, line {number}"
        try:
            fields = [field.strip() for field in next(csv.reader([line], strict=True))]
        except csv.Error as error:
            raise CelltcpError(f"{location}: {error}; each row is one line") from None
        if not columns:
            columns = fields
            _check_columns(file, columns)
            continue
        if len(fields) != len(columns):
            raise CelltcpError(f"{location}: {len(fields)} fields: needed are {', '.join(columns)}")
        yield location, dict(zip(columns, fields, strict=True))
    if not columns:
        _check_columns(file, columns)


def _check_columns(file: Path, columns: Sequence[str]) -> None:
    if missing := [name for name in _COLUMNS if name not in columns]:
        raise CelltcpError(f"{file}: the column {missing[0]} is missing; needed: {', '.join(_COLUMNS)}")
    if unknown := [name for name in columns if name not in (*_COLUMNS, *_OPTIONAL_COLUMNS)]:
        allowed = ", ".join((*_COLUMNS, *_OPTIONAL_COLUMNS))
        raise CelltcpError(f"{file}: the column {unknown[0]!r} is not known; allowed: {allowed}")
    if repeated := [name for name in columns if columns.count(name) > 1]:
        raise CelltcpError(f"{file}: the column {repeated[0]} is there twice")


def check_scenario(name: str, conditions: Mapping[str, object], location: str) -> None:
    """Rejects a scenario that is no condition of the table, no pattern, no built-in one and no file."""
    names = _scenario_names()
    if name in conditions or name.partition("@")[0] in names:
        return
    if name.endswith(".toml") or is_trace(name):
        return
    if "*" not in name or not fnmatch.filter(names, name):
        raise CelltcpError(f"{location}: {unknown_error(name)}")


@functools.cache
def _scenario_names() -> frozenset[str]:
    return frozenset(scenario_names())
