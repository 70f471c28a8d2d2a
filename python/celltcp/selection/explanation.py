"""Explanation of a connection with a selector: its decisions, its estimates, and the ground truth."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc

from celltcp._core import CelltcpError, lineups
from celltcp.results.rows import json_rows
from celltcp.results.selectors import parse_features
from celltcp.results.tables import Results, read_results
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.requirements import (
    selector_requirements,
)
from celltcp.selection.agreement import Agreement, agreements, estimates_with_truth
from celltcp.selection.connections import Connection, connections_in, default_connection
from celltcp.selection.outcomes.explanation import ExplanationOutcome
from celltcp.selection.switch_effects import switch_verdicts

#: Features of a decision in narrow tables.
MAIN_FEATURES = ("base_rtt", "capacity", "movement", "queue_ratio", "retransmitted")


class Explanation:
    """One connection with a selector: its decisions, its estimates, and the ground truth."""

    def __init__(self, results: Results, run: int, flow: int | None = None) -> None:
        """Reads connection `flow` of a run, by default that of `connections.default_connection`.

        Raises:
            CelltcpError: if there is no such run, or the connection has no selector.
        """
        self.results = results
        #: Number of the run.
        self.run = run
        runs = results.tables["runs"].select(["run", "seed", "cca"]).to_pylist()
        row = next((row for row in runs if row["run"] == run), None)
        if row is None:
            raise CelltcpError(f"run: {run} is not in {self.name}; allowed: 0 to {len(runs) - 1}")
        #: Seed of the run.
        self.seed = int(row["seed"])
        #: Congestion control or mix as given to `--cca`, such as `"auto:policy=rules"`.
        self.cca = str(row["cca"])
        #: All connections of the run with a selector.
        self.connections = connections_in(results, run)
        if not self.connections:
            raise CelltcpError(
                f"{self.name}: no connection of run {run} with a selector lived for a slot of "
                f"{1000 * float(results.about['slot_s']):g} ms, so there are no estimates to explain"
            )
        #: The connection that is explained.
        self.connection = default_connection(self.connections) if flow is None else self._numbered(flow)

    def _numbered(self, flow: int) -> Connection:
        for connection in self.connections:
            if connection.number == flow:
                return connection
        allowed = _spans([connection.number for connection in self.connections])
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
        """A row per decision: `t_s`, `from_cca`, `to_cca`, `cause`, `reason`, `verdict`, features.

        `verdict` is the measured effect of a switch (`switch_verdicts`).
        """
        table: pd.DataFrame = self.results.tables["decisions"].to_pandas()
        rows = table[(table["run"] == self.run) & (table["flow"] == self.connection.number)]
        rows = rows.sort_values("t_ns", ignore_index=True)
        decisions = rows[["from_cca", "to_cca", "cause", "reason"]].astype(str)
        decisions.insert(0, "t_s", rows["t_ns"] * 1e-9)
        decisions["verdict"] = switch_verdicts(decisions, self.slots, self._requirement)
        features = [parse_features(text) for text in rows["measures"].astype(str)]
        result: pd.DataFrame = decisions.join(pd.DataFrame(features, index=decisions.index))
        return result

    @property
    def _requirement(self) -> str:
        """Requirement of the selector: that of `auto:requirement=...`, by default balanced."""
        requirements = selector_requirements([self.connection.cca])
        return requirements[0] if requirements else "balanced"

    @cached_property
    def slots(self) -> pd.DataFrame:
        """A row per slot: metrics, estimates, and true values (`agreement.estimates_with_truth`)."""
        return estimates_with_truth(self.results, self.run, self.connection.number)

    @property
    def title(self) -> str:
        """Title: scenario, label of the selector, seed, and the connection if there are several."""
        label = labels([self.cca])[self.cca]
        title = f"{self.name}, {label}, seed {self.seed}"
        if len(self.results.tables["flows"].filter(pc.field("run") == self.run)) > 1:
            title += f", connection {self.connection.number} ({self.connection.name})"
        return title

    @cached_property
    def picture(self) -> str:
        """Name of its picture: `explain`, or `explain-2` and so on for further selectors.

        Seed and connection are appended unless they are the default. So pictures of several
        explanations of the same results have different names.
        """
        first_runs: dict[str, int] = {}
        for row in _runs_with_decisions(self.results):
            first_runs.setdefault(row["cca"], row["run"])
        number = list(first_runs).index(self.cca) + 1
        name = "explain" if number == 1 else f"explain-{number}"
        if self.run != first_runs[self.cca]:
            name += f"-seed-{self.seed}"
        if self.connection != default_connection(self.connections):
            name += f"-flow-{self.connection.number}"
        return name

    @property
    def others(self) -> str | None:
        """Text about the other connections with a selector, and why this one is shown; None if none."""
        shown = self.connection
        of_flow = [connection for connection in self.connections if connection.name == shown.name]
        is_longest = len(of_flow) > 1 and shown == default_connection(of_flow)
        reason = f", the longest of {len(of_flow)} of {shown.name}" if is_longest else ""
        numbers_of: dict[str, list[int]] = {}
        for connection in self.connections:
            if connection != shown:
                numbers_of.setdefault(connection.name, []).append(connection.number)
        if not numbers_of:
            return None
        others = "; ".join(f"{_spans(numbers)} ({name})" for name, numbers in numbers_of.items())
        return f"Shown is connection {shown.number}{reason}; others with a selector: {others}"

    @property
    def agreements(self) -> list[Agreement]:
        """Agreement of the estimates with the ground truth."""
        return agreements(self.slots)

    @property
    def time_under(self) -> pd.Series:
        """Seconds under each CCA, the longest first."""
        slot_s = float(self.results.about["slot_s"])
        counts = self.slots["using_cca"].astype(str).value_counts()
        return (counts * slot_s).rename("seconds")

    #: `plot()` draws capacity and goodput, RTT, queue and phases on one time axis, with the switches.
    plot = LazyAttribute()

    def to_json(self) -> ExplanationOutcome:
        """Returns decisions, agreement with the ground truth, and time under each CCA as JSON."""
        return {
            "scenario": self.name,
            "cca": self.cca,
            "run": self.run,
            "seed": self.seed,
            "flow": self.connection.number,
            "flow_name": self.connection.name,
            "flow_cca": self.connection.cca,
            "flows_selected": [connection.number for connection in self.connections],
            "decisions": json_rows(self.decisions, dict),
            "agreements": [
                {
                    "quantity": agreement.quantity,
                    "truth": agreement.truth,
                    "slots": agreement.slots,
                    "of": agreement.total_slots,
                    "right": agreement.accuracy,
                    "bias": agreement.bias,
                    "error": agreement.error,
                }
                for agreement in self.agreements
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
        cca: only this selector, as given to `--cca` (`"auto:policy=rules"`). `"auto"` is enough if the
            results have a single one.
        flow: number of the connection; by default that of `connections.default_connection`.
        seed: seed of the run of each selector; by default the first.

    Raises:
        CelltcpError: if the results have no selector, or not in that run or by that name.
    """
    read = results if isinstance(results, Results) else read_results(results)
    scenario = read.about["name"]
    for table in ("decisions", "estimates"):
        if table not in read.tables:
            raise CelltcpError(
                f"{scenario}: these results have no table {table}: no congestion control was selected; "
                "allowed: results of --cca auto..."
            )
    if run is not None and seed is not None:
        raise CelltcpError("run: a run and a seed do not go together; allowed: one of them")
    runs = _runs_with_decisions(read)
    cca_of = {int(row["run"]): str(row["cca"]) for row in runs}
    ccas = list(dict.fromkeys(cca_of.values()))
    if cca is not None:
        cca = _match_cca(cca, ccas, scenario)
    if run is not None and run not in cca_of:
        allowed = _spans(sorted(cca_of))
        raise CelltcpError(f"run: {run} has no selector in {scenario}; allowed: {allowed}")
    if run is not None:
        if cca not in (None, cca_of[run]):
            raise CelltcpError(f"run: {run} is one of {cca_of[run]!r}, not of {cca!r}")
        return [Explanation(read, run, flow)]
    seeds = sorted({int(row["seed"]) for row in runs})
    if seed is not None and seed not in seeds:
        raise CelltcpError(f"seed: {seed} is not in {scenario}; allowed: {_spans(seeds)}")
    result = []
    for name in [cca] if cca is not None else ccas:
        matches = [row for row in runs if row["cca"] == name and seed in (None, row["seed"])]
        result += [Explanation(read, int(row["run"]), flow) for row in matches[:1]]
    return result


def _runs_with_decisions(results: Results) -> list[dict[str, Any]]:
    decided = set(results.tables["decisions"]["run"].to_pylist())
    runs = results.tables["runs"].select(["run", "seed", "cca"]).to_pylist()
    return [row for row in runs if row["run"] in decided]


def _match_cca(cca: str, ccas: list[str], scenario: str) -> str:
    """Returns the selector among `ccas` that matches `cca`.

    Raises:
        CelltcpError: if there is none, or several.
    """
    # Results may have the parameters in another order than the command.
    canonical = ",".join(lineups(cca))
    if canonical in ccas:
        return canonical
    if canonical == "auto" and len(ccas) == 1:
        return ccas[0]
    problem = "could be any of several" if canonical == "auto" else "was not selected"
    raise CelltcpError(f"cca: {cca!r} {problem} in {scenario}; allowed: {'; '.join(ccas)}")


def _spans(numbers: list[int]) -> str:
    """Returns ascending numbers as text, with consecutive ones as a range: `1, 3 to 5`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in spans)
