"""celltcp scenarios."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any

import click

from celltcp.cli.options import complete_scenario
from celltcp.cli.verbosity import note


@click.command()
@click.argument("name", required=False, shell_complete=complete_scenario)
@click.option("--schema", is_flag=True, help="Print the JSON schema of scenario files.")
@click.option(
    "--fields",
    is_flag=True,
    help="Print the fields of scenario files, or of a section or field, with their meanings.",
)
def scenarios(name: str | None, schema: bool, fields: bool) -> None:
    """List the built-in scenarios, or print one as a commented file.

    NAME is a scenario. A folder such as mobility, a pattern such as "stress/loss-*" or a set such as
    thesis36 lists its scenarios. With --fields, NAME is a section or field of scenario files,
    such as tcp or path.down.
    """
    from celltcp._core import scenario_schema
    from celltcp.scenarios.scenario_list import expand_scenarios
    from celltcp.scenarios.scenarios import description, is_single_name, load_scenario, scenario_names

    names = scenario_names()
    if schema and name is not None:
        raise click.UsageError(f"--schema: {name!r} is named, too; give one of them")
    if fields:
        _print_fields(json.loads(scenario_schema()), name)
    elif schema:
        click.echo(scenario_schema())
    elif not name:
        _print_list({each: description(each) for each in names})
    elif inside := [each for each in names if each.startswith(f"{name.rstrip('/')}/")]:
        _print_list({each: description(each) for each in inside})
        _print_variants(name.rstrip("/"))
    elif not is_single_name([name]):
        _print_list(
            {source.name: source.scenario.description for source in expand_scenarios(name).sources}
        )
    else:
        click.echo(load_scenario(name).to_toml(), nl=False)


def _print_fields(schema: dict[str, Any], name: str | None) -> None:
    """Prints the sections of fields whose heading begins with a name, or all of them."""
    from celltcp.present.schema_tables import sections

    texts = {
        text.partition("\n")[0].removeprefix("### "): text
        for text in sections(schema, "Top of the file")
    }
    selected = _sections_of(name, texts)
    if not selected:
        allowed = ", ".join(dict.fromkeys(heading.partition(",")[0] for heading in list(texts)[1:]))
        raise click.UsageError(f"--fields: there is no section {name!r}; allowed: {allowed}")
    click.echo("\n".join(selected), nl=False)


def _sections_of(name: str | None, texts: Mapping[str, str]) -> list[str]:
    """Returns the sections that a name means.

    It is the beginning of a heading, or a field such as `path.down`, which means the sections of its
    type, or else the section that has the field.

    Args:
        name: name; None for all sections.
        texts: sections by heading.
    """
    # Lists are named in the plural: flows, links. A number is a place in a list.
    prefix = re.sub(r"\.\d+\b", "", name or "").lower().removesuffix("s")
    selected = [text for heading, text in texts.items() if heading.lower().startswith(prefix)]
    table, _, field = prefix.rpartition(".")
    for heading, text in texts.items():
        if selected or not table.rpartition(".")[2].removesuffix("s").startswith(heading.lower()):
            continue
        for cells in (line.split(" | ") for line in text.splitlines() if line.startswith("| ")):
            if cells[0].removeprefix("| ").removesuffix("s") == field:
                kind = cells[1].rpartition(" ")[2]
                same = [each for other, each in texts.items() if other.partition(",")[0] == kind]
                selected = same or [text]
    return selected


def _print_variants(folder: str) -> None:
    """Prints on stderr the variants that each scenario of a folder has."""
    from celltcp.scenarios.scenarios import variants_of

    for name, variant in variants_of(folder).items():
        note(f"NAME@{name}: {variant['description']}")


def _print_list(descriptions: Mapping[str, str]) -> None:
    """Prints names and descriptions, with an empty line between folders."""
    width = max(map(len, descriptions))
    groups = itertools.groupby(descriptions.items(), lambda item: item[0].rpartition("/")[0])
    for index, (_, group) in enumerate(groups):
        if index:
            click.echo()
        for name, text in group:
            click.echo(f"{name:<{width}}  {text}")
