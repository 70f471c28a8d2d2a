"""Tables of celltcp select evaluate on baselines and worst cases."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from celltcp.present.fit_table import print_table
from celltcp.present.section import percent_text
from celltcp.selection import Evaluation

#: Columns that a narrow terminal can do without, the least important first.
_OF_WORST = ("gain over cubic, %", "used")


def print_baselines(result: Evaluation, console: Console) -> None:
    """Prints the baselines beside the evaluated policies, and the worst cases of each of these."""
    print_table(console, _baselines(result))
    evaluated = result.worst[result.worst["policy"].isin(result.about["policies"])]
    for policy, cases in evaluated.groupby("policy", sort=False):
        print_table(console, _worst(str(policy), cases.to_dict("records")), _OF_WORST)


def _baselines(result: Evaluation) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    policies = result.about["policies"]
    table = Table(
        title="Baselines: regret to the best fixed CCA of each case, and how far that of a policy is "
        "below; 95 % intervals over the cases",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("for,\n  baseline", overflow="fold")
    table.add_column("choice", overflow="fold")
    for heading in ("regret, %", "worst\ncase, %", *(f"{name}\nahead by, %" for name in policies)):
        table.add_column(heading, justify="right")
    rows = result.baselines
    shown = rows[(rows["baseline"] != "") | rows["choice"].isin(policies)]
    for requirement, part in shown.groupby("requirement", sort=False):
        table.add_row(str(requirement))
        for row in part.to_dict("records"):
            ahead = [
                ""
                if row["choice"] == name and not row["baseline"]
                else percent_text(row[f"ahead_{name}"], row[f"ahead_ci95_{name}"])
                for name in policies
            ]
            table.add_row(
                f"  {row['baseline'] or 'policy'}",
                row["choice"],
                percent_text(row["regret"], row["regret_ci95"]),
                percent_text(row["worst"], float("nan")),
                *ahead,
            )
    return table


def _worst(policy: str, cases: list[dict[object, object]]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from celltcp.scenarios.scenario_list import short_name

    table = Table(title=f"{policy}: worst cases", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("scenario", overflow="fold")
    table.add_column("for", no_wrap=True)
    table.add_column("regret, %", justify="right")
    table.add_column("gain over\ncubic, %", justify="right")
    for heading in ("best", "used", "cause"):
        table.add_column(heading, overflow="fold")
    for row in cases:
        table.add_row(
            short_name(str(row["scenario"])),
            str(row["requirement"]),
            percent_text(float(str(row["regret"])), float(str(row["regret_ci95"]))),
            percent_text(float(str(row["gain"])), float("nan")),
            str(row["best_cca"]),
            str(row["used"]),
            str(row["cause"]),
        )
    return table
