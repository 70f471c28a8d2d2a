"""Replay of a live run in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from celltcp._core import ReplayedRun, Scenario
from celltcp.live.outcome import NO_CLOCK, Status
from celltcp.live.path_changes import change_at
from celltcp.live.result import LiveResult, origin_of_live, tables_of
from celltcp.live.stored import publish, result_folder


def replay(
    file: str | Path, out: str | Path | None = None, *, overwrite: bool = False
) -> tuple[LiveResult, bool | None]:
    """Repeats the live run of a log.

    Args:
        file: log of `celltcp shell --log`.
        out: folder to keep the tables in.
        overwrite: whether other results in that folder may be replaced.

    Returns:
        The result, and whether the departures are those of the live run; None if that was killed.

    Raises:
        CelltcpError: if the file is no such log.
    """
    run = ReplayedRun(Path(file))
    scenario = Scenario(*run.scenario)
    origin = origin_of_live(scenario, run.cca, run.seed, run.kernel)
    status = cast(Status, {**run.status(), **NO_CLOCK})
    if run.changes:
        origin["path_changes"] = [change_at(at, text) for at, text in run.changes]
    origin["duration_s"] = status["time_s"]
    result = LiveResult(tables_of(run, run.cca), origin, status)
    if out is not None:
        with result_folder(out, origin, overwrite=overwrite) as folder:
            publish(result, folder)
    return result, run.same
