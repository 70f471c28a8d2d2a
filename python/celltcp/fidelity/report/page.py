"""Fidelity page: the outcome of `celltcp fidelity` in Markdown, and its pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from celltcp.fidelity.cases import group_titles
from celltcp.fidelity.causes import Cause, cause_of
from celltcp.fidelity.data import read_text
from celltcp.fidelity.differences import Fidelity, Judgement
from celltcp.fidelity.plots import draw_overview, draw_trajectories
from celltcp.fidelity.rows import COLUMNS, difference_text, row_of
from celltcp.files.atomic_write import write_text
from celltcp.files.replacing import FileKind
from celltcp.present.markdown import markdown_picture, markdown_table, wrapped
from celltcp.present.section import Column, Table
from celltcp.present.style import save
from celltcp.results.folder import prepare_folder

PAGE = FileKind("page of celltcp fidelity", (b"# Fidelity",), b"celltcp")

_MAX_TRAJECTORIES = 6
#: Columns of the tables of outside and undecided differences.
_COLUMNS = (Column("case"), Column("CCA"), Column("difference"))


def write_page(fidelity: Fidelity, file: Path, command: str, causes: Sequence[Cause]) -> Path:
    """Writes the page of a `command`, and its pictures in `images` next to it."""
    pictures = f"images/{file.stem}"
    folder = prepare_folder(file.parent / pictures)
    save(draw_overview(fidelity), folder / "overview.png")
    plotted = chosen_trajectories(fidelity.judgements)
    for number, judgement in enumerate(plotted, 1):
        save(draw_trajectories(judgement, fidelity.seed), folder / f"trajectory-{number}.png")
    return write_text(file, page_text(fidelity, command, causes, plotted, pictures))


def page_text(
    fidelity: Fidelity,
    command: str,
    causes: Sequence[Cause],
    plotted: Sequence[Judgement],
    pictures: str = "images",
) -> str:
    """Returns the page in Markdown; `plotted` have pictures in the folder `pictures`, from number 1."""
    overview = _picture(f"{pictures}/overview", "Differences of goodput and mean RTT per case")
    parts = [
        _head(fidelity, command),
        read_text("method.md"),
        _bands(fidelity),
        _outside(fidelity, causes),
        _undecided(fidelity),
        f"## Overview\n\n{overview}",
        _counts(fidelity),
        _trajectories(fidelity, plotted, pictures),
    ]
    return "\n".join(part for part in parts if part)


def chosen_trajectories(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Returns, for each CCA, the judgements with the largest band ratio on steady links and elsewhere.

    The list has at most six, in falling order of the ratio.
    """
    worst: dict[tuple[str, bool], Judgement] = {}
    for judgement in judgements:
        key = (judgement.cca, judgement.group == "steady")
        if key not in worst or judgement.max_band_ratio > worst[key].max_band_ratio:
            worst[key] = judgement
    return sorted(worst.values(), key=lambda judgement: -judgement.max_band_ratio)[:_MAX_TRAJECTORIES]


def _head(fidelity: Fidelity, command: str) -> str:
    last = fidelity.seed + fidelity.runs - 1
    seeds = f"seeds {fidelity.seed} to {last}" if last > fidelity.seed else f"seed {last}"
    text = wrapped(
        f"This page compares the TCP of celltcp {fidelity.version} with the TCP of Linux "
        f"{fidelity.kernel_version}. A comparison is that of one CCA in one case. Each engine makes "
        f"{fidelity.runs} runs ({seeds}) on the same paths. {fidelity.within_count} of "
        f"{len(fidelity.judgements)} comparisons are within their bands, {len(fidelity.undecided)} are "
        f"undecided, {len(fidelity.outside)} are outside. This command writes the page:"
    )
    question = "How far is the native TCP from that of Linux?"
    return f"# Fidelity\n\n*Results: {question}*\n\n{text}\n\n    {command}\n"


def _bands(fidelity: Fidelity) -> str:
    """Returns the section on the bands."""
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
    for limits, ccas_by_group in bands.items():
        groups = [f"{title} ({', '.join(ccas)})" for title, ccas in ccas_by_group.items()]
        rows.append(wrapped(f"- {limits}: {'; '.join(groups)}."))
    return "\n".join(["The bands, which are the largest differences allowed:\n", *rows, ""])


def _outside(fidelity: Fidelity, causes: Sequence[Cause]) -> str:
    """Returns the differences outside their bands: by cause, with a row per case and CCA."""
    if not fidelity.outside:
        return "## Outside their bands\n\nNone.\n"
    by_cause: dict[str, list[Judgement]] = {}
    for judgement in fidelity.outside:
        cause = cause_of(judgement.case, judgement.cca, causes)
        by_cause.setdefault(cause, []).append(judgement)
    parts = ["## Outside their bands\n"]
    for cause, judgements in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        rows = tuple(row_of(judgement, judgement.metrics_outside) for judgement in judgements)
        parts += [wrapped(cause), "", markdown_table(Table(_COLUMNS, rows)), ""]
    return "\n".join(parts)


def _undecided(fidelity: Fidelity) -> str:
    """Returns the undecided differences: outside their bands, with overlapping intervals."""
    if not fidelity.undecided:
        return ""
    lead = wrapped(
        "These differences are beyond their bands, but their intervals reach back into them. Runs of "
        "one engine differ from each other as much as from those of the other engine."
    )
    rows = tuple(
        (*row_of(judgement, judgement.undecided_metrics), str(judgement.runs))
        for judgement in fidelity.undecided
    )
    table = markdown_table(Table((*_COLUMNS, Column("runs")), rows))
    return f"## Undecided\n\n{lead}\n\n{table}\n"


def _counts(fidelity: Fidelity) -> str:
    """Returns a row per group: the number of differences within their bands, and the largest ones."""
    rows = []
    for group, title in group_titles().items():
        selected = [judgement for judgement in fidelity.judgements if judgement.group == group]
        if not selected:
            continue
        part = replace(fidelity, judgements=selected)
        largest = (_largest(selected, metric) for metric in ("goodput_mbps", "rtt_mean_ms"))
        rows.append(
            (title, f"{part.within_count} of {len(selected)}", str(len(part.undecided)), *largest)
        )
    headings = ("group", "within", "undecided", "largest difference of goodput", "of mean RTT")
    table = markdown_table(Table(tuple(map(Column, headings)), tuple(rows)))
    note = "`celltcp fidelity --out DIR` writes all comparisons to `DIR/fidelity.csv`."
    return f"{table}\n\n{note}\n"


def _largest(judgements: Sequence[Judgement], metric: str) -> str:
    """Returns the largest difference of a metric, with its CCA and case."""
    differences = [(judgement.differences[metric], judgement) for judgement in judgements]
    defined = [pair for pair in differences if not math.isnan(pair[0].percent)]
    if not defined:
        return "undefined"
    difference, judgement = max(defined, key=lambda pair: abs(pair[0].percent))
    return f"{difference_text(difference)} ({judgement.cca}, {judgement.case})"


def _trajectories(fidelity: Fidelity, plotted: Sequence[Judgement], folder: str) -> str:
    pictures = [
        _picture(
            f"{folder}/trajectory-{number}", f"cwnd and RTT of {judgement.cca} on {judgement.case}"
        )
        for number, judgement in enumerate(plotted, 1)
    ]
    lead = wrapped(
        "For each CCA two comparisons have the largest differences relative to their bands: one on "
        "steady links and one elsewhere. The pictures show up to six of these, in the run with seed "
        f"{fidelity.seed}."
    )
    return "\n".join(["## Trajectories\n", f"{lead}\n", *pictures])


def _picture(path: str, text: str) -> str:
    return f"{markdown_picture(text, f'{path}.png')}\n"
