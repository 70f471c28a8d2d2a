"""Campaign requests: campaigns that run together, in memory or in a folder, and their cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from celltcp.campaign.jobs import Campaign
from celltcp.campaign.run import MemoryCollector, Progress, run_groups
from celltcp.campaign.run_settings import RunSettings
from celltcp.results.tables import Results

if TYPE_CHECKING:
    from celltcp.campaign.cost_estimate import CostEstimate
    from celltcp.results.layout import Layout

Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class CampaignRequest(Generic[Outcome]):
    """Request for campaigns, planned and checked."""

    campaigns: Sequence[Campaign]
    settings: RunSettings
    #: Returns the outcome for the results of the campaigns.
    outcome: Callable[[list[Results]], Outcome]
    #: Layout of the campaigns' folders in that of the settings; None if it is the only one.
    layout: Layout | None = None

    def estimate(self) -> CostEstimate:
        """Returns the estimated cost of all runs, including those that the folder has."""
        from celltcp.campaign.cost_estimate import estimate_cost

        return estimate_cost(campaign.jobs for campaign in self.campaigns)

    def run(self, progress: Progress | None = None) -> Outcome:
        """Runs the campaigns together, and returns their outcome.

        Runs in the folder of a campaign are not repeated.

        Raises:
            CelltcpError: if a folder holds other results, or another command writes to it.
        """
        settings, campaigns = self.settings, self.campaigns
        if settings.folder is not None:
            from celltcp.campaign.folders import run_in_folder

            results = run_in_folder(
                campaigns,
                settings.folder,
                workers=settings.workers,
                overwrite=settings.overwrite,
                layout=self.layout,
                progress=progress,
            )
            return self.outcome(results)
        collectors = [MemoryCollector() for _ in campaigns]
        groups = [
            (campaign.jobs, collector)
            for campaign, collector in zip(campaigns, collectors, strict=True)
        ]
        run_groups(groups, workers=settings.workers, progress=progress)
        return self.outcome(
            [
                Results(collector.finish(), campaign.origin)
                for campaign, collector in zip(campaigns, collectors, strict=True)
            ]
        )
