"""Grids: experiments over all combinations of the values of some axes, from files in `grids`.

A file names a publication, a scenario, and for each axis its values, each with the fields that it
sets (`FIELD=VALUE; FIELD=VALUE`). Each `[[experiments]]` is a table. `where` selects values of the
axes; an axis that it lacks has all values. `rows` are the measured quantities. `across` and `lines` are
the axes of its picture: the horizontal one, and that of the lines. A row can have a `where` of its own.
A claim refers to another condition of the grid by the values that differ: `> @ {split=85-35}`.
`place` is the format of the conditions' names, with the axes in braces. In rows, the column `scenario`
has the name of a condition, as in CSV tables.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celltcp.publications.conditions import Condition, parse_condition

#: Values of a condition, by axis.
Cell = dict[str, str]

#: Axis values that differ at the condition of a claim.
_OTHER_VALUES = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True)
class Grid:
    """Conditions of a table by the values of axes, and the axes of its picture."""

    #: Values of each condition, by its name and then by axis.
    cells: Mapping[str, Cell]
    #: Horizontal axis of a picture.
    across: str
    #: Axis whose values are the lines of a picture.
    lines: str
    #: Mean length of a run, s.
    typical_s: float

    def values(self, axis: str) -> list[str]:
        """Returns the values of an axis, in their order."""
        return list(dict.fromkeys(cell[axis] for cell in self.cells.values()))

    @property
    def panels(self) -> list[str]:
        """Axes with several values; each combination of these has a panel of its own."""
        others = [
            axis for axis in next(iter(self.cells.values())) if axis not in (self.across, self.lines)
        ]
        return [axis for axis in others if len(self.values(axis)) > 1]


@dataclass(frozen=True)
class GridTable:
    """A table of a grid before its rows are checked."""

    #: Fields of a header, as in a CSV table.
    header: dict[str, str]
    #: Whether it runs only if it is named on the command line.
    is_named_only: bool
    grid: Grid
    conditions: tuple[Condition, ...]
    #: Rows as a CSV table has them.
    rows: tuple[dict[str, str], ...]


def read_grid(file: Path) -> list[GridTable]:
    """Returns the tables of a file."""
    document = tomllib.loads(file.read_text("utf-8"))
    return [_table(document, experiment) for experiment in document["experiments"]]


def _table(document: Mapping[str, Any], experiment: Mapping[str, Any]) -> GridTable:
    axes: dict[str, dict[str, str]] = document["axes"]
    name_format: str = document["place"]
    cells = {name_format.format(**cell): cell for cell in _cells(axes, experiment["where"])}
    conditions = tuple(
        parse_condition(
            name, "; ".join([document["scenario"], *(axes[axis][cell[axis]] for axis in axes)])
        )
        for name, cell in cells.items()
    )
    return GridTable(
        {
            "publication": document["publication"],
            # Pictures draw gains of a split over the horizontal axis.
            "form": "gains",
            **{key: value for key, value in experiment.items() if isinstance(value, str)},
        },
        experiment.get("named_only", False),
        Grid(cells, experiment["across"], experiment["lines"], document["typical_s"]),
        conditions,
        tuple(_rows(name_format, cells, experiment["rows"])),
    )


def _cells(axes: Mapping[str, Mapping[str, str]], where: Mapping[str, Sequence[str]]) -> list[Cell]:
    """Returns all combinations of values that match `where`."""
    values = [[value for value in axes[axis] if value in where.get(axis, axes[axis])] for axis in axes]
    return [dict(zip(axes, combination, strict=True)) for combination in itertools.product(*values)]


def _rows(
    name_format: str, cells: Mapping[str, Cell], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Returns the rows of all conditions.

    A row without value and claim is left out if the condition has another row for the same CCA and
    quantity with one of them.
    """
    result: list[dict[str, str]] = []
    for condition, cell in cells.items():
        selected = [row for row in rows if _matches(cell, row.get("where", {}))]
        is_filled = {id(row): "published" in row or "claim" in row for row in selected}
        filled = {(row["cca"], row["quantity"]) for row in selected if is_filled[id(row)]}
        for row in selected:
            if not is_filled[id(row)] and (row["cca"], row["quantity"]) in filled:
                continue
            fields = {key: str(value) for key, value in row.items() if key != "where"}
            if "claim" in fields:
                fields["claim"] = _OTHER_VALUES.sub(
                    lambda match, cell=cell: name_format.format(**{**cell, **_pairs(match[1])}),  # type: ignore[misc]
                    fields["claim"],
                )
            result.append({"scenario": condition, "published": "", **fields})
    return result


def _matches(cell: Cell, where: Mapping[str, Sequence[str]]) -> bool:
    return all(cell[axis] in values for axis, values in where.items())


def _pairs(text: str) -> Cell:
    return {axis: value for axis, _, value in (part.partition("=") for part in text.split(","))}
