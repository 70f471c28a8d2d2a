"""Option --json-schema: the JSON Schema of what a command writes with --json."""

from __future__ import annotations

import json
import pkgutil
from pathlib import Path
from typing import Any

import click

#: Types of the outcomes by command, as module and name in it; where there are several, the output is of
#: one of them. The modules are imported when a schema is asked for.
SCHEMAS: dict[str, tuple[str, ...]] = {
    "compare": ("comparison.outcome:ComparisonOutcome", "comparison.outcome:ScenarioSetOutcome"),
    "sweep": ("comparison.outcome:SweepOutcome",),
    "run": ("comparison.run_outcome:RunOutcome",),
    "show": ("comparison.outcome:ComparisonOutcome", "comparison.run_outcome:RunOutcome"),
    "cca": ("cca",),
    "video": ("video",),
    "select env": ("select-env",),
    "select estimators": ("select-estimators",),
    "select engines": ("select-engines",),
    "select evaluate": ("select-evaluate",),
    "select explain": ("select-explain",),
    "papers": ("papers",),
    "pcap analyze": ("pcap-analyze",),
    "pcap judge": ("pcap-judge",),
    "pcap compare": ("pcap-compare",),
    "pcap resets": ("pcap-resets",),
    "fidelity": ("fidelity",),
    "fidelity packetdrill": ("packetdrill",),
    "kernel status": ("kernel-status",),
    "bench": ("bench",),
}


def schema_of(command: str) -> dict[str, Any]:
    """Returns the schema of a command, such as `select evaluate`."""
    from celltcp.present.json_types import SchemaWriter

    writer = SchemaWriter()
    outcomes = [
        writer.schema(pkgutil.resolve_name(f"celltcp.{name}")) if ":" in name else _read(name)
        for name in SCHEMAS[command]
    ]
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


def _read(name: str) -> dict[str, Any]:
    file = Path(__file__).parent.parent / "schemas" / f"{name}.json"
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return {key: value for key, value in found.items() if key not in ("$schema", "title")}
