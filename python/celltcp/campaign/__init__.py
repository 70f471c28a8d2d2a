"""Campaigns: many runs at once, every CCA over the same channel realisations."""

from __future__ import annotations

from celltcp.campaign.cluster import Cluster, ClusterLostError, Workers
from celltcp.campaign.jobs import Job, Jobs, jobs_for
from celltcp.campaign.outline import OnlyPlanned, Outline, outline
from celltcp.campaign.plan import Campaign, check_folders, run_campaigns
from celltcp.campaign.remote import Needed, Task
from celltcp.campaign.run import Interrupted, Progress, RunsDone, part_of, run_jobs

__all__ = [
    "Campaign",
    "Cluster",
    "ClusterLostError",
    "Interrupted",
    "Job",
    "Jobs",
    "Needed",
    "OnlyPlanned",
    "Outline",
    "Progress",
    "RunsDone",
    "Task",
    "Workers",
    "check_folders",
    "jobs_for",
    "outline",
    "part_of",
    "run_campaigns",
    "run_jobs",
]
