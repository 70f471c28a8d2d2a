"""Conditions: scenarios, with or without changes, under which experiments run."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, field

from celltcp._core import CelltcpError, Scenario
from celltcp.scenarios.scenarios import load_scenario

_DEFAULT_CCA = "cubic"


@dataclass(frozen=True)
class Condition:
    """A scenario with changes."""

    #: Name in a table, or that of the scenario.
    name: str
    scenario: str
    #: Overrides as `field=value`.
    changes: tuple[str, ...] = ()

    #: File with its definition, for errors.
    origin: str = field(default="", compare=False)

    @functools.cached_property
    def loaded(self) -> Scenario:
        """The scenario with the changes.

        Raises:
            CelltcpError: names the file of the condition, and what is not allowed.
        """
        try:
            return load_scenario(self.scenario).with_changes(list(self.changes))
        except CelltcpError as error:
            location = f"{self.origin}: place {self.name}: " if self.origin else ""
            raise CelltcpError(f"{location}{error}") from None

    @property
    def folder(self) -> str:
        """Folder of its runs: the name of the scenario, or its own name without slashes."""
        return self.name if self.name == self.scenario else self.name.replace("/", "-")

    @property
    def duration_s(self) -> float:
        """Length of a run, s."""
        return self.loaded.duration_s

    @functools.cached_property
    def fixed_ccas(self) -> list[str | None]:
        """The CCA of each flow if the scenario sets it, else None; None for the first flow."""
        flows = tomllib.loads(self.loaded.to_toml())["flows"]
        return [None, *(None if flow["cca"] == _DEFAULT_CCA else flow["cca"] for flow in flows[1:])]

    def lineup(self, cca: str) -> str:
        """Returns the CCAs of all flows: this one, unless the scenario sets the CCA of a flow."""
        return "+".join(fixed_cca or cca for fixed_cca in self.fixed_ccas)


def parse_condition(name: str, text: str, origin: str = "") -> Condition:
    """Returns the condition in a header: a scenario, and changes after semicolons."""
    scenario, *changes = (part.strip() for part in text.split(";"))
    return Condition(name, scenario, tuple(changes), origin)
