"""Campaigns that run together: planned only, in memory, or in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from celltcp.campaign.jobs import Campaign
from celltcp.campaign.run import InMemory, Progress, Workers, run_groups
from celltcp.results.tables import Results


def run_campaigns(
    campaigns: Sequence[Campaign],
    *,
    workers: Workers = None,
    folder: Path | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> list[Results]:
    """Runs the campaigns together and returns the results of each.

    Runs that the folder of a campaign has already are not run again.

    Args:
        campaigns: what to run.
        workers: runs at a time, all cores unless given; or a cluster.
        folder: where finished runs are kept until all are done.
        overwrite: whether other results in the folders may be replaced.
        dry_run: whether to run nothing and raise what it would take.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if a folder holds other results, or another command writes to it.
        DryRunExit: if nothing is to run; says what it would take.
    """
    if dry_run:
        from celltcp.campaign.cost_estimate import DryRunExit, estimate_cost

        raise DryRunExit(estimate_cost(each.jobs for each in campaigns))
    if folder is not None:
        from celltcp.campaign.folders import run_in_folder

        return run_in_folder(campaigns, folder, workers=workers, overwrite=overwrite, progress=progress)
    collectors = [InMemory() for _ in campaigns]
    groups = [(each.jobs, collector) for each, collector in zip(campaigns, collectors, strict=True)]
    run_groups(groups, workers=workers, progress=progress)
    return [
        Results(collector.finish(), each.origin)
        for each, collector in zip(campaigns, collectors, strict=True)
    ]
