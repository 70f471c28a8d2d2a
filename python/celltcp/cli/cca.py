"""celltcp cca."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import cca_file_option, option

if TYPE_CHECKING:
    from celltcp.scenarios.ccas import AutoEntry, AutoParameter, CcaEntry


@click.command()
@click.argument("name", required=False)
@cca_file_option
@option("as_json", help="Print the list or the description as JSON.")
def cca(name: str | None, as_json: bool) -> None:
    """List the congestion controls, or describe one.

    Parameters are set as in --cca cubic:hystart=off,beta=0.8,bbr or, in a scenario, as cca = { name =
    "cubic", hystart = "off" }. auto is no congestion control: it selects one for each connection and
    changes it on the way.
    """
    import json

    from celltcp._core import describe_cca
    from celltcp.scenarios.ccas import catalogue

    if name == "auto":
        _print_auto(as_json)
    elif as_json:
        click.echo(json.dumps(describe_cca(name) if name else catalogue(), indent=1))
    elif name:
        _print_entry(describe_cca(name))
    else:
        _print_catalogue(catalogue())


def _print_catalogue(entries: list[CcaEntry]) -> None:
    from celltcp.present.cca_tables import catalogue_table
    from celltcp.present.terminal import Terminal

    console = Terminal()
    console.print_table(catalogue_table(entries))
    console.print(
        "--cca auto selects among them and changes them on the way; celltcp cca auto tells its "
        "parameters, celltcp select policies by what it selects."
    )


def _print_auto(as_json: bool) -> None:
    """Prints the description and the parameters of `auto`."""
    import json

    from celltcp._core import auto_parameters, builtin_policies
    from celltcp.present.cca_tables import auto_table
    from celltcp.present.terminal import Terminal

    parameters: list[AutoParameter] = [
        {"name": name, "meaning": meaning, "default": default}
        for name, meaning, default in auto_parameters()
    ]
    if as_json:
        document: AutoEntry = {
            "name": "auto",
            "policies": builtin_policies(),
            "parameters": parameters,
        }
        click.echo(json.dumps(document, indent=1))
        return
    console = Terminal()
    console.print(
        "auto: a policy selects the congestion control of each connection and changes it on the way, "
        "as in --cca auto:policy=rules,requirement=delay."
    )
    console.print(f"policies: {', '.join(builtin_policies())}, or a file")
    console.print_table(auto_table(parameters))


def _print_entry(entry: CcaEntry) -> None:
    from celltcp.present.cca_tables import parameters_table
    from celltcp.present.terminal import Terminal

    console = Terminal()
    # Classes of users need not have a year.
    year = f", {entry['year']}" if entry["year"] else ""
    console.print(f"{entry['name']}: {entry['title']}, family {entry['family']}{year}")
    console.print(f"reference: {entry['reference']}")
    console.print(f"in Linux: {'yes' if entry['linux'] else 'no'}")
    if entry["aliases"]:
        console.print(f"also called: {', '.join(entry['aliases'])}")
    if entry["parameters"]:
        console.print_table(parameters_table(entry["parameters"]))
    else:
        console.print("It has no parameters.")
