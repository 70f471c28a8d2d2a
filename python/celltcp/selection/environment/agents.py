"""Baseline agents of the environment, and their rewards in the same episodes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from celltcp._core import CelltcpError, available_threads, native_ccas
from celltcp.results.rows import json_rows
from celltcp.results.statistics import estimate, paired_difference
from celltcp.selection.environment.env import SelectionEnv
from celltcp.selection.environment.observation import Vector
from celltcp.selection.outcomes.environment import AgentRow, EpisodeRow, Played, Spaces, TrialOutcome

#: Agent with which the others are compared.
REFERENCE = "fixed:cubic"

#: Default agents.
DEFAULT_AGENTS = (REFERENCE, "random", "default")

_FIXED_PREFIX = "fixed:"
_ALLOWED_AGENTS = "random, default, or fixed: with a congestion control, such as fixed:bbr"

#: Function that chooses an action for an observation.
Act = Callable[[Vector], int]


@dataclass(frozen=True)
class Agent:
    """An agent by its name in `celltcp select env`."""

    name: str

    def __post_init__(self) -> None:
        """Checks the name."""
        names = ("random", "default", *(f"{_FIXED_PREFIX}{cca}" for cca in native_ccas()))
        if self.name not in names:
            raise CelltcpError(f"agent: unknown {self.name!r}; allowed: {_ALLOWED_AGENTS}")

    @property
    def policy(self) -> str:
        """The policy that switches in addition to the agent: `default` for that agent, else none."""
        return "default" if self.name == "default" else "fixed"

    @property
    def reset_options(self) -> dict[str, str]:
        """Options of `reset` for its episodes."""
        is_fixed = self.name.startswith(_FIXED_PREFIX)
        return {"cca": self.name.removeprefix(_FIXED_PREFIX)} if is_fixed else {}

    def act(self, actions: int, seed: int) -> Act:
        """Returns the function that chooses among `actions` actions in the episode with this seed."""
        if self.name != "random":
            return lambda _: 0
        rng = np.random.default_rng(seed)
        return lambda _: int(rng.integers(actions))


@dataclass(frozen=True)
class Trial:
    """Rewards of agents in the same episodes."""

    env: SelectionEnv
    #: A row per agent and episode: `agent`, `episode`, `network`, `seed`, `steps`, `mean_reward`.
    episodes: pd.DataFrame

    @property
    def agents(self) -> list[AgentRow]:
        """Mean reward of each agent, and its paired difference to that of always-CUBIC."""
        by_agent = self.episodes.groupby("agent", sort=False)["mean_reward"]
        rewards = {str(name): values.tolist() for name, values in by_agent}
        result: list[AgentRow] = []
        for name, values in rewards.items():
            mean, gain = estimate(values), paired_difference(values, rewards[REFERENCE])
            result.append(
                {
                    "agent": name,
                    "mean_reward": {"mean": mean.mean, "ci95": mean.ci95},
                    "above_cubic": {"mean": gain.mean, "ci95": gain.ci95},
                }
            )
        return result

    def to_json(self) -> TrialOutcome:
        """Returns the spaces, the episodes and the agents."""
        return {
            **spaces(self.env),
            "agents": self.agents if len(self.episodes) else [],
            "episodes": json_rows(self.episodes, EpisodeRow),
        }


def spaces(env: SelectionEnv) -> Spaces:
    """Returns the spaces of observations and actions of an environment."""
    return {
        "requirement": env.requirement,
        "step_s": env.step_s,
        "features": [
            {"name": feature.name, "meaning": feature.meaning, "low": feature.low, "high": feature.high}
            for feature in env.features
        ],
        "actions": ["keep", *env.ccas],
    }


def play(env: SelectionEnv, act: Act, seed: int, options: Mapping[str, Any]) -> Played:
    """Plays an episode, and returns its outcome."""
    observation, info = env.reset(seed=seed, options=dict(options))
    rewards = []
    is_over = False
    while not is_over:
        observation, reward, terminated, truncated, _ = env.step(act(observation))
        rewards.append(reward)
        is_over = terminated or truncated
    return {
        "network": info["network"],
        "seed": info["seed"],
        "steps": len(rewards),
        "mean_reward": float(np.mean(rewards)),
    }


def try_agents(
    agents: str | Sequence[str] = DEFAULT_AGENTS,
    episodes: int = 10,
    seed: int = 1,
    *,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
    **settings: Any,
) -> Trial:
    """Lets agents play the same episodes, always-CUBIC first.

    Args:
        agents: `"random"`, `"default"` (the policy of `auto`) and `"fixed:CCA"`, as a list or in one
            text with commas.
        episodes: number of episodes per agent.
        seed: seed of the first episode; the others have the following ones.
        jobs: number of parallel episodes; by default one per processor.
        progress: called with the finished share.
        settings: arguments of `SelectionEnv` other than `policy`.

    Raises:
        CelltcpError: names the argument, its value and what is allowed.
    """
    names = agents.split(",") if isinstance(agents, str) else agents
    all_agents = [Agent(name) for name in dict.fromkeys([REFERENCE, *(name.strip() for name in names)])]
    envs = {
        policy: SelectionEnv(**settings, policy=policy)
        for policy in {agent.policy for agent in all_agents}
    }

    def episode_row(agent: Agent, episode: int) -> dict[str, Any]:
        # Parallel episodes need environments of their own.
        env = copy.copy(envs[agent.policy])
        act = agent.act(1 + len(env.ccas), seed + episode)
        played = play(env, act, seed + episode, agent.reset_options)
        return {"agent": agent.name, "episode": episode, **played}

    rows = []
    cases = [(agent, episode) for agent in all_agents for episode in range(episodes)]
    with ThreadPoolExecutor(jobs or available_threads()) as pool:
        for row in pool.map(lambda case: episode_row(*case), cases):
            rows.append(row)
            if progress:
                progress(len(rows) / len(cases))
    columns = ["agent", "episode", "network", "seed", "steps", "mean_reward"]
    return Trial(envs["fixed"], pd.DataFrame(rows, columns=columns))
