"""Best constant: the fixed CCA that is best over all cases. A policy must beat it to be useful."""

from __future__ import annotations

import pandas as pd

from celltcp.selection.cases import cases_of, summary_of


def best_constant_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns the fixed CCA with the lowest mean regret over all cases, per requirement and for all.

    It is measured like a policy that never changes the CCA: `policy` is its name, the other columns are
    those of `summary_of`. One that has no value in some case is not considered.

    Args:
        runs: as for `cases_of`.
    """
    fixed = runs[runs["policy"] == ""]
    wanted = runs.loc[runs["policy"] != "", ["scenario", "requirement"]].drop_duplicates()
    as_policies = fixed.drop(columns=["policy", "requirement"]).merge(wanted, on="scenario")
    as_policies["policy"] = as_policies["label"]
    cases = cases_of(pd.concat([fixed, as_policies], ignore_index=True))
    known = cases.groupby("policy")["regret"].transform(lambda regrets: regrets.notna().all())
    checks = summary_of(cases[known])
    if checks.empty:
        return checks
    lowest = checks.groupby("requirement", sort=False)["regret"].idxmin()
    best: pd.DataFrame = checks.loc[lowest].reset_index(drop=True)
    return best
