"""Episodes of the environment: networks drawn from families of random ones, or from scenarios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from celltcp._core import CelltcpError, Scenario, in_unit
from celltcp.scenarios.cca_mix import parse_mix
from celltcp.scenarios.changes import override_texts
from celltcp.scenarios.scenario_list import expand_scenarios
from celltcp.scenarios.scenarios import ScenarioSource, load_scenario, unknown_error
from celltcp.selection.training.families import FAMILIES, draw_networks

#: Name that stands for all families of random networks.
RANDOM = "random"

#: Default length of an episode on a random network.
_DEFAULT_DURATION = "30s"

#: Number of seeds that episodes draw from.
_SEEDS = 1 << 31

#: Type of the argument `scenario` of an environment.
ScenarioArgument = str | Path | Scenario | Sequence[str]


@dataclass(frozen=True)
class Episode:
    """A network with the seed of its run. The first flow is the agent's."""

    #: Name of the scenario, or family and number of the random network.
    name: str
    scenario: Scenario
    seed: int


#: Function that draws an episode.
Draw = Callable[[np.random.Generator], Episode]


def draws_of(scenario: ScenarioArgument, duration: str | None) -> list[Draw]:
    """Returns a function for each family and scenario that draws its episodes.

    Args:
        scenario: `"random"` for all families of networks on which policies are trained, names of such
            families, and scenarios by name, file or pattern, in a list or in one text with commas; or a
            loaded scenario.
        duration: length of each episode, such as `"60s"`.

    Raises:
        CelltcpError: if a name is neither family nor scenario, or the duration is invalid.
    """
    changes = override_texts({} if duration is None else {"duration": duration})
    if isinstance(scenario, Scenario):
        return [_scenario_draw(scenario.name, load_scenario(scenario, changes=changes))]
    names = str(scenario).split(",") if isinstance(scenario, str | Path) else map(str, scenario)
    draws: list[Draw] = []
    for name in (name.strip() for name in names):
        if name == RANDOM:
            draws += [_family_draw(family, duration) for family in FAMILIES]
        elif name in FAMILIES:
            draws.append(_family_draw(name, duration))
        else:
            draws += [_scenario_draw(source.name, source.scenario) for source in _expand(name, changes)]
    if not draws:
        raise CelltcpError(f"scenario: nothing is given; allowed: {RANDOM}, families, scenarios")
    return draws


def _expand(name: str, changes: Sequence[str]) -> Sequence[ScenarioSource]:
    try:
        return expand_scenarios(name, partial(ScenarioSource, changes=changes)).sources
    except CelltcpError as error:
        if str(error) != unknown_error(name):
            raise
        raise CelltcpError(f"{error}; or {RANDOM}, or a family: {', '.join(FAMILIES)}") from None


def _scenario_draw(name: str, scenario: Scenario) -> Draw:
    competing = parse_mix(scenario.lineup).flows[1:]
    if any(flow.is_selector for flow in competing):
        raise CelltcpError(
            f"scenario: {name!r} has a selector beside the agent's flow, the first; allowed: fixed "
            "congestion controls there"
        )
    return lambda rng: Episode(name, scenario, int(rng.integers(_SEEDS)))


def _family_draw(name: str, duration: str | None) -> Draw:
    duration = duration or _DEFAULT_DURATION
    # An invalid duration is rejected by with_changes.
    duration_s = in_unit(duration, "s") or in_unit(_DEFAULT_DURATION, "s") or 0.0

    def draw(rng: np.random.Generator) -> Episode:
        number = int(rng.integers(_SEEDS))
        (network,) = draw_networks([name], 1, number)
        scenario = network.scenario("", duration_s).with_changes([f"duration={duration}"])
        return Episode(f"{name}-{number}", scenario, network.seed)

    return draw
