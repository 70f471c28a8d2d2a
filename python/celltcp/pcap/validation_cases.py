"""Cases of the validation: runs whose captures are analysed, selected or random."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from celltcp._core import Scenario, in_unit
from celltcp.scenarios.scenarios import load_scenario

#: Node of a capture in between.
_BETWEEN = "node-1"


@dataclass(frozen=True)
class Case:
    """A run on whose capture the analysis is judged."""

    name: str
    scenario: str
    cca: str
    #: Overrides of the scenario.
    set: tuple[str, ...] = ()
    duration: str = "30s"
    #: Share of the path's delay between sender and capture; none for a capture at the sender.
    before: float | None = None
    #: Random loss between sender and a capture in between.
    loss_before: str = "0%"
    #: Name of the cases with which it is scored apart from others; empty if it is in no such group.
    group: str = ""

    @property
    def node(self) -> str:
        """Node of the capture."""
        return "server" if self.before is None else _BETWEEN

    def delay_ns(self) -> int:
        """Returns the delay between sender and capture."""
        if self.before is None:
            return 0
        path = json.loads(self._load(self.set).to_json())["path"]
        return round((in_unit(path["rtt"], "s") or 0.0) / 2 * self.before * 1e9)

    def load(self) -> Scenario:
        """Returns its scenario. For a capture in between, the way to the gateway has two hops."""
        if self.before is None:
            return self._load(self.set)
        path = json.loads(self._load(self.set).to_json())["path"]
        first = self.delay_ns()
        rest = round((in_unit(path["rtt"], "s") or 0.0) / 2 * 1e9) - first
        hops = (
            f'path.wired=[{{ name = "wan", delay = "{first}ns", loss = "{self.loss_before}" }}, '
            f'{{ name = "ran", delay = "{rest}ns" }}]'
        )
        # Captures are made at middleboxes. This one leaves connections alone that nobody resets.
        tap = f'path.middleboxes=[{{ kind = "reset-tracker", at = "{_BETWEEN}" }}]'
        return self._load((*self.set, hops, tap))

    def _load(self, changes: tuple[str, ...]) -> Scenario:
        return load_scenario(self.scenario, duration=self.duration, changes=changes)


#: Chosen cases; their names say what they are for.
CASES = tuple(
    Case(**{**each, "set": tuple(each.get("set", ()))})
    for each in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["case"]
)

#: Scenario whose radio is the access link: it has losses and a buffer of its own.
_RADIO = "highway/drive"
#: Scenarios of random cases.
_SCENARIOS = (
    "steady-5-18",
    "steady-5-68",
    "steady-20-18",
    "steady-20-68",
    "steady-100-18",
    "drive",
    "outage",
    "rise",
    "fall",
    _RADIO,
)
#: CCAs of cases that are drawn.
CCAS = ("cubic", "reno", "bbr", "bbr3", "westwood", "illinois")
#: Buffers of random cases.
_BUFFERS = ("20packets", "40packets", "80packets", "150packets", "300packets")
#: Paths on which packets do not overtake by more than a few places.
_SLOW = tuple(name for name in _SCENARIOS if "100" not in name)


def placed(cases: Sequence[Case], place: str) -> tuple[Case, ...]:
    """Returns the cases with captures at the sender or in between, by default in the middle."""
    if place == "sender":
        return tuple(replace(case, before=None) for case in cases)
    return tuple(replace(case, before=case.before or 0.5) for case in cases)


def random_cases(count: int, seed: int) -> tuple[Case, ...]:
    """Draws cases; each depends only on the seed and its number."""
    return tuple(_random_case(random.Random(f"{seed} {index}"), index) for index in range(count))


def _random_case(draw: random.Random, number: int) -> Case:
    """Draws a case: path, CCA, and one to three causes of losses."""
    changes = []
    disorder = draw.random()
    scenario = draw.choice(_SLOW if disorder < 0.2 else _SCENARIOS)
    has_radio = scenario == _RADIO
    if draw.random() < 0.4 and not has_radio:
        changes.append(f"path.buffer={draw.choice(_BUFFERS)}")
    if draw.random() < 0.4 and not has_radio:
        changes.append(f"path.loss={draw.choice((0.05, 0.1, 0.3, 0.5, 1))}%")
    if disorder < 0.1 and not has_radio:
        mean, spread = draw.choice((2, 4, 8)), draw.choice(("500us", "1ms"))
        changes.append(f'path.jitter={{ mean = "{mean}ms", sd = "{spread}", reorder = true }}')
    elif disorder < 0.2 and not has_radio:
        changes.append(
            f'path.jitter={{ distribution = "exponential", mean = "{draw.choice((20, 100))}ms" }}'
        )
    if draw.random() < 0.15:
        changes.append("tcp.timestamps=false")
    if draw.random() < 0.3:
        size, gap = draw.choice((6, 12, 50, 200)), draw.choice((20, 200))
        changes.append(
            'flows.0.workload={ kind = "request-response", request = "400B", '
            f'response = "{size}kB", think = "5ms", gap = "{gap}ms", jitter = 0, count = 300 }}'
        )
    before = draw.choice((0.25, 0.4, 0.5, 0.6, 0.75))
    loss_before = draw.choice(("0%", "0%", "0.1%", "0.5%"))
    cca = draw.choice(CCAS)
    return Case(f"random {number}", scenario, cca, tuple(changes), "30s", before, loss_before)
