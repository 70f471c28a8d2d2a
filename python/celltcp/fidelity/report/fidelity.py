"""Fidelity as a part of a report: how far the native TCP is from that of a Linux kernel."""

from __future__ import annotations

import functools
import math
import shlex
from collections.abc import Sequence

import numpy as np

from celltcp._core import KERNEL, NATIVE
from celltcp.comparison.report.provenance import provenance_sections
from celltcp.fidelity.cases import RANDOM, case_names, group_titles
from celltcp.fidelity.causes import cause_of, known_causes
from celltcp.fidelity.differences import Fidelity, Judgement
from celltcp.fidelity.plots import LINUX, draw_overview, draw_trajectories
from celltcp.fidelity.report.page import chosen_trajectories
from celltcp.fidelity.report.tables import distribution_sections, group_table
from celltcp.fidelity.rows import COLUMNS, LEGEND, difference_text, row_of
from celltcp.fidelity.saved import SavedFidelity
from celltcp.present.chart import Chart, Panel, Series, forward_fill, numbers
from celltcp.present.palette import colour, colours
from celltcp.present.section import Column, Figure, Finding, Part, Section, Table, runs_text
from celltcp.scenarios.cca_mix import count_text, labels

#: Metrics that have a band in each group.
_JUDGED_COLUMNS = COLUMNS[:2]
#: Columns that the page omits.
_OMITTED_COLUMNS = ("p95 RTT, ms", "cwnd distance")


def fidelity_part(saved: SavedFidelity) -> Part:
    """Returns the part of a report on the judgements of a campaign."""
    result = saved.fidelity
    ccas = list(dict.fromkeys(judgement.cca for judgement in result.judgements))
    cases = count_text(len(saved.cases), "case")
    is_random = all(case.group == RANDOM for case in saved.cases)
    linux = f"Linux {result.kernel_version}"
    sections = [Section("Differences", figure=_overview(result), text=(_BANDS,))]
    if is_random:
        sections += distribution_sections(result, saved.cases)
    for group, title in group_titles().items():
        selected = [judgement for judgement in result.judgements if judgement.group == group]
        if selected:
            table = group_table(selected).without(_OMITTED_COLUMNS)
            sections.append(Section(title, table, text=(LEGEND,)))
    sections += _outside(result)
    for judgement in chosen_trajectories(result.judgements):
        title = f"{judgement.cca} on {judgement.case}, seed {result.seed}"
        sections.append(Section(title, figure=_trajectory(judgement, result.seed, title)))
    # Each case has a scenario of its own, so that no digest stands for all.
    origin = {**saved.about, "engine": f"native engine and {linux}", "hash": ""}
    return Part(
        title=f"Fidelity: native TCP and {linux}",
        question=(
            f"How far is the native TCP from that of {linux} with {', '.join(labels(ccas).values())} "
            f"in {cases}{' drawn at random' if is_random else ''}, in {runs_text(result.runs)} on each?"
        ),
        findings=_findings(result),
        sections=(*sections, *provenance_sections(origin, _command(saved, ccas, is_random=is_random))),
    )


_BANDS = (
    "A mark is the mean difference of a CCA in a case, with its 95 % interval, paired by seed; the "
    "printed picture shades the allowed band."
)


def _findings(fidelity: Fidelity) -> tuple[Finding, ...]:
    """Returns the number of judgements within their bands, and the size of the differences."""
    total, outside, undecided = len(fidelity.judgements), len(fidelity.outside), len(fidelity.undecided)
    state = _state(is_outside=bool(outside), is_undecided=bool(undecided))
    first = Finding(
        "Within their bands",
        f"{fidelity.within_count} of {total}",
        f"{undecided} undecided, {outside} outside",
        f"by paired differences of {runs_text(fidelity.runs)}",
        state,
    )
    return (first, *(_size_finding(fidelity, metric, name) for metric, name, _, _ in _JUDGED_COLUMNS))


def _state(*, is_outside: bool, is_undecided: bool) -> str:
    """Returns the state of a finding that has the fitting colour; its name does not matter here."""
    return "undecided" if is_outside else "tied" if is_undecided else "decided"


def _size_finding(fidelity: Fidelity, metric: str, name: str) -> Finding:
    """Returns the finding for the median and the largest difference of a metric."""
    sizes = [
        (abs(judgement.differences[metric].percent), judgement)
        for judgement in fidelity.judgements
        if not math.isnan(judgement.differences[metric].percent)
    ]
    question = f"Difference of {name}"
    if not sizes:
        return Finding(question, "undefined", "nothing was delivered", state="undecided")
    median = float(np.median([size for size, _ in sizes]))
    _, worst = max(sizes, key=lambda pair: pair[0])
    largest = worst.differences[metric]
    return Finding(
        question,
        f"median {median:.2f} %",
        f"largest {difference_text(largest)}: {worst.cca} on {worst.case}",
        "" if largest.band is None else f"allowed there: {largest.band:g} %",
        _state(is_outside=largest.is_outside, is_undecided=largest.is_undecided),
    )


def _overview(fidelity: Fidelity) -> Figure:
    """Returns the differences of goodput and mean RTT in every case."""
    cases = list(dict.fromkeys(judgement.case for judgement in fidelity.judgements))
    ccas = list(dict.fromkeys(judgement.cca for judgement in fidelity.judgements))
    by_case = {(judgement.case, judgement.cca): judgement for judgement in fidelity.judgements}
    names, shades = labels(ccas), colours(ccas)
    panels = []
    for metric, label, _, _ in _JUDGED_COLUMNS:
        series = []
        for cca in ccas:
            judgements = [by_case.get((case, cca)) for case in cases]
            differences = [each.differences[metric] if each else None for each in judgements]
            middle = numbers([each.percent if each else math.nan for each in differences])
            half_width = numbers([(each.ci95 or 0.0) if each else 0.0 for each in differences])
            low, high = middle - half_width, middle + half_width
            series.append(Series(names[cca], shades[cca], middle, "points", low=low, high=high, size=8))
        panels.append(Panel(f"{label}: native less kernel", "% of the kernel's", tuple(series), 2))
    chart = Chart(np.arange(len(cases), dtype=float), "case", "", tuple(panels), names=tuple(cases))
    draw = functools.partial(draw_overview, fidelity)
    return Figure(draw, "Differences of goodput and mean RTT per case, with the allowed bands", chart)


def _outside(fidelity: Fidelity) -> list[Section]:
    """Returns the comparisons outside of their bands with their causes, and the undecided ones."""
    causes = known_causes()
    tables = {
        "Outside": [
            (
                *row_of(judgement, judgement.metrics_outside),
                " ".join(cause_of(judgement.case, judgement.cca, causes).split()),
            )
            for judgement in fidelity.outside
        ],
        "Undecided": [
            row_of(judgement, judgement.undecided_metrics) for judgement in fidelity.undecided
        ],
    }
    columns = tuple(map(Column, ("case", "CCA", "difference", "cause")))
    return [
        Section(
            title,
            Table(columns[: len(rows[0])], tuple(rows), cca_of_cell={row[1]: row[1] for row in rows}),
        )
        for title, rows in tables.items()
        if rows
    ]


def _trajectory(judgement: Judgement, seed: int, title: str) -> Figure:
    """Returns window and RTT of both engines over time."""
    times = np.unique(np.concatenate([trajectory.t_s for trajectory in judgement.trajectories]))
    native, kernel = judgement.trajectories
    windows, delays = [], []
    # The kernel is drawn first, beneath the native engine.
    for name, shade, run in ((KERNEL, LINUX, kernel), (NATIVE, colour(judgement.cca), native)):
        windows.append(Series(name, shade, forward_fill(times, run.t_s, run.cwnd)))
        delays.append(Series(name, shade, forward_fill(times, run.slot_t_s, run.rtt_ms)))
    panels = (
        Panel("congestion window", "segments", tuple(windows), 1, bottom=0.0),
        Panel("RTT per slot", "ms", tuple(delays), 1, bottom=0.0),
    )
    chart = Chart(times, "time", "s", panels, digits=2).thinned()
    return Figure(functools.partial(draw_trajectories, judgement, seed), title, chart)


def _command(saved: SavedFidelity, ccas: Sequence[str], *, is_random: bool) -> str:
    """Returns the command that reproduces the judgements."""
    result = saved.fidelity
    words = ["celltcp", "fidelity", "--cca", ",".join(ccas)]
    names = [case.name for case in saved.cases]
    if is_random:
        words += ["--random", str(max(int(name.rpartition("-")[2]) for name in names))]
    elif set(names) != set(case_names()):
        words += ["--scenario", ",".join(names)]
    lengths = {case.scenario.duration_s for case in saved.cases}
    words += ["--duration", f"{lengths.pop():g}s"] if len(lengths) == 1 else []
    words += ["--runs", str(result.runs), "--seed", str(result.seed)]
    repeated = [judgement.runs for judgement in result.judgements if judgement.runs != result.runs]
    words += ["--rerun-undecided", str(max(repeated))] if repeated else []
    return shlex.join([*words, "--kernel", result.kernel_version, "--out", "results"])
