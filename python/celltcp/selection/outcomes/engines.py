"""JSON types of celltcp select compare-engines."""

from __future__ import annotations

from celltcp.results.json_fields import FirstSeed, KernelVersion, Runs, ScenarioHashes
from celltcp.selection.outcomes.rows import EvaluationOrigin, Rows


class OverlapOrigin(EvaluationOrigin):
    """Origin of the best CCAs under both engines."""

    kernel_version: KernelVersion
    cca: list[str]
    scenarios: ScenarioHashes
    digests: dict[str, list[str]]
    runs: Runs
    seed: FirstSeed


class OverlapOutcome(OverlapOrigin):
    """Outcome of celltcp select compare-engines."""

    summary: Rows
    cases: Rows
    differences: Rows
    standings: Rows
    runs_table: Rows
