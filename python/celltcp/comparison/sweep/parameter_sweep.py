"""Parameter sweep: a comparison of congestion controls for each value of scenario fields."""

from __future__ import annotations

import functools
import itertools
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from celltcp._core import NATIVE, CelltcpError, Scenario
from celltcp.campaign.plan import CampaignRequest
from celltcp.campaign.run import Progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.outcome import SweepOutcome
from celltcp.comparison.sweep.vary import MAX_POINTS, Vary, varied_fields
from celltcp.results.completeness import COMPLETE, Completeness
from celltcp.results.folder import prepare_folder
from celltcp.results.keys import part_of_file_name
from celltcp.results.layout import Layout
from celltcp.results.publishing import list_files
from celltcp.results.tables import Results
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.ccas import DEFAULT_LIST
from celltcp.scenarios.changes import UNSET, Changes, value_at
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.scenario_list import expand_scenarios
from celltcp.scenarios.scenarios import ScenarioSource, is_single_name

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.sweep.best_values import FieldRanking
    from celltcp.scenarios.data_frames import ScenarioLike, TraceLike

#: Maximum number of points that a warning lists where it holds at all.
_MAX_LISTED_POINTS = 4
#: Number in a warning; those in names and formulas are none.
_NUMBER = re.compile(r"(?<![\w.^/-])\d+(?:\.\d+)?(?![\w/^.])")
#: Name of the axis of the scenarios.
SCENARIO = "scenario"


@dataclass(frozen=True, repr=False)
class Sweep:
    """A comparison for each value of a field, or each combination of values and scenarios.

    Attributes:
        axes: the fields, in the order in which they were given, after `scenario` if there are several.
        points: the comparisons by their coordinates, a text for each axis.
        completeness: numbers of finished and planned runs.
        present: by field, the value that the scenario itself has, `UNSET` for one that it leaves unset.
    """

    axes: tuple[str, ...]
    points: dict[tuple[str, ...], Comparison]
    completeness: Completeness = COMPLETE
    present: Mapping[str, str] = field(default_factory=dict)

    @property
    def field(self) -> str:
        """The field; names of several axes are joined with commas."""
        return ", ".join(self.axes)

    @property
    def comparisons(self) -> dict[str, Comparison]:
        """The comparisons by value; those of several axes are joined with commas."""
        return {", ".join(point): each for point, each in self.points.items()}

    def __getitem__(self, value: str | float | Sequence[str | float]) -> Comparison:
        """Returns the comparison at a value, or at a value of each of several axes.

        Args:
            value: a text or number for each axis, as a tuple or in one text with commas
                (`"drive, 1bdp"`).

        Raises:
            CelltcpError: if there is none.
        """
        coordinates = value if isinstance(value, Sequence) else (value,)
        name = value if isinstance(value, str) else ", ".join(map(self._coordinate, coordinates))
        comparisons = self.comparisons
        if name not in comparisons:
            axes = f" of {self.field}" if len(self.axes) > 1 else ""
            known = ", ".join(map(repr, comparisons))
            raise CelltcpError(f"sweep: {name!r} is no point{axes}; allowed: {known}")
        return comparisons[name]

    def _coordinate(self, value: str | float) -> str:
        """Returns the text of a coordinate; for a number, the text on an axis with the same value."""
        if isinstance(value, str):
            return value
        texts = dict.fromkeys(each for point in self.points for each in point)
        return next((text for text in texts if _is_number(text, value)), str(value))

    @property
    def lines(self) -> dict[tuple[str, ...], Sweep]:
        """The parts along `line_axis`, by their coordinates on the other axes."""
        index = self.axes.index(self.line_axis)
        result: dict[tuple[str, ...], dict[tuple[str, ...], Comparison]] = {}
        for point, comparison in self.points.items():
            outer = (*point[:index], *point[index + 1 :])
            result.setdefault(outer, {})[point[index : index + 1]] = comparison
        return {outer: Sweep((self.line_axis,), inner) for outer, inner in result.items()}

    @property
    def line_axis(self) -> str:
        """The axis of plots: the field with most values, the last of several; no scenarios."""
        counts = {
            axis: len({point[index] for point in self.points})
            for index, axis in enumerate(self.axes)
            if axis != SCENARIO or len(self.axes) == 1
        }
        return max(reversed(counts), key=counts.__getitem__)

    @property
    def ccas(self) -> list[str]:
        """The congestion controls of any point, in the order given."""
        return list(dict.fromkeys(cca for point in self.points.values() for cca in point.ccas))

    @property
    def warnings(self) -> list[str]:
        """Warnings of all points, each with its points; first the line on an unfinished sweep.

        Those that differ in numbers alone are one, with the ranges of these numbers.
        """
        from celltcp.comparison.few_runs import few_runs_text

        by_warning: dict[str, dict[str, str]] = {}
        for value, comparison in self.comparisons.items():
            few = few_runs_text([comparison])
            # Few runs are those of all points.
            for warning in (each for each in comparison.warnings if each != few):
                by_warning.setdefault(_NUMBER.sub("#", warning), {})[value] = warning
        texts = [
            f"{self._points_text([*by_point])}: {_with_ranges([*by_point.values()])}"
            for by_point in by_warning.values()
        ]
        few = few_runs_text(list(self.points.values()))
        first = [each for each in (self.unfinished, few) if each]
        return [*first, *texts]

    def _points_text(self, points: Sequence[str]) -> str:
        """Returns the points of a warning, or only their number if they are all of many."""
        if len(points) == len(self.points) > _MAX_LISTED_POINTS:
            return f"all {len(points)} points"
        return "; ".join(points) if len(self.axes) > 1 else f"{self.field}={', '.join(points)}"

    @property
    def unfinished(self) -> str:
        """Numbers of finished and planned runs in a line; empty if all are finished."""
        return self.completeness.text(of_several=True)

    @property
    def summary(self) -> pd.DataFrame:
        """Mean and half width of the 95 % interval (NaN without spread), a row per point and CCA."""
        return self._joined({point: each.summary for point, each in self.points.items()})

    @property
    def flow_summary(self) -> pd.DataFrame:
        """Summary of each flow and its application, a row per point, CCA and flow."""
        return self._joined({point: each.flow_summary for point, each in self.points.items()})

    def _joined(self, tables: Mapping[tuple[str, ...], pd.DataFrame]) -> pd.DataFrame:
        """Returns the tables of the points as one, with the coordinates in its index."""
        import pandas as pd

        parts = {point if len(self.axes) > 1 else point[0]: table for point, table in tables.items()}
        return pd.concat(parts, names=list(self.axes))

    @property
    def best_values(self) -> pd.DataFrame:
        """Values of each field by need and CCA: mean, paired difference to the best one, verdict.

        Rows without `ranked_under` rank all combinations of values and congestion controls.
        """
        from celltcp.comparison.sweep.best_value_tables import best_values_frame

        return best_values_frame(self)

    @functools.cached_property
    def field_rankings(self) -> list[FieldRanking]:
        """Rankings of the values of each field, under each congestion control and over all of them."""
        from celltcp.comparison.sweep.best_values import field_rankings

        return field_rankings(self)

    @functools.cached_property
    def ranking_metrics(self) -> dict[str, str]:
        """Metric by which each flow with an application ranks, the same at all points.

        Empty for several scenarios, each of which has its own metrics.
        """
        from celltcp.comparison.sweep.best_values import overall_rankings

        rankings = overall_rankings(self)
        if len({ranking.fixed.get(SCENARIO) for ranking in rankings}) != 1:
            return {}
        return {flow: metric.metric for flow, metric in rankings[0].ranking_metrics.items()}

    @property
    def field_changes(self) -> list[str]:
        """Texts on trade-offs, on gains by better values and CCAs, and on the fields that help most."""
        return self.field_changes_by(())

    def field_changes_by(self, by: Sequence[str]) -> list[str]:
        """Returns the texts of `field_changes` by chosen metrics.

        Args:
            by: the metrics, as in `Comparison.best_by`.
        """
        from celltcp.comparison.sweep.field_changes import field_texts

        return field_texts(self, by)

    #: `plot()` draws the metric of each flow against the values; `plot(by)` chosen ones.
    plot = LazyAttribute()

    def to_json(self, by: Sequence[str] = ()) -> SweepOutcome:
        """Returns the axes, and the outcome of each point.

        Args:
            by: further metrics to rank CCAs and values by, as in `Comparison.best_by`.
        """
        from celltcp.comparison.sweep.best_value_tables import best_values_json

        outcomes = {value: comparison.to_json(by) for value, comparison in self.comparisons.items()}
        points = {
            value: dict(zip(self.axes, point, strict=True))
            for value, point in zip(outcomes, self.points, strict=True)
        }
        outcome: SweepOutcome = {
            "field": self.field,
            "axes": list(self.axes),
            "points": points,
            "values": outcomes,
            "best_values": best_values_json(self, by),
            "field_changes": self.field_changes_by(by),
        }
        if self.unfinished:
            outcome["unfinished"] = self.unfinished
        return outcome

    def __repr__(self) -> str:
        first = next(iter(self.points.values()))
        parts = []
        for index, axis in enumerate(self.axes):
            values = dict.fromkeys(point[index] for point in self.points)
            parts.append(f"{axis} = {', '.join(values)}")
        if SCENARIO not in self.axes:
            parts.insert(0, str(first.results.about["name"]))
        runs = count_text(first.results.about["runs"], "run")
        return f"<Sweep {', '.join(parts)}: {runs} of {', '.join(first.ccas)}>"

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(float_format="{:.3g}".format))

    def save(self, folder: str | Path) -> None:
        """Writes the tables of each point into a folder of its own, named `field=value`."""
        root = prepare_folder(folder)
        folders = {}
        is_first = self.axes[0] == SCENARIO
        for point, comparison in self.points.items():
            name = folder_name(self.axes, point)
            comparison.save(root / name)
            folders[name] = point if is_first else (str(comparison.results.about["name"]), *point)
        axes = self.axes if is_first else (SCENARIO, *self.axes)
        list_files(root, Layout("sweep", axes, folders, present=self.present))


def sweep(
    scenario: ScenarioLike | Sequence[ScenarioLike],
    vary: Vary,
    cca: Sequence[str] | str = DEFAULT_LIST,
    runs: int = 10,
    seed: int = 1,
    duration: str | float | None = None,
    jobs: int | None = None,
    *,
    cluster: str | None = None,
    engine: str = NATIVE,
    kernel: str | None = None,
    uplink: TraceLike | None = None,
    set: Changes = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Compares congestion controls for each value of a field, or each combination of several.

    Args:
        scenario: built-in name, scenario file, link trace, or a loaded scenario; several as for
            `celltcp.compare_all`.
        vary: a field and its values: whole numbers from one to another (`"tcp.window_scale=0..14"`) or
            a list (`"path.rtt=18ms,68ms"`); a list of these, or a mapping from fields to lists of
            values (`{"path.rtt": ["18ms", "68ms"]}`).
        cca: as for `celltcp.compare`.
        runs: runs of each congestion control and value; run i, from 0, has `seed + i`.
        seed: of the first run.
        duration: length of a run, such as `"60s"`, or a number of seconds.
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
    return sweep_request(swept_sources(scenario, settings), vary, settings).run(progress)


def swept_sources(
    scenario: ScenarioLike | Sequence[ScenarioLike], settings: RunSettings
) -> dict[str, ScenarioSource]:
    """Returns the sources of the scenarios of a sweep by their names.

    Raises:
        CelltcpError: if a name is no scenario.
    """
    several = list(scenario) if isinstance(scenario, list | tuple) else [scenario]
    items = cast("list[ScenarioLike]", several)
    names = [item for item in items if isinstance(item, str)]
    if len(items) != 1 or (names and not is_single_name(names)):
        return expand_scenarios(items, settings.source).by_name
    source = settings.source(items[0])
    return {source.name: source}


def sweep_request(
    sources: Mapping[str, ScenarioSource], vary: Vary, settings: RunSettings
) -> CampaignRequest[Sweep]:
    """Plans a comparison for each scenario and combination of values."""
    fields = varied_fields(vary)
    for change in settings.stored_overrides:
        field = change.partition("=")[0].strip()
        if field in fields:
            raise CelltcpError(
                f"set: {field} is varied, too, so that {change} would never run; give one of both"
            )
    if len(sources) * math.prod(map(len, fields.values())) > MAX_POINTS:
        raise CelltcpError(
            f"vary: scenarios and values have too many combinations; allowed: up to {MAX_POINTS}"
        )
    settings.check()
    settings = settings.for_all(source.scenario for source in sources.values())
    engine = settings.find_engine()
    axes = (SCENARIO, *fields)
    # A single scenario is no axis.
    first = 0 if len(sources) > 1 else 1
    planned, points = [], []
    folders: dict[str, tuple[str, ...]] = {}
    for name, *values in itertools.product(sources, *fields.values()):
        changes = [f"{field}={value}" for field, value in zip(fields, values, strict=True)]
        scenario = sources[name].changed(*changes).scenario
        points.append((name, *values)[first:])
        subfolder = folder_name(axes[first:], points[-1])
        folders[subfolder] = (name if len(sources) > 1 else str(scenario.name), *values)
        folder = None if settings.folder is None else settings.folder / subfolder
        planned.append(settings.plan(scenario, engine, folder))
    present = _present_values(sources, fields)

    def sweep_of(results: list[Results]) -> Sweep:
        comparisons = dict(zip(points, map(Comparison, results), strict=True))
        return Sweep(axes[first:], comparisons, present=present)

    return CampaignRequest(planned, settings, sweep_of, Layout("sweep", axes, folders, present=present))


def _present_values(
    sources: Mapping[str, ScenarioSource], fields: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Returns the value of each field that all scenarios have: as it was given, or as they have it."""
    hashes = [(source, source.scenario.hash) for source in sources.values()]
    present = {}
    for name, values in fields.items():
        for value in values:
            change = f"{name}={value}"
            if all(source.changed(change).scenario.hash == digest for source, digest in hashes):
                present[name] = value
                break
        else:
            own = {_own_value(source.scenario, name) for source in sources.values()}
            if len(own) == 1 and "" not in own:
                present[name] = own.pop()
    return present


def _own_value(scenario: Scenario, field: str) -> str:
    """Returns the value of a field of a scenario, `UNSET` without one; empty if it is a table."""
    value = value_at(tomllib.loads(scenario.to_toml()), field)
    return UNSET if value is None else "" if isinstance(value, dict | list) else str(value)


def folder_name(axes: Sequence[str], point: Sequence[str]) -> str:
    """Returns the name of the folder with the results of a point."""
    parts = [
        value.strip("./") if axis == SCENARIO else f"{axis}={value}"
        for axis, value in zip(axes, point, strict=True)
    ]
    name = ",".join(parts).replace("/", "-")
    return name if len(parts) == 1 else part_of_file_name(name)


def _with_ranges(texts: Sequence[str]) -> str:
    """Returns texts that differ in numbers alone as one, with the ranges of these numbers."""
    ranges = map(_range_text, zip(*map(_NUMBER.findall, texts), strict=True))
    return _NUMBER.sub(lambda _: next(ranges), texts[0])


def _range_text(numbers: Sequence[str]) -> str:
    low, high = (extreme(numbers, key=float) for extreme in (min, max))
    return low if low == high else f"{low} to {high}"


def _is_number(text: str, value: float) -> bool:
    """Returns whether a text is a number with a value."""
    try:
        return float(text) == value
    except ValueError:
        return False
