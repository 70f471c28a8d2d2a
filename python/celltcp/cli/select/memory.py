"""celltcp select memory."""

from __future__ import annotations

import click


@click.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--cca",
    metavar="LABEL",
    help="Only this one, such as auto:policy=bpftune; needed if there are several.",
)
@click.option(
    "--known", metavar="FILE", help="Memory that they add to, such as the one these runs were given."
)
def memory(folder: str, cca: str | None, known: str | None) -> None:
    """Print what the selected connections of the results in DIR have found, as a memory.

    DIR holds results of celltcp compare or run with --cca auto... and --out. All connections of all
    runs under one auto count, one after the other. What celltcp select memory results > known.toml
    writes is what celltcp compare drive --cca auto:memory=known.toml starts with.
    """
    from celltcp.selection.memory import memory_of

    click.echo(memory_of(folder, cca, known), nl=False)
