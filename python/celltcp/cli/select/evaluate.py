"""celltcp select evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from celltcp.cli.console import wide_console
from celltcp.cli.means import percent_text
from celltcp.cli.outcome import check_json, draw, tell
from celltcp.cli.progress import progress_bar
from celltcp.engines import ENGINES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from celltcp.selection import Evaluation
    from celltcp.statistics import Estimate


@click.command()
@click.option(
    "--policy",
    default="default",
    show_default=True,
    metavar="LIST",
    help="Built-in policies, or files.",
)
@click.option(
    "--scenarios",
    default="thesis36",
    show_default=True,
    metavar="LIST",
    help="Built-in names, files, folders of recordings, patterns such as 'mobility/*', thesis36.",
)
@click.option("--runs", default=10, show_default=True, type=click.IntRange(1))
@click.option(
    "--requirement",
    default="goodput,balanced,delay",
    show_default=True,
    metavar="LIST",
    help="For what.",
)
@click.option(
    "--cca", default="all", show_default=True, metavar="LIST", help="Congestion controls that stay."
)
@click.option(
    "--against",
    default="thesis-establishment,thesis-inflight,bpftune",
    show_default=True,
    metavar="LIST",
    help="Policies that run beside; '' for none.",
)
@click.option("--hints", is_flag=True, help="Ask the radio; thesis-* always do.")
@click.option(
    "--history",
    default=4,
    show_default=True,
    type=click.IntRange(0),
    help="Earlier connections, for policies with a memory.",
)
@click.option("--switches", is_flag=True, help="Find out what changes cost: a run more for each.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option("--jobs", type=click.IntRange(1), help="Runs at a time; default all cores.")
@click.option("--engine", default="native", show_default=True, type=click.Choice(ENGINES))
@click.option("--kernel", metavar="VERSION", help="Which kernel; default the newest built.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Override a field of all scenarios, such as path.buffer=2bdp; may be repeated.",
)
@click.option("--out", metavar="DIR", help="Keep tables and the picture here; resumes.")
@click.option("--json", "json_file", metavar="FILE", help="Write the outcome as JSON; - prints it.")
def evaluate(
    policy: str,
    scenarios: str,
    runs: int,
    requirement: str,
    cca: str,
    against: str,
    hints: bool,
    history: int,
    switches: bool,
    seed: int,
    jobs: int | None,
    engine: str,
    kernel: str | None,
    changes: tuple[str, ...],
    out: str | None,
    json_file: str | None,
) -> None:
    """Measure policies against congestion controls that stay, and against hindsight.

    All of them meet the same channel realisations. A case is a scenario and a requirement.
    """
    from celltcp.results import prepare_folder
    from celltcp.selection.evaluating import evaluate as evaluate_all

    check_json(json_file)
    folder = prepare_folder(out) if out else None
    with progress_bar("evaluating") as progress:
        result = evaluate_all(
            policy,
            scenarios,
            runs,
            requirement,
            cca,
            against=against,
            hints=hints,
            history=history,
            switches=switches,
            seed=seed,
            jobs=jobs,
            engine=engine,
            kernel=kernel,
            set=changes,
            out=folder,
            progress=progress,
        )
    tell(result.to_json(), json_file, lambda: print_evaluation(result))
    if folder:
        draw(result.plot(), folder, "cases")


def print_evaluation(result: Evaluation) -> None:
    """Tables of cases, checks and the tally, and what to know about them."""
    console = wide_console()
    about = result.about
    shown = result.cases[result.cases["policy"].isin(about["policies"])]
    for policy, cases in shown.groupby("policy", sort=False):
        console.print(_cases(str(policy), cases, about["runs"]))
    console.print(_checks(result.checks))
    console.print(_duels(result))
    console.print(_tally(result))
    _print_prices(result, console)
    for name, hinted in about["hints"].items():
        if hinted:
            console.print(f"{name} asks the radio (hints=on).")
    for name, count in about["history"].items():
        console.print(
            f"{name} remembers {count} earlier connections to each destination, its candidates in turn."
        )
    for reason in about["left_out"]:
        console.print(f"left out: {reason}", style="yellow", markup=False)


def _cases(policy: str, cases: pd.DataFrame, runs: int) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from celltcp.selection.sources import short_name

    table = Table(
        title=f"{policy}: cases, {runs} runs each; means with paired 95 % intervals",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("scenario", overflow="fold")
    table.add_column("for", no_wrap=True)
    for heading in ("mean", "gain over\ncubic, %", "regret to\nbest, %", "best"):
        table.add_column(heading, justify="right")
    for heading in ("cubic", "best", "oracle"):
        table.add_column(f"vs\n{heading}")
    table.add_column("switches,\nreturns /min", justify="right")
    before = None
    for row in cases.to_dict("records"):
        digits = 2 if row["requirement"] == "goodput" else 3
        table.add_row(
            short_name(row["scenario"]) if row["scenario"] != before else "",
            row["requirement"],
            f"{row['mean']:.{digits}f}",
            percent_text(row["gain"], row["gain_ci95"]),
            percent_text(row["regret"], row["regret_ci95"]),
            row["best_cca"],
            row["against_default"],
            row["against_best"],
            row["against_oracle"],
            f"{row['switches_per_min']:.1f}, {row['returns_per_min']:.1f}",
        )
        before = row["scenario"]
    return table


def _checks(checks: pd.DataFrame) -> Table:
    """Counts and means over cases, a block per policy."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title="Over all cases; w/t/l: won, tied, lost; "
        "best: in hindsight over the runs of a case; oracle: in each run",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("policy,\n  for", overflow="fold")
    headings = (
        "cases",
        "gain over\ncubic, %",
        "regret to\nbest, %",
        "cubic\nw/t/l",
        "gain\n>5 %",
        ">=95 %\nof best",
        "best\nw/t/l",
        "above\nbest",
        "oracle\nw/t/l",
        "switches,\nreturns /min",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    for policy, rows in checks.groupby("policy", sort=False):
        table.add_row(str(policy))
        for row in rows.to_dict("records"):
            table.add_row(
                f"  {row['requirement']}",
                str(row["cases"]),
                percent_text(row["gain"], row["gain_ci95"]),
                percent_text(row["regret"], row["regret_ci95"]),
                _won(row, "default"),
                str(row["large_gains"]),
                str(row["reached_best"]),
                _won(row, "best"),
                str(row["better_than_best"]),
                _won(row, "oracle"),
                f"{row['switches_per_min']:.1f}, {row['returns_per_min']:.1f}",
            )
    return table


def _duels(result: Evaluation) -> Table:
    """Evaluated policies against every congestion control that stays and every other policy."""
    from rich.table import Table

    evaluated = result.about["policies"]
    duels = result.duels
    table = Table(title="Won/tied/lost, mean difference, %")
    table.add_column("against")
    for policy in evaluated:
        table.add_column(policy, justify="right")
    for rival, theirs in duels.groupby("rival", sort=False):
        if [str(rival)] == evaluated:
            continue
        cells = []
        for policy in evaluated:
            mine = theirs[theirs["policy"] == policy]
            counts = [int((mine["verdict"] == each).sum()) for each in ("won", "tied", "lost")]
            share = f"{mine['percent'].mean():+.1f}" if len(mine) else "-"
            cells.append(f"{'/'.join(map(str, counts))}  {share:>6}" if len(mine) else "-")
        table.add_row(str(rival), *cells)
    return table


def _tally(result: Evaluation) -> Table:
    from rich.table import Table

    from celltcp.selection.tally import OUTCOMES, PUBLISHED

    table = Table(title="Tally against the best single congestion control in hindsight")
    table.add_column("policy")
    table.add_column("single ones")
    for heading in ("cases", *OUTCOMES):
        table.add_column(heading, justify="right")
    names = {"all": "all that ran", "thesis": "the thesis' five"}
    for row in result.tally.to_dict("records"):
        counts = [str(row[each]) for each in OUTCOMES]
        table.add_row(row["policy"], names[row["among"]], str(row["cases"]), *counts)
    published = [str(PUBLISHED[each]) for each in OUTCOMES]
    table.add_section()
    table.add_row("atxutegi2018", "the thesis' five", str(sum(PUBLISHED.values())), *published)
    return table


def _print_prices(result: Evaluation, console: Console) -> None:
    """What changes cost, if that was found out."""
    for policy, price in result.prices.items():
        held = (
            f"goodput {price.goodput_change.mean:+.1f} % where the capacity held "
            f"({price.capacity_held} changes)"
            if price.capacity_held
            else "the capacity never held"
        )
        console.print(
            f"{policy}: {price.changes} changes; sent again in the second after: "
            f"{_share(price.lost)} %, had it stayed {_share(price.lost_staying)} %, "
            f"difference {_share(price.extra)} points ({price.replayed} replayed); {held}"
        )
    if result.costs is not None and not result.prices:
        console.print("No selector changed anything.")


def _share(found: Estimate) -> str:
    half = "" if found.ci95 is None else f" ±{100 * found.ci95:.2f}"
    return f"{100 * found.mean:.2f}{half}"


def _won(row: Mapping[Any, Any], rival: str) -> str:
    return "/".join(str(row[f"{verdict}_{rival}"]) for verdict in ("won", "tied", "lost"))
