"""celltcp kernel."""

from __future__ import annotations

import sys

import click

from celltcp.cli.options import option


@click.group()
def kernel() -> None:
    """Build, show and remove Linux kernels for the kernel engine.

    Such a kernel runs as an ordinary process with its own TCP, in virtual time.
    """


@kernel.command()
@click.option("--source", metavar="FILE", help="Source of the kernel: a tarball as on kernel.org.")
@click.option(
    "--debian",
    metavar="PACKAGE",
    help="Source of the kernel: a package of Debian such as linux-source-6.12, which apt fetches.  "
    "[default: the newest linux-source-7.x of Debian's suites]",
)
@option(
    "jobs", help="Number of compilers at the same time.  [default: all cores that the process may use]"
)
@click.option("--keep-source", is_flag=True, help="Keep source and object files, for quick rebuilds.")
@click.option("--force", is_flag=True, help="Build again even if the kernel is there.")
def build(
    source: str | None, debian: str | None, jobs: int | None, keep_source: bool, force: bool
) -> None:
    """Build a Linux kernel for the kernel engine.

    The kernel goes to the cache of this user. Takes some minutes and 2.3 GB of disk, of which 10 MB
    stay. No root is needed, and nothing of the system changes. An interrupted build goes on where it
    stopped.
    """
    from celltcp.cli.progress import build_progress
    from celltcp.kernel import build as build_kernel

    steps: list[str] = []
    try:
        with build_progress(steps) as report:
            built = build_kernel(
                source=source,
                debian=debian,
                jobs=jobs,
                keep_source=keep_source,
                force=force,
                report=report,
            )
    except KeyboardInterrupt:
        click.echo("celltcp: interrupted; the same command goes on from here", err=True)
        sys.exit(130)
    text = "is built" if steps else "is built already (--force builds it again)"
    click.echo(f"Linux {built.version} {text}: {built.binary}")
    click.echo(f"{len(built.ccas)} congestion controls: {', '.join(built.ccas)}")


@kernel.command()
@option("as_json")
def status(as_json: bool) -> None:
    """List the kernels that are built."""
    import json

    from celltcp.kernel.status import status as kernel_status

    result = kernel_status()
    if as_json:
        click.echo(json.dumps(result, indent=1))
        return
    from celltcp.kernel.programs import other_build_text
    from celltcp.present.kernel_table import kernels_table
    from celltcp.present.terminal import Terminal

    console = Terminal()
    if result["kernels"]:
        console.print_table(kernels_table(result["kernels"]))
    else:
        console.print("No kernel is built; `celltcp kernel build` builds one.")
    if result["other_builds"]:
        console.print(other_build_text(result["other_builds"]), soft_wrap=True)
    for work in result["work"]:
        console.print(
            f"unfinished or kept: {work['path']}, {work['size_bytes'] / 1e9:.1f} GB", soft_wrap=True
        )
    console.print(f"kernels are in {result['folder']}", soft_wrap=True)


@kernel.command()
@click.argument("version", required=False)
@click.option("--yes", is_flag=True, help="Remove without asking.")
def clean(version: str | None, yes: bool) -> None:
    """Remove kernels and their work folders: those of VERSION, or all."""
    from celltcp.kernel.cache import clean as remove
    from celltcp.kernel.cache import removable_folders

    folders = removable_folders(version)
    if not folders:
        click.echo("nothing to remove")
        return
    for folder in folders:
        click.echo(f"{'removes' if yes else 'would remove'} {folder}")
    if not yes and not click.confirm("Remove?"):
        return
    remove(version)
