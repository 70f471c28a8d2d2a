"""Tables of celltcp select evaluate: calibration of the policies' expectations."""

from __future__ import annotations

from celltcp.present.section import Column, Table, number_columns
from celltcp.present.terminal import Terminal
from celltcp.selection import Evaluation

#: First column: policies, each followed by its requirements.
_POLICY_COLUMN = Column("policy,\n  for", folds=True)


def print_calibration(evaluation: Evaluation, console: Terminal) -> None:
    """Prints expected and realised measures; nothing if no evaluated policy has expectations."""
    if evaluation.calibration["policy"].isin(evaluation.about["policies"]).any():
        console.print_table(_summary(evaluation))
        console.print_table(_bins(evaluation))


def _summary(evaluation: Evaluation) -> Table:
    headings = (
        *("decisions", "scenarios", "expected", "realised"),
        *("error", "mean\n|error|", "correlation"),
    )
    rows: list[tuple[str, ...]] = []
    for policy in evaluation.about["policies"]:
        selected = evaluation.calibration[evaluation.calibration["policy"] == policy].to_dict("records")
        rows += [(policy, "", *[""] * len(headings))] if selected else []
        for row in selected:
            rows.append(
                (
                    f"  {row['requirement']}",
                    row["moment"],
                    str(row["decisions"]),
                    str(row["scenarios"]),
                    _text(row["expected"]),
                    _text(row["realised"]),
                    _text(row["error"], row["error_ci95"], has_sign=True),
                    _text(row["absolute_error"]),
                    _text(row["correlation"]),
                )
            )
    return Table(
        (_POLICY_COLUMN, Column("at", no_wrap=True), *number_columns(*headings)),
        tuple(rows),
        "Expected and realised measures of choices; means over the scenarios, 95 % intervals",
        frame="head",
        droppable=("scenarios", "mean |error|", "decisions"),
    )


def _bins(evaluation: Evaluation) -> Table:
    headings = ("decisions", "scenarios", "expected", "realised")
    rows: list[tuple[str, ...]] = []
    for policy in evaluation.about["policies"]:
        selected = evaluation.reliability[evaluation.reliability["policy"] == policy].to_dict("records")
        rows += [(policy, "", *[""] * len(headings))] if selected else []
        last_requirement = None
        for row in selected:
            is_new = row["requirement"] != last_requirement
            rows.append(
                (
                    f"  {row['requirement']}" if is_new else "",
                    f"{row['low']:.2f}-{row['high']:.2f}",
                    str(row["decisions"]),
                    str(row["scenarios"]),
                    _text(row["expected"]),
                    _text(row["realised"], row["realised_ci95"]),
                )
            )
            last_requirement = row["requirement"]
    columns = (_POLICY_COLUMN, Column("bin", no_wrap=True), *number_columns(*headings))
    title = "Reliability: the same by expected measure"
    return Table(columns, tuple(rows), title, frame="head")


def _text(value: float, half: float = float("nan"), *, has_sign: bool = False) -> str:
    """Returns a measure with the half width of its interval; a dash for NaN."""
    if value != value:
        return "-"
    text = f"{value:+.3f}" if has_sign else f"{value:.3f}"
    return text if half != half else f"{text} ± {half:.3f}"
