"""Best constant: the fixed CCA that is best over all cases. A policy must beat it to be useful."""

from __future__ import annotations

import pandas as pd

from celltcp.selection.cases import cases_of, summary_of


def best_constant_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns the fixed CCA with the lowest mean regret over all cases, per requirement and for all.

    It is evaluated like a policy that never switches. `policy` is the name of the CCA; other columns
    are those of `summary_of`. CCAs without a value in some case are left out.

    Args:
        runs: as for `cases_of`.
    """
    fixed = runs[runs["policy"] == ""]
    case_keys = runs.loc[runs["policy"] != "", ["scenario", "requirement"]].drop_duplicates()
    as_policies = fixed.drop(columns=["policy", "requirement"]).merge(case_keys, on="scenario")
    as_policies["policy"] = as_policies["label"]
    cases = cases_of(pd.concat([fixed, as_policies], ignore_index=True))
    is_complete = cases.groupby("policy")["regret"].transform(lambda regrets: regrets.notna().all())
    summary = summary_of(cases[is_complete])
    if summary.empty:
        return summary
    lowest = summary.groupby("requirement", sort=False)["regret"].idxmin()
    best: pd.DataFrame = summary.loc[lowest].reset_index(drop=True)
    return best
