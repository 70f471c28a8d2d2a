"""Reader of published tables: CSV files in `published_values`, each with a header.

Tables over combinations of values are in `grids` (see the module of that name).

Lines that begin with # are the header, `key: value`: `publication`, `experiment` (its name on the
command line), `figure` (as printed), `title`, `interval`, `form` of the picture ("bars" by default, or
"spider") and `note`. The confidence `interval` is that of the means of the runs ("runs", the default),
or of each slot over the runs, averaged over the run ("slots"). CSV follows, with a row for each
published value and the columns `scenario`, `cca`, `quantity`, `unit` and `published`. `phase`,
`published_ci95` and `note` are optional. Values that a publication does not state as numbers have an
empty `published`. CCAs have their names in celltcp.
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
from celltcp.publications.table_file import PLACE, check_scenario, header_of, read_lines, rows_of
from celltcp.publications.units import measured_unit
from celltcp.radio.phases import PHASES
from celltcp.scenarios.ccas import select_ccas

#: Order of experiments by the first word of their names; others come last.
_KINDS = {"table": 0, "figure": 1}

_TABLES = Path(__file__).parent / "published_values"
_GRIDS = Path(__file__).parent / "grids"


@functools.cache
def published_tables(folder: Path = _TABLES) -> tuple[Table, ...]:
    """Returns the tables in a folder, sorted as by `in_order`.

    Raises:
        CelltcpError: names the file, the line, the field and what is allowed.
    """
    return in_order(table for file in table_files(folder) for table in tables_in(file))


def table_files(folder: Path = _TABLES) -> list[Path]:
    """Returns the files of tables in a folder; those of grids, too, for the folder of the package."""
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
    return tuple(sorted(tables, key=_order))


def _order(table: Table) -> tuple[str, int, list[int], str]:
    kind = table.experiment.partition("-")[0]
    numbers = [int(each) for each in re.findall(r"[0-9]+", table.experiment)]
    return table.publication, _KINDS.get(kind, len(_KINDS)), numbers, table.experiment


def published_phases(scenario: str) -> dict[tuple[str, str], float]:
    """Returns published mean goodputs in Mbit/s by phase and CCA; empty if there are none."""
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
        grid.places,
        grid.grid,
        grid.named_only,
    )


def _read(file: Path) -> Table:
    lines = read_lines(file)
    header = header_of(file, lines)
    interval = _word(file, header, "interval", INTERVALS)
    form = _word(file, header, "form", FORMS)
    named_places = tuple(
        parse_condition(key.removeprefix(PLACE).strip(), value, str(file))
        for key, value in header.items()
        if key.startswith(PLACE)
    )
    rows = list(rows_of(file, lines))
    names = {named_place.name: named_place for named_place in named_places}
    for where, row in rows:
        check_scenario(row["scenario"], names, where)
        _check_log(row, names, where)
    if not rows:
        raise CelltcpError(f"{file}: no row follows the names of the columns")
    runnable = [(where, row) for where, row in rows if not row.get("line") or _can_run(row["cca"])]
    entries = tuple(_entry(row, where) for where, row in runnable)
    _check_once([where for where, _ in runnable], entries)
    for (where, _), entry in zip(runnable, entries, strict=True):
        check_part(entry, names.get(entry.scenario, Condition(entry.scenario, entry.scenario)), where)
        if entry.claim and entry.claim.place:
            check_scenario(entry.claim.place, names, f"{where}: claim: {entry.claim.text!r}")
    return Table(
        header["publication"],
        header["experiment"],
        header["figure"],
        header["title"],
        interval,
        form,
        header.get("note", ""),
        entries,
        named_places,
        cells=tuple(_cell(row) for _, row in rows if row.get("line")),
    )


def _check_log(row: Mapping[str, str], conditions: Mapping[str, Condition], where: str) -> None:
    """Rejects a quantity of the radio on a built-in scenario without a radio."""
    quantity, name = row["quantity"], row["scenario"]
    if quantity not in QUANTITIES or not QUANTITIES[quantity].log or name in conditions or "*" in name:
        return
    if not _has_radio(name):
        raise CelltcpError(
            f"{where}: quantity: {quantity!r}: needs a radio, which {name} lacks; allowed: "
            "scenarios with a table [radio]"
        )


@functools.cache
def _has_radio(scenario: str) -> bool:
    return Condition(scenario, scenario).loaded.has_radio


def _check_once(places: Sequence[str], entries: Sequence[Published]) -> None:
    """Rejects two rows with a published number for the same quantity, scenario and CCA."""
    first_lines: dict[object, str] = {}
    for place, entry in zip(places, entries, strict=True):
        if entry.value is None:
            continue
        key = (entry.scenario, entry.cca, entry.quantity, entry.part)
        if key in first_lines:
            first = first_lines[key].rpartition(", ")[2]
            raise CelltcpError(
                f"{place}: published: {entry.value:g}: {', '.join(filter(None, key))} has a number in "
                f"{first} already; allowed: one for each"
            )
        first_lines[key] = place


def _can_run(cca: str) -> bool:
    """Returns whether this build has the CCA and the middleboxes of its path."""
    try:
        select_ccas(cca, ())
    except CelltcpError:
        return False
    return True


def _cell(row: Mapping[str, str | None]) -> Cell:
    return Cell(*(row.get(key) or "" for key in ("line", "column", "said", "why")))


def _word(file: Path, header: Mapping[str, str], key: str, allowed: tuple[str, ...]) -> str:
    """Returns the value of a header field, by default the first allowed value."""
    value = header.get(key, allowed[0])
    if value not in allowed:
        raise CelltcpError(f"{file}: {key}: {value!r}: allowed: {', '.join(allowed)}")
    return value


def _entry(row: Mapping[str, str | None], place: str) -> Published:
    quantity, phase = row["quantity"] or "", row.get("phase") or ""
    if quantity not in QUANTITIES:
        raise CelltcpError(f"{place}: quantity: {quantity!r}: allowed: {', '.join(QUANTITIES)}")
    phases = sorted({name for names in PHASES.values() for name in names})
    if phase and phase not in phases:
        raise CelltcpError(f"{place}: phase: {phase!r}: allowed: {', '.join(phases)}, or none")
    value = row["published"]
    width = row.get("published_ci95")
    unit, factor = measured_unit(quantity, row["unit"] or "", place, numbered=bool(value or width))
    claim_text = row.get("claim")
    half = _number(width, "published_ci95", place) * factor if width else None
    if half is not None and half < 0:
        raise CelltcpError(f"{place}: published_ci95: {width!r}: allowed: 0 or more")
    if half is not None and not value:
        raise CelltcpError(f"{place}: published_ci95: {width!r}: allowed: none without published")
    return Published(
        row["scenario"] or "",
        _cca(row["cca"] or "", place),
        quantity,
        unit,
        phase,
        _number(value, "published", place) * factor if value else None,
        half,
        row.get("note") or "",
        _range(row.get("window"), "window", place),
        _range(row.get("zone"), "zone", place),
        claim(claim_text, place) if claim_text else None,
        _cell(row) if row.get("line") else None,
    )


def _cca(name: str, place: str) -> str:
    """Returns the name of a CCA in celltcp."""
    if name == SELECTION:
        return name
    try:
        ccas = select_ccas(name, ())
    except CelltcpError as error:
        raise CelltcpError(f"{place}: cca: {error}") from None
    if len(ccas) != 1:
        raise CelltcpError(f"{place}: cca: {name!r}: {len(ccas)} CCAs; allowed: one per row")
    return ccas[0]


def _range(text: str | None, field: str, place: str) -> tuple[float, float] | None:
    """Returns the ends of a range such as `14..18`, `20..` or `..5`."""
    if not text:
        return None
    low, dots, high = text.partition("..")
    if not dots:
        raise CelltcpError(f"{place}: {field}: {text!r} is no range such as 14..18, 20.. or ..5")
    ends = (
        _number(low, field, place) if low else -math.inf,
        _number(high, field, place) if high else math.inf,
    )
    if ends[0] > ends[1]:
        raise CelltcpError(f"{place}: {field}: {text!r} ends before it begins")
    return ends


def _number(text: str | None, field: str, place: str) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise CelltcpError(f"{place}: {field}: {text!r} is no number; allowed: one such as 24.5")
    return number
