"""The outcome of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from celltcp.comparison import json_rows, json_value
from celltcp.selection.cases import cases_of, checks_of, duels_of
from celltcp.selection.constants import best_for_all_of
from celltcp.selection.kept import Frames, save_frames
from celltcp.selection.prices import Price, price_of
from celltcp.selection.tally import PUBLISHED, RULE, tally_of
from celltcp.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Evaluation:
    """Policies on scenarios: runs, cases, checks, tally, and what changes cost."""

    def __init__(self, frames: Frames, about: Mapping[str, Any]) -> None:
        #: How it was made: policies, scenarios with their hashes, seeds, histories, what was left out.
        self.about = dict(about)
        self._frames = frames

    @property
    def runs(self) -> pd.DataFrame:
        """One row per run; `policy` and `requirement` are empty for congestion controls that stay."""
        return self._frames["runs"]

    @property
    def decisions(self) -> pd.DataFrame:
        """One row per decision of a selector."""
        return self._frames["decisions"]

    @property
    def histories(self) -> pd.DataFrame:
        """What policies with a memory knew at the start: `scenario`, `policy`, `memory` (text)."""
        return self._frames["histories"]

    @property
    def costs(self) -> pd.DataFrame | None:
        """One row per change (`celltcp.selection.switches.costs_of`), if that was asked for."""
        return self._frames.get("costs")

    @cached_property
    def cases(self) -> pd.DataFrame:
        """One row per scenario, requirement and policy: gain, regret and verdicts."""
        return cases_of(self.runs)

    @cached_property
    def duels(self) -> pd.DataFrame:
        """Every policy against every congestion control that stays and every other policy, by case."""
        return duels_of(self.runs)

    @cached_property
    def checks(self) -> pd.DataFrame:
        """Counts of cases and means over them, per policy and requirement."""
        return checks_of(self.cases)

    @cached_property
    def best_for_all(self) -> pd.DataFrame:
        """The congestion control with the lowest mean regret over all cases, per requirement."""
        return best_for_all_of(self.runs)

    @cached_property
    def tally(self) -> pd.DataFrame:
        """Cases per policy and outcome, as atxutegi2018-thesis section 6.3.4 counts them."""
        return tally_of(self.runs)

    @property
    def prices(self) -> dict[str, Price]:
        """What changes cost on average, by policy that made one; empty if that was not asked for."""
        costs = self.costs
        if costs is None or costs.empty:
            return {}
        return {str(policy): price_of(mine) for policy, mine in costs.groupby("policy", sort=False)}

    def plot(self) -> Figure:
        """Gain over the default and regret to the best in hindsight, case by case."""
        from celltcp.plots.selection import draw_cases

        return draw_cases(self)

    def to_json(self) -> dict[str, Any]:
        """Everything but the runs' decisions; the same for the same seeds."""
        return {
            **self.about,
            "tally_rule": RULE,
            "tally_published": PUBLISHED,
            "tally": json_rows(self.tally),
            "checks": json_rows(self.checks),
            "best_for_all": json_rows(self.best_for_all),
            "cases": json_rows(self.cases),
            "duels": json_rows(self.duels),
            "switches": {policy: _price(price) for policy, price in self.prices.items()},
            "histories": json_rows(self.histories),
            "runs_table": json_rows(self.runs),
        }

    def save(self, folder: str | Path) -> Path:
        """Writes each table as a Parquet file into `folder`."""
        tables = {
            **self._frames,
            "cases": self.cases,
            "duels": self.duels,
            "checks": self.checks,
            "best_for_all": self.best_for_all,
            "tally": self.tally,
        }
        return save_frames(tables, self.about, folder)

    def _repr_html_(self) -> str:
        return str(self.checks.to_html(float_format="{:.3g}".format))


def _price(price: Price) -> dict[str, Any]:
    return {
        name: {"mean": json_value(value.mean), "ci95": value.ci95}
        if isinstance(value, Estimate)
        else value
        for name, value in vars(price).items()
    }
