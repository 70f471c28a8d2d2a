"""Worst cases of policies, with the cause of each regret."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from celltcp.selection.baselines import regrets_of

#: Number of worst cases per policy.
_CASES_PER_POLICY = 5

#: Share of a regret from which on the choice of CCAs is its cause, rather than the switches.
_MIN_EXPLAINED_SHARE = 0.5

#: Share of the time that counts as nearly all of it.
_NEARLY_ALL_SHARE = 0.8

#: Columns that worst cases have from their cases.
_CASE_COLUMNS = ("policy", "scenario", "requirement", "regret", "regret_ci95", "gain", "best_cca")


class Use(NamedTuple):
    """Use of CCAs by a policy in the runs of a case."""

    #: Share of the time with each CCA, largest first.
    shares: dict[str, float]
    #: Most frequent CCA at the end of the runs.
    last_cca: str
    #: Mean time of the last switch to it, s.
    last_switch_s: float


def worst_cases_of(cases: pd.DataFrame, runs: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Returns the cases with the highest regret of each policy, worst first.

    Columns: `policy`, `scenario`, `requirement`, `regret`, `regret_ci95`, `gain`, `best_cca`, `used`
    (CCAs and their shares of the time), `cause` (text). Cases without regret are left out.

    Args:
        cases: as `celltcp.selection.cases.cases_of` returns them.
        runs: as for that function.
        decisions: a row per decision: `scenario`, `policy`, `requirement`, `seed`, `t_ns`, `to_cca`.
    """
    requirements = set(cases["requirement"])
    regrets = {requirement: regrets_of(runs, requirement).fixed for requirement in requirements}
    rows = []
    for _, group in cases[cases["regret"] > 0].groupby("policy", sort=False):
        worst = group.sort_values("regret", ascending=False, kind="stable").head(_CASES_PER_POLICY)
        for case in worst.to_dict("records"):
            use = _use(runs, decisions, case)
            fixed = regrets[case["requirement"]].loc[case["scenario"]]
            row = {name: case[name] for name in _CASE_COLUMNS}
            rows.append({**row, "used": _used_text(use), "cause": _cause(case, use, fixed)})
    return pd.DataFrame(rows, columns=[*_CASE_COLUMNS, "used", "cause"])


def _use(runs: pd.DataFrame, decisions: pd.DataFrame, case: Mapping[Any, Any]) -> Use | None:
    """Returns the use of CCAs in a case; None without decisions.

    The CCA of a decision counts until the next decision of the run, which is exact for one connection
    at a time.
    """
    if decisions.empty:
        return None
    for key in ("scenario", "requirement", "policy"):
        decisions, runs = decisions[decisions[key] == case[key]], runs[runs[key] == case[key]]
    if decisions.empty:
        return None
    run_ends_s = dict(zip(runs["seed"], runs["duration_s"], strict=True))
    times_s: dict[str, float] = {}
    last_switches_s: dict[str, list[float]] = {}
    for seed, rows in decisions.sort_values("t_ns", kind="stable").groupby("seed", sort=False):
        starts_s = [float(t_ns) / 1e9 for t_ns in rows["t_ns"]]
        ccas = [str(cca) for cca in rows["to_cca"]]
        ends_s = [*starts_s[1:], float(run_ends_s[seed])]
        for cca, start_s, end_s in zip(ccas, starts_s, ends_s, strict=True):
            times_s[cca] = times_s.get(cca, 0.0) + (end_s - start_s)
        index = len(ccas) - 1
        while index and ccas[index - 1] == ccas[-1]:
            index -= 1
        last_switches_s.setdefault(ccas[-1], []).append(starts_s[index])
    total_s = sum(times_s.values()) or 1
    last_cca = max(last_switches_s, key=lambda cca: len(last_switches_s[cca]))
    by_time = sorted(times_s.items(), key=lambda item: -item[1])
    shares = {cca: time_s / total_s for cca, time_s in by_time}
    return Use(shares, last_cca, float(np.mean(last_switches_s[last_cca])))


def _used_text(use: Use | None) -> str:
    if use is None:
        return ""
    return ", ".join(f"{cca} {100 * share:.0f} %" for cca, share in use.shares.items() if share >= 0.01)


def _cause(case: Mapping[Any, Any], use: Use | None, fixed_regrets: pd.Series) -> str:
    """Returns the cause of a regret as text, from the regrets of fixed CCAs in the case.

    If the CCAs in use have at least half of the regret when fixed, weighted by their time, their choice
    is the cause: wrong to the end, or right but late. Otherwise the switches are.
    """
    if use is None:
        return "no decision is recorded"
    fixed = {str(cca): float(regret) for cca, regret in fixed_regrets.dropna().items()}
    shares = {cca: share for cca, share in use.shares.items() if cca in fixed}
    if not shares:
        return "its CCAs did not run alone"
    regret = float(case["regret"])
    expected = sum(share * fixed[cca] for cca, share in shares.items()) / sum(shares.values())
    if expected < _MIN_EXPLAINED_SHARE * regret:
        switches = f"{case['switches_per_min']:.1f} a minute, {case['returns_per_min']:.1f} taken back"
        return f"changes: its CCAs alone lose {expected:.1f} %; {switches}"
    last_cca = use.last_cca
    is_right = fixed.get(last_cca, math.inf) <= _MIN_EXPLAINED_SHARE * regret
    if is_right and use.last_switch_s > 0:
        return (
            f"late: {last_cca}, which alone loses {fixed[last_cca]:.1f} %, came after "
            f"{use.last_switch_s:.1f} s"
        )
    main_cca, share = next(iter(shares.items()))
    mostly = "" if share >= _NEARLY_ALL_SHARE else " of the time mostly"
    return f"wrong CCA: {main_cca}{mostly}, which alone loses {fixed[main_cca]:.1f} %"
