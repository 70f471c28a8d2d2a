"""Completeness of results: numbers of finished and planned runs, and a line on unfinished results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

#: Key of the origin of unfinished results.
_KEY = "unfinished"


@dataclass(frozen=True)
class Completeness:
    """Numbers of finished and planned runs, and of combinations of scenario, values and CCA.

    A combination is finished if all of its runs are.
    """

    runs: int = 0
    planned_runs: int = 0
    combinations: int = 0
    planned_combinations: int = 0

    @classmethod
    def from_about(cls, about: Mapping[str, Any]) -> Completeness:
        """Reads the numbers from the origin of results; only unfinished results have them."""
        if _KEY in about:
            return cls(*about[_KEY])
        ccas = len(about["cca"])
        runs = ccas * int(about["runs"])
        return cls(runs, runs, ccas, ccas)

    def to_about(self) -> dict[str, Any]:
        """Returns the numbers as a field of the origin of results."""
        return {_KEY: list(astuple(self))}

    def __add__(self, other: Completeness) -> Completeness:
        """Returns the numbers of both together."""
        return Completeness(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def is_complete(self) -> bool:
        """Whether all runs are finished."""
        return self.runs == self.planned_runs

    def text(self, *, of_several: bool = False) -> str:
        """Returns the line on unfinished results; empty if they are finished.

        With `of_several`, it counts combinations as well as runs.
        """
        if self.is_complete:
            return ""
        runs = f"{self.runs} of {self.planned_runs} runs"
        if not of_several:
            return f"unfinished: {runs}"
        return f"unfinished: {self.combinations} of {self.planned_combinations} combinations, {runs}"


#: Completeness of results that lack no planned run.
COMPLETE = Completeness()
