"""Sets of the best CCAs of each case under each engine, and their overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from celltcp._core import KERNEL, NATIVE
from celltcp.campaign.engines import ENGINES
from celltcp.results.statistics import best_and_ties, estimate
from celltcp.scenarios.requirements import REQUIREMENTS
from celltcp.selection.cases import Relative, relative, series

#: Columns that identify a case.
_CASE = ["scenario", "requirement"]

#: Difference to the best if no congestion control delivered data.
_UNDEFINED = Relative(math.nan, math.nan, "tied")


def means_of(runs: pd.DataFrame, requirements: Sequence[str]) -> pd.DataFrame:
    """Returns the mean of every congestion control in every case under each engine.

    Columns: `scenario`, `requirement`, `engine`, `cca`, `metric`, its `mean` and the half width of its
    interval `ci95` (NaN without variance). `to_best` is the paired difference to the CCA with the
    highest mean under the engine, in % of that mean, with `to_best_ci95`. `best` is whether the CCA
    has the highest mean or is tied with it.

    Args:
        runs: a row per run: `engine`, `scenario`, `label`, `seed`, the metrics.
        requirements: of `celltcp.scenarios.requirements.REQUIREMENTS`.
    """
    rows: list[dict[str, Any]] = []
    for scenario, scenario_runs in runs.groupby("scenario", sort=False):
        for requirement in requirements:
            for engine, engine_runs in scenario_runs.groupby("engine", sort=False):
                by_cca = series(engine_runs, requirement)
                best = best_and_ties(by_cca)
                for cca, values in by_cca.items():
                    mean = estimate(values)
                    to_best = relative(values, by_cca[best[0]]) if best else _UNDEFINED
                    rows.append(
                        {
                            "scenario": scenario,
                            "requirement": requirement,
                            "engine": engine,
                            "cca": cca,
                            "metric": REQUIREMENTS[requirement],
                            "mean": mean.mean,
                            "ci95": mean.half_width,
                            "to_best": to_best.percent,
                            "to_best_ci95": to_best.ci95,
                            "best": cca in best,
                        }
                    )
    return pd.DataFrame(rows)


def overlaps_of(standings: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per case: the best CCAs under each engine, and whether the two sets overlap.

    Columns: `scenario`, `requirement`, per engine the best CCA followed by those tied with it
    (`native`, `kernel`), the CCAs in both sets (`both`), and `overlap`. `by_chance` is the probability
    that two random sets of these sizes overlap. `native_choice` is the difference to the best CCA
    under `kernel` in %, if the best CCA under `native` is used there; `kernel_choice` is the reverse.
    """
    rows: list[dict[str, Any]] = []
    for (scenario, requirement), case in standings.groupby(_CASE, sort=False):
        native, kernel = (_best_set(case, engine) for engine in ENGINES)
        both = [cca for cca in native if cca in kernel]
        rows.append(
            {
                "scenario": scenario,
                "requirement": requirement,
                "native": native,
                "kernel": kernel,
                "both": both,
                "overlap": bool(both),
                "by_chance": by_chance(case["cca"].nunique(), len(native), len(kernel)),
                "native_choice": _difference_of_first(case, KERNEL, native),
                "kernel_choice": _difference_of_first(case, NATIVE, kernel),
            }
        )
    return pd.DataFrame(rows)


def by_chance(ccas: int, first: int, second: int) -> float:
    """Returns the probability that random sets of `first` and `second` out of `ccas` CCAs overlap."""
    return 1.0 - math.comb(ccas - first, second) / math.comb(ccas, second)


def differences_of(standings: pd.DataFrame) -> pd.DataFrame:
    """Returns a row per CCA that is best, or tied with the best, under a single engine.

    Columns: `scenario`, `requirement`, `cca`, `overlap` of the case, `only` (the engine under which the
    CCA is best), and per engine the paired difference to the best CCA in %, with the half width of its
    interval (`native`, `native_ci95`, `kernel`, `kernel_ci95`).

    Cases without overlap come first, then those with the largest difference under the other engine.
    The CCAs of a case are sorted by that difference, too.
    """
    key = [*_CASE, "cca", "engine"]
    by_engine = standings.set_index(key)[["best", "to_best", "to_best_ci95"]].unstack("engine")
    best, to_best, half = by_engine["best"], by_engine["to_best"], by_engine["to_best_ci95"]
    rows = pd.DataFrame(
        {
            "overlap": (best[NATIVE] & best[KERNEL]).groupby(level=_CASE).transform("any"),
            "only": best[NATIVE].map({True: NATIVE, False: KERNEL}),
            "native": to_best[NATIVE],
            "native_ci95": half[NATIVE],
            "kernel": to_best[KERNEL],
            "kernel_ci95": half[KERNEL],
        }
    )
    # An undefined difference counts as infinite.
    difference = to_best[KERNEL].where(best[NATIVE], to_best[NATIVE]).abs().fillna(math.inf)
    rows = rows.assign(difference=difference)[best[NATIVE] != best[KERNEL]]
    rows["largest"] = rows.groupby(level=_CASE)["difference"].transform("max")
    order = {"overlap": True, "largest": False, **dict.fromkeys(_CASE, True), "difference": False}
    rows = rows.reset_index().sort_values(list(order), ascending=list(order.values()))
    return pd.DataFrame(rows.drop(columns=["difference", "largest"]).reset_index(drop=True))


def summary_of(overlaps: pd.DataFrame) -> pd.DataFrame:
    """Returns counts and means over cases: a row per requirement, and one for all of them.

    Columns: `requirement`, `cases`, `overlap` (cases whose sets overlap), `share` of them, mean
    `by_chance`, mean sizes of the sets (`native`, `kernel`, `both`). `same_best` counts the cases in
    which the same CCA has the highest mean under both engines. `native_in_kernel` and
    `kernel_in_native` count those in which the best CCA under one engine is in the set of the other.
    `native_choice` and `kernel_choice` are means in %.
    """
    parts = list(overlaps.groupby("requirement", sort=False))
    if len(parts) > 1:
        parts.append(("all", overlaps))
    rows = []
    for requirement, part in parts:
        pairs = zip(part["native"], part["kernel"], strict=True)
        non_empty = [(native, kernel) for native, kernel in pairs if len(native) and len(kernel)]
        rows.append(
            {
                "requirement": requirement,
                "cases": len(part),
                "overlap": int(part["overlap"].sum()),
                "share": float(part["overlap"].mean()),
                "by_chance": float(part["by_chance"].mean()),
                **{name: float(part[name].map(len).mean()) for name in (*ENGINES, "both")},
                "same_best": sum(native[0] == kernel[0] for native, kernel in non_empty),
                "native_in_kernel": sum(native[0] in kernel for native, kernel in non_empty),
                "kernel_in_native": sum(kernel[0] in native for native, kernel in non_empty),
                **{name: float(part[name].mean()) for name in ("native_choice", "kernel_choice")},
            }
        )
    return pd.DataFrame(rows)


def _best_set(case: pd.DataFrame, engine: str) -> list[str]:
    """Returns the best CCA under an engine, followed by those tied with it, by descending mean."""
    best = case[(case["engine"] == engine) & case["best"]]
    return [str(cca) for cca in best.sort_values("mean", ascending=False, kind="stable")["cca"]]


def _difference_of_first(case: pd.DataFrame, engine: str, ccas: Sequence[str]) -> float:
    """Returns the difference of the first of `ccas` to the best CCA under an engine, %."""
    if not ccas:
        return math.nan
    rows = case[(case["engine"] == engine) & (case["cca"] == ccas[0])]
    return float(rows["to_best"].iloc[0])
