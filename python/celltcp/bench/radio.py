"""Cost of the radio in time and memory, and the effect of its approximations."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from celltcp._core import Run, Scenario
from celltcp.bench.native import in_fresh_process, peak_memory_mb
from celltcp.comparison.run import compare
from celltcp.results.statistics import Estimate, estimate
from celltcp.scenarios.scenarios import load_scenario

#: Numbers of UEs and of cells in the tables of growth.
UES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
CELLS = (1, 2, 4, 9, 20)
#: UEs of each cell where the number of cells grows.
UES_PER_CELL = 5
#: Length of a run of those tables, s.
GROWTH_S = 10.0
#: Distance between neighbouring cells, m: between the 500 and 1732 m of TR 36.814 table A.2.1.1-1.
_SPACING_M = 1000


@dataclass(frozen=True)
class Case:
    """A scenario to time."""

    name: str
    #: A built-in name.
    scenario: str
    cca: str = "cubic"
    changes: tuple[str, ...] = ()


#: One UE at the SINR that it had in ns-3, one that moves away under EVA60, nine cells with 51 UEs.
CASES = (
    Case("one UE, static", "static/mid-cell", changes=("radio.ues.0.sinr=44dB", "duration=60s")),
    Case("one UE, EVA60", "mobility/forward-60-4g"),
    Case(
        "nine cells, 51 UEs",
        "vehicular/scenario-3",
        changes=("flows.0.workload=bulk", "tcp.mss=1100B"),
    ),
)


@dataclass(frozen=True)
class Cost:
    """Cost of a run in time and memory."""

    simulated_s: float
    cpu_s: float
    #: The largest resident size of the process, and how much of it the run added, MB.
    peak_mb: float
    added_mb: float

    @property
    def speed(self) -> float:
        """Simulated seconds per CPU second."""
        return self.simulated_s / self.cpu_s


def measure(case: Case, seconds: float | None = None) -> Cost:
    """Runs a case in a process of its own."""
    changes = [*case.changes, *([f"duration={seconds:g}s"] if seconds else [])]
    return in_fresh_process(_cost_of, case.scenario, case.cca, changes)


def measure_text(text: str) -> Cost:
    """Runs a scenario (TOML) in a process of its own."""
    return in_fresh_process(_cost_of_text, text)


def many_ues(count: int, seconds: float = GROWTH_S) -> str:
    """Returns a cell of 100 PRB under EVA60: a greedy phone, and others with 100 kbit/s of UDP each."""
    traffic = 'cross_traffic = [{ rate = "100kbit/s" }]'
    others = "" if count == 1 else f'[[radio.ues]]\ncount = {count - 1}\nsinr = "15dB"\n{traffic}\n'
    return (
        f'name = "ues-{count}"\nduration = "{seconds:g}s"\n[radio]\nprbs = 100\n'
        '[radio.fading]\nspeed = "60km/h"\n[[radio.ues]]\nname = "phone"\nsinr = "15dB"\n' + others
    )


def many_cells(count: int, seconds: float = GROWTH_S) -> str:
    """Returns cells in a square grid, each with five UEs under EVA60 on a ring around it.

    The phone is one of them and greedy, the others get 1 Mbit/s of UDP each.
    """
    side = 1
    while side * side < count:
        side += 1
    lines = [
        f'name = "cells-{count}"\nduration = "{seconds:g}s"\n[radio]\nprbs = 100\n'
        '[radio.fading]\nspeed = "60km/h"\n[radio.propagation]\nmodel = "tr36942-urban"\n'
    ]
    ues: list[str] = []
    for cell in range(count):
        x, y = _SPACING_M * (cell % side), _SPACING_M * (cell // side)
        lines.append(f'[[radio.cells]]\nx = "{x}m"\ny = "{y}m"\n')
        for index in range(UES_PER_CELL):
            east, north = (150, 200, -150, -200, 250)[index], (100, -150, 200, -100, 0)[index]
            name = 'name = "phone"\n' if not ues else ""
            cross = 'cross_traffic = [{ rate = "1Mbit/s" }]\n' if ues else ""
            place = f'position = {{ x = "{x + east}m", y = "{y + north}m" }}\n'
            ues.append(f"[[radio.ues]]\n{name}{place}{cross}")
    return "".join(lines + ues)


@dataclass(frozen=True)
class Approximation:
    """Goodput of the cheaper model minus that of the more expensive one, run by run, in Mbit/s."""

    name: str
    scenario: str
    cca: str
    exact_mbps: float
    difference: Estimate


#: Approximations: name, scenario, changes that make it cheap, changes that make it exact.
APPROXIMATIONS = (
    (
        "channel looked at every 5 ms, not 1 ms",
        "mobility/forward-60-4g",
        ("radio.downlink.channel_period=5ms",),
        ("radio.downlink.channel_period=1ms",),
    ),
    (
        "interference by mean power, not faded",
        "highway/drive",
        ("radio.propagation.interference=mean",),
        ("radio.propagation.interference=faded",),
    ),
)


def approximations(runs: int) -> list[Approximation]:
    """Returns the effect of the approximations on mean goodput, over the same seeds."""
    ccas = ("cubic", "bbr")
    result = []
    for name, scenario, cheap, exact in APPROXIMATIONS:
        both = [compare(scenario, cca=ccas, runs=runs, set=changes).runs for changes in (cheap, exact)]
        for cca in ccas:
            ours, theirs = (
                each[each["cca"] == cca].sort_values("seed")["goodput_mbps"].tolist() for each in both
            )
            pairs = zip(ours, theirs, strict=True)
            difference = estimate([a - b for a, b in pairs])
            result.append(Approximation(name, scenario, cca, estimate(theirs).mean, difference))
    return result


def of_ns3() -> dict[str, dict[str, str]]:
    """Returns CPU seconds per simulated second of ns-3's LTE module by case and version."""
    text = (resources.files("celltcp.bench") / "ns3.csv").read_text("utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {row.pop("case"): row for row in rows}


def _cost_of(scenario: str, cca: str, changes: Sequence[str]) -> Cost:
    return _cost(load_scenario(scenario, changes=changes).with_cca(cca))


def _cost_of_text(text: str) -> Cost:
    return _cost(Scenario.from_toml(text, "bench", ".", []))


def _cost(scenario: Scenario) -> Cost:
    before = peak_memory_mb()
    start = time.process_time()
    run = Run(scenario.with_samples("off"), 1)
    run.advance(scenario.duration_s)
    run.finish()
    spent = time.process_time() - start
    peak = peak_memory_mb()
    return Cost(scenario.duration_s, spent, peak, peak - before)
