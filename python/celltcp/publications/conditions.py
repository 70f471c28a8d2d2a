"""Places: scenarios, as they are or with changes, on which experiments run."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, field

from celltcp._core import CelltcpError, Scenario
from celltcp.scenarios.scenarios import load_scenario

#: Default CCA of flows.
_DEFAULT = "cubic"


@dataclass(frozen=True)
class Condition:
    """A scenario with changes; its name is that of the scenario unless a table gives it one."""

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
            CelltcpError: names the file of the place, and what is not allowed.
        """
        try:
            return load_scenario(self.scenario).with_changes(list(self.changes))
        except CelltcpError as error:
            where = f"{self.origin}: place {self.name}: " if self.origin else ""
            raise CelltcpError(f"{where}{error}") from None

    @property
    def folder(self) -> str:
        """Folder of its runs: that of the scenario, or its name without slashes."""
        return self.name if self.name == self.scenario else self.name.replace("/", "-")

    @property
    def duration_s(self) -> float:
        """Length of a run, s."""
        return self.loaded.duration_s

    @functools.cached_property
    def fixed(self) -> list[str | None]:
        """The scenario's CCA of each flow but the first; None for the first, and without one."""
        flows = tomllib.loads(self.loaded.to_toml())["flows"]
        return [None, *(None if flow["cca"] == _DEFAULT else flow["cca"] for flow in flows[1:])]

    def lineup(self, cca: str) -> str:
        """Returns the CCAs of all flows: this one, unless the scenario sets the CCA of a flow."""
        return "+".join(each or cca for each in self.fixed)


def parse_condition(name: str, text: str, origin: str = "") -> Condition:
    """Returns the place in a header: a scenario, and changes after semicolons."""
    scenario, *changes = (part.strip() for part in text.split(";"))
    return Condition(name, scenario, tuple(changes), origin)
