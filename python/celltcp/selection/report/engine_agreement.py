"""Comparison of engines as a part of a report: whether both find the same best CCAs."""

from __future__ import annotations

import functools
import math
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from celltcp._core import KERNEL, NATIVE
from celltcp.comparison.report.provenance import digests_table, provenance_sections
from celltcp.present.chart import Chart, Panel, Series, numbers
from celltcp.present.palette import colours
from celltcp.present.section import (
    Figure,
    Finding,
    Part,
    Section,
    percent_text,
    runs_text,
)
from celltcp.scenarios.cca_mix import count_text, labels
from celltcp.selection.engine_agreement import Overlap
from celltcp.selection.plots.engine_agreement import differences_by_cca, draw_standings
from celltcp.selection.report.engine_agreement_tables import (
    cases_table,
    differences_table,
    summary_table,
)


def engines_part(overlap: Overlap) -> Part:
    """Returns the part of a report on a comparison of engines."""
    about = overlap.about
    count = count_text(len(about["scenarios"]), "scenario")
    engines = f"native engine and Linux {about['kernel_version']}"
    sections = [
        Section(
            "Over all cases",
            summary_table(overlap.summary).without(_OMITTED_COLUMNS),
            text=(_BY_CHANCE_NOTE,),
        ),
        Section("Best of each case", cases_table(overlap.cases), text=(_BEST_NOTE,)),
    ]
    if len(overlap.differences):
        sections.append(
            Section(
                "Best under one engine only",
                differences_table(overlap.differences),
                text=(_PAIRING_NOTE,),
            )
        )
    for requirement in about["requirements"]:
        title = f"Difference to the best, for {requirement}"
        sections.append(Section(title, figure=_figure(overlap, requirement, title), text=(_DIAGONAL,)))
    sections.append(Section("Scenarios", digests_table(about)))
    origin = {**about, "engine": engines}
    return Part(
        title=f"Engines: native and Linux {about['kernel_version']}",
        question=(
            f"Do the {engines} find the same best CCAs on {count} for "
            f"{', '.join(about['requirements'])}, in {runs_text(about['runs'])} each?"
        ),
        findings=_findings(overlap),
        sections=(*sections, *provenance_sections(origin, _command(about))),
        warnings=tuple(f"left out: {each}" for each in about["left_out"]),
    )


#: Columns of the summary that the page omits.
_OMITTED_COLUMNS = ("native", "kernel", "both", "kernel_in_native")

_BY_CHANCE_NOTE = (
    "The best of a case are the CCA with the highest mean and all that are tied with it. They overlap "
    "if the sets of both engines have a common member. Expected is the overlap of sets of these sizes "
    "that are drawn at random. The last column is the loss under the kernel of the native best."
)
_BEST_NOTE = (
    "A case is a scenario with a requirement. The best of an engine comes before those tied with it."
)
_PAIRING_NOTE = (
    "The differences are paired by seed, against the best of each engine. The worst come first."
)
_DIAGONAL = (
    "Each point is a CCA in a case: how far its mean is below that of the best, under the kernel to "
    "the right and under the native engine upwards. On the diagonal both agree."
)


def _findings(all_overlaps: Overlap) -> tuple[Finding, ...]:
    """Returns a finding per requirement: in how many cases the best overlap."""
    findings = []
    for row in all_overlaps.summary[all_overlaps.summary["requirement"] != "all"].to_dict("records"):
        cases, overlap = int(row["cases"]), int(row["overlap"])
        is_all = overlap == cases
        loss = float(row["native_choice"])
        cost = (
            "" if math.isnan(loss) else f"; the native best is {percent_text(loss, math.nan)} % there"
        )
        findings.append(
            Finding(
                f"Best for {row['requirement']}",
                f"same in {overlap} of {cases}",
                f"The same leader in {row['same_best']} of {count_text(cases, 'case')}",
                f"{100 * row['by_chance']:.0f} % would overlap by chance{cost}",
                "decided" if is_all else "tied" if row["share"] > row["by_chance"] else "undecided",
            )
        )
    return tuple(findings)


def _figure(overlap: Overlap, requirement: str, title: str) -> Figure:
    """Returns the differences to the best, native against kernel."""
    ccas = list(dict.fromkeys(overlap.standings["cca"]))
    names, shades = labels(ccas), colours(ccas)
    differences = differences_by_cca(overlap.standings, requirement).sort_values(KERNEL, kind="stable")
    places, values = numbers(differences[KERNEL]), numbers(differences[NATIVE])
    series = [Series("both agree", "#999999", places)]
    for cca in ccas:
        mine = np.where(differences["cca"] == cca, values, np.nan)
        series.append(Series(names[cca], shades[cca], mine, look="points", size=8))
    least = float(values.min()) if len(values) else -1.0
    # The best are at zero, where half of their points would be cut off.
    panel = Panel("native, to its best", "%", tuple(series), 1, top=-0.05 * least, bottom=1.05 * least)
    chart = Chart(places, "kernel, to its best", "%", (panel,), digits=1)
    draw = functools.partial(draw_standings, overlap.standings, [requirement])
    return Figure(draw, f"{title}: a point per CCA and case", chart)


def _command(about: Mapping[str, Any]) -> str:
    """Returns the command that reproduces the comparison."""
    words = ["celltcp", "select", "compare-engines", "--scenarios", ",".join(about["scenarios"])]
    words += ["--requirement", ",".join(about["requirements"]), "--cca", ",".join(about["cca"])]
    words += ["--runs", str(about["runs"]), "--seed", str(about["seed"])]
    words += [word for change in about.get("set", ()) for word in ("--set", change)]
    return shlex.join([*words, "--kernel", about["kernel_version"], "--out", "results"])
