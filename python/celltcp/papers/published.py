"""Published tables."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources

#: Papers with mean goodputs of built-in scenarios, and what was measured in them.
PAPERS = {
    "atxutegi2017": "five congestion controls moving through an emulated LTE cell",
}


@dataclass(frozen=True)
class Published:
    """A published mean goodput with half the width of its 95 % interval, in Mbit/s."""

    scenario: str
    cca: str
    goodput_mbps: float
    ci95: float
    paper: str


def published_goodput(scenario: str | None = None, paper: str | None = None) -> list[Published]:
    """Returns published mean goodputs: those of one scenario, of one paper, or all."""
    return [
        Published(
            row["scenario"],
            row["cca"],
            float(row["goodput_mbps"]),
            float(row["goodput_mbps_ci95"]),
            name,
        )
        for name in PAPERS
        if paper in (None, name)
        for row in _rows(name)
        if scenario in (None, row["scenario"])
    ]


def published_phases(scenario: str) -> dict[tuple[str, str], float]:
    """Returns published mean goodputs in Mbit/s by phase and CCA; empty if there are none."""
    return {
        (row["phase"], row["cca"]): float(row["goodput_mbps"])
        for row in _rows("atxutegi2018-phases")
        if row["scenario"] == scenario
    }


def source(table: str) -> str:
    """Returns the source of the figures of a table."""
    comments = [line for line in _lines(table) if line.startswith("#")]
    return " ".join(line.removeprefix("#").strip() for line in comments)


def _rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in _lines(table) if not line.startswith("#")))


def _lines(table: str) -> list[str]:
    return (resources.files(__package__) / f"{table}.csv").read_text("utf-8").splitlines()
