"""celltcp select memory."""

from __future__ import annotations

import click

from celltcp.cli.options import option


@click.command()
@click.argument("folder", metavar="DIR")
@option(
    "cca",
    default=None,
    metavar="LABEL",
    help="Selector whose connections count, such as auto:policy=bpftune; needed if there are several.",
)
@click.option(
    "--extend", metavar="FILE", help="Memory file to extend, such as the one used in these runs."
)
def memory(folder: str, cca: str | None, extend: str | None) -> None:
    """Print what selectors learnt, as a memory for later runs.

    DIR is the folder that --out of compare or run wrote, with auto in --cca. All connections of all
    runs count, one after the other. To start later runs with it:

    \b
      celltcp select memory DIR > known.toml
      celltcp compare drive --cca auto:memory=known.toml
    """
    from celltcp.selection.memory import memory_of

    click.echo(memory_of(folder, cca, extend), nl=False)
