"""Folders of results of any command, loaded as parts of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from celltcp._core import CelltcpError
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.load_results import holds_runs, run_or_comparison
from celltcp.comparison.report.comparison import comparison_part
from celltcp.comparison.report.provenance import command_of
from celltcp.comparison.report.scenario_set import set_part
from celltcp.comparison.report.single_run import single_part
from celltcp.comparison.report.sweep import sweep_part
from celltcp.comparison.sets.scenario_set import ScenarioSet
from celltcp.comparison.single_run import SingleRun
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.fidelity.report.fidelity import fidelity_part
from celltcp.fidelity.saved import load_fidelity
from celltcp.pcap.analysis import TABLES, CaptureAnalyses
from celltcp.pcap.report import captures_part
from celltcp.present.section import Part
from celltcp.publications.report.papers import papers_part
from celltcp.publications.saved import load_experiments
from celltcp.results.checked import read_checked
from celltcp.results.folder import CAPTURES, KINDS, RUNS, about_in, kind_in
from celltcp.results.layout import layout_in
from celltcp.results.manifest import manifest_of
from celltcp.results.publishing import remembered_metrics
from celltcp.results.working import UNFINISHED
from celltcp.selection.checkpoint import Frames, finished_frames
from celltcp.selection.engine_agreement import Overlap
from celltcp.selection.evaluation import Evaluation
from celltcp.selection.outcomes.engines import OverlapOrigin
from celltcp.selection.outcomes.evaluation import Settings
from celltcp.selection.report.engine_agreement import engines_part
from celltcp.selection.report.evaluation import evaluation_part
from celltcp.video.comparison import VideoComparison
from celltcp.video.load_results import load
from celltcp.video.report.comparison import video_part

_Origin = TypeVar("_Origin")

#: Tables of an evaluation from which its other tables are computed.
_EVALUATION_TABLES = ("runs", "decisions", "histories", "costs")

_ALLOWED_FOLDERS = (
    "allowed: a folder that --out of compare, run, sweep, video, select evaluate, "
    "select compare-engines, fidelity, papers or pcap analyze wrote"
)


def parts_of(folder: Path) -> list[Part]:
    """Returns the parts of a report on a folder.

    Raises:
        CelltcpError: if it is no folder, or holds nothing that a report can be made of.
    """
    if not folder.is_dir():
        raise CelltcpError(f"{folder}: there is no such folder; {_ALLOWED_FOLDERS}")
    kind = kind_in(folder)
    if kind == RUNS:
        return _runs_parts(folder)
    if kind == "evaluate":
        return [evaluation_part(_evaluation(folder))]
    if kind == "engines":
        return [engines_part(_engines(folder))]
    if kind == UNFINISHED:
        raise CelltcpError(f"{folder}: holds {KINDS[kind]}; finish it first")
    if saved := load_fidelity(folder):
        return [fidelity_part(saved)]
    if kind == CAPTURES or (folder / "connections.parquet").is_file():
        return [captures_part(_captures(folder))]
    if layout_in(folder) is None and (outcomes := load_experiments(folder)):
        return [papers_part(outcomes)]
    if not holds_runs(folder):
        raise CelltcpError(f"{folder}: holds no results; {_ALLOWED_FOLDERS}")
    return _runs_parts(folder)


def _runs_part(result: Comparison | SingleRun, name: str = "", by: Sequence[str] = ()) -> Part:
    """Returns the part on a comparison or run; `name` is that of its scenario, if there are several."""
    if isinstance(result, SingleRun):
        return single_part(result)
    return comparison_part(result, command_of("compare", result.results.about), name, by)


def _runs_parts(folder: Path) -> list[Part]:
    """Returns the parts on runs: those of the folder, or of folders within it."""
    result = load(folder)
    if isinstance(result, Sweep):
        return [sweep_part(result, remembered_metrics(folder))]
    if isinstance(result, VideoComparison):
        return [video_part(result)]
    if not isinstance(result, ScenarioSet):
        return [_runs_part(result, by=remembered_metrics(folder))]
    has_set_part = len(result.comparisons) > 1 or bool(result.unfinished)
    parts = (
        _runs_part(run_or_comparison(comparison.results), name if has_set_part else "")
        for name, comparison in result.comparisons.items()
    )
    return [*([set_part(result)] if has_set_part else []), *parts]


def _evaluation(folder: Path) -> Evaluation:
    frames, about = _frames(folder, _EVALUATION_TABLES, Settings)
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
