"""Grids: experiments over all combinations of the values of some axes, from files in `grids`.

A file names a publication, a scenario, and for each axis its values, each with the fields that it
sets (`FIELD=VALUE; FIELD=VALUE`). Each `[[experiments]]` is a table: `where` says which values of the
axes it has (all of an axis that it leaves out), `rows` what is measured there, `across` and `lines`
what its picture has along the horizontal axis and as lines. A row can have a `where` of its own. A
claim refers to another place of the grid by the values in which that differs: `> @ {split=85-35}`.
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

#: Values by axis.
Cell = dict[str, str]

#: Values of the axes that differ at the place of a claim.
_ELSEWHERE = re.compile(r"\{([^}]*)\}")


@dataclass(frozen=True)
class Grid:
    """Places of a table by the values of axes, and the axes of its picture."""

    #: Values of the axes by place.
    cells: Mapping[str, Cell]
    #: Axis of a picture, and that of its lines.
    across: str
    lines: str
    #: Mean length of a run, s.
    typical_s: float

    def values(self, axis: str) -> list[str]:
        """Returns the values of an axis, in their order."""
        return list(dict.fromkeys(cell[axis] for cell in self.cells.values()))

    @property
    def panels(self) -> list[str]:
        """Axes with several values, each of whose combinations has a panel of its own."""
        axes = list(next(iter(self.cells.values())))
        return [
            axis
            for axis in axes
            if axis not in (self.across, self.lines) and len(self.values(axis)) > 1
        ]


@dataclass(frozen=True)
class GridTable:
    """A table of a grid before its rows are checked."""

    #: As in the header of a CSV table.
    header: dict[str, str]
    named_only: bool
    grid: Grid
    places: tuple[Condition, ...]
    #: Rows as a CSV table has them.
    rows: tuple[dict[str, str], ...]


def read_grid(file: Path) -> list[GridTable]:
    """Returns the tables of a file."""
    text = tomllib.loads(file.read_text("utf-8"))
    return [_table(text, experiment) for experiment in text["experiments"]]


def _table(text: Mapping[str, Any], experiment: Mapping[str, Any]) -> GridTable:
    axes: dict[str, dict[str, str]] = text["axes"]
    place_name: str = text["place"]
    cells = {place_name.format(**cell): cell for cell in _cells(axes, experiment["where"])}
    places = tuple(
        parse_condition(name, "; ".join([text["scenario"], *(axes[axis][cell[axis]] for axis in axes)]))
        for name, cell in cells.items()
    )
    kind = {key: experiment[key] for key in ("across", "lines")}
    return GridTable(
        {
            "publication": text["publication"],
            "form": "gains",
            **{key: each for key, each in experiment.items() if isinstance(each, str)},
        },
        experiment.get("named_only", False),
        Grid(cells, **kind, typical_s=text["typical_s"]),
        places,
        tuple(_rows(place_name, cells, experiment["rows"])),
    )


def _cells(axes: Mapping[str, Mapping[str, str]], where: Mapping[str, Sequence[str]]) -> list[Cell]:
    """Returns all combinations of values that match `where`."""
    values = [[each for each in axes[axis] if each in where.get(axis, axes[axis])] for axis in axes]
    return [dict(zip(axes, chosen, strict=True)) for chosen in itertools.product(*values)]


def _rows(
    place_name: str, cells: Mapping[str, Cell], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Returns the rows of all places; empty rows are replaced by others of the same place."""
    result: list[dict[str, str]] = []
    for place, cell in cells.items():
        selected = [row for row in rows if _within(cell, row.get("where", {}))]
        saying = {_measured(each) for each in selected if "published" in each or "claim" in each}
        for each in selected:
            if "published" not in each and "claim" not in each and _measured(each) in saying:
                continue
            words = {key: str(value) for key, value in each.items() if key != "where"}
            if "claim" in words:
                words["claim"] = _ELSEWHERE.sub(
                    lambda asked, cell=cell: place_name.format(**{**cell, **_pairs(asked[1])}),  # type: ignore[misc]
                    words["claim"],
                )
            result.append({"scenario": place, "published": "", **words})
    return result


def _measured(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["cca"], row["quantity"]


def _within(cell: Cell, where: Mapping[str, Sequence[str]]) -> bool:
    return all(cell[axis] in values for axis, values in where.items())


def _pairs(text: str) -> Cell:
    return {axis: value for axis, _, value in (part.partition("=") for part in text.split(","))}
