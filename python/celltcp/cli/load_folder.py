"""Folders of results as parts of a report, whatever command has written them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from celltcp._core import CelltcpError
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.load_results import load
from celltcp.comparison.parameter_sweep import Sweep
from celltcp.comparison.report.comparison import comparison_part
from celltcp.comparison.report.provenance import command_of
from celltcp.comparison.report.scenario_set import set_part
from celltcp.comparison.report.single_run import single_part
from celltcp.comparison.report.sweep import sweep_part
from celltcp.comparison.scenario_set import ScenarioSet
from celltcp.comparison.single_run import SingleRun
from celltcp.fidelity.report.fidelity import fidelity_part
from celltcp.fidelity.saved import load_fidelity
from celltcp.pcap.analysis import TABLES, CaptureAnalyses
from celltcp.pcap.report import captures_part
from celltcp.present.section import Part
from celltcp.publications.report.papers import papers_part
from celltcp.publications.saved import load_experiments
from celltcp.results.checked import read_checked
from celltcp.results.folder import CAPTURES, KINDS, RUNS, about_in, kind_in
from celltcp.results.manifest import manifest_of
from celltcp.results.working import UNFINISHED
from celltcp.selection.checkpoint import Frames, finished_frames
from celltcp.selection.engine_agreement import Overlap
from celltcp.selection.evaluation import Evaluation
from celltcp.selection.outcomes.engines import OverlapOrigin
from celltcp.selection.outcomes.evaluation import Settings
from celltcp.selection.report.engine_agreement import engines_part
from celltcp.selection.report.evaluation import evaluation_part
from celltcp.video.comparison import VideoComparison, folder_name
from celltcp.video.report.comparison import viewing_part

_Origin = TypeVar("_Origin")

#: Tables of an evaluation that its other tables come from.
_EVALUATION = ("runs", "decisions", "histories", "costs")

_ALLOWED = (
    "allowed: a folder that --out of compare, run, sweep, video, select evaluate, "
    "select compare-engines, fidelity, papers or pcap analyze wrote"
)

#: A number at the begin of a value.
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def parts_of(folder: Path) -> list[Part]:
    """Returns the parts of a report on a folder.

    Raises:
        CelltcpError: if it is no folder, or holds nothing that a report can be made of.
    """
    if not folder.is_dir():
        raise CelltcpError(f"{folder}: there is no such folder; {_ALLOWED}")
    kind = kind_in(folder)
    if kind == RUNS:
        return [_runs(load(folder))]
    if kind == "evaluate":
        return [evaluation_part(_evaluation(folder))]
    if kind == "engines":
        return [engines_part(_engines(folder))]
    if kind == UNFINISHED:
        raise CelltcpError(f"{folder}: holds {KINDS[kind]}; finish it first")
    if kept := load_fidelity(folder):
        return [fidelity_part(kept)]
    if kind == CAPTURES or (folder / "connections.parquet").is_file():
        return [captures_part(_captures(folder))]
    return _several(folder)


def _runs(result: Comparison | SingleRun) -> Part:
    if isinstance(result, SingleRun):
        return single_part(result)
    return comparison_part(result, command_of("compare", result.results.about))


def _several(folder: Path) -> list[Part]:
    """Returns the parts on folders within a folder."""
    inside = [each for each in sorted(folder.iterdir()) if about_in(each) is not None]
    fields = {each.name.partition("=")[0] for each in inside if "=" in each.name}
    if inside and len(fields) == 1 and all("=" in each.name for each in inside):
        return [sweep_part(_sweep(inside))]
    if outcomes := load_experiments(folder):
        return [papers_part(outcomes)]
    found = [(load(each), each) for each in inside]
    if viewing := _viewing(found):
        return [viewing_part(viewing)]
    comparisons = {each.name: result for result, each in found if isinstance(result, Comparison)}
    if not found:
        raise CelltcpError(f"{folder}: holds no results; {_ALLOWED}")
    common = [set_part(ScenarioSet(comparisons))] if len(comparisons) > 1 else []
    return [*common, *(_runs(result) for result, _ in found)]


def _viewing(found: Sequence[tuple[Comparison | SingleRun, Path]]) -> VideoComparison | None:
    """Returns what `celltcp video` has left in folders; None if they are of another command."""
    comparisons: dict[tuple[str, str], Comparison] = {}
    for result, folder in found:
        comparison = result if isinstance(result, Comparison) else Comparison(result.results)
        about = comparison.results.about
        workload = tomllib.loads(about["scenario"])["flows"][0].get("workload", {})
        name, abr = str(about["name"]), str(workload.get("abr", ""))
        if workload.get("kind") != "video" or folder.name != folder_name(name, abr):
            return None
        comparisons[name, abr] = comparison
    names, abrs = (dict.fromkeys(key[place] for key in comparisons) for place in (0, 1))
    if not comparisons or len(comparisons) < len(names) * len(abrs):
        return None
    return VideoComparison({(name, abr): comparisons[name, abr] for name in names for abr in abrs})


def _sweep(folders: list[Path]) -> Sweep:
    values: dict[str, Comparison] = {}
    field = folders[0].name.partition("=")[0]
    for each in sorted(folders, key=lambda each: _order(each.name.partition("=")[2])):
        result = load(each)
        if isinstance(result, SingleRun):
            result = Comparison(result.results)
        values[each.name.partition("=")[2]] = result
    return Sweep(field, values)


def _order(value: str) -> tuple[float, str]:
    """Returns a key by which values are in order: numbers first, by what they are worth as written."""
    result = _NUMBER.match(value)
    return (float(result[0]) if result else float("inf"), value)


def _evaluation(folder: Path) -> Evaluation:
    frames, about = _frames(folder, _EVALUATION, Settings)
    return Evaluation(frames, about)


def _engines(folder: Path) -> Overlap:
    frames, about = _frames(folder, ("runs",), OverlapOrigin)
    return Overlap(frames["runs"], about)


def _frames(
    folder: Path, names: Sequence[str], origin: Callable[..., _Origin]
) -> tuple[Frames, _Origin]:
    """Returns the frames of those names of an evaluation, and how they were made."""
    about = about_in(folder) or {}
    frames = finished_frames(folder, about, names)
    if frames is None:
        raise CelltcpError(f"{folder}: a table of the evaluation is damaged or cut short")
    return frames, origin(**about)


def _captures(folder: Path) -> CaptureAnalyses:
    files = {name: folder / f"{name}.parquet" for name in TABLES if name != "segments"}
    missing = [str(file) for file in files.values() if not file.is_file()]
    if missing:
        raise CelltcpError(f"{missing[0]}: missing; {folder} holds no finished analysis")
    manifest = manifest_of(folder)
    tables = {name: read_checked(file, manifest) for name, file in files.items()}
    names = dict.fromkeys(str(each) for each in tables["connections"]["file"].to_pylist())
    return CaptureAnalyses([{"file": name, "broken": None} for name in names], tables)
