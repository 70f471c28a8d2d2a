"""Baselines: choices among fixed CCAs whose regret a policy has to undercut."""

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

#: Baselines in the order of the table. The first is the CCA with the lowest mean regret over all
#: scenarios, the second that over the other families of scenarios. The third is the better of two CCAs
#: in each scenario, the last the best CCA of each run.
BASELINES = ("best constant", "best constant, family left out", "better of two", "oracle")


def family_of(scenario: str) -> str:
    """Returns the family of a scenario: its folder and the first word of its name, without a number."""
    folder, _, name = short_name(scenario).rpartition("/")
    word = re.split(r"[-_.@]", name, maxsplit=1)[0]
    return f"{folder}/{word.rstrip('0123456789') or word}"


class Regrets(NamedTuple):
    """Regrets to the best fixed CCA of each scenario, in %: a row per scenario.

    The oracle chooses the best CCA of each run, so its regret is zero or less.
    """

    #: A column per fixed CCA.
    fixed: pd.DataFrame
    #: A column per policy.
    policies: pd.DataFrame
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
        kinds = (fixed, policies, {"oracle": oracle_of(fixed)})
        for frame, values in zip(frames, kinds, strict=True):
            # Adding zero turns -0.0 into 0.0.
            regrets = {name: 0.0 - relative(metric, best).percent for name, metric in values.items()}
            frame[str(scenario)] = regrets
    return Regrets(*(pd.DataFrame.from_dict(frame, orient="index") for frame in frames))


def baselines_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per requirement and baseline, and a row per requirement and policy.

    Columns: `requirement`, `baseline` (empty for policies), `choice` (the policy, or the CCAs of the
    baseline), and `cases`. Of these the mean `regret` is in %, with half its confidence interval
    `regret_ci95`, and `worst` is the highest. For each policy, `ahead_POLICY` is the paired
    difference of the row's regret to that of the policy, with half its interval `ahead_ci95_POLICY`.

    Args:
        runs: as for `celltcp.selection.cases.cases_of`.
    """
    rows = []
    for requirement in dict.fromkeys(runs.loc[runs["policy"] != "", "requirement"]):
        regrets = regrets_of(runs, str(requirement))
        policies = {str(name): regrets.policies[name] for name in regrets.policies}
        measured = [
            *(("", name, regret) for name, regret in policies.items()),
            *_baselines(regrets),
        ]
        for baseline, choice, regret in measured:
            values = [float(value) for value in regret]
            mean = estimate(values)
            row: dict[str, object] = {
                "requirement": requirement,
                "baseline": baseline,
                "choice": choice,
                "cases": int(regret.notna().sum()),
                "regret": mean.mean,
                "regret_ci95": mean.half,
                "worst": float(regret.max()),
            }
            for name, of_policy in policies.items():
                ahead = paired_difference(values, [float(value) for value in of_policy])
                row[f"ahead_{name}"] = ahead.mean
                row[f"ahead_ci95_{name}"] = ahead.half
            rows.append(row)
    return pd.DataFrame(rows)


def _baselines(regrets: Regrets) -> list[tuple[str, str, pd.Series]]:
    """Returns name, choice and regrets by scenario of each baseline.

    Fixed CCAs without a value in some scenario are not considered.
    """
    fixed = regrets.fixed.dropna(axis="columns")
    if fixed.empty:
        return []
    best = str(fixed.mean().idxmin())
    result = [(BASELINES[0], best, fixed[best])]
    families = _families([str(name) for name in fixed.index])
    if len(set(families)) > 1:
        left_out = _family_left_out(fixed, families)
        chosen = dict.fromkeys(left_out.sort_index()["choice"])
        result.append((BASELINES[1], ", ".join(chosen), left_out["regret"]))
    if len(fixed.columns) > 1:
        pair, regret = _better_of_two(fixed)
        result.append((BASELINES[2], " or ".join(pair), regret))
    result.append((BASELINES[3], "best of each run", regrets.oracle["oracle"]))
    return result


def _families(scenarios: Sequence[str]) -> list[str]:
    """Returns the family of each scenario; if all are of one family, each scenario is a family."""
    families = [family_of(scenario) for scenario in scenarios]
    return families if len(set(families)) > 1 else list(scenarios)


def _family_left_out(fixed: pd.DataFrame, families: Sequence[str]) -> pd.DataFrame:
    """Returns by scenario the CCA with the lowest mean regret in other families, and its regret."""
    labels = np.array(families)
    rows = {}
    for family in dict.fromkeys(families):
        choice = str(fixed[labels != family].mean().idxmin())
        for scenario, regret in fixed.loc[labels == family, choice].items():
            rows[scenario] = {"choice": choice, "regret": float(regret)}
    return pd.DataFrame.from_dict(rows, orient="index").loc[fixed.index]


def _better_of_two(fixed: pd.DataFrame) -> tuple[tuple[str, str], pd.Series]:
    """Returns the pair of CCAs whose better one per scenario has the lowest mean regret."""
    pairs = list(itertools.combinations([str(name) for name in fixed], 2))
    means = [float(fixed[list(pair)].min(axis="columns").mean()) for pair in pairs]
    pair = pairs[int(np.argmin(means))]
    return pair, fixed[list(pair)].min(axis="columns")
