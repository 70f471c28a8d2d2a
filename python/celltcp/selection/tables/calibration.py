"""Tables of celltcp select evaluate on the expectations of policies."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from celltcp.present.fit_table import print_table
from celltcp.selection import Evaluation

#: Columns that a narrow terminal can do without, the least important first.
_OF_SUMMARY = ("scenarios", "mean\n|error|", "decisions")


def print_calibration(result: Evaluation, console: Console) -> None:
    """Prints how far expectations are from what came; nothing where no policy expects anything."""
    evaluated = result.about["policies"]
    if not result.calibration["policy"].isin(evaluated).any():
        return
    print_table(console, _summary(result), _OF_SUMMARY)
    print_table(console, _bins(result))


def _summary(result: Evaluation) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title="Expected and realised measures of choices; means over the scenarios, 95 % intervals",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("policy,\n  for", overflow="fold")
    table.add_column("at", no_wrap=True)
    for heading in ("decisions", "scenarios", "expected", "realised", "error", "mean\n|error|"):
        table.add_column(heading, justify="right")
    table.add_column("correlation", justify="right")
    for policy in result.about["policies"]:
        rows = result.calibration[result.calibration["policy"] == policy].to_dict("records")
        if rows:
            table.add_row(policy)
        for row in rows:
            table.add_row(
                f"  {row['requirement']}",
                row["moment"],
                str(row["decisions"]),
                str(row["scenarios"]),
                _text(row["expected"]),
                _text(row["realised"]),
                _text(row["error"], row["error_ci95"], sign=True),
                _text(row["absolute_error"]),
                _text(row["correlation"]),
            )
    return table


def _bins(result: Evaluation) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title="Reliability: the same by expected measure", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    table.add_column("policy,\n  for", overflow="fold")
    table.add_column("bin", no_wrap=True)
    for heading in ("decisions", "scenarios", "expected", "realised"):
        table.add_column(heading, justify="right")
    for policy in result.about["policies"]:
        rows = result.reliability[result.reliability["policy"] == policy].to_dict("records")
        if rows:
            table.add_row(policy)
        before = None
        for row in rows:
            table.add_row(
                f"  {row['requirement']}" if row["requirement"] != before else "",
                f"{row['low']:.2f}-{row['high']:.2f}",
                str(row["decisions"]),
                str(row["scenarios"]),
                _text(row["expected"]),
                _text(row["realised"], row["realised_ci95"]),
            )
            before = row["requirement"]
    return table


def _text(value: float, half: float = float("nan"), *, sign: bool = False) -> str:
    """Returns a measure with its interval; a dash for an unknown one."""
    if value != value:
        return "-"
    text = f"{value:+.3f}" if sign else f"{value:.3f}"
    return text if half != half else f"{text} ± {half:.3f}"
