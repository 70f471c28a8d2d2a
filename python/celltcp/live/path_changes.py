"""Changes of a path during a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

from celltcp._core import CelltcpError, LiveRun, Scenario, in_unit
from celltcp.scenarios.changes import Changes, override_texts

#: Fields of the scenario by their short names.
SHORT_NAMES = {"rate": "path.down.rate", "loss": "path.loss", "rtt": "path.rtt"}
#: Short name for half of the RTT, the one-way delay.
_DELAY = "delay"
#: Name of an interruption that starts at once; its value is the duration.
_OUTAGE = "outage"


class PathChange(TypedDict):
    """Change of the path during a run."""

    time_s: Annotated[float, "Time since the start of the run, s."]
    field: Annotated[str, "Field of the scenario; `outage` for a time in which nothing passed."]
    value: Annotated[str, "Its value from then on."]


PathChanges = Annotated[list[PathChange], "Changes of the path."]


@dataclass
class ChangingPath:
    """Path of a run, and the changes to it.

    Attributes:
        scenario: current scenario.
        changes: changes so far.
    """

    scenario: Scenario
    changes: list[PathChange]

    def change(self, run: LiveRun, changes: Changes) -> list[PathChange]:
        """Changes fields of the path, all at once; returns the changes with their times.

        Fields may have the short names `rate`, `loss`, `delay`, `rtt` and `outage`.

        Raises:
            CelltcpError: if a field cannot change, or its value is invalid; then no field changes.
        """
        scenarios: list[Scenario] = []
        overrides: list[str] = []
        outages: list[tuple[str, float]] = []
        scenario = self.scenario
        for text in override_texts(changes):
            field, value = _parse_change(text)
            if field == _OUTAGE:
                outages.append((value, _parse_duration_s(field, value)))
                continue
            overrides.append(f"{field}={value}")
            scenario = scenario.with_changes(overrides[-1:])
            scenarios.append(scenario)
        new_changes: list[PathChange] = []
        if scenarios:
            try:
                time_s = run.change(scenarios, overrides)
            except CelltcpError as error:
                raise CelltcpError(f"{', '.join(overrides)}: {error}") from None
            new_changes.extend(path_change(time_s, override) for override in overrides)
            self.scenario = scenario
        for value, duration_s in outages:
            new_changes.append(path_change(run.interrupt(duration_s), f"{_OUTAGE}={value}"))
        self.changes.extend(new_changes)
        return new_changes


def path_change(time_s: float, override: str) -> PathChange:
    """Returns the change by an override such as `"path.loss=1%"` at a time."""
    field, _, value = override.partition("=")
    return {"time_s": time_s, "field": field, "value": value}


def _parse_change(text: str) -> tuple[str, str]:
    """Returns field and value of a text such as `"loss=1%"`; short names become fields."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        short_names = ", ".join([*SHORT_NAMES, _DELAY, _OUTAGE])
        raise CelltcpError(
            f"{text!r} is no FIELD=VALUE; allowed: a field of the scenario such as "
            f"path.up.rate=5Mbit/s, or one of {short_names}"
        )
    if name == _DELAY:
        return SHORT_NAMES["rtt"], f"{2 * _parse_duration_s(name, value):.9f}s"
    return SHORT_NAMES.get(name, name), value


def _parse_duration_s(field: str, text: str) -> float:
    """Parses a time above zero, s."""
    duration_s = in_unit(text.strip("'\""), "s")
    if duration_s is None or duration_s <= 0:
        raise CelltcpError(f'{field}: {text!r} is no time above 0 s; allowed: a time such as "500ms"')
    return duration_s
