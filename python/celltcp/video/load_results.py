"""Loading of saved results of any kind, videos included."""

from __future__ import annotations

import tomllib
from pathlib import Path

from celltcp.comparison import load_results
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.load_results import Loaded, load_within, several_of
from celltcp.comparison.parameter_sweep import Sweep
from celltcp.comparison.scenario_set import ScenarioSet
from celltcp.comparison.single_run import SingleRun
from celltcp.results.folder import about_in
from celltcp.results.layout import layout_in
from celltcp.video.comparison import VideoComparison, folder_name


def load(
    folder: str | Path,
) -> Comparison | SingleRun | Sweep | ScenarioSet | VideoComparison:
    """Loads the results of `--out` of compare, run, sweep or video, or of a `save`.

    Of unfinished results it loads the finished runs; `unfinished` and the warnings say so.

    Raises:
        CelltcpError: names the file that is missing or damaged; or there is no finished run.
    """
    root = Path(folder)
    if not root.is_dir() or about_in(root) is not None or not _may_be_video(root):
        return load_results.load(root)
    loaded = load_within(root)
    if loaded is None:
        return load_results.load(root)
    return _viewing(loaded) or several_of(loaded)


def _may_be_video(root: Path) -> bool:
    """Returns whether the folder has videos, or a layout of an earlier version."""
    layout = layout_in(root)
    return layout is None or layout.kind == "video"


def _viewing(loaded: Loaded) -> VideoComparison | None:
    """Returns the results of `celltcp video` in folders; None if they are of another command."""
    comparisons: dict[tuple[str, str], Comparison] = {}
    is_known = loaded.layout.kind == "video"
    for point, comparison in loaded.comparisons.items():
        about = comparison.results.about
        workload = tomllib.loads(about["scenario"])["flows"][0].get("workload", {})
        name, abr = point if is_known else (str(about["name"]), str(workload.get("abr", "")))
        if not is_known and (workload.get("kind"), point) != ("video", (folder_name(name, abr),)):
            return None
        comparisons[name, abr] = comparison
    names, abrs = (dict.fromkeys(key[place] for key in comparisons) for place in (0, 1))
    keys = [(name, abr) for name in names for abr in abrs]
    if not is_known and not all(key in comparisons for key in keys):
        return None
    ordered = {key: comparisons[key] for key in keys if key in comparisons}
    return VideoComparison(ordered, loaded.layout.left_out, loaded.completeness)
