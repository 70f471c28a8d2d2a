"""Measured runs of a condition, as the quantities of published tables read them."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pandas as pd

from celltcp.comparison.comparison import Comparison
from celltcp.publications.digest import Digest, digests
from celltcp.publications.published_table import Published
from celltcp.radio.phases import phases_at
from celltcp.radio.trajectory import SinrTrajectory
from celltcp.results.tables import Results


@dataclass(frozen=True)
class Measured:
    """Runs of a condition, from which the quantities of tables are computed."""

    comparison: Comparison
    #: Simulated CCA for each CCA of a table: the same, or its variant in the kernel of the experiments.
    simulated_ccas: dict[str, str]
    #: Values of quantities that compare several runs, such as the gain of a selection.
    derived: dict[str, float] = field(default_factory=dict)

    def per_run(self, entry: Published, measure: Callable[[pd.DataFrame], float]) -> list[float]:
        """Returns a measure of the slots of each run; NaN without slots."""
        slots = self.slots_of(entry)
        by_run = dict(list(slots.groupby("run")))
        return [
            measure(by_run[run]) if run in by_run else math.nan for run in self.runs_of(entry)["run"]
        ]

    def runs_of(self, entry: Published) -> pd.DataFrame:
        """Returns the runs of the CCA, in the order of the seeds."""
        runs = self.comparison.runs
        return runs[runs["cca"] == self.simulated_ccas[entry.cca]].sort_values("seed")

    def flows_of(self, entry: Published) -> list[pd.DataFrame]:
        """Returns the connections of each run of the CCA."""
        flows = self._flows
        no_flows = next(iter(flows.values())).iloc[:0]
        return [flows.get(int(run), no_flows) for run in self.runs_of(entry)["run"]]

    def digests_of(self, entry: Published) -> list[Digest]:
        """Returns the digest of the radio's log of each run of the CCA."""
        return [self.digests[int(run)] for run in self.runs_of(entry)["run"]]

    def slots_of(self, entry: Published) -> pd.DataFrame:
        """Returns the slots of the CCA's first flow, in the phase and time window of the entry."""
        slots = self._slots.get(self.simulated_ccas[entry.cca])
        if slots is None:
            return next(iter(self._slots.values())).iloc[:0]
        if entry.window:
            slots = slots[
                (slots["t_s"] >= entry.window[0] - 1e-9) & (slots["t_s"] < entry.window[1] - 1e-9)
            ]
        if not entry.phase:
            return slots
        start_s = slots["run"].map(self._start_s)
        phases = phases_at(self.trajectory, slots["t_s"] + self.slot_s / 2, start_s)
        within: pd.DataFrame = slots[phases == entry.phase]
        return within

    def has_phase(self, phase: str) -> bool:
        """Returns whether the runs have slots in a phase."""
        slots = next(iter(self._slots.values()))
        start_s = slots["run"].map(self._start_s)
        phases = phases_at(self.trajectory, slots["t_s"] + self.slot_s / 2, start_s)
        return bool((phases == phase).any())

    def frame(self, table: str) -> pd.DataFrame:
        """Returns a table of the results as a data frame, which is cached."""
        if table not in self._frames:
            self._frames[table] = self.comparison.results.tables[table].to_pandas()
        return self._frames[table]

    @functools.cached_property
    def _frames(self) -> dict[str, pd.DataFrame]:
        return {}

    @functools.cached_property
    def digests(self) -> dict[int, Digest]:
        """Digests of the radio's log by run."""
        return digests(self.comparison)

    def without_log(self) -> Measured:
        """Returns a copy with digests of the radio's log instead of the log."""
        if "radio" not in self.comparison.results.tables:
            return self
        results = self.comparison.results
        tables = {name: table for name, table in results.tables.items() if name != "radio"}
        copy = replace(self, comparison=Comparison(Results(tables, results.about)))
        copy.__dict__["digests"] = self.digests
        return copy

    @functools.cached_property
    def all_slots(self) -> pd.DataFrame:
        """Slots of all connections."""
        return self.comparison.slots

    @functools.cached_property
    def handovers(self) -> Counter[tuple[int, int]]:
        """Number of handovers by run and connection."""
        events = self.comparison.results.tables["events"].to_pandas()
        selected = events[events["kind"] == "handover"]
        return Counter(zip(selected["run"].astype(int), selected["flow"].astype(int), strict=True))

    @functools.cached_property
    def _slots(self) -> dict[str, pd.DataFrame]:
        """Slots of the first flow by CCA, with parallel connections aggregated."""
        slots = self.comparison.tested_slots
        lineups = self.comparison.runs.set_index("run")["cca"]
        return dict(list(slots.groupby(slots["run"].map(lineups).astype(str))))

    @functools.cached_property
    def _start_s(self) -> pd.Series:
        """Start of the first slot of each run, s."""
        start_s: pd.Series = pd.concat(
            [slot.groupby("run")["t_s"].min() for slot in self._slots.values()]
        )
        return start_s

    @functools.cached_property
    def _flows(self) -> dict[int, pd.DataFrame]:
        return {int(str(run)): group for run, group in self.comparison.flows.groupby("run")}

    @functools.cached_property
    def trajectory(self) -> SinrTrajectory:
        """The phone's mean SINR over time."""
        return SinrTrajectory.of(self.comparison.results)

    @property
    def slot_s(self) -> float:
        """Length of a slot, s."""
        return float(self.comparison.results.about["slot_s"])
