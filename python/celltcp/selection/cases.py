"""Cases: a policy with a requirement on a scenario, compared with fixed CCAs and other policies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from celltcp.results.statistics import estimate, paired_difference
from celltcp.scenarios.requirements import requirement_metric
from celltcp.selection.candidates import DEFAULT

#: Rivals of a policy in each case, in addition to other policies.
RIVALS = ("default", "best", "oracle")

#: Minimum mean, as a share of the best in hindsight, of a case that counts as having reached it.
REACHED_SHARE = 0.95

#: Gain over the default above which it is large, %, as in atxutegi2018-thesis section 6.3.4.
LARGE_GAIN_PERCENT = 5.0


class Relative(NamedTuple):
    """Paired difference, in % of the mean of the reference."""

    percent: float
    #: Half width of the interval, %.
    ci95: float
    #: `won`, `lost`, or `tied` if the interval includes zero.
    verdict: str


def relative(values: Sequence[float], reference: Sequence[float]) -> Relative:
    """Compares values with those of a reference in runs with the same seeds."""
    difference = paired_difference(values, reference)
    reference_mean = estimate(reference).mean
    if math.isnan(difference.mean) or not reference_mean:
        return Relative(math.nan, math.nan, "tied")
    verdict = "tied" if difference.includes_zero else "won" if difference.mean > 0 else "lost"
    percent = 100 * difference.mean / reference_mean
    return Relative(percent, 100 * difference.half_width / reference_mean, verdict)


def cases_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per scenario, requirement and policy.

    Gains and regrets are in % of the mean of their reference. Positive gains are good, positive
    regrets bad. `best` is the fixed CCA with the highest mean over the runs, which is known only in
    hindsight. `oracle` is the best fixed CCA of each run.

    Args:
        runs: a row per run: `scenario`, `label`, `policy` and `requirement` (empty for fixed
            CCAs), `seed`, the metrics, `switches`, `returns`, `duration_s`.
    """
    rows = []
    for scenario, scenario_runs in runs.groupby("scenario", sort=False):
        fixed = scenario_runs[scenario_runs["policy"] == ""]
        selected = scenario_runs[scenario_runs["policy"] != ""]
        for (requirement, policy), group in selected.groupby(["requirement", "policy"], sort=False):
            values = series(fixed, str(requirement))
            rows.append(
                {
                    "scenario": scenario,
                    "requirement": requirement,
                    "policy": policy,
                    **_case(values, group, requirement_metric(str(requirement))),
                }
            )
    return pd.DataFrame(rows)


def series(runs: pd.DataFrame, requirement: str) -> dict[str, list[float]]:
    """Returns the values of the requirement's metric by label, in the order of the seeds."""
    metric = requirement_metric(requirement)
    ordered = runs.sort_values("seed")
    return {
        str(label): group[metric].astype(float).tolist()
        for label, group in ordered.groupby("label", sort=False)
    }


def best_of(values: Mapping[str, Sequence[float]]) -> str:
    """Returns the label with the highest mean; among equals, the first."""
    means = {name: estimate(value).mean for name, value in values.items()}
    return max(means, key=lambda name: -math.inf if math.isnan(means[name]) else means[name])


def oracle_of(values: Mapping[str, Sequence[float]]) -> list[float]:
    """Returns the highest value of each run; NaN where no label has one."""
    table = np.array(list(values.values()), dtype=float)
    filled = np.where(np.isnan(table), -np.inf, table).max(axis=0)
    return [math.nan if value == -np.inf else float(value) for value in filled]


def _case(fixed: Mapping[str, list[float]], runs: pd.DataFrame, metric: str) -> dict[str, object]:
    runs = runs.sort_values("seed")
    values = runs[metric].astype(float).tolist()
    best = best_of(fixed)
    rivals = {"default": fixed[DEFAULT], "best": fixed[best], "oracle": oracle_of(fixed)}
    against = {name: relative(values, rivals[name]) for name in RIVALS}
    minutes = runs["duration_s"].sum() / 60
    return {
        "metric": metric,
        "mean": estimate(values).mean,
        "default_mean": estimate(fixed[DEFAULT]).mean,
        "best_cca": best,
        "best_mean": estimate(fixed[best]).mean,
        "oracle_mean": estimate(rivals["oracle"]).mean,
        "gain": against["default"].percent,
        "gain_ci95": against["default"].ci95,
        "regret": -against["best"].percent,
        "regret_ci95": against["best"].ci95,
        "oracle_regret": -against["oracle"].percent,
        **{f"against_{name}": result.verdict for name, result in against.items()},
        "switches_per_min": float(runs["switches"].sum() / minutes),
        "returns_per_min": float(runs["returns"].sum() / minutes),
        "switched": bool(runs["switches"].any()),
    }


def pairwise_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns every policy against every fixed CCA and every other policy, case by case.

    Columns: `scenario`, `requirement`, `policy`, `rival`, `percent`, `ci95`, `verdict`.
    """
    rows = []
    for (scenario, requirement), group in runs[runs["policy"] != ""].groupby(
        ["scenario", "requirement"], sort=False
    ):
        fixed = runs[(runs["scenario"] == scenario) & (runs["policy"] == "")]
        policies = series(group.assign(label=group["policy"]), str(requirement))
        rivals = {**series(fixed, str(requirement)), **policies}
        case = {"scenario": scenario, "requirement": requirement}
        rows += [
            {**case, "policy": policy, "rival": rival, **relative(values, rival_values)._asdict()}
            for policy, values in policies.items()
            for rival, rival_values in rivals.items()
            if rival != policy
        ]
    return pd.DataFrame(rows)


def summary_of(cases: pd.DataFrame) -> pd.DataFrame:
    """Returns counts of cases and means: a row per policy and requirement, and one for all of them.

    `better_than_best` counts cases with a mean above that of the best in hindsight, `won_best` those
    of them in which the difference is significant.
    """
    rows = []
    for policy, group in cases.groupby("policy", sort=False):
        parts = list(group.groupby("requirement", sort=False))
        for requirement, part in [*parts, *([("all", group)] if len(parts) > 1 else [])]:
            rows.append({"policy": policy, "requirement": requirement, **_summary(part)})
    return pd.DataFrame(rows)


def _summary(cases: pd.DataFrame) -> dict[str, object]:
    gain = estimate(cases["gain"].tolist())
    regret = estimate(cases["regret"].tolist())
    return {
        "cases": len(cases),
        "gain": gain.mean,
        "gain_ci95": gain.half_width,
        "regret": regret.mean,
        "regret_ci95": regret.half_width,
        "oracle_regret": estimate(cases["oracle_regret"].tolist()).mean,
        "large_gains": int((cases["gain"] > LARGE_GAIN_PERCENT).sum()),
        "reached_best": int((cases["mean"] >= REACHED_SHARE * cases["best_mean"]).sum()),
        "better_than_best": int((cases["mean"] > cases["best_mean"]).sum()),
        **{
            f"{verdict}_{rival}": int((cases[f"against_{rival}"] == verdict).sum())
            for rival in RIVALS
            for verdict in ("won", "tied", "lost")
        },
        "switches_per_min": float(cases["switches_per_min"].mean()),
        "returns_per_min": float(cases["returns_per_min"].mean()),
    }


def won_tied_lost(row: Mapping[Any, Any], rival: str) -> str:
    """Returns the counts of won, tied and lost cases against a rival, such as `12/3/1`."""
    return "/".join(str(row[f"{verdict}_{rival}"]) for verdict in ("won", "tied", "lost"))
