"""Cost of the radio in time and memory, and the effect of its approximations."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from celltcp._core import Run, Scenario
from celltcp.bench.native import Case, in_fresh_process, peak_memory_mb
from celltcp.comparison.run import compare
from celltcp.results.statistics import Estimate, estimate, paired_difference
from celltcp.scenarios.scenarios import load_scenario

#: Numbers of UEs in the table by UEs.
UES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
#: Numbers of cells in the table by cells.
CELLS = (1, 2, 4, 9, 20)
#: UEs of each cell in the table by cells.
UES_PER_CELL = 5
#: Length of a run of these tables, s.
GROWTH_S = 10.0
#: Distance between neighbouring cells, m: between the 500 and 1732 m of TR 36.814 table A.2.1.1-1.
_SPACING_M = 1000


#: One UE at the SINR that it had in ns-3, one that moves away under EVA60, nine cells with 51 UEs.
CASES = (
    Case("one UE, static", "static/mid-cell", "cubic", ("radio.ues.0.sinr=44dB", "duration=60s")),
    Case("one UE, EVA60", "mobility/forward-60-4g", "cubic"),
    Case(
        "nine cells, 51 UEs",
        "vehicular/scenario-3",
        "cubic",
        ("flows.0.workload=bulk", "tcp.mss=1100B"),
    ),
)


@dataclass(frozen=True)
class Cost:
    """Cost of a run in time and memory."""

    simulated_s: float
    cpu_s: float
    #: Peak resident memory of the process, MiB.
    peak_mb: float
    #: Growth of the peak by the run, MiB.
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
    """Returns the scenario of a cell of 100 PRB under EVA60: `count` UEs, one of them with greedy TCP.

    The others get 100 kbit/s of UDP each.
    """
    traffic = 'cross_traffic = [{ rate = "100kbit/s" }]'
    others = "" if count == 1 else f'[[radio.ues]]\ncount = {count - 1}\nsinr = "15dB"\n{traffic}\n'
    return (
        f'name = "ues-{count}"\nduration = "{seconds:g}s"\n[radio]\nprbs = 100\n'
        '[radio.fading]\nspeed = "60km/h"\n[[radio.ues]]\nname = "phone"\nsinr = "15dB"\n' + others
    )


def many_cells(count: int, seconds: float = GROWTH_S) -> str:
    """Returns the scenario of cells in a square grid, each with five UEs under EVA60 around it.

    One UE has greedy TCP, the others get 1 Mbit/s of UDP each.
    """
    side = math.isqrt(count - 1) + 1
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
            position = f'position = {{ x = "{x + east}m", y = "{y + north}m" }}\n'
            ues.append(f"[[radio.ues]]\n{name}{position}{cross}")
    return "".join(lines + ues)


@dataclass(frozen=True)
class Approximation:
    """Effect of an approximation of the radio on goodput."""

    name: str
    scenario: str
    cca: str
    exact_mbps: float
    #: Goodput with the approximation less that without, paired by seed, Mbit/s.
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


def approximations(run_count: int) -> list[Approximation]:
    """Returns the effect of the approximations on mean goodput, over the same seeds."""
    ccas = ("cubic", "bbr")
    result = []
    for name, scenario, cheap, exact in APPROXIMATIONS:
        both = [
            compare(scenario, cca=ccas, runs=run_count, set=changes).runs for changes in (cheap, exact)
        ]
        for cca in ccas:
            cheap_mbps, exact_mbps = (
                runs[runs["cca"] == cca].sort_values("seed")["goodput_mbps"].tolist() for runs in both
            )
            difference = paired_difference(cheap_mbps, exact_mbps)
            result.append(Approximation(name, scenario, cca, estimate(exact_mbps).mean, difference))
    return result


def ns3_costs() -> dict[str, dict[str, str]]:
    """Returns CPU seconds per simulated second of ns-3's LTE module by case and version."""
    text = (resources.files("celltcp.bench") / "ns3.csv").read_text("utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {row.pop("case"): row for row in rows}


def _cost_of(scenario: str, cca: str, changes: Sequence[str]) -> Cost:
    return _measure(load_scenario(scenario, changes=changes).with_cca(cca))


def _cost_of_text(text: str) -> Cost:
    return _measure(Scenario.from_toml(text, "bench", ".", []))


def _measure(scenario: Scenario) -> Cost:
    before = peak_memory_mb()
    start = time.process_time()
    run = Run(scenario.with_samples("off"), 1)
    run.advance(scenario.duration_s)
    run.finish()
    cpu_s = time.process_time() - start
    peak = peak_memory_mb()
    return Cost(scenario.duration_s, cpu_s, peak, peak - before)
