"""Calibration of policies: expected measures of their choices against realised ones."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from celltcp._core import parse_requirement
from celltcp.campaign.jobs import Job
from celltcp.results.rows import spans
from celltcp.results.statistics import estimate
from celltcp.results.tables import frame
from celltcp.scenarios.requirements import OTHER_MEASURES
from celltcp.selection.slot_measures import (
    HORIZON_S,
    MEASURED_COLUMNS,
    first_flow_slots,
    measured_parts,
)

#: Columns of `expectations_of`.
COLUMNS = ("label", "seed", "t_s", "moment", "to_cca", "seconds", "expected", "realised")

#: Minimum time under a choice for a measurement, s.
MIN_MEASURED_S = 1.0

#: Width of the bins of expected measures.
BIN_WIDTH = 0.05

_EXPECTED = re.compile(r"(\d+\.\d+) (?:expected )?of ([\w-]+)")


def expected_measure(reason: str, cca: str) -> float:
    """Returns the measure of a CCA that the reason of a decision expects; NaN without one."""
    if " expected of " not in reason:
        return math.nan
    expected = {name: float(value) for value, name in _EXPECTED.findall(reason)}
    return expected.get(cca, math.nan)


def expectations_of(
    tables: Mapping[str, pa.Table], jobs: Sequence[Job], requirements: Mapping[str, str]
) -> pd.DataFrame:
    """Returns a row per decision with an expectation, of the first connection of each run.

    `realised` is the measure until the next decision, as in training. For goodput it is the delivered
    share of the capacity, otherwise PM from the means of A, B and C over at most 10 s. Choices that
    lasted less than a second are left out. So are requirements in `OTHER_MEASURES`: their expectations
    are relative to the best CCA, which a single run does not show.

    Args:
        tables: `slots` and `decisions` of the runs.
        jobs: the runs.
        requirements: requirements by the label of their selector.
    """
    rows: list[dict[str, object]] = []
    if "decisions" in tables:
        decisions = frame(tables["decisions"])
        decisions = decisions[decisions["flow"] == 0].sort_values(["run", "t_ns"])
        slots = frame(first_flow_slots(tables["slots"]))
        rows_of = spans(slots["run"])
        job_of = {job.number: job for job in jobs}
        for run, group in decisions.groupby("run", sort=True):
            job = job_of[int(str(run))]
            if not requirements[job.cca].startswith(OTHER_MEASURES):
                run_slots = slots[rows_of.get(job.number, slice(0))]
                rows += _expectations(group, run_slots, requirements[job.cca], job)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _expectations(
    decisions: pd.DataFrame, slots: pd.DataFrame, requirement: str, job: Job
) -> Iterator[dict[str, object]]:
    """Yields the rows of one connection."""
    weights = np.array(parse_requirement(requirement)[1])
    max_s = math.inf if requirement == "goodput" else HORIZON_S
    slot_starts_s = slots["t_s"].to_numpy()
    times_s = [*(decisions["t_ns"] * 1e-9), math.inf]
    for row, start_s, next_s in zip(decisions.to_dict("records"), times_s, times_s[1:], strict=False):
        expected = expected_measure(str(row["reason"]), str(row["to_cca"]))
        end_s = min(next_s, start_s + max_s)
        is_measured = slot_starts_s >= start_s
        is_measured &= slot_starts_s + job.scenario.slot_s <= end_s + 1e-9
        seconds = float(is_measured.sum()) * job.scenario.slot_s
        if math.isnan(expected) or seconds < MIN_MEASURED_S:
            continue
        a, b, c, use = measured_parts(
            {name: slots[name].to_numpy()[is_measured] for name in MEASURED_COLUMNS}
        )[:4]
        first = use if requirement == "goodput" else a
        yield {
            "label": job.cca,
            "seed": job.seed,
            "t_s": start_s,
            "moment": "start" if row["cause"] == "establishment" else "flight",
            "to_cca": row["to_cca"],
            "seconds": seconds,
            "expected": expected,
            "realised": float(np.array([first, b, c]) @ weights / weights.sum()),
        }


def calibration_of(expectations: pd.DataFrame) -> pd.DataFrame:
    """Returns the errors of expectations: a row per policy, requirement and moment.

    Means and intervals are over the means of scenarios. `error` is realised minus expected.
    `correlation` is over decisions (NaN if either does not vary).
    """
    rows = []
    for (policy, requirement), group in expectations.groupby(["policy", "requirement"], sort=False):
        parts = [(moment, group[group["moment"] == moment]) for moment in ("start", "flight")]
        parts = [(moment, part) for moment, part in parts if len(part)]
        for moment, part in [*parts, *([("all", group)] if len(parts) > 1 else [])]:
            errors = part["realised"] - part["expected"]
            error, error_ci95 = _over_scenarios(part, errors)
            rows.append(
                {
                    "policy": policy,
                    "requirement": requirement,
                    "moment": moment,
                    "decisions": len(part),
                    "scenarios": int(part["scenario"].nunique()),
                    "expected": _over_scenarios(part, part["expected"])[0],
                    "realised": _over_scenarios(part, part["realised"])[0],
                    "error": error,
                    "error_ci95": error_ci95,
                    "absolute_error": _over_scenarios(part, errors.abs())[0],
                    "correlation": _correlation(part["expected"], part["realised"]),
                }
            )
    columns = ["policy", "requirement", "moment", "decisions", "scenarios", "expected", "realised"]
    return pd.DataFrame(
        rows, columns=[*columns, "error", "error_ci95", "absolute_error", "correlation"]
    )


def reliability_of(expectations: pd.DataFrame) -> pd.DataFrame:
    """Returns the reliability diagram: a row per policy, requirement and bin of expected measures.

    A bin is from `low` to below `high`. Means and intervals are over scenarios, as in `calibration_of`.
    """
    rows = []
    last = round(1 / BIN_WIDTH) - 1
    bins = (expectations["expected"].astype(float) / BIN_WIDTH + 1e-9).astype(int).clip(upper=last)
    keys = ["policy", "requirement"]
    for (policy, requirement), group in expectations.groupby(keys, sort=False):
        for index, part in group.groupby(bins.loc[group.index]):
            realised, half = _over_scenarios(part, part["realised"])
            low = round(float(str(index)) * BIN_WIDTH, 6)
            rows.append(
                {
                    "policy": policy,
                    "requirement": requirement,
                    "low": low,
                    "high": round(low + BIN_WIDTH, 6),
                    "decisions": len(part),
                    "scenarios": int(part["scenario"].nunique()),
                    "expected": _over_scenarios(part, part["expected"])[0],
                    "realised": realised,
                    "realised_ci95": half,
                }
            )
    columns = [*keys, "low", "high", "decisions", "scenarios", "expected", "realised", "realised_ci95"]
    return pd.DataFrame(rows, columns=columns)


def _over_scenarios(part: pd.DataFrame, values: pd.Series) -> tuple[float, float]:
    """Returns the mean over the means of scenarios, and the half width of its interval."""
    result = estimate(values.groupby(part["scenario"], sort=False).mean().tolist())
    return result.mean, result.half_width


def _correlation(first: pd.Series, second: pd.Series) -> float:
    if len(first) < 2 or first.std() < 1e-9 or second.std() < 1e-9:
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])
