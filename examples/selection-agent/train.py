"""Baseline agent: a linear contextual bandit that learns to select CCAs.

Usage: python examples/selection-agent/train.py [--episodes N] [--test N] [--requirement NAME]

For each CCA a ridge regression predicts the reward of the next step from the observation. The agent
takes the CCA with the highest prediction, and in training sometimes another one. It learns on random
networks. The test is on others, beside fixed CCAs and the policy `default` of auto. It needs the extra
of celltcp called env.
"""

import argparse

import numpy as np

from celltcp.results.statistics import estimate, paired_difference
from celltcp.selection.environment import SelectionEnv
from celltcp.selection.environment.agents import play, try_agents

#: Time between actions: long enough for a CCA to show what it does.
STEP = "2s"
#: Seed of the first episode of the test; training has lower ones.
TEST_SEED = 1_000_000


class LinearBandit:
    """Ridge regressions of the reward of the next step, one per CCA."""

    def __init__(
        self, env: SelectionEnv, seed: int, explored: float = 0.2, margin: float = 0.02
    ) -> None:
        """Takes the share of actions that explore, and the relative gain below which a CCA stays."""
        self.ccas, self.values = len(env.ccas), len(env.features)
        size = 1 + env.observation_space.shape[0]
        self.squares = np.array([np.eye(size)] * self.ccas)
        self.products = np.zeros((self.ccas, size))
        self.weights = np.zeros((self.ccas, size))
        self.explored, self.margin = explored, margin
        self.rng = np.random.default_rng(seed)

    def inputs(self, observation: np.ndarray) -> np.ndarray:
        """Returns the observation with values by their logarithm, and a constant."""
        values, others = np.split(observation.astype(float), [self.values])
        return np.concatenate([[1.0], np.sign(values) * np.log1p(np.abs(values)), others])

    def act(self, observation: np.ndarray) -> int:
        """Returns the action with the highest prediction; 0 where the CCA in use is as good."""
        predicted = self.weights @ self.inputs(observation)
        best = int(np.argmax(predicted))
        in_use = np.flatnonzero(observation[-self.ccas :])
        if len(in_use) and predicted[best] <= (1 + self.margin) * predicted[in_use[0]]:
            return 0
        return 1 + best

    def explore(self, observation: np.ndarray) -> int:
        """Returns an action as `act` does, or in some cases one that is drawn."""
        if self.rng.random() < self.explored:
            return int(self.rng.integers(1 + self.ccas))
        return self.act(observation)

    def learn(self, observation: np.ndarray, cca: int, reward: float) -> None:
        """Takes the reward of a step that began with this observation, under CCA number `cca`."""
        inputs = self.inputs(observation)
        self.squares[cca] += np.outer(inputs, inputs)
        self.products[cca] += reward * inputs

    def fit(self) -> None:
        """Solves the regressions for all that has been learnt."""
        self.weights = np.linalg.solve(self.squares, self.products[..., None])[..., 0]


def train(env: SelectionEnv, episodes: int, seed: int) -> LinearBandit:
    """Returns an agent that has learnt on so many episodes."""
    agent = LinearBandit(env, seed)
    for episode in range(episodes):
        # Each CCA starts as often, so that all of them are seen from the beginning of a connection.
        start = env.ccas[episode % len(env.ccas)]
        observation, _ = env.reset(seed=seed + episode, options={"cca": start})
        is_over = False
        while not is_over:
            after, reward, terminated, truncated, info = env.step(agent.explore(observation))
            agent.learn(observation, env.ccas.index(info["cca"]), reward)
            observation, is_over = after, terminated or truncated
        agent.fit()
    return agent


def main() -> None:
    """Trains the agent, and prints its mean reward beside that of the baselines."""
    parser = argparse.ArgumentParser(description="Train a linear bandit to select the CCA.")
    parser.add_argument("--episodes", type=int, default=200, help="of the training")
    parser.add_argument("--test", type=int, default=30, help="episodes of the test")
    parser.add_argument("--requirement", default="balanced", help="what is rewarded")
    parser.add_argument("--scenario", default="random", help="families of networks, or scenarios")
    parser.add_argument("--seed", type=int, default=1, help="of the first episode of the training")
    given = parser.parse_args()
    settings = {"scenario": given.scenario, "requirement": given.requirement, "step": STEP}
    env = SelectionEnv(**settings)
    agent = train(env, given.episodes, given.seed)
    baselines = ["default", "random", *(f"fixed:{cca}" for cca in env.ccas)]
    trial = try_agents(baselines, given.test, TEST_SEED, **settings)
    rewards = {
        str(name): rows["mean_reward"].tolist() for name, rows in trial.episodes.groupby("agent")
    }
    rewards["this agent"] = [
        play(env, agent.act, TEST_SEED + episode, {})["mean_reward"] for episode in range(given.test)
    ]
    print(f"{given.test} episodes: mean reward ({env.requirement}), and above always-CUBIC")
    for name, mine in sorted(rewards.items(), key=lambda item: -np.mean(item[1])):
        mean, gain = estimate(mine), paired_difference(mine, rewards["fixed:cubic"])
        above = f"{gain.mean:+.3f} ± {gain.ci95 or 0.0:.3f}"
        print(f"{name:<16} {mean.mean:.3f} ± {mean.ci95 or 0.0:.3f}   {above}")


if __name__ == "__main__":
    main()
