"""celltcp papers."""

from __future__ import annotations

import click

from celltcp.cli.options import option, options
from celltcp.cli.progress import progress_bar


@click.command()
@click.argument("name", required=False)
@click.option("--scenario", metavar="LIST", help="Only these scenarios of the paper.")
@options("runs", "seed", "jobs")
@option("out", help="Keep tables and the picture here; resumes.")
def papers(
    name: str | None,
    scenario: str | None,
    runs: int,
    seed: int,
    jobs: int | None,
    out: str | None,
) -> None:
    """List the papers with published goodputs, or run the scenarios of the one called NAME.

    Prints the published mean and ours for each scenario and congestion control, and how well the ranks
    agree.
    """
    from pathlib import Path

    from celltcp._core import CelltcpError
    from celltcp.cli.console import wide_console
    from celltcp.cli.published import print_beside
    from celltcp.comparison import compare
    from celltcp.papers.beside import beside
    from celltcp.papers.published import PAPERS, published_goodput
    from celltcp.results import prepare_folder

    if name is None:
        for paper, about in PAPERS.items():
            click.echo(f"{paper:<14}{about}")
        return
    if name not in PAPERS:
        raise CelltcpError(f"paper {name!r}: allowed is one of {', '.join(PAPERS)}")
    published = published_goodput(paper=name)
    scenarios = list(dict.fromkeys(each.scenario for each in published))
    if scenario is not None:
        chosen = [each.strip() for each in scenario.split(",")]
        if unknown := [each for each in chosen if each not in scenarios]:
            raise CelltcpError(
                f"scenario {unknown[0]!r}: {name} has figures of {', '.join(scenarios)} only"
            )
        scenarios = chosen
    folder = prepare_folder(out) if out else None
    found = []
    for each in scenarios:
        with progress_bar(each) as progress:
            comparison = compare(
                each,
                cca=[theirs.cca for theirs in published if theirs.scenario == each],
                runs=runs,
                seed=seed,
                jobs=jobs,
                out=folder / Path(each) if folder else None,
                progress=progress,
            )
        if one := beside(comparison):
            found.append(one)
    print_beside(found, wide_console())
    if folder:
        from celltcp.plots.papers import draw_beside
        from celltcp.plots.style import save

        click.echo(f"picture: {save(draw_beside(found), folder / 'published.png')}", err=True)
