"""JSON Schema of the output of each command with --json."""

from __future__ import annotations

import pkgutil
from typing import Any

#: Types of the outcomes by command, as module and name in it; where there are several, the output is of
#: one of them. The modules are imported when a schema is requested.
SCHEMAS: dict[str, tuple[str, ...]] = {
    "compare": ("comparison.outcome:ComparisonOutcome", "comparison.outcome:ScenarioSetOutcome"),
    "sweep": ("comparison.outcome:SweepOutcome",),
    "run": ("comparison.run_outcome:RunOutcome",),
    "shell run": ("live.outcome:LiveOutcome",),
    "shell doctor": ("live.outcome:Floor",),
    "shell list": ("live.run_folders:RunningRuns",),
    "shell set": ("live.path_changes:PathChanges",),
    "shell status": ("live.outcome:Status",),
    "replay": ("live.outcome:LiveOutcome",),
    "show": ("comparison.outcome:ComparisonOutcome", "comparison.run_outcome:RunOutcome"),
    "cca": ("scenarios.ccas:Catalogue", "scenarios.ccas:CcaEntry", "scenarios.ccas:AutoEntry"),
    "traces info": ("logs.overview:TracesOutcome",),
    "video": ("video.outcome:VideoOutcome",),
    "explain": (
        "selection.outcomes.explained_folder:ExplainedFolder",
        "selection.outcomes.explained_folder:ExplainedFolders",
    ),
    "select env": ("selection.outcomes.environment:TrialOutcome",),
    "select estimators": ("selection.outcomes.estimators:AccuracyOutcome",),
    "select compare-engines": ("selection.outcomes.engines:OverlapOutcome",),
    "select evaluate": ("selection.outcomes.evaluation:EvaluationOutcome",),
    "select explain": ("selection.outcomes.explanation:ExplanationsOutcome",),
    "papers": ("publications.outcome:PapersOutcome",),
    "pcap analyze": ("pcap.outcome:AnalysisOutcome",),
    "pcap validate": ("pcap.outcome:JudgementOutcome",),
    "pcap agreement": ("pcap.outcome:AgreementOutcome",),
    "pcap compare": ("pcap.outcome:GroupsOutcome",),
    "pcap resets": ("pcap.outcome:SavingsOutcome",),
    "fidelity": ("fidelity.outcome:FidelityOutcome",),
    "fidelity packetdrill": ("fidelity.packetdrill:Outcomes",),
    "kernel status": ("kernel.status:Status",),
    "bench": ("bench.outcome:BenchOutcome",),
}


def schema_of(command: str) -> dict[str, Any]:
    """Returns the schema of a command, such as `select evaluate`."""
    from celltcp.present.json_types import SchemaWriter

    writer = SchemaWriter()
    outcomes = [writer.schema(pkgutil.resolve_name(f"celltcp.{name}")) for name in SCHEMAS[command]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"celltcp {command} --json",
        **(outcomes[0] if len(outcomes) == 1 else {"anyOf": outcomes}),
        "$defs": writer.definitions,
    }
