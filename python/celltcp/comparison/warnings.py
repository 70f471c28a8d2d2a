"""Warnings of comparisons: those of their results, and those about their number and length of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.results.statistics import has_few_runs
from celltcp.results.warnings import all_warnings
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison


def warnings_of(comparison: Comparison) -> list[str]:
    """Returns warnings about causes of the metrics other than the congestion controls."""
    warnings = [*filter(None, [comparison.unfinished]), *all_warnings(comparison.results)]
    if comparison.short_runs:
        from celltcp.comparison.short_runs import short_run_warnings

        warnings += short_run_warnings(comparison)
    if not comparison.decides and len(comparison.ccas) > 1:
        warnings.append("one run of a random scenario is not conclusive; use --runs 10 or more")
    elif (runs := int(comparison.results.about["runs"])) > 1 and has_few_runs(runs):
        from celltcp.comparison.few_runs import few_runs_text

        warnings += filter(None, [few_runs_text([comparison])])
    if comparison.split_ccas:
        split = ", ".join(labels(comparison.split_ccas).values())
        warnings.append(
            f"RTT, PM and retransmissions of {split} are those of the leg to the middlebox: delay "
            "ranks by the one-way delay, balanced does not rank"
        )
    return warnings
