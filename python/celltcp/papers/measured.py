"""Measured values of the quantities that tables have."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import pandas as pd

from celltcp.comparison import Comparison
from celltcp.papers.published import QUANTITIES, Published
from celltcp.radio.phases import phased_slots
from celltcp.radio.slots import MEANS, mean_of, tested_slots
from celltcp.statistics import student_quantile


@dataclass(frozen=True)
class Measured:
    """Outcome of a scenario, as a table asks for it."""

    comparison: Comparison
    #: What ran for each CCA of a table: the same, or as the kernel of the experiments had it.
    ran: dict[str, str]

    def values(self, asked: Published) -> list[float]:
        """Returns the values of the runs, in the order of the seeds."""
        cca = self.ran[asked.cca]
        runs = self.comparison.runs
        mine = runs[runs["cca"] == cca].sort_values("seed")
        column = QUANTITIES[asked.quantity]
        if not asked.phase and column is not None:
            return [float(value) for value in mine[column]]
        slots = self._slots_of(asked)
        return [
            mean_of(slots[slots["run"] == run], asked.quantity, self._slot_s) for run in mine["run"]
        ]

    def slot_interval(self, asked: Published) -> float | None:
        """Returns half the 95 % interval of a slot over the runs, averaged over the slots."""
        slots = self._slots_of(asked)
        if asked.quantity == "goodput":
            values = slots["delivered_bytes"] * 8e-6 / self._slot_s
        else:
            values = slots[MEANS.get(asked.quantity, asked.quantity)]
        over_runs = values.groupby((slots["t_s"] / self._slot_s).round().astype(int))
        spread = pd.DataFrame({"sd": over_runs.std(), "count": over_runs.count()}).dropna()
        if spread.empty:
            return None
        halves = [
            student_quantile(int(count) - 1) * sd / math.sqrt(count)
            for sd, count in zip(spread["sd"], spread["count"], strict=True)
        ]
        return math.fsum(halves) / len(halves)

    def _slots_of(self, asked: Published) -> pd.DataFrame:
        slots = self._phased if asked.phase else self._slots
        mine = slots["cca"] == self.ran[asked.cca]
        return slots[mine & (slots["phase"] == asked.phase)] if asked.phase else slots[mine]

    @functools.cached_property
    def _slots(self) -> pd.DataFrame:
        return tested_slots(self.comparison)

    @functools.cached_property
    def _phased(self) -> pd.DataFrame:
        return phased_slots(self.comparison)

    @property
    def _slot_s(self) -> float:
        return float(self.comparison.results.about["slot_s"])
