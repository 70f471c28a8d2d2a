"""Causes over several scenarios or values: how many have each, and why mixes share unequally."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.competition import MIN_UNEQUAL
from celltcp.comparison.sweep.mix_shares import shares_of
from celltcp.comparison.tables import CCA_COLUMN, FLOW_COLUMN
from celltcp.present.section import Table, number_columns
from celltcp.scenarios.cca_mix import has_several_flows, labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from celltcp.comparison.explanation.explanation import ExplainedComparison

#: Minimum number of comparisons of which causes are counted.
_MIN_COMPARISONS = 3
#: Causes whose name is not that of the documentation with spaces in place of underscores.
_NAMES = {"aqm": "AQM", "probe_rtt": "PROBE_RTT", "nagle": "Nagle's algorithm", "start_up": "start-up"}


def causes_table(causes: pd.DataFrame, comparisons: int) -> Table | None:
    """Returns the numbers of comparisons that have each cause, a row per flow and congestion control.

    The cause with the largest sum of weights is the first column; those that all have as often are in
    the title. None without enough comparisons, or without causes.

    Args:
        causes: rows of causes, as `Explanations.causes` has them.
        comparisons: number of comparisons.
    """
    if comparisons < _MIN_COMPARISONS or causes.empty:
        return None
    weights = causes.groupby("cause")["weight"].sum().sort_values(ascending=False, kind="stable")
    names = list(weights.index)
    flows, ccas = causes["flow"].unique(), list(causes["cca"].unique())
    texts = labels(ccas)
    each_once = causes.drop_duplicates(["comparison", "cca", "flow", "cause"])
    sizes = each_once.groupby(["flow", "cca", "cause"]).size()
    title = f"Number of the {comparisons} comparisons with each cause"
    if len(flows) * len(ccas) > 1:
        # A cause that all have as often sets none apart.
        counts = {
            name: {sizes.get((flow, cca, name), 0) for flow in flows for cca in ccas} for name in names
        }
        alike = [f"{_name_of(name)} {of.pop()}" for name, of in counts.items() if len(of) == 1]
        names = [name for name in names if len(counts[name]) > 1]
        title += f"; each CCA alike: {', '.join(alike)}" if alike else ""
    if not names:
        return None
    rows = [
        (
            texts[cca],
            *([flow] if len(flows) > 1 else []),
            *(str(sizes.get((flow, cca, name), 0) or "-") for name in names),
        )
        for flow in flows
        for cca in ccas
        if any((flow, cca, name) in sizes for name in names)
    ]
    headings = [_name_of(name).replace(" ", "\n") for name in names]
    return Table(
        columns=(
            CCA_COLUMN,
            *([FLOW_COLUMN] if len(flows) > 1 else []),
            *number_columns(*headings),
        ),
        rows=tuple(rows),
        title=title,
        cca_of_cell={texts[cca]: cca for cca in ccas},
    )


def _name_of(cause: str) -> str:
    return _NAMES.get(cause, cause.replace("_", " "))


def share_reasons(explained: Mapping[str, ExplainedComparison]) -> list[str]:
    """Returns the reason of unequal shares for each mix and value, of the explanations."""
    return [text for name, result in explained.items() for text in _reasons(name, result)]


def _reasons(name: str, result: ExplainedComparison) -> Iterator[str]:
    comparison = result.comparison
    for mix in filter(has_several_flows, comparison.ccas):
        shares = {each.flow: share for each, share in shares_of(comparison, mix).items()}
        if not shares or max(shares.values()) < MIN_UNEQUAL * min(shares.values()):
            continue
        least = min(shares, key=shares.__getitem__)
        cause = next((each for each in result.ccas if (each.cca, each.flow) == (mix, least)), None)
        text = "" if cause is None else cause.cause_text("competition")
        # The first sentence has what the others took.
        _, _, reason = text.partition(" Mbit/s. ")
        if reason:
            yield f"{labels(comparison.ccas)[mix]} with {name}, why {least} gets less: {reason}"
