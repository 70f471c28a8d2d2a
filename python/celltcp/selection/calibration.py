"""Calibration: expected measures of a policy's choices against measured ones."""

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
from celltcp.selection.slot_measures import HORIZON_S, MEASURED_COLUMNS, measured_parts, of_first_flow

#: Columns of expectations.
COLUMNS = (
    *("label", "seed", "t_s", "moment", "to_cca"),
    *("seconds", "expected", "realised"),
)

#: Minimum time under a choice for a measurement, s.
SHORTEST_S = 1.0

#: Width of the bins of expected measures.
BIN = 0.05

_EXPECTED = re.compile(r"(\d+\.\d+) (?:expected )?of ([\w-]+)")


def expected_of(reason: str, cca: str) -> float:
    """Returns the measure that the reason of a decision expects of a CCA; NaN without one."""
    _, result, _ = reason.partition(" expected of ")
    if not result:
        return math.nan
    named = {name: float(value) for value, name in _EXPECTED.findall(reason)}
    return named.get(cca, math.nan)


def expectations_of(
    tables: Mapping[str, pa.Table], jobs: Sequence[Job], requirements: Mapping[str, str]
) -> pd.DataFrame:
    """Returns a row per decision with an expectation, of the first connection of each run.

    `realised` is the measure until the next decision, as training measures it. For goodput that is the
    delivered share of the capacity, otherwise PM from the means of A, B and C over at most 10 s.
    Choices that lasted less than a second are left out. So are requirements with a measure of their
    own, as what trees expect there is relative to the best CCA. One run does not show that.

    Args:
        tables: `slots` and `decisions` of the runs.
        jobs: the runs.
        requirements: the requirement of each label that selects.
    """
    rows: list[dict[str, object]] = []
    if "decisions" in tables:
        decisions = frame(tables["decisions"])
        decisions = decisions[decisions["flow"] == 0].sort_values(["run", "t_ns"])
        slots = frame(of_first_flow(tables["slots"]))
        rows_of = spans(slots["run"])
        numbered = {job.number: job for job in jobs}
        for run, group in decisions.groupby("run", sort=True):
            job = numbered[int(str(run))]
            if requirements[job.cca].startswith(OTHER_MEASURES):
                continue
            run_slots = slots[rows_of.get(job.number, slice(0))]
            about = {"label": job.cca, "seed": job.seed}
            rows += (
                {**about, **row} for row in _realised(group, run_slots, requirements[job.cca], job)
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _realised(
    decisions: pd.DataFrame, slots: pd.DataFrame, requirement: str, job: Job
) -> Iterator[dict[str, object]]:
    """Returns the expectations of one connection, and the realised measures."""
    weights = np.array(parse_requirement(requirement)[1])
    longest = math.inf if requirement == "goodput" else HORIZON_S
    begins = slots["t_s"].to_numpy()
    times = [*(decisions["t_ns"] * 1e-9), math.inf]
    for index, row in enumerate(decisions.to_dict("records")):
        expected = expected_of(str(row["reason"]), str(row["to_cca"]))
        start, end = times[index], min(times[index + 1], times[index] + longest)
        after = (begins >= start) & (begins + job.scenario.slot_s <= end + 1e-9)
        seconds = float(after.sum()) * job.scenario.slot_s
        if math.isnan(expected) or seconds < SHORTEST_S:
            continue
        a, b, c, use = measured_parts(
            {name: slots[name].to_numpy()[after] for name in MEASURED_COLUMNS}
        )[:4]
        first = use if requirement == "goodput" else a
        yield {
            "t_s": start,
            "moment": "start" if row["cause"] == "establishment" else "flight",
            "to_cca": row["to_cca"],
            "seconds": seconds,
            "expected": expected,
            "realised": float(np.array([first, b, c]) @ weights / weights.sum()),
        }


def calibration_of(expectations: pd.DataFrame) -> pd.DataFrame:
    """Returns the errors of expectations: a row per policy, requirement and moment.

    Means are means over the scenarios, of which each counts once; intervals are over the scenarios.
    `error` is realised minus expected, `correlation` that of single decisions (NaN without a spread).
    """
    rows = []
    for (policy, requirement), group in expectations.groupby(["policy", "requirement"], sort=False):
        moments = [(each, group[group["moment"] == each]) for each in ("start", "flight")]
        moments = [(each, part) for each, part in moments if len(part)]
        for moment, part in [*moments, *([("all", group)] if len(moments) > 1 else [])]:
            errors = part["realised"] - part["expected"]
            error = _over_scenarios(part, errors)
            rows.append(
                {
                    "policy": policy,
                    "requirement": requirement,
                    "moment": moment,
                    "decisions": len(part),
                    "scenarios": int(part["scenario"].nunique()),
                    "expected": _over_scenarios(part, part["expected"])[0],
                    "realised": _over_scenarios(part, part["realised"])[0],
                    "error": error[0],
                    "error_ci95": error[1],
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

    `low` and `high` limit the bin, without `high`. Means and intervals are over the scenarios, as in
    `calibration_of`.
    """
    rows = []
    last = round(1 / BIN) - 1
    bins = (expectations["expected"].astype(float) / BIN + 1e-9).astype(int).clip(upper=last)
    keys = ["policy", "requirement"]
    for (policy, requirement), group in expectations.groupby(keys, sort=False):
        for number, part in group.groupby(bins.loc[group.index]):
            realised, half = _over_scenarios(part, part["realised"])
            low = round(float(str(number)) * BIN, 6)
            rows.append(
                {
                    "policy": policy,
                    "requirement": requirement,
                    "low": low,
                    "high": round(low + BIN, 6),
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
    """Returns the mean of the scenarios' means, and half of its interval (NaN without one)."""
    result = estimate(values.groupby(part["scenario"], sort=False).mean().tolist())
    return result.mean, result.half


def _correlation(first: pd.Series, second: pd.Series) -> float:
    if len(first) < 2 or first.std() < 1e-9 or second.std() < 1e-9:
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])
