"""Accuracy of the estimators of selectors."""

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
from celltcp.scenarios.cca_mix import AUTO, parse_flow_cca, parse_mix
from celltcp.scenarios.ccas import select_ccas
from celltcp.scenarios.scenario_list import expand_scenarios, split_names
from celltcp.scenarios.scenarios import scenario_names
from celltcp.selection.ground_truth import GroundTruth
from celltcp.selection.outcomes.estimators import AccuracyOrigin, AccuracyOutcome

#: Default scenarios: the 12 ways through a cell.
DEFAULT_SCENARIOS = tuple(name for name in scenario_names() if name.startswith("mobility/"))

#: Default congestion controls: those that fill buffers, those that react to
#: delay, one with a model of the path, and one that changes.
DEFAULT_CCAS = (
    *("cubic", "reno", "illinois", "westwood", "bbr", "nv", "vegas", "lp", "cdg"),
    "auto:policy=rules",
)

#: Length of a window, s; the estimate at its end counts.
WINDOW_S = 5.0

#: Start of the windows, and of the comparison of capacity and queue, s.
SETTLED_S = 5.0

#: Bounds of the ranges of confidence.
CONFIDENCES = (0.0, 0.5, 0.8, 0.95, 1.0)

#: Maximum error of a correct estimate of the capacity, as a factor.
CAPACITY_FACTOR = 1.2

#: Maximum error of a correct estimate of buffer or queue, as a factor.
LENGTH_FACTOR = 1.5

#: Maximum queue that does not count, packets: it is of one transmission interval.
SHORT_QUEUE = 30


@dataclass(frozen=True)
class Accuracy:
    """Estimates: columns estimator, family, scenario, cca, right, confidence."""

    answers: pd.DataFrame
    ccas: tuple[str, ...]
    about: AccuracyOrigin

    @property
    def table(self) -> pd.DataFrame:
        """Share of correct estimates and number of estimates, per estimator, family and CCA."""
        return _shares(self.answers, ["estimator", "family", "cca"])

    @property
    def overall(self) -> pd.DataFrame:
        """Share of correct estimates and number of estimates, per estimator."""
        return _shares(self.answers, ["estimator"])

    @property
    def by_confidence(self) -> pd.DataFrame:
        """Share of correct estimates and their number, per estimator and range of its confidence."""
        ranges = pd.cut(self.answers["confidence"], list(CONFIDENCES), include_lowest=True)
        labels = ranges.cat.rename_categories(
            [f"to {most:g}" for most in CONFIDENCES[1:]],
        )
        return _shares(self.answers.assign(confidence=labels), ["estimator", "confidence"])

    def to_json(self) -> AccuracyOutcome:
        """Returns all three tables as JSON; the same seeds give the same text."""
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
        cca: CCAs; a plain name stays in use for the whole run.
        runs: runs of each; run i has `seed + i`.
        seed: of the first run.
        jobs: runs at a time; all cores unless given.
        out: folder for the results of each scenario, in a folder of its own.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    if not split_names(scenarios):
        raise CelltcpError("scenarios: give one scenario at least")
    scenario_list = expand_scenarios(scenarios)
    mix_names = select_ccas(cca, engine().ccas)
    if several := [name for name in mix_names if parse_mix(name).single_cca is None]:
        raise CelltcpError(
            f"cca: {several[0]!r} is several flows; allowed: one congestion control each"
        )
    given = {name: parse_flow_cca(name) for name in mix_names}
    with_parameters = [name for name, each in given.items() if each.parameters and not each.is_selector]
    if with_parameters:
        raise CelltcpError(
            f"cca: {with_parameters[0]!r} has parameters; allowed: plain names, and auto with its own"
        )
    watched = [_watched(name) for name in mix_names]
    result: list[pd.DataFrame] = []
    for index, source in enumerate(scenario_list.sources):
        name = part_of_file_name(source.name.replace("/", "-"))
        comparison = compare(
            source.scenario,
            cca=watched,
            runs=runs,
            seed=seed,
            jobs=jobs,
            out=Path(out) / name if out else None,
            progress=sub_progress(progress, index, len(scenario_list.sources)),
        )
        # Comparisons write the parameters of auto in their own order.
        name_by_cca = dict(zip(comparison.ccas, mix_names, strict=True))
        result.extend(_answers(comparison, name_by_cca))
    about: AccuracyOrigin = {
        "scenarios": [source.name for source in scenario_list.sources],
        "left_out": list(scenario_list.left_out),
        "cca": mix_names,
        "runs": runs,
        "seed": seed,
    }
    return Accuracy(pd.concat(result, ignore_index=True), tuple(mix_names), about)


def _watched(name: str) -> str:
    """Returns the CCA with passive estimators."""
    return name if parse_flow_cca(name).is_selector else f"{AUTO}:policy=fixed,cca={name}"


def _shares(answers: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    grouped = answers.groupby(by, observed=True, sort=True)["right"]
    return grouped.agg(right="mean", answers="size").reset_index()


def _answers(comparison: Comparison, names: dict[str, str]) -> Iterator[pd.DataFrame]:
    """Returns a row per estimate: whether it was correct, and its confidence."""
    if "estimates" not in comparison.results.tables:
        return
    truth = GroundTruth(comparison.results)
    name = str(comparison.results.about["name"])
    slots = comparison.slots.drop(columns="cca")
    estimates = frame(comparison.results.tables["estimates"]).merge(slots, on=["run", "flow", "t_s"])
    # One flow has estimators; a row has its values at the end of the slot.
    start_s = estimates.groupby("run")["t_s"].transform("min")
    end = estimates["t_s"] + float(comparison.results.about["slot_s"])
    age = end - start_s
    settled = age > SETTLED_S
    cca = estimates["cca"].map(names)

    def judged(estimator: str, is_judged: pd.Series, right: pd.Series) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "estimator": estimator,
                "family": name.split("-", 1)[0],
                "scenario": name,
                "cca": cca[is_judged],
                "right": right[is_judged].astype(bool),
                "confidence": estimates.loc[is_judged, _CONFIDENCE[estimator]].astype(float),
            }
        )

    windows = settled & (((end + 1e-6) // WINDOW_S) > ((estimates["t_s"] + 1e-6) // WINDOW_S))
    windows &= end > SETTLED_S + WINDOW_S - 1e-6
    for estimator in ("movement", "speed", "latency"):
        if (true := getattr(truth, estimator)) is not None:
            yield judged(estimator, windows, estimates[estimator] == true)
    if (phases := truth.phases(end, start_s)) is not None:
        yield judged("phase", age > 0, estimates["phase"] == phases)
    # The estimate is of the last second, as in `explain`: a channel at speed changes from slot to slot.
    second = round(1 / float(comparison.results.about["slot_s"])) or 1
    lately = estimates.groupby("run")["capacity_mbps_y"].rolling(second, min_periods=1).mean()
    capacity = lately.droplevel(0).reindex(estimates.index)
    right = _within(estimates["capacity_mbps_x"], capacity, CAPACITY_FACTOR)
    yield judged("capacity", settled & (capacity > 0), right)
    queued = settled & (estimates["queue_packets"] > SHORT_QUEUE)
    yield judged(
        "queue", queued, _within(estimates["queue_segments"], estimates["queue_packets"], LENGTH_FACTOR)
    )
    if truth.buffer is not None:
        full = estimates["buffer_segments"] > 0
        yield judged("buffer", full, _within(estimates["buffer_segments"], truth.buffer, LENGTH_FACTOR))


#: The column of each estimator's confidence.
_CONFIDENCE = {
    name: f"{name}_confidence"
    for name in ("movement", "speed", "latency", "phase", "capacity", "queue", "buffer")
}


def _within(values: pd.Series, truth: pd.Series | float, factor: float) -> pd.Series:
    """Returns whether values are within a factor of the truth."""
    right: pd.Series = (values / truth).between(1 / factor, factor)
    return right
