"""Changes of a path during a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

from celltcp._core import CelltcpError, LiveRun, Scenario, in_unit
from celltcp.scenarios.changes import Changes, override_texts

#: Fields of the scenario by their short names.
SHORT = {"rate": "path.down.rate", "loss": "path.loss", "rtt": "path.rtt"}
#: One-way delay of the path, half of its round-trip time.
_DELAY = "delay"
#: Time in which nothing passes, from now on.
_OUTAGE = "outage"


class PathChange(TypedDict):
    """Change of the path during a run."""

    time_s: Annotated[float, "Time since the start of the run, s."]
    field: Annotated[str, "Field of the scenario; `outage` for a time in which nothing passed."]
    value: Annotated[str, "Its value from then on."]


PathChanges = Annotated[list[PathChange], "Changes of the path."]


@dataclass
class ChangingPath:
    """Path of a run, with its changes.

    Attributes:
        scenario: as it is now.
        changes: so far.
    """

    scenario: Scenario
    changes: list[PathChange]

    def change(self, run: LiveRun, changes: Changes) -> list[PathChange]:
        """Changes the path of a run, all fields at once.

        Args:
            run: the run.
            changes: fields of the scenario, or `rate`, `loss`, `delay`, `rtt` and `outage` for short.

        Returns:
            What has changed.

        Raises:
            CelltcpError: if a field cannot change, or has no such value. Nothing has changed then.
        """
        steps: list[Scenario] = []
        texts: list[str] = []
        outages: list[tuple[str, float]] = []
        scenario = self.scenario
        for text in override_texts(changes):
            field, value = _field(text)
            if field == _OUTAGE:
                outages.append((value, _seconds(field, value)))
                continue
            texts.append(f"{field}={value}")
            scenario = scenario.with_changes(texts[-1:])
            steps.append(scenario)
        done: list[PathChange] = []
        if steps:
            try:
                at = run.change(steps, texts)
            except CelltcpError as error:
                raise CelltcpError(f"{', '.join(texts)}: {error}") from None
            done.extend(change_at(at, text) for text in texts)
            self.scenario = scenario
        for value, duration in outages:
            done.append(change_at(run.interrupt(duration), f"{_OUTAGE}={value}"))
        self.changes.extend(done)
        return done


def change_at(time_s: float, text: str) -> PathChange:
    """Returns the change of a text such as `"path.loss=1%"` at a time in seconds."""
    field, _, value = text.partition("=")
    return {"time_s": time_s, "field": field, "value": value}


def _field(text: str) -> tuple[str, str]:
    """Returns the field of the scenario and its value that a text such as `"loss=1%"` names."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        short = ", ".join([*SHORT, _DELAY, _OUTAGE])
        raise CelltcpError(
            f"{text!r} is no FIELD=VALUE; allowed: a field of the scenario such as "
            f"path.up.rate=5Mbit/s, or one of {short}"
        )
    if name == _DELAY:
        return SHORT["rtt"], f"{2 * _seconds(name, value):.9f}s"
    return SHORT.get(name, name), value


def _seconds(field: str, text: str) -> float:
    """Returns a time above zero in seconds."""
    time = in_unit(text.strip("'\""), "s")
    if time is None or time <= 0:
        raise CelltcpError(f'{field}: {text!r} is no time above 0 s; allowed: a time such as "500ms"')
    return time
