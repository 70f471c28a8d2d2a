"""Tables of celltcp select env: observations, actions, and rewards of agents."""

from __future__ import annotations

from celltcp.present.section import Column, Table, number_columns
from celltcp.selection.environment import SelectionEnv
from celltcp.selection.environment.agents import Trial
from celltcp.selection.outcomes.environment import Reward


def observation_table(env: SelectionEnv) -> Table:
    """Returns a row per feature of an observation."""
    rows = tuple(
        (feature.name, feature.meaning, f"{feature.low:g}", f"{feature.high:g}")
        for feature in env.features
    )
    columns = (Column("feature"), Column("meaning"), *number_columns("least", "most"))
    shape = env.observation_space.shape
    title = f"Observation: Box{shape}, float32: values, confidences, CCA in use"
    return Table(columns, rows, title)


def actions_table(env: SelectionEnv) -> Table:
    """Returns a row per action."""
    meanings = ("keep the CCA", *env.ccas)
    rows = tuple((str(action), meaning) for action, meaning in enumerate(meanings))
    columns = (*number_columns("action"), Column("meaning"))
    return Table(columns, rows, f"Actions: Discrete({1 + len(env.ccas)})")


def rewards_table(trial: Trial) -> Table:
    """Returns the mean reward of each agent, and its difference to that of always-CUBIC."""
    rows = tuple(
        (row["agent"], _with_interval(row["mean_reward"]), _with_interval(row["above_cubic"]))
        for row in trial.agents
    )
    count = int(trial.episodes["episode"].nunique())
    columns = (Column("agent"), *number_columns("mean reward", "above always-CUBIC"))
    title = f"Mean reward ({trial.env.requirement}) of {count} episodes, with 95 % intervals"
    return Table(columns, rows, title)


def _with_interval(value: Reward) -> str:
    interval = value["ci95"]
    return f"{value['mean']:.3f}" + ("" if interval is None else f" ± {interval:.3f}")
