"""Tables of the agreement of engines: the best CCAs of each case, differences, counts."""

from __future__ import annotations

import pandas as pd

from celltcp.present.section import Column, Table, number_columns, percent_text
from celltcp.scenarios.scenario_list import short_name


def cases_table(cases: pd.DataFrame) -> Table:
    """Returns a row per case: the best CCAs under each engine; cases without overlap are bold."""
    rows = []
    last_scenario = None
    for row in cases.to_dict("records"):
        native, kernel, both = (list(row[name]) for name in ("native", "kernel", "both"))
        rows.append(
            (
                short_name(row["scenario"]) if row["scenario"] != last_scenario else "",
                str(row["requirement"]),
                native[0] if native else "-",
                kernel[0] if kernel else "-",
                ", ".join(both) or "none",
                ", ".join(cca for cca in native if cca not in both),
                ", ".join(cca for cca in kernel if cca not in both),
            )
        )
        last_scenario = row["scenario"]
    headings = ("for", "best\nnative", "best\nkernel", "in both", "native only", "kernel only")
    title = "The best of each case, followed by those tied with it"
    ccas = {cell: cell for row in rows for cell in row[2:4] if cell != "-"}
    return Table(
        (Column("scenario", folds=True), *map(Column, headings)),
        tuple(rows),
        title,
        bold=_without_overlap(cases),
        cca_of_cell=ccas,
        frame="head",
        droppable=("kernel only", "native only", "in both"),
    )


def _without_overlap(rows: pd.DataFrame) -> frozenset[int]:
    """Returns the indices of rows whose case has no overlap."""
    return frozenset(index for index, overlaps in enumerate(rows["overlap"]) if not overlaps)


def differences_table(differences: pd.DataFrame) -> Table:
    """Returns a row per CCA that is best under a single engine; cases without overlap are bold."""
    rows = []
    last_case = None
    for row in differences.to_dict("records"):
        case = (row["scenario"], row["requirement"])
        rows.append(
            (
                short_name(row["scenario"]) if case != last_case else "",
                str(row["requirement"]) if case != last_case else "",
                str(row["cca"]),
                str(row["only"]),
                percent_text(row["native"], row["native_ci95"], 2),
                percent_text(row["kernel"], row["kernel_ci95"], 2),
            )
        )
        last_case = case
    columns = (
        *map(Column, ("scenario", "for", "CCA", "best\nunder")),
        *number_columns("native:\n% to its best", "kernel:\n% to its best"),
    )
    title = "Best under one engine only, worst first"
    ccas = {row[2]: row[2] for row in rows}
    bold = _without_overlap(differences)
    return Table(columns, tuple(rows), title, bold=bold, cca_of_cell=ccas, frame="head")


def summary_table(summary: pd.DataFrame) -> Table:
    """Returns a row per requirement: numbers of cases and overlaps, sizes of the sets."""
    headings = (
        *("cases", "overlap", "%", "expected,\n%", "mean sizes:\nnative", "kernel", "both"),
        *("same\nbest", "best of\nnative in\nkernel's", "best of\nkernel in\nnative's"),
        "best of\nnative on\nkernel, %",
    )
    rows = tuple(
        (
            str(row["requirement"]),
            str(row["cases"]),
            str(row["overlap"]),
            f"{100 * row['share']:.0f}",
            f"{100 * row['by_chance']:.0f}",
            *(f"{row[name]:.1f}" for name in ("native", "kernel", "both")),
            *(str(row[name]) for name in ("same_best", "native_in_kernel", "kernel_in_native")),
            percent_text(row["native_choice"], float("nan")),
        )
        for row in summary.to_dict("records")
    )
    names = dict(zip(headings[4:7], ("native", "kernel", "both"), strict=True))
    names[headings[9]] = "kernel_in_native"
    columns = (
        Column("for"),
        *(Column(heading, is_number=True, name=names.get(heading, "")) for heading in headings),
    )
    return Table(
        columns,
        rows,
        "Over all cases; expected: overlap of sets of these sizes drawn at random",
        frame="head",
        droppable=(
            *("native", "kernel", "both", "expected, %", "kernel_in_native"),
            *("best of native in kernel's", "same best"),
        ),
    )
