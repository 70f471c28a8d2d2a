"""Dialect of a table in text: separator, decimal sign, names of columns, first row."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field

from celltcp._core import CelltcpError
from celltcp.logs.table.times import looks_like_time
from celltcp.logs.table.values import GAP, MISSING, looks_like_number
from celltcp.logs.units import rate_unit, rate_unit_in, time_unit

#: Separators in the order of reliability, with their names; spaces are in nearly any text.
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", " ": "spaces"}
#: Number of lines by which a separator is found.
_SAMPLE_LINES = 200
#: Minimum share of lines with the usual number of fields in a table without names.
_MIN_SAME_WIDTH = 0.8
#: Numbers whose commas, or whose point, may separate thousands.
_THOUSANDS = r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"
_POINTS = r"[-+]?[1-9]\d{0,2}\.\d{3}"
#: A rule between the rows of a table drawn with characters.
_BORDER = re.compile(r"[-+|:= ]*-{3}[-+|:= ]*")
#: A comment, as of a shell, MATLAB or C.
_COMMENT = re.compile(r"\s*(?:#|%[% ]|//)")
#: A unit after a number.
_UNIT_BEHIND = r"(?<=\d) ?[A-Za-zµ%/]+$"
#: A text that is no list of values: words, or a number with its unit.
_NO_LIST = re.compile(r"[\w .:%/()\[\]+-]*|[-+]?\d[\d.,]*\s?[A-Za-zµ%/]+")


@dataclass(frozen=True)
class Dialect:
    """Form of the lines of a table: separator, names of columns, decimal sign."""

    separator: str
    #: Names of the columns; numbers from 1 where the table has none.
    names: tuple[str, ...]
    has_names: bool
    #: Number of lines of the file before the first row.
    skipped_lines: int
    has_decimal_comma: bool
    has_comments: bool
    #: Examples of numbers whose comma or point may separate decimals or thousands, by column.
    ambiguous_numbers: dict[int, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Kind of the table, for users."""
        if len(self.names) == 1:
            return "table of one column"
        return f"table with {SEPARATORS[self.separator]}"

    def split(self, line: str) -> list[str]:
        """Returns the fields of a line."""
        return split(line, self.separator)


def split(line: str, separator: str) -> list[str]:
    """Returns the fields of a line, without spaces and quotes around them."""
    if separator == " ":
        return [field.strip('"') for field in line.split()]
    fields = next(csv.reader([line.strip("\r\n")], delimiter=separator, skipinitialspace=True), [])
    return [field.strip() for field in fields]


def dialect_of(head: str) -> Dialect:
    """Returns the dialect of a table from its first lines.

    Raises:
        CelltcpError: if there is no row.
    """
    numbered = [(index, line) for index, line in enumerate(head.splitlines()) if line.strip()]
    stated = re.fullmatch(r'"?sep=(.)"?\s*', numbered[0][1].lstrip("\ufeff")) if numbered else None
    if stated:
        numbered = numbered[1:]
    lines = [
        (number, line)
        for number, line in numbered
        if not (_COMMENT.match(line) or _BORDER.fullmatch(line))
    ]
    if not lines:
        raise CelltcpError("no line with a time and a rate")
    separator = stated[1] if stated else _separator([line for _, line in lines[:_SAMPLE_LINES]])
    rows = [(number, split(line, separator)) for number, line in lines[: 5 * _SAMPLE_LINES]]
    width = Counter(len(fields) for _, fields in rows).most_common(1)[0][0]
    if separator != " " and _is_wider_head(rows, width):
        width = len(rows[0][1])
    at = next(index for index, (_, fields) in enumerate(rows) if len(fields) == width)
    number, first = rows[at]
    has_names = not any(_is_value(field) for field in first) and any(
        any(letter.isalpha() for letter in field) for field in first
    )
    if has_names:
        names, at = list(first), at + 1
        if at < len(rows) and _are_units(rows[at][1], rows[at + 1 : at + 3]):
            units = [unit.strip("[]() ") for unit in rows[at][1]]
            pairs = zip(names, units, strict=False)
            names = [f"{name} [{unit}]" if unit else name for name, unit in pairs]
            at += 1
        elif at + 1 < len(rows) and _are_names(rows[at][1], names) and _has_values(rows[at + 1][1]):
            # The first line has the groups of the columns, as dstat writes them.
            pairs = zip(names, rows[at][1], strict=False)
            is_full = all(rows[at][1])
            names = rows[at][1] if is_full else [" ".join(filter(None, pair)) for pair in pairs]
            at += 1
    else:
        above = lines[at - 1][1] if at else ""
        names = (
            _names_in_comment(head, number, separator, width)
            or _names_after_row_names(rows[:at], width)
            or (_names_with_spaces(above, width) if separator == " " else [])
        )
        has_names = bool(names)
        names = names or [str(position + 1) for position in range(width)]
    if at >= len(rows):
        raise CelltcpError("no line with a time and a rate")
    if not has_names:
        _check_widths([len(fields) for _, fields in rows[at:]], width)
    values = [fields for _, fields in rows[at:]]
    sign, ambiguous_numbers = _decimal_sign(values, separator)
    has_comments = any(
        line.lstrip().startswith("#") for line_at, line in numbered if line_at > rows[at][0]
    )
    return Dialect(
        separator,
        tuple(_unique(names)),
        has_names,
        rows[at][0],
        sign == "comma",
        has_comments,
        ambiguous_numbers,
    )


def _check_widths(widths: list[int], usual: int) -> None:
    """Checks whether most lines have the usual number of fields.

    Raises:
        CelltcpError: if not, as for lines of several kinds.
    """
    share = sum(width == usual for width in widths) / len(widths)
    if share < _MIN_SAME_WIDTH:
        raise CelltcpError(
            f"lines of several kinds, with {min(widths)} to {max(widths)} fields and no names: a file "
            "with the lines of one kind only can be read, by --column and --unit"
        )


def _decimal_sign(rows: list[list[str]], separator: str) -> tuple[str, dict[int, str]]:
    """Returns the decimal sign, and by column the numbers for which it is ambiguous.

    A sign separates thousands if a number has it twice, or if its column has whole numbers below a
    thousand, too. Ambiguous signs are read as decimal ones, but the comma of a quoted `"12,500"` in a
    table with commas separates thousands.
    """
    rows = [[re.sub(rf"{GAP}|{_UNIT_BEHIND}", "", value) for value in values] for values in rows]
    fields = [value for values in rows for value in values]
    if any(re.fullmatch(r"[-+]?\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?", each) for each in fields):
        return "comma", {}
    commas = [each for each in fields if re.fullmatch(r"[-+]?\d+(?:[.,]\d+)*,\d+(?:\.\d+)?", each)]
    points = [each for each in fields if re.fullmatch(r"[-+]?\d+\.\d+", each)]
    if commas:
        if not all(re.fullmatch(_THOUSANDS, comma) for comma in commas):
            return "comma", {}
        if any(comma.count(",") > 1 or "." in comma for comma in commas):
            return "point", {}
        if _has_numbers_below_thousand(rows, commas) or not _may_be_thousands(points):
            return "point", {}
        return "point" if separator == "," else "comma", _examples(rows, commas)
    if not points or separator == "," or not _may_be_thousands(points):
        return "point", {}
    if _has_numbers_below_thousand(rows, points) and any(point.endswith("0") for point in points):
        # If its dot separated decimals, a tool that writes 12.500 would write 980.000, and not 980.
        return "comma", {}
    return "point", _examples(rows, points)


def _may_be_thousands(points: list[str]) -> bool:
    return all(re.fullmatch(_POINTS, point) for point in points)


def _has_numbers_below_thousand(rows: list[list[str]], signed: list[str]) -> bool:
    """Returns whether a column with these numbers has whole numbers of up to three digits, too."""
    known = set(signed)
    positions = {index for values in rows for index, value in enumerate(values) if value in known}
    beside = (values[position] for values in rows for position in positions if position < len(values))
    return any(re.fullmatch(r"[-+]?[1-9]\d{0,2}", each) for each in beside)


def _examples(rows: list[list[str]], signed: list[str]) -> dict[int, str]:
    """Returns the first of these numbers in each column that has one."""
    known = set(signed)
    pairs = [(index, value) for values in rows for index, value in enumerate(values) if value in known]
    return dict(reversed(pairs))


def _separator(lines: list[str]) -> str:
    """Returns the separator by which most lines have the same number of fields, mostly values."""
    best, best_score = " ", 0.0
    for separator in SEPARATORS:
        rows = [split(line, separator) for line in lines]
        width, count = Counter(len(row) for row in rows).most_common(1)[0]
        if width < 2:
            continue
        fields = [field for row in rows[1:] or rows for field in row]
        plain = sum(_is_value(field) or _NO_LIST.fullmatch(field) is not None for field in fields)
        score = count / len(rows) + plain / len(fields)
        if score > best_score + 1e-9:
            best, best_score = separator, score
    widths = {len(line.split()) for line in lines[1:]}
    if best == " " and widths == {1}:
        return ","
    return best


def _is_value(field: str) -> bool:
    return (
        looks_like_number(field) or looks_like_time(field) or (bool(field) and field.lower() in MISSING)
    )


def _are_names(fields: list[str], above: list[str]) -> bool:
    """Returns whether fields are names: all of them, or several below a line that names the others."""
    non_empty = [field for field in fields if field]
    has_all = len(fields) == len(above) and all(map(any, zip(fields, above, strict=True)))
    is_full = len(non_empty) == len(fields)
    return not any(map(_is_value, non_empty)) and (is_full or (has_all and len(non_empty) > 1))


def _has_values(fields: list[str]) -> bool:
    return any(looks_like_number(field) or looks_like_time(field) for field in fields)


def _are_units(fields: list[str], following: list[tuple[int, list[str]]]) -> bool:
    """Returns whether a line has the units of the columns: it has no value, and numbers follow."""
    units = [field.strip("[]() ") for field in fields]
    has_unit = any(rate_unit(unit) or time_unit(unit) for unit in units)
    have_numbers_below = any(looks_like_number(field) for _, row in following for field in row)
    return has_unit and have_numbers_below and not any(_is_value(field) for field in fields if field)


def _names_in_comment(head: str, before: int, separator: str, width: int) -> list[str]:
    """Returns the names in the last comment with a unit before the first row; empty without any."""
    above = [line.strip() for line in head.splitlines()[:before]]
    comments = [line.lstrip("#%/").strip() for line in above if _COMMENT.match(line)]
    for comment in reversed(comments):
        names = split(comment, separator)
        if len(names) != width and separator == " ":
            names = _names_with_spaces(comment, width)
        if len(names) == width and any(rate_unit_in(name) for name in names):
            return names
    return []


def _names_with_spaces(line: str, width: int) -> list[str]:
    """Returns names with spaces in a line: wider spaces separate them, or spaces are before units."""
    for names in (re.split(r"\s{2,}|\t", line.strip()), re.sub(r"\s+(?=[\[(])", "", line).split()):
        if len(names) == width > 1 and all(re.search("[A-Za-z]", name) for name in names):
            return names if not any(map(_is_value, names)) else []
    return []


def _is_wider_head(rows: list[tuple[int, list[str]]], width: int) -> bool:
    """Returns whether the first line has names of further columns, which most rows leave out."""
    head = rows[0][1]
    widths = [len(fields) for _, fields in rows[1:]]
    return (
        len(head) > width
        and all(field and not _is_value(field) for field in head)
        and bool(widths)
        and max(widths) <= len(head)
        and _has_values(rows[1][1])
    )


def _names_after_row_names(above: list[tuple[int, list[str]]], width: int) -> list[str]:
    """Returns the names in a line without one for the column of row names, as R writes it."""
    fields = above[-1][1] if above else []
    return ["row", *fields] if len(fields) == width - 1 and _are_names(fields, []) else []


def _unique(names: list[str]) -> list[str]:
    """Returns unique names; a repeated one gets the number of its column."""
    result: list[str] = []
    for index, name in enumerate(names):
        known = name or f"column {index + 1}"
        result.append(known if known not in result else f"{known} ({index + 1})")
    return result
