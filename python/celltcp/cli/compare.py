"""celltcp compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.console import fitting, wide_console
from celltcp.cli.means import mean_text, runs_text
from celltcp.cli.options import (
    campaign_options,
    draws,
    option,
    own_option,
    scenarios_options,
    takes_settings,
)
from celltcp.cli.outcome import check_json, draw, is_drawn, tell, tell_traces
from celltcp.cli.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from celltcp.comparison import Comparison
    from celltcp.settings import RunSettings
    from celltcp.statistics import Verdict

#: Columns of the table: metric, heading, digits.
COLUMNS = (
    ("goodput_mbps", "goodput\nMbit/s", 2),
    ("rtt_mean_ms", "mean RTT\nms", 1),
    ("rtt_p95_ms", "p95 RTT\nms", 1),
    ("induced_delay_ms", "induced\ndelay ms", 1),
    ("retransmissions", "retrans-\nmissions", 1),
    ("pm_balanced", "PM\nbalanced", 3),
    ("pm_delay", "PM\ndelay", 3),
)


#: Columns that a narrow terminal can do without, the least important first.
DROPPABLE = ("induced_delay_ms", "retransmissions", "rtt_p95_ms", "pm_balanced", "pm_delay")


@click.command()
@scenarios_options
@campaign_options
@option("middlebox")
@option("radio_log")
@own_option
@draws
@takes_settings
def compare(scenarios: tuple[str, ...], settings: RunSettings, json_file: str | None) -> None:
    """Compare congestion controls on one scenario or several.

    SCENARIO is a built-in name (celltcp scenarios lists them), a scenario file (.toml) or a link trace
    (.down, .csv, .txt; also .gz). In run i, all congestion controls meet the same realisation of the
    channel.

    SCENARIO may also be a folder of traces or a pattern such as 'mobility/*'. Each scenario then has a
    table of its own, and a folder of its own within that of --out. The last table has the means over
    all.
    """
    from celltcp.comparison import compare_with
    from celltcp.results import prepare_folder
    from celltcp.sources import names_one

    check_json(json_file)
    if not names_one(scenarios):
        from celltcp.cli.scenario_set import compare_set

        compare_set(scenarios, settings, json_file)
        return
    (scenario,) = scenarios
    loaded = settings.load(scenario)
    tell_traces(loaded)
    folder = prepare_folder(settings.out) if settings.out else None
    with progress_bar("comparing") as progress:
        result = compare_with(loaded, settings.applied(), progress)
    tell(result.to_json(), json_file, lambda: print_comparison(result))
    if folder:
        draw_comparison(result, folder)


def draw_comparison(result: Comparison, folder: Path) -> None:
    """Draws a comparison and the decisions of its selectors, unless the pictures are there already."""
    if not is_drawn(result.results, folder, "overview"):
        draw(result.plot.overview(), folder, "overview")
        if "decisions" in result.results.tables:
            _draw_explained(result, folder)


def _draw_explained(result: Comparison, folder: Path) -> None:
    """Draws the decisions of selectors, unless their connections were too short for a picture."""
    from celltcp._core import CelltcpError
    from celltcp.cli.select.explain import draw_all
    from celltcp.selection.explanation import explain

    try:
        draw_all(explain(result.results), folder)
    except CelltcpError as none:
        click.echo(f"no picture of decisions: {none}", err=True)


def print_comparison(result: Comparison) -> None:
    """Prints the table of means with intervals, and the recommendation."""
    from rich.table import Table

    from celltcp.cli.published import print_outcome
    from celltcp.labels import labels
    from celltcp.papers.beside import beside
    from celltcp.requirements import REQUIREMENTS
    from celltcp.results.origin import ran_by
    from celltcp.results.selectors import used_in

    about = result.results.about
    asked = [name for name in result.requirements if name not in REQUIREMENTS]
    names = labels(result.ccas)

    def build(left_out: frozenset[str]) -> Table:
        title = f"{about['name']}: mean and 95 % interval over {runs_text(about['runs'])}"
        table = Table(title=title)
        table.add_column("CCA", overflow="fold")
        for heading in (*headings(left_out), *(f"PM\n{name}" for name in asked)):
            table.add_column(heading, justify="right", no_wrap=True)
        for cca in result.ccas:
            mine = result.runs[result.runs["cca"] == cca]
            weighed = [mean_text(mine[result.requirements[name]], 3) for name in asked]
            table.add_row(names[cca], *outcome_cells(mine, left_out), *weighed)
        return table

    console = wide_console()
    table, left_out = fitting(console, build, DROPPABLE)
    console.print(table)
    tell_left_out(console, left_out)
    for warning in result.warnings:
        console.print(f"warning: {warning}", style="yellow", highlight=False)
    if result.several_flows:
        console.print("The table shows the first flow of each.")
        console.print(_shares(result))
    for used in used_in(result.results):
        flow = f", {used.flow}" if "+" in used.lineup else ""
        console.print(f"{names[used.lineup]}{flow}: {used}", markup=False)
    if not result.randomness:
        console.print(
            "This scenario has no randomness: runs differ only where a CCA draws random numbers, as "
            "BBR does."
        )
    for requirement, found in result.verdicts.items():
        if found.leader is not None or not result.several_flows:
            console.print(f"best for {requirement:>8}: {_told(found, names)}")
    console.print(ran_by(about), style="dim")
    if published := beside(result):
        for each in published.outcomes:
            print_outcome(each, console)
        if not published.unchanged:
            name = published.scenario
            console.print(f"{name} was changed: the published means are of the built-in one.")


def _told(found: Verdict, names: Mapping[str, str]) -> str:
    """Returns a verdict in words."""
    if found.leader is None:
        return "undecided"
    tied = ", ".join(names[cca] for cca in found.tied)
    if not found.undecided:
        return f"{names[found.leader]}{f' (tied with it: {tied})' if tied else ''}"
    among = found.ranked
    if len(among) > 6:
        among_text = f"{', '.join(names[cca] for cca in among[:5])} and {len(among) - 5} others"
    else:
        among_text = ", ".join(names[cca] for cca in among)
    more = f"; --runs {found.runs_needed} would likely tell" if found.runs_needed else ""
    return f"undecided among {among_text}{more}"


def headings(left_out: frozenset[str] = frozenset()) -> list[str]:
    """Returns the headings of the columns, without some."""
    return [heading for metric, heading, _ in COLUMNS if metric not in left_out]


def outcome_cells(runs: pd.DataFrame, left_out: frozenset[str] = frozenset()) -> list[str]:
    """Returns the columns of the table for these runs of one congestion control, without some."""
    return [mean_text(runs[metric], digits) for metric, _, digits in COLUMNS if metric not in left_out]


def tell_left_out(console: Console, left_out: list[str]) -> None:
    """Says which columns are not there for want of width."""
    if left_out:
        called = {metric: " ".join(heading.split()) for metric, heading, _ in COLUMNS}
        names = ", ".join(called[name].replace("- ", "") for name in left_out)
        console.print(f"Not shown for want of width, but in --json: {names}", style="dim")


def _shares(result: Comparison) -> Table:
    """Goodput of each flow and Jain's index, where flows share the path."""
    from rich.table import Table

    from celltcp.labels import labels

    table = Table(title="Shares of the path while all flows run, and Jain's index of them (1 is fair)")
    table.add_column("CCA")
    table.add_column("goodput of each flow, Mbit/s")
    table.add_column("sum", justify="right")
    table.add_column("Jain's index", justify="right")
    shares = result.shares
    names = labels(result.ccas)
    flows_called = labels(shares["flow_cca"].unique())
    for cca in result.ccas:
        flows = shares[shares["cca"] == cca].to_dict("records")
        spelt = ", ".join(
            f"{flows_called[flow['flow_cca']]} {flow['goodput_mbps']:.2f}" for flow in flows
        )
        mine = result.runs[result.runs["cca"] == cca]
        total = f"{sum(flow['goodput_mbps'] for flow in flows):.2f}"
        table.add_row(names[cca], spelt, total, mean_text(mine["fairness"], 3))
    return table
