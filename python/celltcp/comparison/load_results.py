"""Loading of saved results as objects: comparison, run, sweep or set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.campaign.planned import finished_runs, planned_in, unfinished_results
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.parameter_sweep import SCENARIO, Sweep
from celltcp.comparison.scenario_set import ScenarioSet
from celltcp.comparison.single_run import SingleRun
from celltcp.results.completeness import COMPLETE, Completeness
from celltcp.results.folder import about_in
from celltcp.results.folder_lock import is_begun
from celltcp.results.layout import Layout, layout_in
from celltcp.results.tables import Results, read_results

#: A number at the beginning of a value.
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class Loaded:
    """Comparisons in the folders within a folder, some of which may be unfinished."""

    layout: Layout
    #: By the coordinates of the layout; those without a finished run are left out.
    comparisons: Mapping[tuple[str, ...], Comparison]
    completeness: Completeness


def load(folder: str | Path) -> Comparison | SingleRun | Sweep | ScenarioSet:
    """Loads results of `--out` or `save`; of unfinished results the finished runs.

    Videos are a set, a comparison for each scenario and adaptation.

    Raises:
        CelltcpError: names the file that is missing or damaged; or there is no finished run.
    """
    root = Path(folder)
    within = load_within(root) if root.is_dir() and about_in(root) is None else None
    return run_or_comparison(_results(root)) if within is None else several_of(within)


def several_of(loaded: Loaded) -> Sweep | ScenarioSet:
    """Returns the results in the folders within a folder as a sweep or a set."""
    if loaded.layout.kind == "sweep":
        return _sweep(loaded)
    comparisons = {", ".join(point): comparison for point, comparison in loaded.comparisons.items()}
    return ScenarioSet(comparisons, loaded.layout.left_out, loaded.completeness)


def holds_runs(folder: Path) -> bool:
    """Returns whether there are results of runs in a folder or in the folders within it, or a plan."""
    if about_in(folder) is not None or planned_in(folder):
        return True
    return layout_in(folder) is not None or _guessed(folder) is not None


def run_or_comparison(results: Results) -> Comparison | SingleRun:
    """Returns results as a comparison, or as a run if they are of a single one with samples."""
    samples = results.tables.get("samples")
    single = len(results.tables["runs"]) == 1 and samples is not None and len(samples) > 0
    return SingleRun(results) if single else Comparison(results)


def comparison_of(result: Comparison | SingleRun) -> Comparison:
    """Returns a comparison; that of a single run has one CCA and one run."""
    return result if isinstance(result, Comparison) else Comparison(result.results)


def load_within(root: Path) -> Loaded | None:
    """Reads the results in the folders within a folder; None if it has no such folders.

    Raises:
        CelltcpError: if a file is damaged, or no run is finished.
    """
    layout = layout_in(root) or _guessed(root)
    if layout is None:
        return None
    plan = planned_in(root)
    done = finished_runs(root) if plan else None
    comparisons: dict[tuple[str, ...], Comparison] = {}
    states = []
    for name, point in layout.folders.items():
        results: Results | None = None
        if about_in(root / name) is not None:
            results = read_results(root / name)
            states.append(Completeness.from_about(results.about))
        elif name in plan and done is not None:
            results, state = unfinished_results(plan[name], done)
            states.append(state)
        if results is not None:
            comparisons[point] = Comparison(results)
    total = reduce(add, states, COMPLETE)
    if not comparisons:
        raise CelltcpError(f"{root}: {_none_text(total.text(of_several=True))}")
    return Loaded(layout, comparisons, total)


def _results(root: Path) -> Results:
    """Returns the results in a folder; of an unfinished campaign, those of its finished runs."""
    if root.is_dir() and about_in(root) is None and (plan := planned_in(root)):
        results, state = unfinished_results(plan["."], finished_runs(root))
        if results is None:
            raise CelltcpError(f"{root}: {_none_text(state.text())}")
        return results
    if is_begun(root):
        raise CelltcpError(f"{root}: {_none_text('')}")
    return read_results(root)


def _none_text(state: str) -> str:
    return f"{state or 'nothing is finished yet'}; the same command goes on, and finishes it"


def _sweep(loaded: Loaded) -> Sweep:
    """Returns a sweep; the scenario is an axis if there are several."""
    axes = loaded.layout.axes
    points = loaded.comparisons
    names = {point[0] for point in loaded.layout.folders.values()}
    first = 1 if axes[0] == SCENARIO and len(names) == 1 and len(axes) > 1 else 0
    return Sweep(
        axes[first:],
        {point[first:]: each for point, each in points.items()},
        loaded.completeness,
        loaded.layout.present,
    )


def _guessed(root: Path) -> Layout | None:
    """Returns the layout of a folder without one: a sweep by the names of its folders, or a set."""
    inside = {path.name: path for path in sorted(root.iterdir()) if about_in(path) is not None}
    if not inside:
        return None
    fields = {name.partition("=")[0] for name in inside}
    if len(fields) == 1 and all("=" in name for name in inside):
        values = {name: name.partition("=")[2] for name in inside}
        ordered = sorted(values, key=lambda name: _order(values[name]))
        return Layout("sweep", tuple(fields), {name: (values[name],) for name in ordered})
    return Layout("set", (SCENARIO,), {name: (name,) for name in inside})


def _order(value: str) -> tuple[float, str]:
    """Returns a key that sorts values: numbers first, by value and then as they are written."""
    match = _NUMBER.match(value)
    return (float(match[0]) if match else float("inf"), value)
