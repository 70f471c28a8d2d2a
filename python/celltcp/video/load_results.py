"""Loading of saved results of any kind, including videos."""

from __future__ import annotations

import tomllib
from pathlib import Path

from celltcp.comparison import load_results
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.load_results import Loaded, load_within, several_of
from celltcp.comparison.sets.scenario_set import ScenarioSet
from celltcp.comparison.single_run import SingleRun
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.results.folder import about_in
from celltcp.results.layout import layout_in
from celltcp.video.comparison import VideoComparison, folder_name


def load(
    folder: str | Path,
) -> Comparison | SingleRun | Sweep | ScenarioSet | VideoComparison:
    """Loads results that compare, run, sweep or video wrote with `--out`, or a method `save`.

    Of unfinished results it loads the finished runs; then `unfinished` and the warnings say so.

    Raises:
        CelltcpError: if a file is missing or damaged, or no run is finished.
    """
    root = Path(folder)
    if not root.is_dir() or about_in(root) is not None or not _may_be_video(root):
        return load_results.load(root)
    loaded = load_within(root)
    if loaded is None:
        return load_results.load(root)
    return _video_comparison(loaded) or several_of(loaded)


def _may_be_video(root: Path) -> bool:
    """Returns whether the layout of the folder is that of videos, or missing (earlier versions)."""
    layout = layout_in(root)
    return layout is None or layout.kind == "video"


def _video_comparison(loaded: Loaded) -> VideoComparison | None:
    """Returns the results of `celltcp video` in folders; None for those of another command."""
    comparisons: dict[tuple[str, str], Comparison] = {}
    has_layout = loaded.layout.kind == "video"
    for point, comparison in loaded.comparisons.items():
        about = comparison.results.about
        workload = tomllib.loads(about["scenario"])["flows"][0].get("workload", {})
        name, abr = point if has_layout else (str(about["name"]), str(workload.get("abr", "")))
        if not has_layout and (workload.get("kind"), point) != ("video", (folder_name(name, abr),)):
            return None
        comparisons[name, abr] = comparison
    names, abrs = map(dict.fromkeys, zip(*comparisons, strict=True))
    keys = [(name, abr) for name in names for abr in abrs]
    if not has_layout and not all(key in comparisons for key in keys):
        return None
    ordered = {key: comparisons[key] for key in keys if key in comparisons}
    return VideoComparison(ordered, loaded.layout.left_out, loaded.completeness)
