"""Publications and their experiments, read from the files in the folder `publications`."""

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

#: Texts for the types of values.
_TYPE_TEXTS = {"str": "a text", "list": "a list", "dict": "a table", "int": "a whole number"}

_PUBLICATIONS = Path(__file__).parent / "publications"


@dataclass(frozen=True)
class UnpublishedParameter:
    """A parameter of experiments that the publication does not state."""

    #: The parameter in words.
    description: str
    #: Field of the scenarios.
    field: str
    #: Plausible values, in words.
    plausible: str
    #: Values of a sweep.
    values: tuple[str, ...]
    #: Experiments that depend on it.
    experiments: tuple[str, ...]


@dataclass(frozen=True)
class Publication:
    """A publication with its experiments."""

    name: str
    source: str
    #: Subject of the experiments, in a few words.
    about: str
    #: Versions of CCAs in the kernel of the experiments, by CCA.
    historic_ccas: dict[str, str]
    unpublished: tuple[UnpublishedParameter, ...]
    #: Default number of runs of each CCA: below 10 if a run takes long.
    runs: int = 10

    @property
    def tables(self) -> list[Table]:
        """Tables of the publication."""
        return [table for table in published_tables() if table.publication == self.name]

    def selected_tables(self, experiments: Sequence[str]) -> list[Table]:
        """Returns the tables of these experiments; by default all but those run only by name.

        Raises:
            CelltcpError: if there is no such experiment.
        """
        names = [table.experiment for table in self.tables]
        if unknown := [experiment for experiment in experiments if experiment not in names]:
            allowed = ", ".join(dict.fromkeys(names))
            raise CelltcpError(f"experiment {unknown[0]!r}: {self.name} has {allowed or 'no tables'}")
        if not experiments:
            return [table for table in self.tables if not table.is_named_only]
        return [table for table in self.tables if table.experiment in experiments]


@functools.cache
def publications() -> dict[str, Publication]:
    """Returns the publications by name."""
    return {file.stem: _read(file) for file in sorted(_PUBLICATIONS.glob("*.toml"))}


def publication(name: str) -> Publication:
    """Returns the publication of this name.

    Raises:
        CelltcpError: if it is unknown; lists the publications.
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
    parameters = document.get("unpublished", [])
    for number, parameter in enumerate(parameters, 1):
        needed = {"condition": str, "field": str, "plausible": str, "experiments": list}
        _check(parameter, needed, {"values": list}, f"{file}: unpublished condition {number}")
    return Publication(
        file.stem,
        document["source"],
        document["about"],
        document.get("era", {}),
        tuple(
            UnpublishedParameter(
                parameter["condition"],
                parameter["field"],
                parameter["plausible"],
                tuple(map(str, parameter.get("values", ()))),
                tuple(parameter["experiments"]),
            )
            for parameter in parameters
        ),
        _runs(document, file),
    )


def _runs(document: Mapping[str, Any], file: Path) -> int:
    runs = int(document.get("runs", Publication.runs))
    if runs < 1:
        raise CelltcpError(f"{file}: runs = {runs}; allowed: 1 or more")
    return runs


def _check(
    table: Mapping[str, Any], needed: Mapping[str, type], optional: Mapping[str, type], location: str
) -> None:
    """Rejects missing and unknown keys, and values of another type."""
    types = {**needed, **optional}
    if missing := [key for key in needed if key not in table]:
        raise CelltcpError(f"{location}: {missing[0]} is missing; needed: {', '.join(needed)}")
    for key, value in table.items():
        if key not in types:
            raise CelltcpError(f"{location}: {key}: allowed: {', '.join(types)}")
        if not isinstance(value, types[key]):
            raise CelltcpError(
                f"{location}: {key}: {value!r}: allowed: {_TYPE_TEXTS[types[key].__name__]}"
            )
