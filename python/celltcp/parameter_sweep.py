"""Comparing congestion controls along the values of one field of a scenario."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from celltcp._core import CelltcpError, Scenario
from celltcp.campaign import Job, Progress, jobs_for, run_jobs
from celltcp.ccas import chosen as chosen_ccas
from celltcp.comparison import DEFAULT_CCAS, Comparison, about
from celltcp.engines import engine as find_engine
from celltcp.results import Results
from celltcp.scenarios import load_scenario, override_texts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Most values of a sweep.
_MOST = 1000

#: Whole numbers from one to another.
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")


@dataclass(frozen=True)
class Sweep:
    """A comparison for each value of a field, in the order in which they were given."""

    field: str
    comparisons: dict[str, Comparison]

    @property
    def summary(self) -> pd.DataFrame:
        """Mean and half width of the 95 % interval (NaN without spread), a row per value and CCA."""
        parts = {value: comparison.summary for value, comparison in self.comparisons.items()}
        return pd.concat(parts, names=[self.field])

    def plot(self) -> Figure:
        """Goodput and the 95th percentile of the RTT against the values."""
        from celltcp.plots.sweep import draw_sweep

        return draw_sweep(self)

    def to_json(self) -> dict[str, Any]:
        """The field, and what each of its values comes to."""
        outcomes = {value: each.to_json() for value, each in self.comparisons.items()}
        return {"field": self.field, "values": outcomes}

    def save(self, folder: str | Path) -> None:
        """Writes the tables of each value into a folder of its own, named `field=value`."""
        for value, comparison in self.comparisons.items():
            comparison.save(Path(folder) / f"{self.field}={value.replace('/', '-')}")


def sweep(
    scenario: str | Path | Scenario,
    vary: str,
    cca: Sequence[str] | str = DEFAULT_CCAS,
    runs: int = 10,
    seed: int = 1,
    duration: str | None = None,
    jobs: int | None = None,
    *,
    engine: str = "native",
    kernel: str | None = None,
    uplink: str | Path | None = None,
    set: Mapping[str, object] | Sequence[str] = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Compares congestion controls for each value of a field.

    Args:
        scenario: built-in name, scenario file, or link trace.
        vary: the field and its values: whole numbers from one to another (`"tcp.window_scale=0..14"`)
            or a list (`"path.rtt=18ms,68ms"`).
        cca: as for `celltcp.compare`.
        runs: runs of each congestion control and value; run i has `seed + i`.
        seed: of the first run.
        duration: length of a run, such as `"60s"`.
        jobs: runs at a time; all cores unless given.
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel; the newest that is built unless given.
        uplink: link trace of the uplink.
        set: other scenario fields to override.
        out: folder to keep finished runs in while the sweep goes on, and to save to.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    field, values = varied(vary)
    if isinstance(scenario, Scenario):
        raise CelltcpError("scenario: a loaded one stays as it is; give its name or its file")
    if runs < 1:
        raise CelltcpError(f"runs: {runs} is not a number from 1 on")
    chosen_engine = find_engine(engine, kernel)
    planned: list[Job] = []
    cases = []
    for value in values:
        changes = [*override_texts(set), f"{field}={value}"]
        loaded = load_scenario(scenario, uplink=uplink, duration=duration, changes=changes)
        chosen = chosen_ccas(cca, chosen_engine.ccas, loaded.lineup)
        first = len(planned)
        mine = jobs_for(loaded, chosen, runs, seed, chosen_engine)
        planned.extend(replace(job, number=first + job.number) for job in mine)
        cases.append((value, first, len(mine), about(loaded, chosen, runs, seed, chosen_engine)))
    tables = run_jobs(planned, workers=jobs, folder=out, progress=progress)
    comparisons = {
        value: Comparison(Results(_runs_between(tables, first, first + count), told))
        for value, first, count, told in cases
    }
    outcome = Sweep(field, comparisons)
    if out is not None:
        outcome.save(out)
    return outcome


def varied(text: str) -> tuple[str, list[str]]:
    """The field and the values that `field=values` names.

    Raises:
        CelltcpError: if there is no field or no value, a value comes twice, or there are too many.
    """
    field, _, given = text.partition("=")
    numbers = _RANGE.fullmatch(given.strip())
    if numbers:
        first, last = map(int, numbers.groups())
        # One beyond what is allowed is enough to tell that there are too many.
        values = [str(number) for number in range(first, min(last, first + _MOST) + 1)]
    else:
        values = [value.strip() for value in given.split(",")]
    if not field.strip() or not values or not all(values):
        raise CelltcpError(
            f"vary: {text!r} is not a field with values; allowed: FIELD=FIRST..LAST, whole numbers "
            "that rise, or FIELD=VALUE,VALUE,..., such as tcp.window_scale=0..14"
        )
    if len(values) > _MOST:
        raise CelltcpError(f"vary: {text!r} has too many values; allowed: up to {_MOST}")
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise CelltcpError(f"vary: {text!r} has {twice} twice; allowed: each value once")
    return field.strip(), values


def _runs_between(tables: Mapping[str, pa.Table], first: int, end: int) -> dict[str, pa.Table]:
    """The rows of runs `first` to `end`, excluded, numbered from zero."""
    return {name: _renumbered(table, first, end) for name, table in tables.items()}


def _renumbered(table: pa.Table, first: int, end: int) -> pa.Table:
    run = table["run"]
    start, stop = (pa.scalar(number, run.type) for number in (first, end))
    mine = table.filter(pc.and_(pc.greater_equal(run, start), pc.less(run, stop)))
    place = mine.schema.get_field_index("run")
    return mine.set_column(place, mine.schema.field(place), pc.subtract(mine["run"], start))
