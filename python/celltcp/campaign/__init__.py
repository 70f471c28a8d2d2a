"""Campaigns: many runs at once, every CCA over the same channel realisations."""

from __future__ import annotations

from celltcp.campaign.jobs import Job, jobs_for
from celltcp.campaign.plan import Campaign, check_folders, run_campaigns
from celltcp.campaign.run import Interrupted, Progress, RunsDone, part_of, run_jobs

__all__ = [
    "Campaign",
    "Interrupted",
    "Job",
    "Progress",
    "RunsDone",
    "check_folders",
    "jobs_for",
    "part_of",
    "run_campaigns",
    "run_jobs",
]
