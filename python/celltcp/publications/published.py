"""Reader of published tables: CSV files in `published_values`, each with a header.

Tables over all combinations of some values are in `grids` (see the module `grids`).

Lines that begin with # are the header, `key: value`: `publication`, `experiment` (its name on the
command line), `figure` (as printed), `title`, `interval`, `form` of the picture (one of `FORMS`, "bars"
by default) and `note`. `place NAME: SCENARIO; FIELD=VALUE; ...` defines a condition. The confidence
`interval` is that of the means of the runs ("runs", the default), or of each slot over the runs,
averaged over the run ("slots").

CSV follows, with a row for each published value, claim or cell of words. The columns `scenario`, `cca`,
`quantity`, `unit` and `published` are needed; `Published` and `Cell` describe the others. Values that a
publication does not state as numbers have an empty `published`. CCAs have their names in celltcp.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.publications.check_phase import check_part
from celltcp.publications.claims import claim
from celltcp.publications.conditions import Condition, parse_condition
from celltcp.publications.grids import GridTable, read_grid
from celltcp.publications.published_table import FORMS, INTERVALS, SELECTION, Cell, Published, Table
from celltcp.publications.quantities import QUANTITIES
from celltcp.publications.table_file import (
    CONDITION_PREFIX,
    check_scenario,
    header_of,
    read_lines,
    rows_of,
)
from celltcp.publications.units import measured_unit
from celltcp.radio.phases import PHASES
from celltcp.scenarios.ccas import select_ccas

#: Order of experiments by the first part of their names; others come last.
_ORDER = {"table": 0, "figure": 1}

_TABLES = Path(__file__).parent / "published_values"
_GRIDS = Path(__file__).parent / "grids"


@functools.cache
def published_tables(folder: Path = _TABLES) -> tuple[Table, ...]:
    """Returns the tables in a folder, sorted by `in_order`.

    Raises:
        CelltcpError: names the file, the line, the field and what is allowed.
    """
    return in_order(table for file in table_files(folder) for table in tables_in(file))


def table_files(folder: Path = _TABLES) -> list[Path]:
    """Returns the files of tables in a folder; for the folder of the package, also those of grids."""
    grids = sorted(_GRIDS.glob("*.toml")) if folder == _TABLES else []
    return [*sorted(folder.glob("*.csv")), *grids]


def tables_in(file: Path) -> list[Table]:
    """Returns the tables of a file: one of a CSV file, several of a grid.

    Raises:
        CelltcpError: as `published_tables` does.
    """
    if file.suffix == ".csv":
        return [_read(file)]
    return [_of_grid(grid_table, str(file)) for grid_table in read_grid(file)]


def in_order(tables: Iterable[Table]) -> tuple[Table, ...]:
    """Returns tables sorted by publication; in each, tables come before figures."""
    return tuple(sorted(tables, key=_sort_key))


def _sort_key(table: Table) -> tuple[str, int, list[int], str]:
    order = _ORDER.get(table.experiment.partition("-")[0], len(_ORDER))
    numbers = list(map(int, re.findall(r"[0-9]+", table.experiment)))
    return table.publication, order, numbers, table.experiment


def published_phases(scenario: str) -> dict[tuple[str, str], float]:
    """Returns the published mean goodputs of a scenario by phase and CCA, Mbit/s."""
    return {
        (entry.phase, entry.cca): entry.value
        for table in published_tables()
        for entry in table.entries
        if entry.scenario == scenario and entry.quantity == "goodput" and entry.phase
        if entry.value is not None
    }


def _of_grid(grid: GridTable, file: str) -> Table:
    header = grid.header
    return Table(
        header["publication"],
        header["experiment"],
        header["figure"],
        header["title"],
        INTERVALS[0],
        header["form"],
        header.get("note", ""),
        tuple(_entry(row, f"{file}, {header['experiment']}") for row in grid.rows),
        grid.conditions,
        grid.grid,
        grid.is_named_only,
    )


def _read(file: Path) -> Table:
    lines = read_lines(file)
    header = header_of(file, lines)
    interval = _choice(file, header, "interval", INTERVALS)
    form = _choice(file, header, "form", FORMS)
    named_conditions = tuple(
        parse_condition(key.removeprefix(CONDITION_PREFIX).strip(), value, str(file))
        for key, value in header.items()
        if key.startswith(CONDITION_PREFIX)
    )
    rows = list(rows_of(file, lines))
    conditions = {condition.name: condition for condition in named_conditions}
    for location, row in rows:
        check_scenario(row["scenario"], conditions, location)
        _check_log(row, conditions, location)
    if not rows:
        raise CelltcpError(f"{file}: no row follows the names of the columns")
    runnable = [
        (location, row) for location, row in rows if not row.get("line") or _can_run(row["cca"])
    ]
    entries = tuple(_entry(row, location) for location, row in runnable)
    _check_once([location for location, _ in runnable], entries)
    for (location, _), entry in zip(runnable, entries, strict=True):
        default = Condition(entry.scenario, entry.scenario)
        check_part(entry, conditions.get(entry.scenario, default), location)
        if entry.claim and entry.claim.condition:
            check_scenario(
                entry.claim.condition, conditions, f"{location}: claim: {entry.claim.text!r}"
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
        named_conditions,
        cells=tuple(_cell(row) for _, row in rows if row.get("line")),
    )


def _check_log(row: Mapping[str, str], conditions: Mapping[str, Condition], location: str) -> None:
    """Rejects a quantity of the radio's log for a built-in scenario without a radio."""
    quantity, name = row["quantity"], row["scenario"]
    if (
        quantity not in QUANTITIES
        or not QUANTITIES[quantity].needs_radio_log
        or name in conditions
        or "*" in name
    ):
        return
    if not _has_radio(name):
        raise CelltcpError(
            f"{location}: quantity: {quantity!r}: needs a radio, which {name} lacks; allowed: "
            "scenarios with a table [radio]"
        )


@functools.cache
def _has_radio(scenario: str) -> bool:
    return Condition(scenario, scenario).loaded.has_radio


def _check_once(locations: Sequence[str], entries: Sequence[Published]) -> None:
    """Rejects two rows with a published number for the same quantity, scenario and CCA."""
    first_lines: dict[object, str] = {}
    for location, entry in zip(locations, entries, strict=True):
        if entry.value is None:
            continue
        key = (entry.scenario, entry.cca, entry.quantity, entry.part)
        if key in first_lines:
            first = first_lines[key].rpartition(", ")[2]
            raise CelltcpError(
                f"{location}: published: {entry.value:g}: {', '.join(filter(None, key))} has a number "
                f"in {first} already; allowed: one for each"
            )
        first_lines[key] = location


def _can_run(cca: str) -> bool:
    """Returns whether this build has the CCA and the middleboxes of its path."""
    try:
        select_ccas(cca, ())
    except CelltcpError:
        return False
    return True


def _cell(row: Mapping[str, str | None]) -> Cell:
    return Cell(*(row.get(key) or "" for key in ("line", "column", "said", "why")))


def _choice(file: Path, header: Mapping[str, str], key: str, allowed: tuple[str, ...]) -> str:
    """Returns the value of a header field, by default the first allowed value."""
    value = header.get(key, allowed[0])
    if value not in allowed:
        raise CelltcpError(f"{file}: {key}: {value!r}: allowed: {', '.join(allowed)}")
    return value


def _entry(row: Mapping[str, str | None], location: str) -> Published:
    quantity, phase = row["quantity"] or "", row.get("phase") or ""
    if quantity not in QUANTITIES:
        raise CelltcpError(f"{location}: quantity: {quantity!r}: allowed: {', '.join(QUANTITIES)}")
    phases = sorted({name for names in PHASES.values() for name in names})
    if phase and phase not in phases:
        raise CelltcpError(f"{location}: phase: {phase!r}: allowed: {', '.join(phases)}, or none")
    value = row["published"]
    width = row.get("published_ci95")
    unit, factor = measured_unit(quantity, row["unit"] or "", location, has_value=bool(value or width))
    claim_text = row.get("claim")
    ci95 = _number(width, "published_ci95", location) * factor if width else None
    if ci95 is not None and ci95 < 0:
        raise CelltcpError(f"{location}: published_ci95: {width!r}: allowed: 0 or more")
    if ci95 is not None and not value:
        raise CelltcpError(f"{location}: published_ci95: {width!r}: allowed: none without published")
    return Published(
        row["scenario"] or "",
        _cca(row["cca"] or "", location),
        quantity,
        unit,
        phase,
        _number(value, "published", location) * factor if value else None,
        ci95,
        row.get("note") or "",
        _range(row.get("window"), "window", location),
        _range(row.get("zone"), "zone", location),
        claim(claim_text, location) if claim_text else None,
        _cell(row) if row.get("line") else None,
    )


def _cca(name: str, location: str) -> str:
    """Returns celltcp's name of a CCA."""
    if name == SELECTION:
        return name
    try:
        ccas = select_ccas(name, ())
    except CelltcpError as error:
        raise CelltcpError(f"{location}: cca: {error}") from None
    if len(ccas) != 1:
        raise CelltcpError(f"{location}: cca: {name!r}: {len(ccas)} CCAs; allowed: one per row")
    return ccas[0]


def _range(text: str | None, field: str, location: str) -> tuple[float, float] | None:
    """Returns the ends of a range such as `14..18`, `20..` or `..5`."""
    if not text:
        return None
    low, dots, high = text.partition("..")
    if not dots:
        raise CelltcpError(f"{location}: {field}: {text!r} is no range such as 14..18, 20.. or ..5")
    start = _number(low, field, location) if low else -math.inf
    end = _number(high, field, location) if high else math.inf
    if start > end:
        raise CelltcpError(f"{location}: {field}: {text!r} ends before it begins")
    return start, end


def _number(text: str | None, field: str, location: str) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise CelltcpError(f"{location}: {field}: {text!r} is no number; allowed: one such as 24.5")
    return number
