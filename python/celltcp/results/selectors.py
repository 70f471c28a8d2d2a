"""Congestion controls that selectors used over all runs of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from celltcp.results import Results


@dataclass(frozen=True)
class Used:
    """Changes and time shares of the selectors of a flow, over all of its runs and connections."""

    #: Congestion control or line-up of several flows that was compared.
    lineup: str
    #: Name of the flow, and what was asked for it.
    flow: str
    cca: str
    #: Changes in flight per run, and those of them that took one back.
    changes: float
    returns: float
    #: Share of the time under each congestion control, the longest first.
    shares: dict[str, float]

    def __str__(self) -> str:
        if not self.changes:
            told = "no changes"
        else:
            told = f"{self.changes:.1f} changes per run, {self.returns:.1f} of them returns"
        under = ", ".join(f"{cca} {100 * share:.0f} %" for cca, share in self.shares.items())
        return f"{told}; time under {under}" if under else told

    def to_json(self) -> dict[str, Any]:
        """Returns all fields, as `celltcp compare --json` prints them."""
        return {
            "cca": self.lineup,
            "flow": self.flow,
            "flow_cca": self.cca,
            "changes_per_run": self.changes,
            "returns_per_run": self.returns,
            "time_under": self.shares,
        }


def measures_of(text: str) -> dict[str, float]:
    """Returns the known features of a decision, which results hold as `name=value`."""
    pairs = (piece.split("=", 1) for piece in text.split())
    return {name: float(value) for name, value in pairs}


def used_in(results: Results) -> list[Used]:
    """Returns one entry per line-up and flow with a selector, in the order of the runs."""
    if "decisions" not in results.tables:
        return []
    flows: pd.DataFrame = results.tables["flows"].select(["run", "flow", "name", "cca"]).to_pandas()
    runs: pd.DataFrame = results.tables["runs"].select(["run", "cca"]).to_pandas()
    named = flows.merge(runs.rename(columns={"cca": "lineup"}), on="run")
    decisions = _of(results, "decisions", ["run", "flow", "cause"]).merge(named, on=["run", "flow"])
    seen = _of(results, "estimates", ["run", "flow", "using_cca"]).merge(named, on=["run", "flow"])
    found = []
    for (lineup, flow, cca), mine in decisions.groupby(["lineup", "name", "cca"], sort=False):
        here = seen[(seen["lineup"] == lineup) & (seen["name"] == flow)]
        count = int((runs["cca"] == lineup).sum())
        causes = mine["cause"].value_counts()
        returns = int(causes.get("return", 0))
        shares = here["using_cca"].astype(str).value_counts(normalize=True)
        found.append(
            Used(
                str(lineup),
                str(flow),
                str(cca),
                (int(causes.get("change", 0)) + int(causes.get("agent", 0)) + returns) / count,
                returns / count,
                {str(name): float(share) for name, share in shares.items()},
            )
        )
    return found


def _of(results: Results, table: str, columns: list[str]) -> pd.DataFrame:
    if table not in results.tables:
        return pd.DataFrame(columns=columns)
    data: pd.DataFrame = results.tables[table].select(columns).to_pandas()
    return data
