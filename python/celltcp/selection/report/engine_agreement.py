"""Part of a report on the agreement of engines: whether both have the same best CCAs."""

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


def _findings(overlap: Overlap) -> tuple[Finding, ...]:
    """Returns a finding per requirement: the number of cases whose best CCAs overlap."""
    findings = []
    for row in overlap.summary[overlap.summary["requirement"] != "all"].to_dict("records"):
        cases, same = int(row["cases"]), int(row["overlap"])
        percent = percent_text(row["native_choice"], math.nan)
        loss = "" if math.isnan(row["native_choice"]) else f"; the native best is {percent} % there"
        is_above_chance = row["share"] > row["by_chance"]
        findings.append(
            Finding(
                f"Best for {row['requirement']}",
                f"same in {same} of {cases}",
                f"The same leader in {row['same_best']} of {count_text(cases, 'case')}",
                f"{100 * row['by_chance']:.0f} % would overlap by chance{loss}",
                "decided" if same == cases else "tied" if is_above_chance else "undecided",
            )
        )
    return tuple(findings)


def _figure(overlap: Overlap, requirement: str, title: str) -> Figure:
    """Returns the differences to the best, native over kernel."""
    ccas = list(dict.fromkeys(overlap.standings["cca"]))
    names, shades = labels(ccas), colours(ccas)
    differences = differences_by_cca(overlap.standings, requirement).sort_values(KERNEL, kind="stable")
    kernel, native = numbers(differences[KERNEL]), numbers(differences[NATIVE])
    series = [Series("both agree", "#999999", kernel)]
    for cca in ccas:
        values = np.where(differences["cca"] == cca, native, np.nan)
        series.append(Series(names[cca], shades[cca], values, look="points", size=8))
    low = float(native.min()) if len(native) else -1.0
    # The best are at zero. Without a margin, half of their points would be cut off.
    panel = Panel("native, to its best", "%", tuple(series), 1, top=-0.05 * low, bottom=1.05 * low)
    chart = Chart(kernel, "kernel, to its best", "%", (panel,), digits=1)
    draw = functools.partial(draw_standings, overlap.standings, [requirement])
    return Figure(draw, f"{title}: a point per CCA and case", chart)


def _command(about: Mapping[str, Any]) -> str:
    """Returns the command that reproduces the comparison."""
    words = ["celltcp", "select", "compare-engines", "--scenarios", ",".join(about["scenarios"])]
    words += ["--requirement", ",".join(about["requirements"]), "--cca", ",".join(about["cca"])]
    words += ["--runs", str(about["runs"]), "--seed", str(about["seed"])]
    words += [word for change in about.get("set", ()) for word in ("--set", change)]
    return shlex.join([*words, "--kernel", about["kernel_version"], "--out", "results"])
