"""Judgement: differences between the engines, and whether they are within the bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from celltcp._core import CelltcpError
from celltcp.comparison.comparison import Comparison
from celltcp.fidelity.cases import Case
from celltcp.fidelity.causes import Cause, cause_of
from celltcp.fidelity.data import bands_for
from celltcp.fidelity.outcome import METRICS, FidelityOutcome, JudgementRow, MetricDifferences
from celltcp.fidelity.trajectory import Trajectory, cwnd_distance, trajectory_of
from celltcp.results.rows import json_value, spans
from celltcp.results.statistics import Estimate, estimate, paired_difference
from celltcp.results.tables import Results


@dataclass(frozen=True)
class Difference:
    """A metric under both engines: means over the runs, and their difference.

    `percent` is the difference in percent of the kernel's mean; NaN if only this mean is zero, or
    without values. `ci95` is the half width of its 95 % interval, paired by seed; None if all runs are
    the same. `band` is the largest allowed difference in percent; None if the metric is not judged.
    """

    native: float
    kernel: float
    percent: float
    ci95: float | None
    band: float | None

    @property
    def is_within(self) -> bool:
        """Whether the difference is within its band, if it has one; an undefined difference is not."""
        return self.band is None or abs(self.percent) <= self.band

    @property
    def is_open(self) -> bool:
        """Whether the interval includes an edge of the band: more runs could change the verdict."""
        if self.band is None or self.ci95 is None or math.isnan(self.percent):
            return False
        return abs(abs(self.percent) - self.band) < self.ci95

    @property
    def is_outside(self) -> bool:
        """Whether the difference is outside its band, and its interval does not reach back into it."""
        return not self.is_within and not self.is_open

    @property
    def is_undecided(self) -> bool:
        """Whether the difference is outside its band, but its interval reaches back into it."""
        return not self.is_within and self.is_open

    @property
    def band_ratio(self) -> float:
        """Difference divided by its band; above 1 it is outside or undecided."""
        if self.band is None:
            return 0.0
        return math.inf if math.isnan(self.percent) else abs(self.percent) / self.band


@dataclass(frozen=True)
class Judgement:
    """Judgement of one CCA in one case."""

    case: str
    group: str
    cca: str
    scenario_hash: str
    differences: dict[str, Difference]
    #: Mean over the runs of the distance of the windows, see `trajectory.cwnd_distance`.
    cwnd_distance: Estimate
    #: Trajectories of the run with the first seed, of the native engine and of the kernel.
    trajectories: tuple[Trajectory, Trajectory]
    #: Number of runs of each engine.
    runs: int = 1

    @property
    def metrics_outside(self) -> list[str]:
        """Metrics that are outside their bands, and whose intervals do not reach back."""
        return [name for name, difference in self.differences.items() if difference.is_outside]

    @property
    def undecided_metrics(self) -> list[str]:
        """Metrics that are outside their bands, and whose intervals reach back."""
        return [name for name, difference in self.differences.items() if difference.is_undecided]

    @property
    def is_open(self) -> bool:
        """Whether more runs could change the verdict."""
        return any(difference.is_open for difference in self.differences.values())

    @property
    def max_band_ratio(self) -> float:
        """Maximum ratio of a difference to its band."""
        return max(difference.band_ratio for difference in self.differences.values())


@dataclass(frozen=True)
class Fidelity:
    """All judgements of a report, with the settings of its runs."""

    judgements: list[Judgement]
    #: Version of celltcp.
    version: str
    kernel_version: str
    #: Number of runs of each CCA, case and engine.
    runs: int
    #: Seed of the first run.
    seed: int

    @property
    def outside(self) -> list[Judgement]:
        """Judgements with a metric outside its band."""
        return [judgement for judgement in self.judgements if judgement.metrics_outside]

    @property
    def undecided(self) -> list[Judgement]:
        """Judgements with an undecided metric and none outside its band."""
        return [
            judgement
            for judgement in self.judgements
            if judgement.undecided_metrics and not judgement.metrics_outside
        ]

    @property
    def within_count(self) -> int:
        """Number of judgements all of whose metrics are within their bands."""
        return len(self.judgements) - len(self.outside) - len(self.undecided)

    def to_json(self, causes: Sequence[Cause]) -> FidelityOutcome:
        """Returns everything but the trajectories as JSON; the same seeds give the same text."""
        return {
            "version": self.version,
            "kernel_version": self.kernel_version,
            "runs": self.runs,
            "seed": self.seed,
            "cases": [_judgement_row(judgement, causes) for judgement in self.judgements],
        }


def judge_case(case: Case, ccas: Sequence[str], native: Results, kernel: Results) -> list[Judgement]:
    """Compares the runs of the native engine with those of the kernel, seed by seed."""
    runs_by_engine = [_runs(results) for results in (native, kernel)]
    native_trajectories, kernel_trajectories = _trajectories(native), _trajectories(kernel)
    judgements = []
    for cca in ccas:
        native_runs, kernel_runs = (
            runs[runs["cca"] == cca].sort_values("seed") for runs in runs_by_engine
        )
        if native_runs["seed"].tolist() != kernel_runs["seed"].tolist():
            raise CelltcpError(f"{case.name}, {cca}: the engines ran different seeds")
        pairs = [
            (native_trajectories[native_run], kernel_trajectories[kernel_run])
            for native_run, kernel_run in zip(native_runs["run"], kernel_runs["run"], strict=True)
        ]
        bands = bands_for(case.group, cca)
        if native_runs["completion_s"].isna().all() and kernel_runs["completion_s"].isna().all():
            bands.pop("completion_s", None)
        differences: dict[str, Difference] = {
            metric: difference(
                native_runs[metric].tolist(), kernel_runs[metric].tolist(), bands.get(metric)
            )
            for metric in METRICS
        }
        judgements.append(
            Judgement(
                case.name,
                case.group,
                cca,
                case.scenario.hash,
                differences,
                estimate([cwnd_distance(*pair) for pair in pairs]),
                pairs[0],
                len(pairs),
            )
        )
    return judgements


def difference(native: Sequence[float], kernel: Sequence[float], band: float | None) -> Difference:
    """Returns the difference of the means, with the interval of the differences run by run.

    Runs in which an engine has no value (NaN) are left out.
    """
    pairs = [pair for pair in zip(native, kernel, strict=True) if not any(map(math.isnan, pair))]
    native_values, kernel_values = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    native_mean, kernel_mean = estimate(native_values).mean, estimate(kernel_values).mean
    difference = paired_difference(native_values, kernel_values)
    if difference.mean == 0.0 and kernel_mean == 0.0:
        return Difference(native_mean, kernel_mean, 0.0, None, band)
    scale = 100.0 / kernel_mean if kernel_mean else math.nan
    ci95 = None if difference.ci95 is None or math.isnan(scale) else difference.ci95 * scale
    return Difference(native_mean, kernel_mean, difference.mean * scale, ci95, band)


def _runs(results: Results) -> pd.DataFrame:
    """Returns a row per run, of the flow under test.

    The columns are those of `Comparison.runs`, the share of retransmitted segments in percent, and the
    mean completion time of the completed connections.
    """
    comparison = Comparison(results)
    flows = comparison.flows
    tested = flows[flows["name"] == flows.groupby("run")["name"].transform("first")]
    by_run = tested.groupby("run", sort=True)
    segments, completion_s = by_run["segments"].sum(), by_run["completion_s"].mean()
    runs = comparison.runs.assign(run=results.tables["runs"]["run"].to_pandas())
    share = 100.0 * runs["retransmissions"] / runs["run"].map(segments)
    return runs.assign(retransmitted_percent=share, completion_s=runs["run"].map(completion_s))


def _trajectories(results: Results) -> dict[int, Trajectory]:
    """Returns the trajectory of each run."""
    tables = [results.tables[name].to_pandas() for name in ("flows", "samples", "slots")]
    spans_by_table = [spans(table["run"]) for table in tables]
    return {
        run: trajectory_of(
            *(
                table[rows.get(run, slice(0))]
                for table, rows in zip(tables, spans_by_table, strict=True)
            )
        )
        for run in spans_by_table[0]
    }


def _judgement_row(judgement: Judgement, causes: Sequence[Cause]) -> JudgementRow:
    distance = judgement.cwnd_distance
    metrics: MetricDifferences = {}
    for metric in METRICS:
        if difference := judgement.differences.get(metric):
            metrics[metric] = {
                "native": json_value(difference.native),
                "kernel": json_value(difference.kernel),
                "difference_percent": json_value(difference.percent),
                "ci95_percent": difference.ci95,
                "band_percent": difference.band,
            }
    return {
        "case": judgement.case,
        "group": judgement.group,
        "cca": judgement.cca,
        "scenario_hash": judgement.scenario_hash,
        **metrics,
        "cwnd_distance": {"mean": json_value(distance.mean), "ci95": distance.ci95},
        "runs": judgement.runs,
        "within": not judgement.metrics_outside and not judgement.undecided_metrics,
        "outside": judgement.metrics_outside,
        "undecided": judgement.undecided_metrics,
        "open": judgement.is_open,
        "cause": cause_of(judgement.case, judgement.cca, causes) if judgement.metrics_outside else None,
    }
