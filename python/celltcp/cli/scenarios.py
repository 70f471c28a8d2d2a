"""celltcp scenarios."""

from __future__ import annotations

import itertools

import click

from celltcp.cli.options import complete_scenario
from celltcp.cli.verbosity import note


@click.command()
@click.argument("name", required=False, shell_complete=complete_scenario)
@click.option("--schema", is_flag=True, help="Print the JSON schema of scenario files.")
def scenarios(name: str | None, schema: bool) -> None:
    """List the built-in scenarios, or print one as a commented file.

    NAME is a scenario, or a folder such as mobility, whose scenarios are then listed.
    """
    from celltcp._core import scenario_schema
    from celltcp.scenarios.scenarios import load_scenario, scenario_names

    names = scenario_names()
    if schema and name is not None:
        raise click.UsageError(f"--schema: {name!r} is named, too; give one of them")
    if schema:
        click.echo(scenario_schema())
    elif not name:
        _print_list(names)
    elif inside := [each for each in names if each.startswith(f"{name.rstrip('/')}/")]:
        _print_list(inside)
        _print_variants(name.rstrip("/"))
    else:
        click.echo(load_scenario(name).to_toml(), nl=False)


def _print_variants(folder: str) -> None:
    """Prints the variants of the scenarios in a folder on standard error, beside the list of names."""
    from celltcp.scenarios.scenarios import variants_of

    for name, variant in variants_of(folder).items():
        note(f"NAME@{name}: {variant['description']}")


def _print_list(names: list[str]) -> None:
    """Names and descriptions, with an empty line between folders."""
    from celltcp.scenarios.scenarios import description

    width = max(map(len, names))
    for number, (_, group) in enumerate(itertools.groupby(names, lambda name: name.rpartition("/")[0])):
        if number:
            click.echo()
        for each in group:
            click.echo(f"{each:<{width}}  {description(each)}")
