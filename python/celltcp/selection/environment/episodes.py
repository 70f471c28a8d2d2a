"""Episodes: the networks on which an agent acts, random or from scenarios."""

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
_LENGTH = "30s"

#: Upper limit of the seeds of episodes.
_SEEDS = 1 << 31

#: Sources of an environment's episodes.
Given = str | Path | Scenario | Sequence[str]


@dataclass(frozen=True)
class Episode:
    """A network with the seed of its run. The first flow is the agent's."""

    #: Name of the scenario, or family and number of the random network.
    name: str
    scenario: Scenario
    seed: int


#: Draws an episode.
Draw = Callable[[np.random.Generator], Episode]


def draws_of(given: Given, duration: str | None) -> list[Draw]:
    """Returns a function for each family and scenario that draws its episodes.

    Args:
        given: `"random"` for all families of networks on which policies are trained, names of such
            families, and scenarios by name, file or pattern, in a list or in one text with commas; or a
            loaded scenario.
        duration: length of each episode, such as `"60s"`.

    Raises:
        CelltcpError: if a name is neither family nor scenario, or the length cannot be used.
    """
    changes = override_texts({} if duration is None else {"duration": duration})
    if isinstance(given, Scenario):
        return [_of_scenario(given.name, load_scenario(given, changes=changes))]
    pieces = str(given).split(",") if isinstance(given, str | Path) else [str(each) for each in given]
    draws: list[Draw] = []
    for piece in (each.strip() for each in pieces):
        if piece == RANDOM:
            draws += [_of_family(name, duration) for name in FAMILIES]
        elif piece in FAMILIES:
            draws.append(_of_family(piece, duration))
        else:
            draws += [
                _of_scenario(scenario.name, scenario.scenario)
                for scenario in _scenarios(piece, changes)
            ]
    if not draws:
        raise CelltcpError(f"scenario: nothing is given; allowed: {RANDOM}, families, scenarios")
    return draws


def _scenarios(piece: str, changes: Sequence[str]) -> Sequence[Episode]:
    try:
        result = expand_scenarios(piece, partial(ScenarioSource, changes=changes)).sources
    except CelltcpError as error:
        if str(error) != unknown_error(piece):
            raise
        raise CelltcpError(f"{error}; or {RANDOM}, or a family: {', '.join(FAMILIES)}") from None
    return [Episode(scenario_source.name, scenario_source.scenario, 0) for scenario_source in result]


def _of_scenario(name: str, scenario: Scenario) -> Draw:
    others = parse_mix(scenario.lineup).flows[1:]
    if any(flow.is_selector for flow in others):
        raise CelltcpError(
            f"scenario: {name!r} has a selector beside the agent's flow, the first; allowed: fixed "
            "congestion controls there"
        )
    return lambda rng: Episode(name, scenario, int(rng.integers(_SEEDS)))


def _of_family(name: str, duration: str | None) -> Draw:
    length = duration or _LENGTH
    # A duration that is no time is rejected by the change.
    length_s = in_unit(length, "s") or in_unit(_LENGTH, "s") or 0.0

    def draw(rng: np.random.Generator) -> Episode:
        number = int(rng.integers(_SEEDS))
        (network,) = draw_networks([name], 1, number)
        scenario = network.scenario("", length_s).with_changes([f"duration={length}"])
        return Episode(f"{name}-{number}", scenario, network.seed)

    return draw
