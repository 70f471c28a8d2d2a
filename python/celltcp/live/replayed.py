"""Replay of a live run in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from celltcp._core import ReplayedRun, Scenario
from celltcp.live.outcome import NO_REAL_TIME, Status
from celltcp.live.path_changes import path_change
from celltcp.live.result import LiveResult, origin_of_live, tables_of
from celltcp.live.stored import publish, result_folder


def replay(
    file: str | Path, out: str | Path | None = None, *, overwrite: bool = False
) -> tuple[LiveResult, bool | None]:
    """Replays the log of a live run.

    Args:
        file: log of `celltcp shell --log`.
        out: folder for the tables.
        overwrite: whether other results in that folder may be replaced.

    Returns:
        The result, and whether all departures equal those of the live run; None if the live run was
        killed, so that the log has no end.

    Raises:
        CelltcpError: if the file is no such log.
    """
    run = ReplayedRun(Path(file))
    scenario = Scenario(*run.scenario)
    origin = origin_of_live(scenario, run.cca, run.seed, run.kernel)
    status = cast(Status, {**run.status(), **NO_REAL_TIME})
    if run.changes:
        origin["path_changes"] = [path_change(time_s, text) for time_s, text in run.changes]
    origin["duration_s"] = status["time_s"]
    result = LiveResult(tables_of(run, run.cca), origin, status)
    if out is not None:
        with result_folder(out, origin, overwrite=overwrite) as folder:
            publish(result, folder)
    return result, run.same
