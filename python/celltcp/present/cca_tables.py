"""Tables of congestion controls: the catalogue, and the parameters of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from celltcp.present.section import Column, Table

if TYPE_CHECKING:
    from celltcp.scenarios.ccas import AutoParameter, CcaEntry, CcaParameter

#: Column of names, which users copy, so that they are never cut.
_PARAMETER = Column("parameter", no_wrap=True)


def catalogue_table(entries: Iterable[CcaEntry]) -> Table:
    """Returns a row per congestion control."""
    columns = tuple(map(Column, ("name", "family", "in Linux", "year", "reference")))
    rows = tuple(
        (
            entry["name"],
            entry["family"],
            "yes" if entry["linux"] else "no",
            str(entry["year"] or ""),
            entry["reference"],
        )
        for entry in entries
    )
    return Table(columns, rows)


def parameters_table(parameters: Iterable[CcaParameter]) -> Table:
    """Returns a row per parameter of a congestion control."""
    headings = ("default", "unit", "allowed", "meaning", "source")
    columns = (_PARAMETER, *(Column(heading, folds=True) for heading in headings))
    rows = tuple(
        (row["name"], row["default"], row["unit"], row["allowed"], row["meaning"], row["source"])
        for row in parameters
    )
    return Table(columns, rows)


def auto_table(parameters: Iterable[AutoParameter]) -> Table:
    """Returns a row per parameter of `auto`."""
    columns = (_PARAMETER, Column("default", no_wrap=True), Column("meaning", folds=True))
    return Table(columns, tuple((row["name"], row["default"], row["meaning"]) for row in parameters))
