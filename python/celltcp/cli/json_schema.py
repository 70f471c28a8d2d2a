"""Option --json-schema: the JSON Schema of what a command writes with --json."""

from __future__ import annotations

import json
import pkgutil
from typing import Any

import click

#: Types of the outcomes by command, as module and name in it; where there are several, the output is of
#: one of them. The modules are imported when a schema is asked for.
SCHEMAS: dict[str, tuple[str, ...]] = {
    "compare": ("comparison.outcome:ComparisonOutcome", "comparison.outcome:ScenarioSetOutcome"),
    "sweep": ("comparison.outcome:SweepOutcome",),
    "run": ("comparison.run_outcome:RunOutcome",),
    "show": ("comparison.outcome:ComparisonOutcome", "comparison.run_outcome:RunOutcome"),
    "cca": ("scenarios.ccas:Catalogue", "scenarios.ccas:CcaEntry", "scenarios.ccas:AutoEntry"),
    "video": ("video.outcome:VideoOutcome",),
    "select env": ("selection.outcomes.environment:TrialOutcome",),
    "select estimators": ("selection.outcomes.estimators:AccuracyOutcome",),
    "select engines": ("selection.outcomes.engines:OverlapOutcome",),
    "select evaluate": ("selection.outcomes.evaluation:EvaluationOutcome",),
    "select explain": ("selection.outcomes.explanation:ExplanationsOutcome",),
    "papers": ("publications.outcome:PapersOutcome",),
    "pcap analyze": ("pcap.outcome:AnalysisOutcome",),
    "pcap judge": ("pcap.outcome:JudgementOutcome",),
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


def add_schemas(command: click.Command, path: tuple[str, ...] = ()) -> None:
    """Adds --json-schema to a command that has --json, and to all below it."""
    if any("--json" in each.opts for each in command.params):
        name = " ".join(path)

        def show(context: click.Context, _: click.Parameter, asked: bool) -> None:
            if asked and not context.resilient_parsing:
                click.echo(json.dumps(schema_of(name), indent=1))
                context.exit()

        command.params.append(
            click.Option(
                ["--json-schema"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=show,
                help="Print the JSON Schema of what --json writes, and exit.",
            )
        )
    if isinstance(command, click.Group):
        for each, below in command.commands.items():
            add_schemas(below, (*path, each))
