"""Explanation: the decisions of a selector in a run, its estimates, and the truth."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc

from celltcp._core import CelltcpError, lineups
from celltcp.results.rows import json_rows
from celltcp.results.selectors import measures_of
from celltcp.results.tables import Results, read_results
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.requirements import required_in
from celltcp.selection.agreement import Agreement, agreements, estimates_with_truth
from celltcp.selection.connections import Connection, main_one, selected_in
from celltcp.selection.outcomes.explanation import ExplanationOutcome
from celltcp.selection.switch_effects import verdicts_of

#: The features of a decision that are shown, where there is room for a few.
MAIN_MEASURES = ("base_rtt", "capacity", "movement", "queue_ratio", "retransmitted")


class Explanation:
    """One connection with a selector: its decisions, its estimates, and the truth."""

    def __init__(self, results: Results, run: int, flow: int | None = None) -> None:
        """Takes connection `flow` of a run, or else `connections.main_one` of it.

        Raises:
            CelltcpError: if there is no such run, or the connection had no selector.
        """
        self.results = results
        #: Number of the run.
        self.run = run
        runs = results.tables["runs"].select(["run", "seed", "cca"]).to_pylist()
        mine = next((row for row in runs if row["run"] == run), None)
        if mine is None:
            raise CelltcpError(f"run: {run} is not in {self.name}; allowed: 0 to {len(runs) - 1}")
        #: Seed of the run.
        self.seed = int(mine["seed"])
        #: Congestion control as it was asked for, such as `"auto:policy=rules"`, or the line-up.
        self.cca = str(mine["cca"])
        #: All connections of the run with a selector.
        self.connections = selected_in(results, run)
        if not self.connections:
            raise CelltcpError(
                f"{self.name}: no connection of run {run} with a selector lived for a slot of "
                f"{1000 * float(results.about['slot_s']):g} ms, so there is nothing to tell"
            )
        #: The one that is explained.
        self.connection = main_one(self.connections) if flow is None else self._numbered(flow)

    def _numbered(self, flow: int) -> Connection:
        for each in self.connections:
            if each.number == flow:
                return each
        allowed = _spans([each.number for each in self.connections])
        raise CelltcpError(
            f"flow: connection {flow} of run {self.run} ({self.cca}) has no selector in {self.name}; "
            f"allowed: {allowed}"
        )

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.results.about["name"])

    @cached_property
    def decisions(self) -> pd.DataFrame:
        """One row per decision: `t_s`, `from_cca`, `to_cca`, `cause`, `reason`, `verdict`, features.

        `verdict` says of each change what became of it (`verdicts.verdicts_of`).
        """
        table: pd.DataFrame = self.results.tables["decisions"].to_pandas()
        mine = table[(table["run"] == self.run) & (table["flow"] == self.connection.number)]
        mine = mine.sort_values("t_ns", ignore_index=True)
        plain = mine[["from_cca", "to_cca", "cause", "reason"]].astype(str)
        plain.insert(0, "t_s", mine["t_ns"] * 1e-9)
        plain["verdict"] = verdicts_of(plain, self.slots, self._requirement)
        measures = [measures_of(text) for text in mine["measures"].astype(str)]
        both: pd.DataFrame = plain.join(pd.DataFrame(measures, index=plain.index))
        return both

    @property
    def _requirement(self) -> str:
        """Requirement of the selector, as `auto` was given it."""
        asked = required_in([self.connection.cca])
        return asked[0] if asked else "balanced"

    @cached_property
    def slots(self) -> pd.DataFrame:
        """A row per slot: outcome, estimates, and true values (`agreement.beside`)."""
        return estimates_with_truth(self.results, self.run, self.connection.number)

    @property
    def title(self) -> str:
        """Title: scenario, `auto` with its parameters, run, and connection if there are several."""
        called = labels([self.cca])[self.cca]
        title = f"{self.name}, {called}, seed {self.seed}"
        if len(self.results.tables["flows"].filter(pc.field("run") == self.run)) > 1:
            title += f", connection {self.connection.number} ({self.connection.name})"
        return title

    @cached_property
    def picture(self) -> str:
        """Name of its picture: `explain`, with a number from the second selector of the results on.

        A seed or a connection that is not the default one stands behind it, so that pictures of several
        explanations stay beside each other.
        """
        decided = set(self.results.tables["decisions"]["run"].to_pylist())
        runs = self.results.tables["runs"].select(["run", "cca"]).to_pylist()
        runs = [row for row in runs if row["run"] in decided]
        number = list(dict.fromkeys(row["cca"] for row in runs)).index(self.cca) + 1
        name = "explain" if number == 1 else f"explain-{number}"
        if self.run != next(row["run"] for row in runs if row["cca"] == self.cca):
            name += f"-seed-{self.seed}"
        if self.connection != main_one(self.connections):
            name += f"-flow-{self.connection.number}"
        return name

    @property
    def others(self) -> str | None:
        """Says which other connections have a selector, and why this one is shown; None if none has."""
        rest = [each for each in self.connections if each != self.connection]
        if not rest:
            return None
        shown = self.connection
        same = [each for each in self.connections if each.name == shown.name]
        longest = len(same) > 1 and shown == main_one(same)
        kept = f", the longest of {len(same)} of {shown.name}" if longest else ""
        names = {each.name: [mine.number for mine in rest if mine.name == each.name] for each in rest}
        others_text = "; ".join(f"{_spans(numbers)} ({name})" for name, numbers in names.items())
        return f"Shown is connection {shown.number}{kept}; others with a selector: {others_text}"

    @property
    def agreements(self) -> list[Agreement]:
        """Agreement of the estimates with the truth."""
        return agreements(self.slots)

    @property
    def time_under(self) -> pd.Series:
        """Seconds under each CCA, the longest first."""
        slot_s = float(self.results.about["slot_s"])
        counts = self.slots["using_cca"].astype(str).value_counts()
        return (counts * slot_s).rename("seconds")

    #: `plot()` draws capacity and goodput, RTT, queue and phases on one time axis, with the changes.
    plot = LazyAttribute()

    def to_json(self) -> ExplanationOutcome:
        """Returns decisions, agreement with the truth, and time under each CCA as JSON."""
        return {
            "scenario": self.name,
            "cca": self.cca,
            "run": self.run,
            "seed": self.seed,
            "flow": self.connection.number,
            "flow_name": self.connection.name,
            "flow_cca": self.connection.cca,
            "flows_selected": [each.number for each in self.connections],
            "decisions": json_rows(self.decisions, dict),
            "agreements": [
                {
                    "quantity": each.quantity,
                    "truth": each.truth,
                    "slots": each.slots,
                    "of": each.total_slots,
                    "right": each.accuracy,
                    "bias": each.bias,
                    "error": each.error,
                }
                for each in self.agreements
            ],
            "time_under_s": {str(cca): float(value) for cca, value in self.time_under.items()},
        }


def explain(
    results: str | Path | Results,
    run: int | None = None,
    cca: str | None = None,
    *,
    flow: int | None = None,
    seed: int | None = None,
) -> list[Explanation]:
    """Explains the decisions of selectors in stored results.

    Args:
        results: results, or their folder.
        run: number of the run, counted over all congestion controls.
        cca: only this CCA, as it was asked for (`"auto:policy=rules"`); `"auto"` if only one was
            selected.
        flow: number of the connection; that of `connections.main_one` unless given.
        seed: seed of the run of each selected congestion control; the first unless given.

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
    if run is not None and seed is not None:
        raise CelltcpError("run: a run and a seed do not go together; allowed: one of them")
    decided = set(read.tables["decisions"]["run"].to_pylist())
    runs = read.tables["runs"].select(["run", "seed", "cca"]).to_pylist()
    runs = [row for row in runs if row["run"] in decided]
    selected = {int(row["run"]): str(row["cca"]) for row in runs}
    names = list(dict.fromkeys(selected.values()))
    if cca is not None:
        cca = _meant(cca, names, place)
    if run is not None and run not in selected:
        allowed = _spans(sorted(selected))
        raise CelltcpError(f"run: {run} has no selector in {place}; allowed: {allowed}")
    if run is not None:
        if cca not in (None, selected[run]):
            raise CelltcpError(f"run: {run} is one of {selected[run]!r}, not of {cca!r}")
        return [Explanation(read, run, flow)]
    seeds = sorted({int(row["seed"]) for row in runs})
    if seed is not None and seed not in seeds:
        raise CelltcpError(f"seed: {seed} is not in {place}; allowed: {_spans(seeds)}")
    result = []
    for name in [cca] if cca is not None else names:
        mine = [row for row in runs if row["cca"] == name and seed in (None, row["seed"])]
        result += [Explanation(read, int(row["run"]), flow) for row in mine[:1]]
    return result


def _meant(cca: str, names: list[str], place: str) -> str:
    """Returns the selected CCA that was meant.

    Raises:
        CelltcpError: if it is none of them, or could be several.
    """
    # Results have parameters in one order, whatever that was in the command.
    spelt = ",".join(lineups(cca))
    if spelt in names:
        return spelt
    if spelt == "auto" and len(names) == 1:
        return names[0]
    problem = "could be any of several" if spelt == "auto" else "was not selected"
    raise CelltcpError(f"cca: {cca!r} {problem} in {place}; allowed: {'; '.join(names)}")


def _spans(numbers: list[int]) -> str:
    """Returns numbers as text, with runs of neighbours as from-to."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in spans)
