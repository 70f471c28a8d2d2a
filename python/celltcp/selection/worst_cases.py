"""Worst cases of policies, with the cause of each regret."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from celltcp.selection.baselines import regrets_of

#: Number of worst cases per policy.
_CASES_PER_POLICY = 5

#: Minimum share of a regret that the CCAs in use must explain.
_MIN_EXPLAINED_SHARE = 0.5

#: Share of the time that counts as nearly all of it.
_NEARLY_ALL_SHARE = 0.8


#: Columns of the worst cases.
_COLUMNS = (
    *(
        "policy",
        "scenario",
        "requirement",
        "regret",
        "regret_ci95",
        "gain",
        "best_cca",
        "used",
        "cause",
    ),
)


class Use(NamedTuple):
    """Use of CCAs by a policy in the runs of a case."""

    #: Share of the time with each CCA, the longest first.
    shares: dict[str, float]
    #: Most frequent CCA at the end of the runs.
    last: str
    #: Mean time of the last switch to it, s.
    since: float


def worst_cases_of(cases: pd.DataFrame, runs: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Returns the cases with the highest regret of each policy, worst first.

    Columns: `policy`, `scenario`, `requirement`, `regret`, `regret_ci95`, `gain`, `best_cca`, `used`
    (CCAs and their shares of the time), `cause` in words. Cases without regret are left out.

    Args:
        cases: as `celltcp.selection.cases.cases_of` returns them.
        runs: as for that function.
        decisions: a row per decision: `scenario`, `policy`, `requirement`, `seed`, `t_ns`, `to_cca`.
    """
    regrets = {str(each): regrets_of(runs, str(each)) for each in dict.fromkeys(cases["requirement"])}
    rows = []
    for policy, group in cases[cases["regret"] > 0].groupby("policy", sort=False):
        ordered = group.sort_values("regret", ascending=False, kind="stable").head(_CASES_PER_POLICY)
        for case in ordered.to_dict("records"):
            scenario, requirement = case["scenario"], str(case["requirement"])
            use = _use(runs, decisions, (scenario, requirement, policy))
            alone = regrets[requirement].fixed.loc[scenario]
            rows.append(
                {
                    "policy": policy,
                    **{key: case[key] for key in ("scenario", "requirement", "regret", "regret_ci95")},
                    "gain": case["gain"],
                    "best_cca": case["best_cca"],
                    "used": _used(use),
                    "cause": _cause({str(key): value for key, value in case.items()}, use, alone),
                }
            )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _use(
    runs: pd.DataFrame, decisions: pd.DataFrame, case: tuple[object, object, object]
) -> Use | None:
    """Returns the use of CCAs in a case; None without decisions.

    The CCA of a decision counts until the next decision of the run. That is exact for one connection
    at a time.
    """
    keys = ("scenario", "requirement", "policy")
    if decisions.empty:
        return None
    mine = decisions
    case_runs = runs
    for key, value in zip(keys, case, strict=True):
        mine, case_runs = mine[mine[key] == value], case_runs[case_runs[key] == value]
    if mine.empty:
        return None
    ends = dict(zip(case_runs["seed"], case_runs["duration_s"], strict=True))
    times: Counter[str] = Counter()
    lasts: Counter[str] = Counter()
    since: dict[str, list[float]] = {}
    for seed, own in mine.sort_values("t_ns", kind="stable").groupby("seed", sort=False):
        start_times = [float(t) / 1e9 for t in own["t_ns"]]
        ccas = [str(cca) for cca in own["to_cca"]]
        for cca, begin, end in zip(
            ccas, start_times, [*start_times[1:], float(ends[seed])], strict=True
        ):
            times[cca] += end - begin  # type: ignore[assignment]
        first = len(ccas) - 1
        while first and ccas[first - 1] == ccas[-1]:
            first -= 1
        lasts[ccas[-1]] += 1
        since.setdefault(ccas[-1], []).append(start_times[first])
    total = sum(times.values()) or 1
    last = lasts.most_common(1)[0][0]
    shares = {cca: time / total for cca, time in times.most_common()}
    return Use(shares, last, sum(since[last]) / len(since[last]))


def _used(use: Use | None) -> str:
    if use is None:
        return ""
    return ", ".join(f"{cca} {100 * share:.0f} %" for cca, share in use.shares.items() if share >= 0.01)


def _cause(case: Mapping[str, object], use: Use | None, regrets: pd.Series) -> str:
    """Returns the cause of a regret in words, from the regrets of the CCAs alone in the case.

    If the CCAs in use would on average have had half of the regret without any change, the choice is
    the cause: it was wrong to the end, or right but late. Otherwise the changes themselves are.
    """
    if use is None:
        return "no decision is recorded"
    alone = {str(cca): float(each) for cca, each in regrets.items() if not math.isnan(each)}
    known = {cca: share for cca, share in use.shares.items() if cca in alone}
    if not known:
        return "its CCAs did not run alone"
    regret = float(str(case["regret"]))
    expected = sum(share * alone[cca] for cca, share in known.items()) / sum(known.values())
    main, share = next(iter(known.items()))
    if expected < _MIN_EXPLAINED_SHARE * regret:
        pace = f"{float(str(case['switches_per_min'])):.1f} a minute"
        back = f"{float(str(case['returns_per_min'])):.1f} taken back"
        return f"changes: its CCAs alone lose {expected:.1f} %; {pace}, {back}"
    good = alone.get(use.last, math.inf) <= _MIN_EXPLAINED_SHARE * regret
    if good and use.since > 0:
        return (
            f"late: {use.last}, which alone loses {alone[use.last]:.1f} %, came after {use.since:.1f} s"
        )
    whole = "" if share >= _NEARLY_ALL_SHARE else " of the time mostly"
    return f"wrong CCA: {main}{whole}, which alone loses {alone[main]:.1f} %"
