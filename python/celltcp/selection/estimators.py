"""Accuracy of the estimators of selectors against the ground truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from celltcp._core import CelltcpError
from celltcp.campaign.engines import engine
from celltcp.campaign.run import Progress, sub_progress
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.run import compare
from celltcp.results.keys import part_of_file_name
from celltcp.results.rows import json_rows
from celltcp.results.tables import frame
from celltcp.scenarios.cca_mix import AUTO, has_several_flows, parse_flow_cca
from celltcp.scenarios.ccas import select_ccas
from celltcp.scenarios.scenario_list import expand_scenarios, split_names
from celltcp.scenarios.scenarios import scenario_names
from celltcp.selection.ground_truth import GroundTruth
from celltcp.selection.outcomes.estimators import AccuracyOrigin, AccuracyOutcome

#: Default scenarios: the 12 movements through a cell.
DEFAULT_SCENARIOS = tuple(name for name in scenario_names() if name.startswith("mobility/"))

#: Default congestion controls: loss-based and delay-based ones, BBR with its model of the path, and a
#: selector.
DEFAULT_CCAS = (
    *("cubic", "reno", "illinois", "westwood", "bbr", "nv", "vegas", "lp", "cdg"),
    "auto:policy=rules",
)

#: Length of the windows whose last estimates of movement, speed and latency are checked, s.
WINDOW_S = 5.0

#: Age of a connection from which on those estimates, capacity and queue are checked, s.
SETTLED_S = 5.0

#: Edges of the ranges of confidence.
CONFIDENCES = (0.0, 0.5, 0.8, 0.95, 1.0)

#: Maximum error of a correct estimate of the capacity, as a factor.
CAPACITY_FACTOR = 1.2

#: Maximum error of a correct estimate of buffer or queue, as a factor.
LENGTH_FACTOR = 1.5

#: Maximum queue that is not checked, packets: those of one TTI.
SHORT_QUEUE = 30


@dataclass(frozen=True)
class Accuracy:
    """Correctness of estimates."""

    #: A row per checked estimate: `estimator`, `family`, `scenario`, `cca`, `right`, `confidence`.
    checks: pd.DataFrame
    ccas: tuple[str, ...]
    about: AccuracyOrigin

    @property
    def table(self) -> pd.DataFrame:
        """Share of correct estimates and number of estimates, per estimator, family and CCA."""
        return _shares(self.checks, ["estimator", "family", "cca"])

    @property
    def overall(self) -> pd.DataFrame:
        """Share of correct estimates and number of estimates, per estimator."""
        return _shares(self.checks, ["estimator"])

    @property
    def by_confidence(self) -> pd.DataFrame:
        """Share of correct estimates and number of estimates, per estimator and range of confidence."""
        labels = [f"to {upper:g}" for upper in CONFIDENCES[1:]]
        ranges = pd.cut(
            self.checks["confidence"], list(CONFIDENCES), labels=labels, include_lowest=True
        )
        return _shares(self.checks.assign(confidence=ranges), ["estimator", "confidence"])

    def to_json(self) -> AccuracyOutcome:
        """Returns all three tables as JSON."""
        return {
            **self.about,
            "overall": json_rows(self.overall, dict),
            "by_confidence": json_rows(self.by_confidence, dict),
            "table": json_rows(self.table, dict),
        }


def check_estimators(
    scenarios: Sequence[str] | str = DEFAULT_SCENARIOS,
    cca: Sequence[str] | str = DEFAULT_CCAS,
    runs: int = 5,
    seed: int = 1,
    *,
    jobs: int | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Accuracy:
    """Runs CCAs with passive estimators, and compares the estimates with the truth.

    Args:
        scenarios: as for `celltcp.scenarios.scenario_list.expand_scenarios`.
        cca: selectors, and plain names of CCAs that are used for the whole run.
        runs: number of runs of each combination; run i has `seed + i`.
        seed: seed of the first run.
        jobs: number of parallel runs; by default one per core.
        out: folder for results, with a folder for each scenario.
        progress: called with the finished share.

    Raises:
        CelltcpError: if an argument is invalid.
    """
    if not split_names(scenarios):
        raise CelltcpError("scenarios: give one scenario at least")
    scenario_list = expand_scenarios(scenarios)
    ccas = select_ccas(cca, engine().ccas)
    for name in ccas:
        if has_several_flows(name):
            raise CelltcpError(f"cca: {name!r} is several flows; allowed: one congestion control each")
    for name in ccas:
        flow = parse_flow_cca(name)
        if flow.parameters and not flow.is_selector:
            raise CelltcpError(
                f"cca: {name!r} has parameters; allowed: plain names, and auto with its own"
            )
    with_estimators = [
        name if parse_flow_cca(name).is_selector else f"{AUTO}:policy=fixed,cca={name}" for name in ccas
    ]
    checks: list[pd.DataFrame] = []
    for index, source in enumerate(scenario_list.sources):
        name = part_of_file_name(source.name.replace("/", "-"))
        comparison = compare(
            source.scenario,
            cca=with_estimators,
            runs=runs,
            seed=seed,
            jobs=jobs,
            out=Path(out) / name if out else None,
            progress=sub_progress(progress, index, len(scenario_list.sources)),
        )
        # Comparisons have the parameters of auto in another order.
        checks.extend(_checks(comparison, dict(zip(comparison.ccas, ccas, strict=True))))
    about: AccuracyOrigin = {
        "scenarios": [source.name for source in scenario_list.sources],
        "left_out": list(scenario_list.left_out),
        "cca": ccas,
        "runs": runs,
        "seed": seed,
    }
    return Accuracy(pd.concat(checks, ignore_index=True), tuple(ccas), about)


def _shares(checks: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Returns the share of correct estimates (`right`) and the number of estimates (`answers`)."""
    grouped = checks.groupby(by, observed=True, sort=True)["right"]
    return grouped.agg(right="mean", answers="size").reset_index()


def _checks(comparison: Comparison, names: dict[str, str]) -> Iterator[pd.DataFrame]:
    """Yields the rows of `Accuracy.checks` of each estimator."""
    if "estimates" not in comparison.results.tables:
        return
    truth = GroundTruth(comparison.results)
    name = str(comparison.results.about["name"])
    slots = comparison.slots.drop(columns="cca")
    estimates = frame(comparison.results.tables["estimates"]).merge(slots, on=["run", "flow", "t_s"])
    # A single flow has estimators. A row has their values at the end of the slot.
    start_s = estimates.groupby("run")["t_s"].transform("min")
    slot_s = float(comparison.results.about["slot_s"])
    end_s = estimates["t_s"] + slot_s
    is_settled = end_s - start_s > SETTLED_S
    cca = estimates["cca"].map(names)

    def rows(estimator: str, is_checked: pd.Series, is_right: pd.Series) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "estimator": estimator,
                "family": name.split("-", 1)[0],
                "scenario": name,
                "cca": cca[is_checked],
                "right": is_right[is_checked].astype(bool),
                "confidence": estimates.loc[is_checked, f"{estimator}_confidence"].astype(float),
            }
        )

    ends_window = ((end_s + 1e-6) // WINDOW_S) > ((estimates["t_s"] + 1e-6) // WINDOW_S)
    is_checked = is_settled & ends_window & (end_s > SETTLED_S + WINDOW_S - 1e-6)
    for estimator in ("movement", "speed", "latency"):
        if (true := getattr(truth, estimator)) is not None:
            yield rows(estimator, is_checked, estimates[estimator] == true)
    if (phases := truth.phases(end_s, start_s)) is not None:
        yield rows("phase", end_s > start_s, estimates["phase"] == phases)
    # The estimate is of the last second, because a channel at speed changes from slot to slot.
    recent = estimates.groupby("run")["capacity_mbps_y"].rolling(round(1 / slot_s) or 1, min_periods=1)
    capacity = recent.mean().droplevel(0).reindex(estimates.index)
    is_right = _within(estimates["capacity_mbps_x"], capacity, CAPACITY_FACTOR)
    yield rows("capacity", is_settled & (capacity > 0), is_right)
    queue = estimates["queue_packets"]
    is_right = _within(estimates["queue_segments"], queue, LENGTH_FACTOR)
    yield rows("queue", is_settled & (queue > SHORT_QUEUE), is_right)
    if truth.buffer is not None:
        buffer = estimates["buffer_segments"]
        yield rows("buffer", buffer > 0, _within(buffer, truth.buffer, LENGTH_FACTOR))


def _within(values: pd.Series, truth: pd.Series | float, factor: float) -> pd.Series:
    """Returns whether values are within a factor of the truth."""
    result: pd.Series = (values / truth).between(1 / factor, factor)
    return result
