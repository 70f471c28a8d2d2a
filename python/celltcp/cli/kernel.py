"""celltcp kernel."""

from __future__ import annotations

import click


@click.group()
def kernel() -> None:
    """Build and manage Linux kernels for --engine kernel."""


@kernel.command()
@click.option("--source", metavar="FILE", help="A tarball of the kernel from kernel.org.")
@click.option("--debian", default="linux-source-7.3", show_default=True, metavar="PACKAGE")
@click.option("--jobs", type=click.IntRange(1), help="Compilers at a time; default all cores.")
@click.option("--keep-source", is_flag=True, help="Keep the source tree and the objects.")
@click.option("--force", is_flag=True, help="Build although it is built already.")
def build(source: str | None, debian: str, jobs: int | None, keep_source: bool, force: bool) -> None:
    """Build a kernel into the cache, from a Debian source package or a tarball.

    Needs no root. Goes on where it was interrupted.
    """
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from celltcp.kernel import build as build_kernel

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("preparing", total=None)
        files, last = 0, ""

        def told(step: str, detail: str) -> None:
            nonlocal files, last
            if not console.is_terminal and step != last:
                click.echo(f"{step} {detail if step != 'compiling' else ''}".rstrip(), err=True)
            last = step
            files += step == "compiling"
            count = f" ({files} files)" if step == "compiling" else ""
            bar.update(task, description=f"{step}{count}: {detail[:60]}")

        done = build_kernel(
            source,
            debian_package=debian,
            jobs=jobs,
            keep_source=keep_source,
            force=force,
            progress=told,
        )
    click.echo(
        f"kernel {done.version}: {len(done.ccas)} congestion controls, {done.size / 1e6:.1f} MB, "
        f"in {done.folder}"
    )


@kernel.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(as_json: bool) -> None:
    """Show which kernels are built."""
    import json

    from rich.console import Console
    from rich.table import Table

    from celltcp.kernel import kernels

    there = kernels()
    if as_json:
        rows = [
            {**each.about, "folder": str(each.folder), "size": each.size, "up_to_date": each.up_to_date}
            for each in there
        ]
        click.echo(json.dumps(rows, indent=1))
        return
    if not there:
        click.echo("no kernel is built; celltcp kernel build makes one")
        return
    table = Table()
    for heading in ("version", "source", "built", "MB", "congestion controls", "state"):
        table.add_column(heading)
    for each in there:
        state = "up to date" if each.up_to_date else "driver has changed: build it again"
        size = f"{each.size / 1e6:.1f}"
        ccas = " ".join(each.ccas)
        table.add_row(each.version, each.about["source"], each.about["built"], size, ccas, state)
    Console(highlight=False).print(table)
    click.echo(f"in {there[0].folder.parent}")


@kernel.command()
@click.argument("version", required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
def clean(version: str | None, yes: bool) -> None:
    """Remove the kernel VERSION or, without one, all kernels and unfinished builds."""
    from celltcp.kernel import clean as clean_cache
    from celltcp.kernel import find

    what = find(version).version if version else "all kernels and unfinished builds"
    if not yes:
        click.confirm(f"remove {what}?", abort=True)
    for folder in clean_cache(version):
        click.echo(f"removed {folder}")
