"""celltcp report."""

from __future__ import annotations

import click

from celltcp.cli.options import option
from celltcp.cli.verbosity import note


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True)
@click.option(
    "--out",
    metavar="FILE",
    help="File of the report as HTML.  [default: report.html, unless --pdf or --page is given]",
)
@click.option(
    "--pdf", metavar="FILE", help="Write it as PDF: the answers on the first page, then the rest."
)
@click.option(
    "--page", metavar="FILE", help="Write it as Markdown, with its pictures in images/NAME beside it."
)
@option("overwrite", help="Replace files that exist, even if they are reports on other results.")
def report(
    folders: tuple[str, ...], out: str | None, pdf: str | None, page: str | None, overwrite: bool
) -> None:
    """Write results as one HTML file to read, send or print.

    DIR is a folder that --out of compare, run, sweep, video, select evaluate, select compare-engines,
    fidelity, papers or pcap analyze wrote. The file has the answer, tables, interactive pictures, the
    scenario, versions, seeds, and the command that reproduces the results. It needs no network.
    """
    from celltcp.cli.write_report import write_reports

    if out is None and pdf is None and page is None:
        out = "report.html"
    for file in write_reports(folders, out, pdf, page, overwrite=overwrite):
        note(f"report: {file}")
