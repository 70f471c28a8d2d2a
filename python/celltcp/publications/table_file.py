"""Table files: their lines, header and rows, with errors that name file, line and what is allowed."""

from __future__ import annotations

import csv
import fnmatch
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.scenarios.scenarios import is_trace, scenario_names, unknown_error

#: Prefix of the keys that define places.
PLACE = "place "

_PUBLICATIONS = Path(__file__).parent / "publications"

#: Pattern of a name on the command line.
_WORD = re.compile(r"[A-Za-z0-9.-]+")

_REQUIRED = ("publication", "experiment", "figure", "title")
_OPTIONAL = ("interval", "form", "note")
_COLUMNS = ("scenario", "cca", "quantity", "unit", "published")
_MORE_COLUMNS = (
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
        if not colon or (key not in (*_REQUIRED, *_OPTIONAL) and not key.startswith(PLACE)):
            raise CelltcpError(
                f"{file}, line {number}: {key!r}: allowed: lines # key: value with "
                f"{', '.join((*_REQUIRED, *_OPTIONAL))} or place NAME"
            )
        if key in result:
            raise CelltcpError(f"{file}, line {number}: {key} is there twice")
        result[key] = value
    if missing := [key for key in _REQUIRED if not result.get(key)]:
        raise CelltcpError(f"{file}: {missing[0]} is missing; the header needs {', '.join(_REQUIRED)}")
    if not _WORD.fullmatch(result["experiment"]):
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
    """Yields position and stripped fields of each row."""
    columns: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{file}, line {number}"
        try:
            fields = [field.strip() for field in next(csv.reader([line], strict=True))]
        except csv.Error as error:
            raise CelltcpError(f"{where}: {error}; each row is one line") from None
        if not columns:
            columns = fields
            _check_columns(file, columns)
            continue
        if len(fields) != len(columns):
            raise CelltcpError(f"{where}: {len(fields)} fields: needed are {', '.join(columns)}")
        yield where, dict(zip(columns, fields, strict=True))
    if not columns:
        _check_columns(file, columns)


def _check_columns(file: Path, columns: Sequence[str]) -> None:
    if missing := [name for name in _COLUMNS if name not in columns]:
        raise CelltcpError(f"{file}: the column {missing[0]} is missing; needed: {', '.join(_COLUMNS)}")
    if other := [name for name in columns if name not in (*_COLUMNS, *_MORE_COLUMNS)]:
        allowed = ", ".join((*_COLUMNS, *_MORE_COLUMNS))
        raise CelltcpError(f"{file}: the column {other[0]!r} is not known; allowed: {allowed}")
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise CelltcpError(f"{file}: the column {twice[0]} is there twice")


def check_scenario(name: str, places: Mapping[str, object], where: str) -> None:
    """Rejects a row whose scenario is no place of the table, no pattern, and no scenario."""
    names = _scenario_names()
    if name in places or name.partition("@")[0] in names:
        return
    if name.endswith(".toml") or is_trace(name):
        return
    if "*" not in name or not fnmatch.filter(names, name):
        raise CelltcpError(f"{where}: {unknown_error(name)}")


@functools.cache
def _scenario_names() -> frozenset[str]:
    return frozenset(scenario_names())
