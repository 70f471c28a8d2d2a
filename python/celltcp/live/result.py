"""Result of a live run: its tables, and its lateness against real time."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from celltcp._core import LIVE, LiveRun, ReplayedRun, Scenario, machine_cca
from celltcp.campaign.engines import Engine
from celltcp.campaign.provenance import origin_json, origin_of
from celltcp.live.outcome import LiveOutcome, Status
from celltcp.results.rows import json_records
from celltcp.results.sample_writer import number_rows
from celltcp.results.tables import OPTIONAL, TABLES, Results
from celltcp.results.warnings import all_warnings


def origin_of_live(
    scenario: Scenario, cca: str | None, seed: int, kernel: str | None = None
) -> dict[str, Any]:
    """Returns the origin of the results of a live run, without its length.

    CCA and version of the hosts' kernel are by default those of this machine.
    """
    origin = origin_of(scenario, [cca or machine_cca()], 1, seed, Engine(LIVE))
    return {**origin, "engine": f"{LIVE}-{kernel or platform.release()}"}


def tables_of(run: LiveRun | ReplayedRun, cca: str) -> dict[str, pa.Table]:
    """Returns the tables of a run so far."""
    batches = run.tables()
    tables = {name: pa.Table.from_batches([batches[name]]) for name in TABLES}
    return {
        name: number_rows(table, 0, cca)
        for name, table in tables.items()
        if name not in OPTIONAL or len(table)
    }


@dataclass(frozen=True)
class LiveResult:
    """Tables of a live run, their origin (`about`), and the last status of the run."""

    tables: dict[str, pa.Table]
    about: dict[str, Any]
    status: Status

    @property
    def departures(self) -> int:
        """Number of packets that have left the path."""
        return sum(traffic["delivered_packets"] for traffic in self.status["to"].values())

    @functools.cached_property
    def results(self) -> Results:
        """Tables with their origin, as of any engine."""
        return Results(self.tables, self.about)

    def to_json(self, exit_code: int | None = None) -> LiveOutcome:
        """Returns the JSON of `celltcp shell --json`."""
        about = self.about
        return {
            **origin_json(about),
            "cca": about["cca"][0],
            "seed": about["seed"],
            "duration_s": self.status["time_s"],
            "exit_code": exit_code,
            "to": self.status["to"],
            "lateness": self.status["lateness"],
            "cpu_share": self.status["cpu_share"],
            "flows": json_records(self.tables["flows"]),
            "changes": about.get("path_changes", []),
            "warnings": all_warnings(self.results),
        }
