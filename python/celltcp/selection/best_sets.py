"""Which congestion controls are best in each case under each engine, and whether engines agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from celltcp.comparison import REQUIREMENTS
from celltcp.engines import ENGINES
from celltcp.selection.cases import Relative, relative, series
from celltcp.statistics import best_and_ties, estimate


def standings_of(runs: pd.DataFrame, requirements: Sequence[str]) -> pd.DataFrame:
    """How every congestion control does in every case, a scenario and a requirement, under each engine.

    Columns: `scenario`, `requirement`, `engine`, `cca`, `metric`, its `mean` and half interval `ci95`
    (NaN without spread), `to_best` and `to_best_ci95`: the paired difference to the highest mean of
    the engine, in % of that, and `best`: whether it has that mean or is tied with it.

    Args:
        runs: a row per run: `engine`, `scenario`, `label`, `seed`, the metrics.
        requirements: of `celltcp.comparison.REQUIREMENTS`.
    """
    rows: list[dict[str, Any]] = []
    for scenario, everywhere in runs.groupby("scenario", sort=False):
        for requirement in requirements:
            for engine, here in everywhere.groupby("engine", sort=False):
                values = series(here, requirement)
                best = best_and_ties(values)
                for cca, mine in values.items():
                    found = estimate(mine)
                    to_best = relative(mine, values[best[0]]) if best else _UNDEFINED
                    rows.append(
                        {
                            "scenario": scenario,
                            "requirement": requirement,
                            "engine": engine,
                            "cca": cca,
                            "metric": REQUIREMENTS[requirement],
                            "mean": found.mean,
                            "ci95": math.nan if found.ci95 is None else found.ci95,
                            "to_best": to_best.percent,
                            "to_best_ci95": to_best.ci95,
                            "best": cca in best,
                        }
                    )
    return pd.DataFrame(rows)


#: Where nobody got anything there is no best to be compared with.
_UNDEFINED = Relative(math.nan, math.nan, "tied")


def overlaps_of(standings: pd.DataFrame) -> pd.DataFrame:
    """One row per case: the best of each engine, and whether the two sets overlap.

    Columns: `scenario`, `requirement`, per engine the best followed by those that are tied with it
    (`native`, `kernel`), those that are in both sets (`both`), `overlap`, `by_chance`: how likely two
    sets of these sizes, drawn at random, overlap, and `native_choice` and `kernel_choice`: the
    difference of the best of that engine to the best of the other one, under the other one, in %.
    """
    rows: list[dict[str, Any]] = []
    for (scenario, requirement), case in standings.groupby(["scenario", "requirement"], sort=False):
        native, kernel = (_best(case, engine) for engine in ENGINES)
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
                "native_choice": _under(case, "kernel", native),
                "kernel_choice": _under(case, "native", kernel),
            }
        )
    return pd.DataFrame(rows)


def by_chance(ccas: int, first: int, second: int) -> float:
    """How likely two sets of these sizes overlap if each is drawn at random of so many."""
    return 1.0 - math.comb(ccas - first, second) / math.comb(ccas, second)


def differences_of(standings: pd.DataFrame) -> pd.DataFrame:
    """One row per congestion control that is best, or tied with the best, under one engine only.

    Columns: `scenario`, `requirement`, `overlap` of the case, `cca`, `only` (the engine), and per
    engine the paired difference to its best in % with half its interval (`native`, `native_ci95`,
    `kernel`, `kernel_ci95`). Worst first: cases without overlap before the others, then by the largest
    difference of a case, then by that of each under the engine in which it is not best.
    """
    cases: list[tuple[bool, float, list[dict[str, Any]]]] = []
    for (scenario, requirement), case in standings.groupby(["scenario", "requirement"], sort=False):
        sides = {engine: case[case["engine"] == engine].set_index("cca") for engine in ENGINES}
        sets = {engine: set(_best(case, engine)) for engine in ENGINES}
        overlap = bool(sets["native"] & sets["kernel"])
        rows = []
        for only, other in (ENGINES, ENGINES[::-1]):
            for cca in _best(case, only):
                if cca in sets[other]:
                    continue
                row = {"scenario": scenario, "requirement": requirement, "overlap": overlap}
                row |= {"cca": cca, "only": only}
                for engine, side in sides.items():
                    row[engine] = float(side.loc[cca, "to_best"])
                    row[f"{engine}_ci95"] = float(side.loc[cca, "to_best_ci95"])
                rows.append((_size(row[other]), row))
        if rows:
            rows.sort(key=lambda each: -each[0])
            cases.append((overlap, -rows[0][0], [row for _, row in rows]))
    cases.sort(key=lambda case: case[:2])
    columns = ["scenario", "requirement", "overlap", "cca", "only"]
    columns += [f"{engine}{part}" for engine in ENGINES for part in ("", "_ci95")]
    return pd.DataFrame([row for _, _, rows in cases for row in rows], columns=columns)


def summary_of(overlaps: pd.DataFrame) -> pd.DataFrame:
    """Counts and means over cases: a row per requirement, and one for all of them.

    Columns: `requirement`, `cases`, `overlap` (how many), `share` of them, `by_chance`, mean sizes of
    the sets (`native`, `kernel`, `both`), in how many cases the highest mean is the same one's
    (`same_best`), in how many the best of an engine is in the set of the other (`native_in_kernel`,
    `kernel_in_native`), and the mean of `native_choice` and `kernel_choice` in %.
    """
    parts = list(overlaps.groupby("requirement", sort=False))
    if len(parts) > 1:
        parts.append(("all", overlaps))
    rows = []
    for requirement, part in parts:
        pairs = list(zip(part["native"], part["kernel"], strict=True))
        decided = [(native, kernel) for native, kernel in pairs if len(native) and len(kernel)]
        rows.append(
            {
                "requirement": requirement,
                "cases": len(part),
                "overlap": int(part["overlap"].sum()),
                "share": float(part["overlap"].mean()),
                "by_chance": float(part["by_chance"].mean()),
                **{name: float(part[name].map(len).mean()) for name in (*ENGINES, "both")},
                "same_best": sum(native[0] == kernel[0] for native, kernel in decided),
                "native_in_kernel": sum(native[0] in kernel for native, kernel in decided),
                "kernel_in_native": sum(kernel[0] in native for native, kernel in decided),
                **{name: float(part[name].mean()) for name in ("native_choice", "kernel_choice")},
            }
        )
    return pd.DataFrame(rows)


def _best(case: pd.DataFrame, engine: str) -> list[str]:
    """The best under an engine, followed by those tied with it, by their means."""
    mine = case[(case["engine"] == engine) & case["best"]]
    return [str(cca) for cca in mine.sort_values("mean", ascending=False, kind="stable")["cca"]]


def _under(case: pd.DataFrame, engine: str, chosen: Sequence[str]) -> float:
    """How far the first of those chosen is from the best under this engine, in %."""
    if not chosen:
        return math.nan
    mine = case[(case["engine"] == engine) & (case["cca"] == chosen[0])]
    return float(mine["to_best"].iloc[0])


def _size(percent: float) -> float:
    """How large a difference is; one that is undefined is larger than all."""
    return math.inf if math.isnan(percent) else abs(percent)
