"""Tally of cases by their outcome (atxutegi2018-thesis section 6.3.4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from celltcp.scenarios.requirements import requirement_metric
from celltcp.selection.cases import LARGE_GAIN_PERCENT, best_of, relative, series

#: Outcomes of a case.
OUTCOMES = ("one from the start", "over 5 %", "up to 5 %", "worse")

#: Counts of the thesis in its 36 cases.
PUBLISHED = {"one from the start": 11, "over 5 %": 10, "up to 5 %": 13, "worse": 2}

#: The congestion controls that the thesis selected from.
THESIS_CCAS = ("cubic", "reno", "bbr", "westwood", "illinois")

#: Definition of the outcomes.
RULE = (
    "A policy is measured against the best fixed CCA in hindsight, by means. "
    "One from the start: it changed nothing in any run of the case, and is no worse than that one "
    "(the paired interval includes zero, or it is better). Else its mean is over 5 % higher, higher by "
    "up to 5 %, or not higher, which is worse."
)


def outcome(percent: float, verdict: str, *, has_switched: bool) -> str:
    """Returns the outcome of a case from the gain over the best fixed CCA."""
    if not has_switched and verdict != "lost":
        return OUTCOMES[0]
    if percent > LARGE_GAIN_PERCENT:
        return OUTCOMES[1]
    return OUTCOMES[2] if percent > 0 else OUTCOMES[3]


def tally_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns counts of cases per policy and outcome, against all fixed CCAs and those of the thesis.

    Columns: `policy`, `among` (`"all"` or `"thesis"`), `cases`, and the outcomes. `"thesis"` is there
    only if all of its five CCAs were run.
    """
    fixed = runs[runs["policy"] == ""]
    among: dict[str, Sequence[str]] = {"all": list(dict.fromkeys(fixed["label"]))}
    if set(THESIS_CCAS) <= set(among["all"]) and set(THESIS_CCAS) != set(among["all"]):
        among["thesis"] = THESIS_CCAS
    rows = []
    for policy, group in runs[runs["policy"] != ""].groupby("policy", sort=False):
        for name, ccas in among.items():
            outcomes = _outcomes(group, fixed[fixed["label"].isin(ccas)])
            counts = {outcome: outcomes.count(outcome) for outcome in OUTCOMES}
            rows.append({"policy": policy, "among": name, "cases": len(outcomes), **counts})
    return pd.DataFrame(rows)


def _outcomes(runs: pd.DataFrame, fixed: pd.DataFrame) -> list[str]:
    """Returns the outcome of each case of a policy."""
    result = []
    for (scenario, requirement), case in runs.groupby(["scenario", "requirement"], sort=False):
        fixed_values = series(fixed[fixed["scenario"] == scenario], str(requirement))
        values = case.sort_values("seed")[requirement_metric(str(requirement))].astype(float).tolist()
        against = relative(values, fixed_values[best_of(fixed_values)])
        result.append(
            outcome(against.percent, against.verdict, has_switched=bool(case["switches"].any()))
        )
    return result
