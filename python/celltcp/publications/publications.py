"""Publications: files in `publications`, found by a scan of that folder."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError
from celltcp.publications.published import published_tables
from celltcp.publications.published_table import Table
from celltcp.scenarios.ccas import select_ccas

#: Names of the types of values.
_KINDS = {"str": "a text", "list": "a list", "dict": "a table", "int": "a whole number"}

_PUBLICATIONS = Path(__file__).parent / "publications"


@dataclass(frozen=True)
class Unpublished:
    """A condition that a publication does not give, with the range in which it is plausible."""

    condition: str
    #: Field of the scenarios, and values for a sweep over it.
    field: str
    plausible: str
    values: tuple[str, ...]
    #: Experiments that it affects.
    experiments: tuple[str, ...]


@dataclass(frozen=True)
class Publication:
    """A publication with its experiments."""

    name: str
    source: str
    #: Subject of the experiments, in a few words.
    about: str
    #: CCAs as the kernel of the experiments had them, by today's names.
    era: dict[str, str]
    unpublished: tuple[Unpublished, ...]
    #: Number of runs of each CCA in its experiments by default: below 10 where a run takes long.
    runs: int = 10

    @property
    def tables(self) -> list[Table]:
        """Tables of the publication."""
        return [
            published_table
            for published_table in published_tables()
            if published_table.publication == self.name
        ]

    def selected_tables(self, experiments: Sequence[str]) -> list[Table]:
        """Returns the tables of these experiments; if none are named, all without `named_only`.

        Raises:
            CelltcpError: if there is no such experiment.
        """
        names = [table.experiment for table in self.tables]
        if unknown := [experiment for experiment in experiments if experiment not in names]:
            allowed = ", ".join(dict.fromkeys(names))
            raise CelltcpError(f"experiment {unknown[0]!r}: {self.name} has {allowed or 'no tables'}")
        if not experiments:
            return [table for table in self.tables if not table.named_only]
        return [table for table in self.tables if table.experiment in experiments]


@functools.cache
def publications() -> dict[str, Publication]:
    """Returns the publications by name."""
    return {file.stem: _read(file) for file in sorted(_PUBLICATIONS.glob("*.toml"))}


def publication(name: str) -> Publication:
    """Returns the publication of a name.

    Raises:
        CelltcpError: lists the publications.
    """
    known = publications()
    if name not in known:
        raise CelltcpError(f"paper {name!r}: allowed is one of {', '.join(known)}")
    return known[name]


def _read(file: Path) -> Publication:
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CelltcpError(f"{file}: {error}") from None
    _check(
        document,
        {"source": str, "about": str},
        {"era": dict, "unpublished": list, "runs": int},
        f"{file}",
    )
    for cca, version in document.get("era", {}).items():
        try:
            select_ccas([cca, version], ())
        except CelltcpError as error:
            raise CelltcpError(f"{file}: era: {error}") from None
    conditions = document.get("unpublished", [])
    for number, condition in enumerate(conditions, 1):
        needed = {"condition": str, "field": str, "plausible": str, "experiments": list}
        _check(condition, needed, {"values": list}, f"{file}: unpublished condition {number}")
    return Publication(
        file.stem,
        document["source"],
        document["about"],
        document.get("era", {}),
        tuple(
            Unpublished(
                condition["condition"],
                condition["field"],
                condition["plausible"],
                tuple(map(str, condition.get("values", ()))),
                tuple(condition["experiments"]),
            )
            for condition in conditions
        ),
        _runs(document, file),
    )


def _runs(document: Mapping[str, Any], file: Path) -> int:
    runs = int(document.get("runs", Publication.runs))
    if runs < 1:
        raise CelltcpError(f"{file}: runs = {runs}; allowed: 1 or more")
    return runs


def _check(
    table: Mapping[str, Any], needed: Mapping[str, type], possible: Mapping[str, type], where: str
) -> None:
    """Rejects missing and unknown keys."""
    types = {**needed, **possible}
    if missing := [key for key in needed if key not in table]:
        raise CelltcpError(f"{where}: {missing[0]} is missing; needed: {', '.join(needed)}")
    for key, value in table.items():
        if key not in types:
            raise CelltcpError(f"{where}: {key}: allowed: {', '.join(types)}")
        if not isinstance(value, types[key]):
            raise CelltcpError(f"{where}: {key}: {value!r}: allowed: {_KINDS[types[key].__name__]}")
