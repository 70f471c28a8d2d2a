"""What a selector did in a run, and why."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from celltcp._core import CelltcpError, lineups
from celltcp.comparison import json_rows
from celltcp.results import Results, read_results
from celltcp.selection.agreement import Agreement, agreements, beside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The features of a decision that are shown, where there is room for a few.
MAIN_MEASURES = ("base_rtt", "capacity", "movement", "queue_ratio", "retransmitted")


class Explanation:
    """One run with a selector: its decisions, what it saw, what was true. Of the first connection."""

    def __init__(self, results: Results, run: int) -> None:
        self.results = results
        #: Number of the run.
        self.run = run
        runs = results.tables["runs"].select(["run", "seed", "cca"]).to_pylist()
        mine = next(row for row in runs if row["run"] == run)
        #: Seed of the run.
        self.seed = int(mine["seed"])
        #: What was asked for, such as `"auto:policy=rules"`.
        self.cca = str(mine["cca"])

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.results.about["name"])

    @cached_property
    def decisions(self) -> pd.DataFrame:
        """One row per decision: `t_s`, `from_cca`, `to_cca`, `cause`, `reason`, and all features."""
        table: pd.DataFrame = self.results.tables["decisions"].to_pandas()
        mine = table[table["run"] == self.run]
        mine = mine[mine["flow"] == mine["flow"].min()].sort_values("t_ns", ignore_index=True)
        plain = mine[["from_cca", "to_cca", "cause", "reason"]].astype(str)
        plain.insert(0, "t_s", mine["t_ns"] * 1e-9)
        measures = [_measures(text) for text in mine["measures"].astype(str)]
        both: pd.DataFrame = plain.join(pd.DataFrame(measures, index=plain.index))
        return both

    @cached_property
    def slots(self) -> pd.DataFrame:
        """One row per slot: outcome, estimates, and what is true (`agreement.beside`)."""
        return beside(self.results, self.run)

    @property
    def agreements(self) -> list[Agreement]:
        """How right the estimates were."""
        return agreements(self.slots)

    @property
    def time_under(self) -> pd.Series:
        """Seconds under each congestion control, the longest first."""
        slot_s = float(self.results.about["slot_s"])
        counts = self.slots["using_cca"].astype(str).value_counts()
        return (counts * slot_s).rename("seconds")

    def plot(self) -> Figure:
        """Capacity and goodput, RTT, queue and phases on one time axis, with the changes."""
        from celltcp.plots.explanation import draw_explanation

        return draw_explanation(self)

    def to_json(self) -> dict[str, Any]:
        """Decisions, agreement with what is true, time under each congestion control."""
        return {
            "scenario": self.name,
            "cca": self.cca,
            "run": self.run,
            "seed": self.seed,
            "decisions": json_rows(self.decisions),
            "agreements": [vars(each) for each in self.agreements],
            "time_under_s": {str(cca): float(value) for cca, value in self.time_under.items()},
        }


def explain(
    results: str | Path | Results, run: int | None = None, cca: str | None = None
) -> list[Explanation]:
    """What selectors did in stored results.

    Args:
        results: a folder, or results that were read.
        run: number of the run; the first one of each selected congestion control unless given.
        cca: only this one, as it was asked for (`"auto:policy=rules"`).

    Raises:
        CelltcpError: if nothing was selected in these results, or not in that run or by that name.
    """
    read = results if isinstance(results, Results) else read_results(results)
    place = read.about["name"]
    missing = [name for name in ("decisions", "estimates") if name not in read.tables]
    if missing:
        raise CelltcpError(
            f"{place}: these results have no table {missing[0]}: no congestion control was selected; "
            "allowed: results of --cca auto..."
        )
    decided = set(read.tables["decisions"]["run"].to_pylist())
    runs = read.tables["runs"].select(["run", "cca"]).to_pylist()
    selected = {int(row["run"]): str(row["cca"]) for row in runs if row["run"] in decided}
    names = list(dict.fromkeys(selected.values()))
    if cca is not None:
        # Results have parameters in one order, whatever that was in the command.
        cca = ",".join(lineups(cca))
    if cca is not None and cca not in names:
        raise CelltcpError(f"cca: {cca!r} was not selected in {place}; allowed: {'; '.join(names)}")
    if run is not None and run not in selected:
        allowed = _spans(sorted(selected))
        raise CelltcpError(f"run: {run} has no selector in {place}; allowed: {allowed}")
    if run is not None:
        if cca not in (None, selected[run]):
            raise CelltcpError(f"run: {run} is one of {selected[run]!r}, not of {cca!r}")
        return [Explanation(read, run)]
    firsts = {name: min(number for number in selected if selected[number] == name) for name in names}
    return [Explanation(read, firsts[name]) for name in names if cca in (None, name)]


def _measures(text: str) -> dict[str, float]:
    """The features that led to a decision, which results hold as `name=value`."""
    pairs = (piece.split("=", 1) for piece in text.split())
    return {name: float(value) for name, value in pairs}


def _spans(numbers: list[int]) -> str:
    """Numbers in order, neighbours as from-to."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in spans)
