"""Made-up runs of evaluations."""

from __future__ import annotations

import pandas as pd

from celltcp.selection import Evaluation


def made_up(
    selected: list[float], switches: int, cubic: list[float], reno: list[float]
) -> pd.DataFrame:
    """Runs of a case for goodput with a policy and two fixed CCAs."""
    rows = []
    for label, policy, values in (("cubic", "", cubic), ("reno", "", reno), ("auto:p", "p", selected)):
        for seed, value in enumerate(values):
            rows.append(
                {
                    "scenario": "s",
                    "label": label,
                    "policy": policy,
                    "requirement": "goodput" if policy else "",
                    "seed": seed,
                    "goodput_mbps": value,
                    "pm_balanced": 0.5,
                    "pm_delay": 0.5,
                    "switches": switches if policy else 0,
                    "returns": 0,
                    "duration_s": 30.0,
                }
            )
    return pd.DataFrame(rows)


def evaluation_of(runs: pd.DataFrame, requirement: str, each: int = 2) -> Evaluation:
    """An evaluation of the policy `p` with these runs."""
    told = {
        "engine": "native",
        "policies": ["p"],
        "against": [],
        "requirements": [requirement],
        "hints": {},
        "history": {},
        "left_out": [],
        "runs": each,
    }
    frames = {"runs": runs, "decisions": pd.DataFrame(), "histories": pd.DataFrame()}
    return Evaluation(frames, told)
