"""Comparison of congestion controls on one scenario, over the same channel realisations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from celltcp._core import NATIVE
from celltcp.campaign.plan import CampaignRequest
from celltcp.campaign.run import Progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.comparison import Comparison
from celltcp.scenarios.ccas import DEFAULT_LIST
from celltcp.scenarios.changes import Changes
from celltcp.scenarios.scenarios import ScenarioSource

if TYPE_CHECKING:
    from celltcp.scenarios.data_frames import ScenarioLike, TraceLike


def compare(
    scenario: ScenarioLike,
    cca: Sequence[str] | str = DEFAULT_LIST,
    runs: int = 10,
    seed: int = 1,
    duration: str | float | None = None,
    jobs: int | None = None,
    *,
    cluster: str | None = None,
    middlebox: Sequence[str] | str = (),
    engine: str = NATIVE,
    kernel: str | None = None,
    uplink: TraceLike | None = None,
    set: Changes = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    overwrite: bool = False,
    radio_log: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Runs every congestion control over the same channel realisations.

    Args:
        scenario: built-in name, scenario file, link trace, or a loaded scenario.
        cca: names of congestion controls, with parameters (`"cubic:hystart=off"`) or several flows at
            a time (`"cubic+bbr"`); `"all"` for all that the engine has, `"own"` for that of the
            scenario itself, `"default"` for CUBIC, BBR and Reno with that of its first flow.
        middlebox: middleboxes that each congestion control is to pass in turn (`"none,split,es"`);
            those of the scenario unless given.
        runs: runs of each; run i, from 0, has `seed + i`.
        seed: of the first run.
        duration: length of a run, such as `"60s"`, or a number of seconds.
        jobs: runs at a time; all cores unless given.
        cluster: address of a Dask scheduler whose workers do the runs, such as `"tcp://host:8786"`.
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel, such as `"7.3"`; the newest that is built unless given.
        uplink: link trace of the uplink.
        set: scenario fields to override, such as `{"path.buffer": "2bdp"}`.
        out: folder to keep finished runs in while the campaign goes on, and to save to.
        overwrite: whether other results in that folder may be replaced.
        radio_log: whether to record every TTI of the radio; only for scenarios that have one.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    settings = RunSettings(
        cca=cca,
        middlebox=middlebox,
        runs=runs,
        seed=seed,
        duration=duration,
        jobs=jobs,
        cluster=cluster,
        engine=engine,
        kernel=kernel,
        uplink=uplink,
        changes=set,
        radio_log=radio_log,
        out=out,
        overwrite=overwrite,
    )
    source = settings.source(scenario)
    result = comparison_request(source, settings).run(progress)
    # The command line has them before the runs.
    if notes := source.notes:
        about = result.results.about
        about["notes"] = [*about.get("notes", []), *notes]
    return result


def comparison_request(source: ScenarioSource, settings: RunSettings) -> CampaignRequest[Comparison]:
    """Plans the runs of all congestion controls on a scenario."""
    settings.check()
    if settings.folder is not None:
        from celltcp.results.folder import require_own

        require_own(settings.folder, "compare")
    engine = settings.find_engine()
    campaign = settings.plan(source.scenario, engine, settings.folder)
    return CampaignRequest((campaign,), settings, lambda results: Comparison(results[0]))
