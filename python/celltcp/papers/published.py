"""Published tables: files in `tables`, each with a header, found by a scan of that folder.

Lines that begin with # are the header, `key: value`: `publication`, `experiment` (a word for the
command line), `figure` (as printed), `title`, `interval` ("runs", of the means of the runs, by
default; "slots", of each slot over the runs, averaged over the run), `form` of the picture ("bars"
by default, or "spider") and `note`. CSV follows, with a row for each figure and the columns
`scenario`, `cca`, `quantity`, `unit`, `published`, and if need be `phase`, `published_ci95` and
`note`. A figure without numbers has rows whose `published` is empty. CCAs have the names that
celltcp uses.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.ccas import chosen
from celltcp.radio.phases import PHASES

#: Quantities that tables can have, with the column of runs that has them over the whole way.
QUANTITIES = {
    "goodput": "goodput_mbps",
    "rtt": "rtt_mean_ms",
    "owd": None,
    "pm_balanced": "pm_balanced",
    "pm_delay": "pm_delay",
    "retransmissions": None,
}

#: Kinds of intervals.
INTERVALS = ("runs", "slots")

#: Forms of pictures: bars beside those published, or spider plots of all quantities.
FORMS = ("bars", "spider")

_TABLES = Path(__file__).parent / "tables"
_REQUIRED = ("scenario", "cca", "quantity", "unit", "published")
_HEADER = ("publication", "experiment", "figure", "title")


@dataclass(frozen=True)
class Published:
    """A published figure with half the width of its 95 % interval."""

    scenario: str
    cca: str
    quantity: str
    unit: str
    #: Phase of the way; empty for all of it.
    phase: str
    #: None where a figure shows it without a number.
    value: float | None
    ci95: float | None
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A published table or figure."""

    publication: str
    #: Word for the command line.
    experiment: str
    #: Name in the publication, such as "table 1".
    figure: str
    title: str
    #: Kind of its intervals, one of `INTERVALS`.
    interval: str
    #: Form of its picture, one of `FORMS`.
    form: str
    note: str
    entries: tuple[Published, ...]

    @property
    def scenarios(self) -> list[str]:
        """The scenarios, in the order of the file."""
        return list(dict.fromkeys(each.scenario for each in self.entries))


@functools.cache
def published_tables(folder: Path = _TABLES) -> tuple[Table, ...]:
    """Returns the tables in a folder, by the names of their files.

    Raises:
        CelltcpError: names the file, the line, the field and what is allowed.
    """
    return tuple(_read(file) for file in sorted(folder.glob("*.csv")))


def published_goodput(scenario: str | None = None, paper: str | None = None) -> list[Published]:
    """Returns published mean goodputs of whole ways: those of one scenario, of one paper, or all."""
    return [
        each
        for table in published_tables()
        if paper in (None, table.publication)
        for each in table.entries
        if scenario in (None, each.scenario) and each.quantity == "goodput" and not each.phase
        if each.value is not None
    ]


def published_phases(scenario: str) -> dict[tuple[str, str], float]:
    """Returns published mean goodputs in Mbit/s by phase and CCA; empty if there are none."""
    return {
        (each.phase, each.cca): each.value
        for table in published_tables()
        for each in table.entries
        if each.scenario == scenario and each.quantity == "goodput" and each.phase
        if each.value is not None
    }


def _read(file: Path) -> Table:
    lines = file.read_text("utf-8").splitlines()
    comments = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
    header = {key: value.strip() for key, _, value in (line.partition(":") for line in comments)}
    if missing := [key for key in _HEADER if not header.get(key)]:
        raise CelltcpError(f"{file}: {missing[0]} is missing; the header needs {', '.join(_HEADER)}")
    interval = _word(file, header, "interval", INTERVALS)
    form = _word(file, header, "form", FORMS)
    rows = [(number, line) for number, line in enumerate(lines, 1) if line and line[0] != "#"]
    found = csv.DictReader(line for _, line in rows)
    if missing := [name for name in _REQUIRED if name not in (found.fieldnames or ())]:
        raise CelltcpError(
            f"{file}: the column {missing[0]} is missing; needed: {', '.join(_REQUIRED)}"
        )
    entries = tuple(
        _entry(row, f"{file}, line {number}") for (number, _), row in zip(rows[1:], found, strict=True)
    )
    return Table(
        header["publication"],
        header["experiment"],
        header["figure"],
        header["title"],
        interval,
        form,
        header.get("note", ""),
        entries,
    )


def _word(file: Path, header: Mapping[str, str], key: str, allowed: tuple[str, ...]) -> str:
    """Returns a word of the header, by default the first of those allowed."""
    found = header.get(key, allowed[0])
    if found not in allowed:
        raise CelltcpError(f"{file}: {key}: {found!r}: allowed: {', '.join(allowed)}")
    return found


def _entry(row: Mapping[str, str | None], place: str) -> Published:
    quantity, phase = row["quantity"] or "", row.get("phase") or ""
    if quantity not in QUANTITIES:
        raise CelltcpError(f"{place}: quantity: {quantity!r}: allowed: {', '.join(QUANTITIES)}")
    phases = sorted({each for way in PHASES.values() for each in way})
    if phase and phase not in phases:
        raise CelltcpError(f"{place}: phase: {phase!r}: allowed: {', '.join(phases)}, or none")
    value = row["published"]
    width = row.get("published_ci95")
    return Published(
        row["scenario"] or "",
        chosen(row["cca"] or "", ())[0],
        quantity,
        row["unit"] or "",
        phase,
        _number(value, "published", place) if value else None,
        _number(width, "published_ci95", place) if width else None,
        row.get("note") or "",
    )


def _number(text: str | None, field: str, place: str) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise CelltcpError(f"{place}: {field}: {text!r} is no number") from None
