"""JSON types of celltcp select env."""

from __future__ import annotations

from typing import Annotated, TypedDict

from celltcp.results.json_fields import Seed


class Reward(TypedDict):
    """Mean over the episodes, with its 95 % interval."""

    mean: float
    ci95: float | None


class FeatureRow(TypedDict):
    """Feature of observations."""

    name: str
    meaning: Annotated[str, "Meaning of the value, with its unit."]
    low: Annotated[float, "Lowest value; what is below is cut."]
    high: Annotated[float, "Highest value; what is above is cut."]


class AgentRow(TypedDict):
    """Rewards of an agent."""

    agent: str
    mean_reward: Annotated[Reward, "Mean over the episodes of the mean reward of a step."]
    above_cubic: Annotated[Reward, "Difference to always-CUBIC, episode by episode."]


class Played(TypedDict):
    """Played episode."""

    network: Annotated[str, "Scenario, or family and number of a random network."]
    seed: Seed
    steps: Annotated[int, "Number of steps."]
    mean_reward: Annotated[float, "Mean reward of a step."]


class EpisodeRow(Played):
    """Episode of an agent."""

    agent: str
    episode: Annotated[
        int, "Number of the episode; the same one has the same network and seed for all agents."
    ]


class Spaces(TypedDict):
    """Spaces of an environment: its observations and actions."""

    requirement: Annotated[str, "Requirement that is rewarded."]
    step_s: Annotated[float, "Time between actions, s."]
    features: Annotated[
        list[FeatureRow],
        "Features in the order of observations: first their values, then their confidences.",
    ]
    actions: Annotated[
        list[str], "Meaning of each action: keep, or the congestion control that takes over."
    ]


class TrialOutcome(Spaces):
    """Outcome of celltcp select env."""

    agents: Annotated[
        list[AgentRow],
        "Agents in the order in which they were named; empty if none has played.",
    ]
    episodes: Annotated[list[EpisodeRow], "One row per agent and episode."]
