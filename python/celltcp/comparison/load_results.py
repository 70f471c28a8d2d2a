"""Loading of saved results as a comparison, single run, sweep or scenario set."""

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
from celltcp.comparison.sets.scenario_set import ScenarioSet
from celltcp.comparison.single_run import SingleRun
from celltcp.comparison.sweep.parameter_sweep import SCENARIO, Sweep
from celltcp.results.completeness import COMPLETE, Completeness
from celltcp.results.folder import about_in
from celltcp.results.folder_lock import is_begun
from celltcp.results.layout import Layout, layout_in
from celltcp.results.tables import Results, read_results

#: Number at the beginning of a value, such as `20` of `20ms`.
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class Loaded:
    """Comparisons in the subfolders of a folder, some of which may be unfinished."""

    layout: Layout
    #: By the coordinates of the layout; subfolders without a finished run are left out.
    comparisons: Mapping[tuple[str, ...], Comparison]
    completeness: Completeness


def load(folder: str | Path) -> Comparison | SingleRun | Sweep | ScenarioSet:
    """Loads results of `--out` or `save`; of unfinished results, the finished runs.

    Results of `celltcp video` are a set with a comparison for each scenario and ABR algorithm.

    Raises:
        CelltcpError: if a file is missing or damaged, or no run is finished.
    """
    root = Path(folder)
    loaded = load_within(root) if root.is_dir() and about_in(root) is None else None
    return run_or_comparison(_results(root)) if loaded is None else several_of(loaded)


def several_of(loaded: Loaded) -> Sweep | ScenarioSet:
    """Returns the results in the subfolders of a folder as a sweep or a scenario set."""
    if loaded.layout.kind == "sweep":
        return _sweep(loaded)
    comparisons = {", ".join(point): comparison for point, comparison in loaded.comparisons.items()}
    return ScenarioSet(comparisons, loaded.layout.left_out, loaded.completeness)


def holds_runs(folder: Path) -> bool:
    """Returns whether a folder or its subfolders have results of runs, or the folder a plan."""
    if about_in(folder) is not None or planned_in(folder):
        return True
    return layout_in(folder) is not None or _guessed_layout(folder) is not None


def run_or_comparison(results: Results) -> Comparison | SingleRun:
    """Returns results as a single run if they are of one run with samples, else as a comparison."""
    is_single = len(results.tables["runs"]) == 1 and len(results.tables.get("samples", ())) > 0
    return SingleRun(results) if is_single else Comparison(results)


def comparison_of(result: Comparison | SingleRun) -> Comparison:
    """Returns a comparison as it is, and a single run as a comparison of one CCA."""
    return result if isinstance(result, Comparison) else Comparison(result.results)


def load_within(root: Path) -> Loaded | None:
    """Reads the results in the subfolders of a folder; None if it has no such subfolders.

    Raises:
        CelltcpError: if a file is damaged, or no run is finished.
    """
    layout = layout_in(root) or _guessed_layout(root)
    if layout is None:
        return None
    plan = planned_in(root)
    finished = finished_runs(root) if plan else None
    comparisons: dict[tuple[str, ...], Comparison] = {}
    parts = []
    for name, point in layout.folders.items():
        results: Results | None = None
        if about_in(root / name) is not None:
            results = read_results(root / name)
            parts.append(Completeness.from_about(results.about))
        elif name in plan and finished is not None:
            results, completeness = unfinished_results(plan[name], finished)
            parts.append(completeness)
        if results is not None:
            comparisons[point] = Comparison(results)
    total = reduce(add, parts, COMPLETE)
    if not comparisons:
        raise CelltcpError(f"{root}: {_unfinished_text(total.text(of_several=True))}")
    return Loaded(layout, comparisons, total)


def _results(root: Path) -> Results:
    """Returns the results in a folder; of an unfinished campaign, those of its finished runs."""
    if root.is_dir() and about_in(root) is None and (plan := planned_in(root)):
        results, completeness = unfinished_results(plan["."], finished_runs(root))
        if results is None:
            raise CelltcpError(f"{root}: {_unfinished_text(completeness.text())}")
        return results
    if is_begun(root):
        raise CelltcpError(f"{root}: {_unfinished_text('')}")
    return read_results(root)


def _unfinished_text(completeness: str) -> str:
    return f"{completeness or 'nothing is finished yet'}; the same command goes on, and finishes it"


def _sweep(loaded: Loaded) -> Sweep:
    """Returns the results as a sweep, with the scenario as an axis if there are several."""
    axes = loaded.layout.axes
    names = {point[0] for point in loaded.layout.folders.values()}
    first = 1 if axes[0] == SCENARIO and len(names) == 1 and len(axes) > 1 else 0
    return Sweep(
        axes[first:],
        {point[first:]: comparison for point, comparison in loaded.comparisons.items()},
        loaded.completeness,
        loaded.layout.present,
    )


def _guessed_layout(root: Path) -> Layout | None:
    """Returns the layout by the names of the subfolders: a sweep of a field, or a set; None without."""
    names = [path.name for path in sorted(root.iterdir()) if about_in(path) is not None]
    if not names:
        return None
    fields = {name.partition("=")[0] for name in names}
    if len(fields) == 1 and all("=" in name for name in names):
        values = {name: name.partition("=")[2] for name in names}
        ordered = sorted(values, key=lambda name: _sort_key(values[name]))
        return Layout("sweep", tuple(fields), {name: (values[name],) for name in ordered})
    return Layout("set", (SCENARIO,), {name: (name,) for name in names})


def _sort_key(value: str) -> tuple[float, str]:
    """Returns a key that sorts values by their number, and then as texts; those without are last."""
    match = _NUMBER.match(value)
    return (float(match[0]) if match else float("inf"), value)
