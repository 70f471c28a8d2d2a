"""Gymnasium environment: an agent observes the estimates of a connection, and selects its CCA."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
import pyarrow as pa
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete

from celltcp._core import (
    CelltcpError,
    Run,
    Scenario,
    describe_cca,
    describe_policy,
    in_unit,
    requirement_measure,
    selection_features,
)
from celltcp.scenarios.requirements import normalize_requirement
from celltcp.selection.environment.episodes import RANDOM, Episode, ScenarioArgument, draws_of
from celltcp.selection.environment.observation import Observer, Vector

#: Interval of the samples of a selector, ns.
_SAMPLE_NS = 10_000_000
_SECOND_NS = 1_000_000_000

#: The supported render mode: a line of text per step.
_TEXT = "ansi"

#: Options of `reset`.
_OPTIONS = ("cca", "scenario")


class SelectionEnv(gymnasium.Env[Vector, np.int64]):
    """Selection of the CCA of one connection in a simulated network.

    Episode: a run of the native engine. The agent's connection is the first one of the first flow.
    The episode starts when the handshake has shown the RTT of the connection. It is terminated when
    the connection ends, and truncated at the end of the run. The seed determines network and channel,
    which do not depend on actions. So agents with the same seeds can be compared in pairs.

    Observation: a `Box` of the shape `(2 * F + C,)` and the type float32, for F features (`features`)
    and C CCAs (`ccas`). First comes the value of each feature in its unit, 0 while it is unknown,
    clipped to the limits that `celltcp select env` prints. Then comes the confidence of each, from 0
    (unknown) to 1 (certain), and for each CCA 1 if it is in use, else 0. `named` returns the values by
    name. Most learners need them scaled.

    Action: `Discrete(1 + C)`. 0 keeps the CCA, and i switches to number i of `ccas`, counted from 1,
    within 10 ms, as a policy would. Until the ACKs of a round trip of data have arrived, the new CCA
    starts without the state of the old one. There are no limits on switches, and none is reverted. The
    table `decisions` has the cause `agent`.

    Reward: the mean of the requirement's measure over the slots of the step (by default 100 ms each),
    as in results, but with the minimum RTT so far in PM; 0 if no slot has a measure. For `fct` it is
    the goodput. A connection that ends early gives no more rewards: compare mean rewards per step.

    Info: `time_s`, `cca` (in use), `goodput_mbps`, `rtt_ms` (the mean, if there was an RTT) and `slots`
    (number of slots with a measure). After `reset` also `network` and `seed` of the run.
    """

    metadata = {"render_modes": [_TEXT], "render_fps": 2}  # noqa: RUF012 - as the base class has it

    def __init__(
        self,
        scenario: ScenarioArgument = RANDOM,
        requirement: str = "balanced",
        ccas: str | Iterable[str] | None = None,
        step: str = "500ms",
        *,
        start: str = "cubic",
        policy: str = "fixed",
        duration: str | None = None,
        hints: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Creates the environment.

        Args:
            scenario: networks, of which each episode draws one: `"random"` for all families of networks
                on which policies are trained, names of such families, or scenarios by name, file or
                pattern; a list or a text with commas.
            requirement: requirement that is rewarded, such as `"balanced"` or `"goodput@100ms"`.
            ccas: names of the CCAs to select from; by default those of the policy `default`.
            step: time between actions, a multiple of the slot of the scenarios.
            start: CCA at the start of an episode.
            policy: policy that switches in addition to the agent; with `"fixed"` only the agent does.
            duration: length of an episode, such as `"60s"`; by default that of the scenario, or 30 s on
                a random network.
            hints: whether the sender knows SINR and speed from the radio.
            render_mode: `"ansi"` for a line of text per step.

        Raises:
            CelltcpError: if an argument is invalid.
        """
        self.requirement = normalize_requirement(requirement)
        self.ccas = _check_ccas(ccas)
        self.start = _check_cca("start", start)
        if render_mode not in (None, _TEXT):
            raise CelltcpError(f"render_mode: unknown {render_mode!r}; allowed: {_TEXT}")
        self.render_mode = render_mode
        self._policy, self._hints, self._duration = policy, hints, duration
        step_s = in_unit(step, "s")
        if not step_s or step_s <= 0.0:
            raise CelltcpError(f"step: {step!r} is not a time; allowed: such as 500ms")
        self.step_s = step_s
        self._step_ns = round(step_s * _SECOND_NS)
        self._draws = draws_of(scenario, duration)
        self._observer = Observer(self.ccas)
        self.features = self._observer.features
        self.observation_space = self._observer.space
        self.action_space = Discrete(1 + len(self.ccas))
        self._run: Run | None = None
        self._is_over = True
        # An invalid policy or step is rejected now, not in the first episode.
        for draw in self._draws:
            self._with_selector(draw(np.random.default_rng(0)), self.start)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Starts an episode; returns its first observation, and info.

        Args:
            seed: seed of the following episodes; the same seed and actions give the same episodes.
            options: `cca`, the CCA at the start of this episode; `scenario`, its networks, like the
                argument of the class.
        """
        super().reset(seed=seed)
        options = options or {}
        for name in options:
            if name not in _OPTIONS:
                raise CelltcpError(f"options: unknown {name!r}; allowed: {', '.join(_OPTIONS)}")
        start = _check_cca("options: cca", str(options.get("cca", self.start)))
        draws = self._draws
        if "scenario" in options:
            draws = draws_of(options["scenario"], self._duration)
        episode = draws[int(self.np_random.integers(len(draws)))](self.np_random)
        scenario = self._with_selector(episode, start)
        self._slot_ns = round(scenario.slot_s * _SECOND_NS)
        self._end_ns = round(scenario.duration_s * _SECOND_NS)
        self._run = run = Run(scenario, episode.seed)
        self._connection, self._now_ns = _advance_to_rtt(run, self._end_ns, episode.name)
        self._slots_read = run.slots_from(self._connection, 0).num_rows
        self._is_over = False
        cca = self._observe() or start
        self._info: dict[str, Any] = {"time_s": self._now_ns / _SECOND_NS, "cca": cca}
        return self._observation.copy(), {**self._info, "network": episode.name, "seed": episode.seed}

    def step(self, action: np.int64 | int) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Carries out an action; returns observation, reward, terminated, truncated and info.

        Steps end at multiples of the step's length. The first one is shorter, because the handshake
        precedes it, but has at least one slot.
        """
        if self._run is None or self._is_over:
            raise ResetNeeded("the episode is over, or has not begun: call reset()")
        if not self.action_space.contains(np.int64(action)):
            allowed = f"0 to {len(self.ccas)}"
            raise CelltcpError(f"action: unknown {action!r}; allowed: whole numbers from {allowed}")
        if action:
            self._run.request(self._connection, self.ccas[int(action) - 1])
        steps = -(-(self._now_ns + self._slot_ns) // self._step_ns)
        self._now_ns = min(steps * self._step_ns, self._end_ns)
        self._run.advance(self._now_ns / _SECOND_NS)
        last_cca = self._info["cca"]
        cca = self._observe()
        terminated = cca is None
        truncated = not terminated and self._now_ns >= self._end_ns
        self._is_over = terminated or truncated
        reward = self._measure(cca or last_cca)
        return self._observation.copy(), reward, terminated, truncated, dict(self._info)

    def render(self) -> str | None:
        """Returns a line about the step, if the render mode is `"ansi"`."""
        if self.render_mode is None or self._run is None:
            return None
        info = self._info
        parts = [f"{info['time_s']:7.2f} s", f"{info['cca']:<9}"]
        if "goodput_mbps" in info:
            parts.append(f"{info['goodput_mbps']:8.2f} Mbit/s")
        if "rtt_ms" in info:
            parts.append(f"RTT {info['rtt_ms']:.1f} ms")
        return "  ".join(parts)

    def close(self) -> None:
        """Ends the episode."""
        self._run = None
        self._is_over = True

    def named(self, observation: Vector) -> dict[str, float | None]:
        """Returns the value of each feature of an observation by its name; None where it is unknown."""
        return self._observer.named(observation)

    def tables(self) -> dict[str, pa.Table]:
        """Ends the episode; returns the tables of the run by name: `decisions`, `slots` and so on."""
        if self._run is None:
            raise ResetNeeded("no episode has begun: call reset()")
        result = self._run.finish()
        self.close()
        return {name: pa.Table.from_batches([batch]) for name, batch in result.items()}

    def _with_selector(self, episode: Episode, start: str) -> Scenario:
        """Returns the scenario of an episode with the selector that an agent drives."""
        words = [f"policy={self._policy}", f"requirement={self.requirement}"]
        if self._policy == "fixed":
            words.append(f"cca={start}")
        if self._hints:
            words.append("hints=on")
        scenario = episode.scenario.with_cca(f"auto:{','.join(words)}").with_samples("off")
        slot_ns = round(scenario.slot_s * _SECOND_NS)
        if self._step_ns % slot_ns:
            raise CelltcpError(
                f"step: {self.step_s:g}s is no multiple of the slots of {episode.name}; allowed: "
                f"multiples of {scenario.slot_s:g}s"
            )
        return scenario

    def _observe(self) -> str | None:
        """Updates the observation, and returns the CCA in use; None once the connection has ended."""
        result = self._run.selection(self._connection) if self._run else None
        if result is None:
            return None
        cca, known = result
        self._observation = self._observer.vector(known, cca)
        return cca

    def _measure(self, cca: str) -> float:
        """Updates the info from the slots of the step, and returns the reward."""
        assert self._run is not None
        slots = self._run.slots_from(self._connection, self._slots_read)
        self._slots_read += slots.num_rows
        measures = requirement_measure(slots, self.requirement).to_numpy()
        measures = measures[np.isfinite(measures)]
        goodput = slots["goodput_mbps"].to_numpy()
        rtt = slots["rtt_mean_ms"].to_numpy()
        rtt = rtt[np.isfinite(rtt)]
        self._info = {
            "time_s": self._now_ns / _SECOND_NS,
            "cca": cca,
            "goodput_mbps": float(goodput.mean()) if len(goodput) else 0.0,
            "slots": len(measures),
        }
        if len(rtt):
            self._info["rtt_ms"] = float(rtt.mean())
        return float(measures.mean()) if len(measures) else 0.0


def _advance_to_rtt(run: Run, end_ns: int, name: str) -> tuple[int, int]:
    """Advances until the RTT of the first connection is known; returns connection and time, ns."""
    base_rtt = [feature for feature, _ in selection_features()].index("base_rtt")
    for now_ns in range(0, end_ns, _SAMPLE_NS):
        run.advance(now_ns / _SECOND_NS)
        for connection in run.selected()[:1]:
            selection = run.selection(connection)
            if selection is not None and selection[1][base_rtt] is not None:
                return connection, now_ns
    raise CelltcpError(f"scenario: {name}: the first flow has no connection that lasts for 10 ms")


def _check_ccas(ccas: str | Iterable[str] | None) -> tuple[str, ...]:
    if ccas is None:
        return tuple(describe_policy("default")["choices"])
    names = ccas.split(",") if isinstance(ccas, str) else ccas
    result = tuple(dict.fromkeys(_check_cca("ccas", name.strip()) for name in names))
    if not result:
        raise CelltcpError("ccas: the list is empty; allowed: one congestion control or more")
    return result


def _check_cca(argument: str, name: str) -> str:
    """Returns the name of a CCA in the catalogue, which may be given by an alias."""
    try:
        return str(describe_cca(name)["name"])
    except CelltcpError as error:
        raise CelltcpError(f"{argument}: {error}") from None
