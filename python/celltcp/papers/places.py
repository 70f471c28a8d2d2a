"""Places: scenarios, as they are or with changes, on which experiments run."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass

from celltcp.scenarios import load_scenario


@dataclass(frozen=True)
class Place:
    """A scenario with changes; its name is that of the scenario unless a table gives it one."""

    name: str
    scenario: str
    #: Overrides as `field=value`.
    changes: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """Length of a run, s."""
        return load_scenario(self.scenario).with_changes(list(self.changes)).duration_s

    @functools.cached_property
    def flows(self) -> int:
        """Number of flows that the scenario has, each with a CCA."""
        scenario = load_scenario(self.scenario).with_changes(list(self.changes))
        return len(tomllib.loads(scenario.to_toml())["flows"])

    def lineup(self, cca: str) -> str:
        """Returns the CCAs of all flows where each has this one."""
        return "+".join([cca] * self.flows)


def place_of(name: str, text: str) -> Place:
    """Returns the place that a header describes: a scenario, and changes behind semicolons."""
    scenario, *changes = (part.strip() for part in text.split(";"))
    return Place(name, scenario, tuple(changes))
