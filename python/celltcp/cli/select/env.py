"""celltcp select env."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from celltcp.cli.options import option
from celltcp.cli.output import check_json, print_result
from celltcp.cli.verbosity import progress_bar
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from celltcp.selection.environment.agents import Trial


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
@click.option("--step", default="500ms", metavar="TIME", help="Time between actions.")
@option("duration", help="Length of an episode.  [default: 30s on random networks]")
@click.option("--hints", is_flag=True, help="Add SINR and speed of the radio to the observation.")
@click.option(
    "--agent",
    "agents",
    default="random,default",
    metavar="LIST",
    help="Agents in addition to always-CUBIC: random, default (the policy of auto), fixed:CCA.",
)
@click.option(
    "--episodes",
    default=0,
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
    print_result(trial.to_json, json_file, lambda: print_trial(trial))


def print_trial(trial: Trial) -> None:
    """Prints the rewards of the agents or, if none has played, the features and the actions."""
    from celltcp.selection.tables.environment import actions_table, observation_table, rewards_table

    console = Terminal()
    if len(trial.episodes):
        console.print_table(rewards_table(trial))
        return
    env = trial.env
    console.print_table(observation_table(env))
    console.print_table(actions_table(env))
    console.print(f"Reward: {env.requirement}, mean over the slots of a step of {env.step_s:g} s")
