"""Baselines: choices among fixed CCAs whose regret a useful policy must undercut."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from celltcp.results.statistics import estimate, paired_difference
from celltcp.scenarios.scenario_list import short_name
from celltcp.selection.cases import best_of, oracle_of, relative, series

#: CCA with the lowest mean regret over all scenarios.
_BEST_CONSTANT = "best constant"
#: For each family of scenarios, the CCA with the lowest mean regret over the other families.
_FAMILY_LEFT_OUT = "best constant, family left out"
#: The better of two CCAs in each scenario.
_BETTER_OF_TWO = "better of two"
#: The best CCA of each run.
_ORACLE = "oracle"


def family_of(scenario: str) -> str:
    """Returns the family of a scenario: its folder and the first word of its name, without digits."""
    folder, _, name = short_name(scenario).rpartition("/")
    word = re.split(r"[-_.@]", name, maxsplit=1)[0]
    return f"{folder}/{word.rstrip('0123456789') or word}"


class Regrets(NamedTuple):
    """Regrets to the best fixed CCA of each scenario, in %: a row per scenario."""

    #: A column per fixed CCA.
    fixed: pd.DataFrame
    #: A column per policy.
    policies: pd.DataFrame
    #: Column `oracle`: zero or less, because the oracle chooses the best CCA of each run.
    oracle: pd.DataFrame


def regrets_of(runs: pd.DataFrame, requirement: str) -> Regrets:
    """Returns the regrets of fixed CCAs, policies and the oracle.

    Args:
        runs: as for `celltcp.selection.cases.cases_of`.
        requirement: the requirement of at least one policy in `runs`.
    """
    frames: tuple[dict[str, dict[str, float]], ...] = ({}, {}, {})
    for scenario, group in runs.groupby("scenario", sort=False):
        fixed = series(group[group["policy"] == ""], requirement)
        selected = group[(group["policy"] != "") & (group["requirement"] == requirement)]
        if selected.empty:
            continue
        best = fixed[best_of(fixed)]
        # If no CCA meets a bounded requirement, its mean is zero, and regrets in % are undefined.
        if not estimate(best).mean:
            continue
        policies = series(selected.assign(label=selected["policy"]), requirement)
        groups = (fixed, policies, {_ORACLE: oracle_of(fixed)})
        for frame, group_values in zip(frames, groups, strict=True):
            frame[str(scenario)] = {
                # Subtraction from zero, unlike negation, gives no -0.0.
                name: 0.0 - relative(values, best).percent
                for name, values in group_values.items()
            }
    return Regrets(*(pd.DataFrame.from_dict(frame, orient="index") for frame in frames))


def baselines_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per requirement and baseline, and a row per requirement and policy.

    Columns: `requirement`, `baseline` (empty for policies), `choice` (the policy, or the CCAs of the
    baseline), `cases` (their number), `regret` (mean over cases, %) with the half width of its
    interval `regret_ci95`, and `worst` (the highest regret). For each policy, `ahead_POLICY` is the
    paired difference of the row's regret to that of the policy, with `ahead_ci95_POLICY`.

    Args:
        runs: as for `celltcp.selection.cases.cases_of`.
    """
    rows = []
    for requirement in dict.fromkeys(runs.loc[runs["policy"] != "", "requirement"]):
        regrets = regrets_of(runs, str(requirement))
        policies = {str(name): regrets.policies[name] for name in regrets.policies}
        choices = [("", name, regret) for name, regret in policies.items()]
        for baseline, choice, regret in [*choices, *_baselines(regrets)]:
            values = regret.tolist()
            mean = estimate(values)
            row: dict[str, object] = {
                "requirement": requirement,
                "baseline": baseline,
                "choice": choice,
                "cases": int(regret.notna().sum()),
                "regret": mean.mean,
                "regret_ci95": mean.half_width,
                "worst": float(regret.max()),
            }
            for name, policy_regret in policies.items():
                ahead = paired_difference(values, policy_regret.tolist())
                row[f"ahead_{name}"] = ahead.mean
                row[f"ahead_ci95_{name}"] = ahead.half_width
            rows.append(row)
    return pd.DataFrame(rows)


def _baselines(regrets: Regrets) -> list[tuple[str, str, pd.Series]]:
    """Returns name, choice and regrets by scenario of each baseline.

    Fixed CCAs without a value in some scenario are left out.
    """
    fixed = regrets.fixed.dropna(axis="columns")
    if fixed.empty:
        return []
    best = str(fixed.mean().idxmin())
    result = [(_BEST_CONSTANT, best, fixed[best])]
    families = [family_of(str(scenario)) for scenario in fixed.index]
    if len(set(families)) == 1:
        # Scenarios of a single family are families of their own.
        families = [str(scenario) for scenario in fixed.index]
    if len(families) > 1:
        left_out = _family_left_out(fixed, families)
        choices = dict.fromkeys(left_out.sort_index()["choice"])
        result.append((_FAMILY_LEFT_OUT, ", ".join(choices), left_out["regret"]))
    if len(fixed.columns) > 1:
        pair, regret = _better_of_two(fixed)
        result.append((_BETTER_OF_TWO, " or ".join(pair), regret))
    result.append((_ORACLE, "best of each run", regrets.oracle[_ORACLE]))
    return result


def _family_left_out(fixed: pd.DataFrame, families: Sequence[str]) -> pd.DataFrame:
    """Returns by scenario the `choice`, the best CCA in other families, and its `regret`."""
    labels = np.array(families)
    choices = [str(fixed[labels != family].mean().idxmin()) for family in families]
    regrets = [float(fixed[cca].iloc[row]) for row, cca in enumerate(choices)]
    return pd.DataFrame({"choice": choices, "regret": regrets}, index=fixed.index)


def _better_of_two(fixed: pd.DataFrame) -> tuple[tuple[str, str], pd.Series]:
    """Returns the pair of CCAs whose better one per scenario has the lowest mean regret."""
    pairs = list(itertools.combinations([str(name) for name in fixed], 2))
    means = [float(fixed[list(pair)].min(axis="columns").mean()) for pair in pairs]
    pair = pairs[int(np.argmin(means))]
    return pair, fixed[list(pair)].min(axis="columns")
