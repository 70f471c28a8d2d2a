"""Comparing congestion controls along the values of one field of a scenario."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from celltcp._core import CelltcpError, Scenario
from celltcp.campaign.plan import CampaignRequest
from celltcp.campaign.run import Progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.outcome import SweepOutcome
from celltcp.results.tables import Results
from celltcp.scenarios.cca_mix import counted
from celltcp.scenarios.ccas import DEFAULT_CCAS
from celltcp.scenarios.changes import Changes
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.scenarios import ScenarioSource

if TYPE_CHECKING:
    import pandas as pd

#: Most values of a sweep.
_MOST = 1000

#: Whole numbers from one to another.
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")


@dataclass(frozen=True, repr=False)
class Sweep:
    """A comparison for each value of a field, in the order in which they were given."""

    field: str
    comparisons: dict[str, Comparison]

    @property
    def summary(self) -> pd.DataFrame:
        """Mean and half width of the 95 % interval (NaN without spread), a row per value and CCA."""
        import pandas as pd

        parts = {value: comparison.summary for value, comparison in self.comparisons.items()}
        return pd.concat(parts, names=[self.field])

    #: `plot()` draws goodput and the 95th percentile of the RTT against the values.
    plot = LazyAttribute()

    def to_json(self) -> SweepOutcome:
        """The field, and the result of each of its values."""
        outcomes = {value: each.to_json() for value, each in self.comparisons.items()}
        return {"field": self.field, "values": outcomes}

    def __repr__(self) -> str:
        first = next(iter(self.comparisons.values()))
        what = f"{first.results.about['name']}, {self.field} = {', '.join(self.comparisons)}"
        runs = counted(first.results.about["runs"], "run")
        return f"<Sweep {what}: {runs} of {', '.join(first.ccas)}>"

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(float_format="{:.3g}".format))

    def save(self, folder: str | Path) -> None:
        """Writes the tables of each value into a folder of its own, named `field=value`."""
        for value, comparison in self.comparisons.items():
            comparison.save(Path(folder) / folder_name(self.field, value))


def sweep(
    scenario: str | Path | Scenario,
    vary: str,
    cca: Sequence[str] | str = DEFAULT_CCAS,
    runs: int = 10,
    seed: int = 1,
    duration: str | None = None,
    jobs: int | None = None,
    *,
    cluster: str | None = None,
    engine: str = "native",
    kernel: str | None = None,
    uplink: str | Path | None = None,
    set: Changes = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Compares congestion controls for each value of a field.

    Args:
        scenario: built-in name, scenario file, link trace, or a loaded scenario.
        vary: the field and its values: whole numbers from one to another (`"tcp.window_scale=0..14"`)
            or a list (`"path.rtt=18ms,68ms"`).
        cca: as for `celltcp.compare`.
        runs: runs of each congestion control and value; run i has `seed + i`.
        seed: of the first run.
        duration: length of a run, such as `"60s"`.
        jobs: runs at a time; all cores unless given.
        cluster: address of a Dask scheduler whose workers do the runs, such as `"tcp://host:8786"`.
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel; the newest that is built unless given.
        uplink: link trace of the uplink.
        set: other scenario fields to override.
        out: folder to keep finished runs in while the sweep goes on, and to save to.
        overwrite: whether other results in that folder may be replaced.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    settings = RunSettings(
        cca=cca,
        runs=runs,
        seed=seed,
        duration=duration,
        jobs=jobs,
        cluster=cluster,
        engine=engine,
        kernel=kernel,
        uplink=uplink,
        changes=set,
        out=out,
        overwrite=overwrite,
    )
    return sweep_request(settings.source(scenario), vary, settings).run(progress)


def sweep_request(source: ScenarioSource, vary: str, settings: RunSettings) -> CampaignRequest[Sweep]:
    """Plans a comparison for each value of a field."""
    field, values = varied(vary)
    settings.check()
    engine = settings.find_engine()
    folder = settings.folder
    planned = []
    for value in values:
        scenario = source.changed(f"{field}={value}").scenario
        place = None if folder is None else folder / folder_name(field, value)
        planned.append(settings.plan(scenario, engine, place))

    def outcome(results: list[Results]) -> Sweep:
        return Sweep(field, dict(zip(values, map(Comparison, results), strict=True)))

    return CampaignRequest(planned, settings, outcome)


def folder_name(field: str, value: str) -> str:
    """Returns the name of the folder with the results of a value."""
    return f"{field}={value.replace('/', '-')}"


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
