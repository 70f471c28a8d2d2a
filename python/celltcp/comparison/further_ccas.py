"""Further congestion controls beside those of a comparison: their runs as results of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.comparison import Comparison
from celltcp.results.merged_tables import merged, renumbered
from celltcp.results.tables import Results
from celltcp.scenarios.requirements import QOE

if TYPE_CHECKING:
    from collections.abc import Iterable


def with_further_ccas(comparison: Comparison, others: Iterable[Comparison]) -> Comparison:
    """Returns a comparison with the congestion controls of others, each over the same seeds.

    Those that several have are those of the first of them.
    """
    about = comparison.results.about
    ccas, parts, count = [*about["cca"]], [comparison.results.tables], len(comparison.runs)
    for other in others:
        own = [cca for cca in other.ccas if cca not in ccas]
        runs = sorted(other.runs.loc[other.runs["cca"].isin(own), "run"])
        if not own:
            continue
        numbers = {run: count + index for index, run in enumerate(runs)}
        count += len(runs)
        parts.append({name: renumbered(each, numbers) for name, each in other.results.tables.items()})
        ccas += own
    if len(parts) == 1:
        return comparison
    # Keys of the runs are those of a folder.
    kept = {name: value for name, value in about.items() if name != "keys"}
    # A video has its own requirement, which no comparison is asked for.
    asked = [each for each in comparison.requirements if each != QOE]
    return Comparison(Results(merged(parts, ccas), {**kept, "cca": ccas}), asked)
