"""celltcp scenarios."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping

import click

from celltcp.cli.options import complete_scenario
from celltcp.cli.verbosity import note


@click.command()
@click.argument("name", required=False, shell_complete=complete_scenario)
@click.option("--schema", is_flag=True, help="Print the JSON schema of scenario files.")
@click.option("--fields", is_flag=True, help="Print all fields of scenario files with their meanings.")
def scenarios(name: str | None, schema: bool, fields: bool) -> None:
    """List the built-in scenarios, or print one as a commented file.

    NAME is a scenario. A folder such as mobility, a pattern such as "stress/loss-*" or a set such as
    thesis36 lists its scenarios.
    """
    from celltcp._core import scenario_schema
    from celltcp.scenarios.scenario_list import expand_scenarios
    from celltcp.scenarios.scenarios import description, is_single_name, load_scenario, scenario_names

    names = scenario_names()
    for option, is_given in (("--schema", schema), ("--fields", fields)):
        if is_given and name is not None:
            raise click.UsageError(f"{option}: {name!r} is named, too; give one of them")
    if fields:
        from celltcp.present.schema_tables import sections

        click.echo("\n".join(sections(json.loads(scenario_schema()), "Top of the file")), nl=False)
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
