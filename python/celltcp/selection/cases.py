"""Cases: a policy for a requirement on a scenario, compared with fixed CCAs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from celltcp.results.statistics import Estimate, estimate, paired_difference
from celltcp.scenarios.requirements import requirement_metric
from celltcp.selection.candidates import DEFAULT

#: Rivals of a policy in each case, in addition to other policies.
RIVALS = ("default", "best", "oracle")

#: Minimum share of the best in hindsight for a case to count as having reached it.
REACHED_SHARE = 0.95

#: Minimum gain over the default that counts as large, %, as in atxutegi2018-thesis section 6.3.4.
LARGE_GAIN_PERCENT = 5.0


class Relative(NamedTuple):
    """Paired difference, in % of the mean of the reference."""

    percent: float
    ci95: float
    verdict: str


def relative(mine: Sequence[float], other: Sequence[float]) -> Relative:
    """Compares `mine` with `other`, run by run over the same seeds: won, lost or tied.

    Tied means that the 95 % interval of the paired difference includes zero.
    """
    result: Estimate = paired_difference(mine, other)
    level = estimate(other).mean
    if math.isnan(result.mean) or not level:
        return Relative(math.nan, math.nan, "tied")
    verdict = "tied" if result.includes_zero else "won" if result.mean > 0 else "lost"
    return Relative(100 * result.mean / level, 100 * result.half / level, verdict)


def cases_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per scenario, requirement and policy.

    Gains and regrets are in % of the mean of their reference: positive gains are good,
    positive regrets bad. `best` is the fixed CCA with the highest mean over the runs, known in
    hindsight only; `oracle` is in each run the best fixed CCA of that run.

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


def _case(fixed: Mapping[str, list[float]], mine: pd.DataFrame, metric: str) -> dict[str, object]:
    mine = mine.sort_values("seed")
    values = mine[metric].astype(float).tolist()
    best = best_of(fixed)
    rivals = {"default": fixed[DEFAULT], "best": fixed[best], "oracle": oracle_of(fixed)}
    against = {name: relative(values, rivals[name]) for name in RIVALS}
    minutes = mine["duration_s"].sum() / 60
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
        "switches_per_min": float(mine["switches"].sum() / minutes),
        "returns_per_min": float(mine["returns"].sum() / minutes),
        "switched": bool(mine["switches"].any()),
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
        stay = series(fixed, str(requirement))
        select = series(group.assign(label=group["policy"]), str(requirement))
        for policy, values in select.items():
            rivals = {**stay, **{name: each for name, each in select.items() if name != policy}}
            for rival, rival_values in rivals.items():
                result = relative(values, rival_values)
                case = {"scenario": scenario, "requirement": requirement}
                rows.append({**case, "policy": policy, "rival": rival, **result._asdict()})
    return pd.DataFrame(rows)


def summary_of(cases: pd.DataFrame) -> pd.DataFrame:
    """Returns counts of cases and means: a row per policy and requirement, and one for all of them.

    `better_than_best` counts cases with a mean above that of the best in hindsight, `won_best` those
    in which that is significant.
    """
    rows = []
    for policy, group in cases.groupby("policy", sort=False):
        parts = list(group.groupby("requirement", sort=False))
        for requirement, part in [*parts, *([("all", group)] if len(parts) > 1 else [])]:
            rows.append({"policy": policy, "requirement": requirement, **_checks(part)})
    return pd.DataFrame(rows)


def _checks(part: pd.DataFrame) -> dict[str, object]:
    counts = {
        f"{verdict}_{rival}": int((part[f"against_{rival}"] == verdict).sum())
        for rival in RIVALS
        for verdict in ("won", "tied", "lost")
    }
    gain = estimate(part["gain"].tolist())
    regret = estimate(part["regret"].tolist())
    return {
        "cases": len(part),
        "gain": gain.mean,
        "gain_ci95": gain.half,
        "regret": regret.mean,
        "regret_ci95": regret.half,
        "oracle_regret": estimate(part["oracle_regret"].tolist()).mean,
        "large_gains": int((part["gain"] > LARGE_GAIN_PERCENT).sum()),
        "reached_best": int((part["mean"] >= REACHED_SHARE * part["best_mean"]).sum()),
        "better_than_best": int((part["mean"] > part["best_mean"]).sum()),
        **counts,
        "switches_per_min": float(part["switches_per_min"].mean()),
        "returns_per_min": float(part["returns_per_min"].mean()),
    }


def won_tied_lost(row: Mapping[Any, Any], rival: str) -> str:
    """Returns the counts of cases against a rival, such as `12/3/1`."""
    return "/".join(str(row[f"{verdict}_{rival}"]) for verdict in ("won", "tied", "lost"))
