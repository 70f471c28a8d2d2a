"""Fidelity page: the outcome of `celltcp fidelity` in Markdown, with pictures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from celltcp.export.text import write_text
from celltcp.fidelity.cases import group_titles
from celltcp.fidelity.causes import Cause, cause_of
from celltcp.fidelity.data import read_text
from celltcp.fidelity.judgement import METRICS, Fidelity, Judgement
from celltcp.fidelity.rows import COLUMNS, HEADINGS, LEGEND, cells, difference_text
from celltcp.plots.fidelity import draw_overview, draw_trajectories
from celltcp.plots.style import save
from celltcp.results import prepare_folder

_MOST_TRAJECTORIES = 6


def write_page(fidelity: Fidelity, file: Path, command: str, causes: Sequence[Cause]) -> Path:
    """Writes the page, and beside it its pictures: the overview and some trajectories.

    Args:
        fidelity: the judgements.
        file: the Markdown file; the pictures go to `images` beside it, there to a folder of its name.
        command: the command that makes the page.
        causes: why cases are outside their bands.
    """
    pictures = f"images/{file.stem}"
    folder = prepare_folder(file.parent / pictures)
    save(draw_overview(fidelity), folder / "overview.png")
    shown = chosen_trajectories(fidelity.judgements)
    for number, judgement in enumerate(shown, 1):
        save(draw_trajectories(judgement, fidelity.seed), folder / f"trajectory-{number}.png")
    return write_text(file, page_text(fidelity, command, causes, shown, pictures))


def page_text(
    fidelity: Fidelity,
    command: str,
    causes: Sequence[Cause],
    shown: Sequence[Judgement],
    pictures: str = "images",
) -> str:
    """The page in Markdown; `shown` are the trajectories whose pictures are numbered from 1 on.

    Args:
        fidelity: the judgements.
        command: the command that makes the page.
        causes: why cases are outside their bands.
        shown: what is drawn.
        pictures: folder of the pictures, from that of the page.
    """
    overview = _picture(f"{pictures}/overview", "Differences of goodput and mean RTT per case")
    parts = [
        _head(fidelity, command),
        read_text("method.md"),
        _bands(fidelity),
        _outside(fidelity, causes),
        f"## Overview\n\n{overview}",
        *_tables(fidelity),
        _trajectories(fidelity, shown, pictures),
    ]
    return "\n".join(part for part in parts if part)


def chosen_trajectories(judgements: Sequence[Judgement]) -> list[Judgement]:
    """For each congestion control the case that uses most of its band on steady links and elsewhere.

    At most six of them, those that use most of their bands first.
    """
    worst: dict[tuple[str, bool], Judgement] = {}
    for judgement in judgements:
        kind = (judgement.cca, judgement.group == "steady")
        if kind not in worst or judgement.use > worst[kind].use:
            worst[kind] = judgement
    return sorted(worst.values(), key=lambda judgement: -judgement.use)[:_MOST_TRAJECTORIES]


def _head(fidelity: Fidelity, command: str) -> str:
    last = fidelity.seed + fidelity.runs - 1
    seeds = f"seeds {fidelity.seed} to {last}" if last > fidelity.seed else f"seed {last}"
    inside = len(fidelity.judgements) - len(fidelity.outside)
    return (
        "# Fidelity\n\n"
        f"The TCP of celltcp {fidelity.version} against that of Linux {fidelity.kernel_version}, on "
        f"the same path realisations: {fidelity.runs} runs ({seeds}) of each congestion control in "
        f"each case on each engine. {inside} of {len(fidelity.judgements)} are within their bands. "
        f"This page is made by\n\n    {command}\n"
    )


def _bands(fidelity: Fidelity) -> str:
    """The bands that were applied."""
    titles = group_titles()
    bands: dict[str, dict[str, list[str]]] = {}
    for judgement in fidelity.judgements:
        limits = ", ".join(
            f"{name} {judgement.differences[metric].band:g} %"
            for metric, name, _, _ in COLUMNS
            if judgement.differences[metric].band is not None
        )
        ccas = bands.setdefault(limits, {}).setdefault(titles[judgement.group], [])
        if judgement.cca not in ccas:
            ccas.append(judgement.cca)
    rows = []
    for limits, places in bands.items():
        where = [f"{title} ({', '.join(ccas)})" for title, ccas in places.items()]
        rows.append(f"- {limits}: {'; '.join(where)}.")
    return "\n".join(["The bands:\n", *rows, ""])


def _outside(fidelity: Fidelity, causes: Sequence[Cause]) -> str:
    if not fidelity.outside:
        return "## Outside their bands\n\nNone.\n"
    rows = []
    for judgement in fidelity.outside:
        differences = ", ".join(
            f"{name} {difference_text(judgement.differences[metric])}"
            for metric, name, _, _ in COLUMNS
            if metric in judgement.outside
        )
        cause = cause_of(judgement.case, judgement.cca, causes)
        rows.append(f"- {judgement.case}, {judgement.cca} ({differences}): {cause}")
    return "\n".join(["## Outside their bands\n", *rows, ""])


def _tables(fidelity: Fidelity) -> list[str]:
    tables = []
    for group, title in group_titles().items():
        mine = [judgement for judgement in fidelity.judgements if judgement.group == group]
        if not mine:
            continue
        rows = [HEADINGS, ("---", "---", *("---:" for _ in METRICS), "---:", "---")]
        rows += [tuple(cells(judgement, "<br>")) for judgement in mine]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        tables.append("\n".join([f"## {title}\n", *lines, ""]))
    return [*tables, f"{LEGEND}\n"]


def _trajectories(fidelity: Fidelity, shown: Sequence[Judgement], folder: str) -> str:
    pictures = [
        _picture(
            f"{folder}/trajectory-{number}", f"cwnd and RTT of {judgement.cca} on {judgement.case}"
        )
        for number, judgement in enumerate(shown, 1)
    ]
    lead = (
        "For each congestion control the case that uses most of its band, on steady links and "
        f"elsewhere: the run with seed {fidelity.seed}.\n"
    )
    return "\n".join(["## Trajectories\n", lead, *pictures])


def _picture(path: str, text: str) -> str:
    return f"![{text}]({path}.png)\n"
