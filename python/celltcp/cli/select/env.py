"""celltcp select env."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result
from celltcp.cli.verbosity import progress_bar
from celltcp.present.fit_table import print_table
from celltcp.present.terminal import wide_console

if TYPE_CHECKING:
    from rich.console import Console

    from celltcp.selection.environment import SelectionEnv
    from celltcp.selection.environment.agents import Trial
    from celltcp.selection.outcomes.environment import Reward


@click.command()
@option(
    "scenarios",
    default="random",
    help="Where episodes take place: families of networks that select train draws from, random for all "
    "of them, or scenarios (built-in names, files, patterns).",
)
@option("requirement", default="balanced", metavar="NAME", help="Requirement that is rewarded.")
@option(
    "cca",
    default=None,
    help="Congestion controls to select from.  [default: those of the policy default]",
)
@click.option(
    "--step", default="500ms", show_default=True, metavar="TIME", help="Time between actions."
)
@option("duration", help="Length of an episode.  [default: 30s on random networks]")
@click.option("--hints", is_flag=True, help="Add SINR and speed of the radio to the observation.")
@click.option(
    "--agent",
    "agents",
    default="random,default",
    show_default=True,
    metavar="LIST",
    help="Agents in addition to always-CUBIC: random, default (the policy of auto), fixed:CCA.",
)
@click.option(
    "--episodes",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Number of episodes that each agent plays; with 0 only the spaces are printed.",
)
@option("seed", help="Seed of the first episode; the others have the following ones.")
@option(
    "jobs", help="Number of episodes at the same time.  [default: all cores that the process may use]"
)
@option("json_file")
def env(
    scenarios: str,
    requirement: str,
    cca: str | None,
    step: str,
    duration: str | None,
    hints: bool,
    agents: str,
    episodes: int,
    seed: int,
    jobs: int | None,
    json_file: str | None,
) -> None:
    """Show the Gymnasium environment, or try agents in it.

    In Python it is celltcp.selection.environment.SelectionEnv. An agent observes the estimates of a
    selector, selects a congestion control or keeps the one in use, and is rewarded by the requirement.
    """
    from celltcp.selection.environment.agents import try_agents

    check_json(json_file)
    with progress_bar("playing") as progress:
        trial = try_agents(
            agents,
            episodes,
            seed,
            jobs=jobs,
            progress=progress,
            scenario=scenarios,
            requirement=requirement,
            ccas=cca,
            step=step,
            duration=duration,
            hints=hints,
        )
    print_result(trial.to_json, json_file, lambda: print_trial(trial, wide_console()))


def print_trial(trial: Trial, console: Console) -> None:
    """Prints the rewards of the agents or, if none has played, the spaces."""
    if len(trial.episodes):
        print_rewards(trial, console)
    else:
        print_spaces(trial.env, console)


def print_spaces(result: SelectionEnv, console: Console) -> None:
    """Prints the features of observations, and the actions."""
    from rich.table import Table

    shape = result.observation_space.shape
    table = Table(title=f"Observation: Box{shape}, float32: values, confidences, CCA in use")
    for heading in ("feature", "meaning", "least", "most"):
        table.add_column(heading, justify="right" if heading in ("least", "most") else "left")
    for each in result.features:
        table.add_row(each.name, each.meaning, f"{each.low:g}", f"{each.high:g}")
    print_table(console, table)
    actions = Table(title=f"Actions: Discrete({1 + len(result.ccas)})")
    actions.add_column("action", justify="right")
    actions.add_column("meaning")
    for number, name in enumerate(("keep the CCA", *result.ccas)):
        actions.add_row(str(number), name)
    print_table(console, actions)
    console.print(f"Reward: {result.requirement}, mean over the slots of a step of {result.step_s:g} s")


def print_rewards(trial: Trial, console: Console) -> None:
    """Prints the mean reward of each agent, and the difference to always-CUBIC."""
    from rich.table import Table

    count = int(trial.episodes["episode"].nunique())
    table = Table(
        title=f"Mean reward ({trial.env.requirement}) of {count} episodes, with 95 % intervals"
    )
    table.add_column("agent")
    table.add_column("mean reward", justify="right")
    table.add_column("above always-CUBIC", justify="right")
    for row in trial.agents:
        cells = map(_with_interval, (row["mean_reward"], row["above_cubic"]))
        table.add_row(row["agent"], *cells)
    print_table(console, table)


def _with_interval(value: Reward) -> str:
    interval = value["ci95"]
    return f"{value['mean']:.3f}" + ("" if interval is None else f" ± {interval:.3f}")
