"""Alike points of a sweep: one text for a congestion control that the same causes hold back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.alike import with_ranges, without_numbers
from celltcp.comparison.sweep.best_value_tables import range_text
from celltcp.comparison.tables import limits_table
from celltcp.present.section import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from celltcp.comparison.explanation.explanation import ExplainedComparison

#: Minimum number of points whose explanations are joined, and minimum ratio by which they get fewer.
_MIN_POINTS, _MIN_SHORTER = 3, 1.5


class JoinedPoints(NamedTuple):
    """Explanations of all points of a sweep as one: limits, notes, and sentences."""

    limits: Table | None
    notes: list[str]
    blocks: list[list[str]]


def joined_points(field: str, explained: Mapping[str, ExplainedComparison]) -> JoinedPoints | None:
    """Returns the explanations of the points of a sweep as one; None if few have the same causes.

    Sentences that differ by their numbers are one, with ranges.

    Args:
        field: varied field, or several.
        explained: explanations by point.
    """
    groups: dict[tuple[str, ...], dict[str, list[str]]] = {}
    notes: dict[str, dict[str, str]] = {}
    for name, result in explained.items():
        for each in result.distinct_ccas:
            lines = result.cause_block(each)
            key = (each.flow, each.cca, *map(without_numbers, lines))
            groups.setdefault(key, {})[name] = lines
        for note in result.notes:
            notes.setdefault(without_numbers(note), {})[name] = note
    count = sum(map(len, groups.values()))
    if len(explained) < _MIN_POINTS or count < _MIN_SHORTER * len(groups):
        return None
    blocks = []
    order = list(dict.fromkeys(key[:2] for key in groups))
    for key in sorted(groups, key=lambda key: order.index(key[:2])):
        first, *lines = [_joined(texts) for texts in zip(*groups[key].values(), strict=True)]
        blocks.append([f"{_points_text(groups[key], explained)}: {first}", *lines])
    note_texts = [
        f"{_points_text(by_name, explained)}: {_joined([*by_name.values()])}"
        for by_name in notes.values()
    ]
    return JoinedPoints(_limits(field, explained), note_texts, blocks)


def _points_text(names: Iterable[str], every: Iterable[str]) -> str:
    """Returns points as text: as a range, or with semicolons where they are of several fields."""
    listed = [*names]
    if any(", " in name for name in listed):
        return "; ".join(listed)
    return range_text(listed, [*every])


def _joined(texts: Sequence[str]) -> str:
    return with_ranges(texts) or texts[0]


def _limits(field: str, explained: Mapping[str, ExplainedComparison]) -> Table | None:
    """Returns the limits of all points in one table."""
    tables = {name: table for name, each in explained.items() if (table := limits_table(each.results))}
    if not tables:
        return None
    columns = {column.heading: column for table in tables.values() for column in table.columns}
    rows, ends = [], set()
    for name, table in tables.items():
        headings = [column.heading for column in table.columns]
        for cells in table.rows:
            own = dict(zip(headings, cells, strict=True))
            rows.append((name, *(own.get(heading, "0") for heading in columns)))
        if len(table.rows) > 1:
            ends.add(len(rows) - 1)
    first = next(iter(tables.values()))
    return Table(
        columns=(Column(field, no_wrap=True), *columns.values()),
        rows=tuple(rows),
        title=first.title,
        group_ends=frozenset(ends),
        cca_of_cell=first.cca_of_cell,
    )
