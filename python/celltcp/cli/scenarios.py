"""celltcp scenarios."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
@click.option("--schema", is_flag=True, help="Print the JSON schema of scenario files.")
def scenarios(name: str | None, schema: bool) -> None:
    """List the built-in scenarios, or print the one called NAME as a complete commented file."""
    from celltcp._core import scenario_schema
    from celltcp.scenarios import load_scenario, scenario_names

    if schema:
        click.echo(scenario_schema())
    elif name:
        click.echo(load_scenario(name).to_toml(), nl=False)
    else:
        names = scenario_names()
        width = max(map(len, names))
        for each in names:
            click.echo(f"{each:<{width}}  {load_scenario(each).description}")
