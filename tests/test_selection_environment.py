"""The environment for reinforcement learning: its spaces, rewards, determinism and errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from celltcp._core import CelltcpError
from celltcp.comparison.single_run import run
from celltcp.selection.environment import ID, SelectionEnv
from celltcp.selection.environment.agents import try_agents
from celltcp.selection.environment.observation import LIMIT, Observer

SHORT = {"scenario": "steady-20-68", "duration": "6s"}

Step = tuple[np.ndarray, float, bool, bool, dict[str, Any]]


def play(env: SelectionEnv, seed: int, actions: Sequence[int]) -> list[Step]:
    """Plays an episode with these actions, repeated as often as needed."""
    env.reset(seed=seed)
    steps: list[Step] = []
    while not steps or not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(actions[len(steps) % len(actions)]))
    return steps


@pytest.mark.filterwarnings("error")
def test_it_follows_the_interface_of_gymnasium() -> None:
    made = gymnasium.make(ID, **SHORT)
    check_env(made.unwrapped)
    made.close()


def test_environments_run_side_by_side() -> None:
    several = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", **SHORT)
    observations, _ = several.reset(seed=4)
    assert observations.shape == (2, *several.single_observation_space.shape)
    _, rewards, *_, info = several.step(np.array([0, 2]))
    assert (rewards > 0).all()
    assert list(info["cca"]) == ["cubic", several.get_attr("ccas")[1][1]]
    several.close()


@pytest.mark.parametrize("scenario", ["drive", "random"])
def test_the_same_seed_and_actions_give_the_same_bytes(scenario: str) -> None:
    actions = [0, 3, 0, 1, 2]
    one, other = (play(SelectionEnv(scenario, duration="5s"), 7, actions) for _ in range(2))
    assert len(one) == len(other) == 10
    for mine, others in zip(one, other, strict=True):
        assert mine[0].tobytes() == others[0].tobytes()
        assert mine[1:] == others[1:]
    assert play(SelectionEnv(scenario, duration="5s"), 8, actions)[-1][1] != one[-1][1]


@pytest.mark.parametrize("scenario", ["wandering", "drive"])
def test_actions_do_not_change_the_channel(scenario: str) -> None:
    tables = []
    for actions in ([0], [0, 1, 4, 2]):
        env = SelectionEnv(scenario, duration="8s")
        play(env, 3, actions)
        tables.append(env.tables())
    calm, busy = (each["slots"] for each in tables)
    assert calm["capacity_mbps"].to_pylist() == busy["capacity_mbps"].to_pylist()
    assert calm["goodput_mbps"].to_pylist() != busy["goodput_mbps"].to_pylist()
    assert tables[0]["runs"]["scenario_hash"] == tables[1]["runs"]["scenario_hash"]
    assert set(tables[1]["decisions"]["cause"].to_pylist()) == {"establishment", "agent"}


def test_without_an_action_a_run_is_that_of_the_fixed_cca() -> None:
    env = SelectionEnv(**SHORT, start="bbr")
    play(env, 5, [0])
    env.reset(seed=5)
    seed = env.reset(seed=5)[1]["seed"]
    play(env, 5, [0])
    mine = env.tables()["slots"]["goodput_mbps"].to_pylist()
    fixed = run("steady-20-68", "bbr", seed, "6s", samples="off").slots
    assert mine == fixed["goodput_mbps"].tolist()


@pytest.mark.parametrize(
    ("requirement", "column"),
    [("goodput", "goodput_mbps"), ("fct", "goodput_mbps"), ("delay", "pm_delay")],
)
def test_the_reward_is_the_measure_of_results(requirement: str, column: str) -> None:
    env = SelectionEnv(**SHORT, requirement=requirement, step="1s")
    steps = play(env, 1, [0])
    slots = env.tables()["slots"].to_pandas()
    # The lowest RTT is known from the first second on, so that PM is final.
    for number, (_, reward, _, _, info) in enumerate(steps[1:], 1):
        selected = slots[(slots["t_s"] > number - 0.01) & (slots["t_s"] < number + 0.99)]
        assert len(selected) == info["slots"] == 10
        assert reward == pytest.approx(selected[column].mean(), rel=2e-3)
        assert info["time_s"] == number + 1
        assert info["goodput_mbps"] == pytest.approx(selected["goodput_mbps"].mean())


def test_unknown_features_have_no_confidence() -> None:
    env = SelectionEnv(**SHORT)
    observation, info = env.reset(seed=1)
    assert info["cca"] == "cubic"
    assert observation.dtype == np.float32
    count = len(env.features)
    assert observation.shape == (2 * count + len(env.ccas),)
    values, confidences, flags = np.split(observation, [count, 2 * count])
    names = [each.name for each in env.features]
    unknown = {name for name, confidence in zip(names, confidences, strict=True) if confidence == 0}
    assert {"capacity", "buffer", "sinr", "flow_size"} <= unknown
    assert not values[[names.index(name) for name in unknown]].any()
    named = env.named(observation)
    assert {name for name, value in named.items() if value is None} == unknown
    assert named["base_rtt"] == pytest.approx(68, abs=2)
    assert [cca for cca, flag in zip(env.ccas, flags, strict=True) if flag] == ["cubic"]
    for _ in range(10):
        observation, *_ = env.step(0)
    later = env.named(observation)
    assert later["capacity"] == pytest.approx(19.3, rel=0.05)
    assert later["sinr"] is None


def test_values_beyond_the_limits_are_cut() -> None:
    observer = Observer(["cubic"])
    known = [(1e12, 1.0)] * len(observer.features)
    observation = observer.vector(known, "bbr")
    assert observer.space.contains(observation)
    assert observation[0] == LIMIT
    assert observation[-1] == 0.0, "a CCA that is none of the actions is in use"


def test_hints_of_the_radio_are_observed_if_asked_for_and_depend_on_no_action() -> None:
    settings = {"scenario": "mobility/forward-60-4g", "duration": "4s"}
    seen = []
    for actions in ([0], [0, 1, 4, 2]):
        env = SelectionEnv(**settings, hints=True)
        seen.append([env.named(step[0])["sinr"] for step in play(env, 1, actions)])
    assert None not in seen[0]
    assert len(set(seen[0])) > 1
    assert seen[0] == seen[1]
    without = SelectionEnv(**settings)
    assert without.named(without.reset(seed=1)[0])["sinr"] is None


def test_an_episode_ends_with_its_flow(tmp_path: Path) -> None:
    file = tmp_path / "download.toml"
    file.write_text(
        'name = "download"\nduration = "20s"\n[path]\nrtt = "40ms"\ndown.rate = "10Mbit/s"\n'
        '[[flows]]\nworkload = { kind = "bulk", bytes = "3MB" }\n'
    )
    env = SelectionEnv(file)
    steps = play(env, 1, [0])
    *_, terminated, truncated, info = steps[-1]
    assert (terminated, truncated) == (True, False)
    assert info["cca"] == "cubic"
    assert info["time_s"] == pytest.approx(3, abs=0.5)
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_a_truncated_episode_is_over() -> None:
    env = SelectionEnv(**SHORT)
    with pytest.raises(ResetNeeded):
        env.step(0)
    assert play(env, 1, [0])[-1][2:4] == (False, True)
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_an_episode_is_shown_as_text() -> None:
    env = SelectionEnv(**SHORT, render_mode="ansi")
    env.reset(seed=1)
    env.step(1 + env.ccas.index("vegas"))
    text = env.render() or ""
    assert "vegas" in text
    assert "Mbit/s" in text


def test_options_choose_start_and_place_of_an_episode() -> None:
    env = SelectionEnv(**SHORT)
    _, info = env.reset(seed=1, options={"cca": "newreno", "scenario": "lossy"})
    assert info["cca"] == "reno"
    assert info["network"].startswith("lossy-")
    assert env.reset(seed=1)[1]["network"] == "steady-20-68"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"scenario": "nowhere"}, "nowhere.*or random, or a family: away, "),
        ({"scenario": []}, "scenario: nothing is given"),
        ({"requirement": "fast"}, '"fast" is not a requirement; allowed: '),
        ({"ccas": "cubik"}, 'ccas: "cubik" is not a congestion control.*allowed: '),
        ({"ccas": []}, "ccas: the list is empty"),
        ({"start": "auto"}, 'start: "auto" is not'),
        ({"step": "50ms"}, "step: 0.05s is no multiple of the slots of steady-20-68; allowed: multi"),
        ({"step": "soon"}, "step: 'soon' is not a time; allowed: such as 500ms"),
        ({"policy": "mine"}, "mine"),
        ({"render_mode": "human"}, "render_mode: unknown 'human'; allowed: ansi"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(CelltcpError, match=told):
        SelectionEnv(**{**SHORT, **arguments})


def test_actions_and_options_that_cannot_be_used_are_refused() -> None:
    env = SelectionEnv(**SHORT)
    with pytest.raises(CelltcpError, match="options: unknown 'speed'; allowed: cca, scenario"):
        env.reset(options={"speed": 3})
    env.reset(seed=1)
    with pytest.raises(CelltcpError, match="action: unknown 99; allowed: whole numbers from 0 to "):
        env.step(99)


def test_agents_play_the_same_episodes() -> None:
    trial = try_agents("random,fixed:vegas", 3, 2, jobs=2, **SHORT)
    again = try_agents(["random", "fixed:vegas"], 3, 2, jobs=1, **SHORT)
    assert trial.to_json() == again.to_json()
    names = [row["agent"] for row in trial.agents]
    assert names == ["fixed:cubic", "random", "fixed:vegas"]
    assert trial.agents[0]["above_cubic"] == {"mean": 0.0, "ci95": None}
    for _, rows in trial.episodes.groupby("episode"):
        assert rows["seed"].nunique() == 1


def test_the_command_shows_spaces_and_rewards(celltcp) -> None:
    shown = celltcp("select", "env", "--cca", "cubic,bbr")
    assert "Box(64,)" in shown.stdout
    assert "base_rtt" in shown.stdout
    played = celltcp(
        *("select", "env", "--scenarios", "steady-5-18", "--duration", "3s", "--episodes", "2")
    )
    for word in ("fixed:cubic", "random", "default", "above"):
        assert word in played.stdout


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--cca", "cubik", "cubik"),
        ("--requirement", "fast", "not a requirement"),
        ("--scenarios", "nowhere", "nowhere"),
        ("--agent", "fixed:x", "allowed: random, default, or fixed:"),
    ],
)
def test_the_command_refuses_with_exit_code_2(celltcp, option: str, value: str, told: str) -> None:
    refused = celltcp("select", "env", option, value)
    assert refused.returncode == 2
    assert told in refused.stderr


def test_the_extra_that_is_missing_is_named() -> None:
    program = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "from celltcp.cli import main\nsys.argv = ['celltcp', 'select', 'env']\nmain()"
    )
    refused = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert refused.returncode == 2
    assert refused.stderr == (
        "celltcp: env: Gymnasium is not installed; `pip install 'celltcp[env]'` does\n"
    )


@pytest.mark.slow
def test_the_example_learns() -> None:
    program = Path(__file__).parent.parent / "examples" / "selection-agent" / "train.py"
    small = ("--episodes", "8", "--test", "2", "--scenario", "lossy,plain")
    done = subprocess.run([sys.executable, program, *small], capture_output=True, text=True, check=True)
    for name in ("this agent", "default", "fixed:cubic"):
        assert f"\n{name} " in done.stdout
