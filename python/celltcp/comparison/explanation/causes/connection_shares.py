"""Shares of the connections of one flow: why equal ones get unequal parts in a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.comparison.explanation.causes.competition import LOSS_BASED
from celltcp.comparison.explanation.evidence.recoveries import overflows_of
from celltcp.scenarios.cca_mix import parse_flow_cca
from celltcp.scenarios.ccas import family_of
from celltcp.scenarios.quantity_texts import rate_text, three_digits

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Mean ratio of the goodputs of the faster and the slower half from which on shares are unequal.
_MIN_RATIO = 1.1
#: Minimum rank correlation of the goodput with what may be its reason.
_MIN_CORRELATION = 0.5
#: Maximum reductions of a connection after the start-up with which shares still depend on the start.
_MAX_FEW = 10


def connection_shares_text(evidence: Evidence) -> str:
    """Returns a sentence on unequal shares of the connections of a bulk flow; empty without them.

    The faster and the slower half of the connections of each run differ in how often the buffer dropped
    segments of theirs, or in the window at the exit from slow start, where CCAs reduce at losses.
    """
    rows = evidence.connections[evidence.connections["goodput_mbps"] > 0]
    if not evidence.is_bulk or evidence.sessions == 1 or rows.empty:
        return ""
    reductions = evidence.recoveries
    reductions = reductions[(reductions["drops"] > 0) & ~(reductions["undone"] > 0)]
    counts = reductions.groupby(["run", "flow"], observed=True).size().rename("reductions")
    rows = rows.join(counts, on=["run", "flow"]).fillna({"reductions": 0})
    ranks = rows.groupby("run", observed=True)["goodput_mbps"].rank(pct=True)
    halves = rows[ranks > 0.5], rows[ranks <= 0.5]
    fast, slow = (half["goodput_mbps"].mean() for half in halves)
    if not fast >= _MIN_RATIO * slow:
        return ""
    is_loss_based = family_of(parse_flow_cca(evidence.own_cca).name) in LOSS_BASED
    reasons = _reasons(evidence, rows, halves, reductions) if is_loss_based else ()
    goodputs = rows["goodput_mbps"]
    count = number_text(len(rows) / len(evidence.runs))
    run_text = " over all runs" if len(evidence.runs) > 1 else ""
    text = f"Its {count} connections had {rate_text(goodputs.min())} to {rate_text(goodputs.max())}"
    return " ".join([f"{text}{run_text}.", *reasons])


def _reasons(
    evidence: Evidence,
    rows: pd.DataFrame,
    halves: tuple[pd.DataFrame, pd.DataFrame],
    reductions: pd.DataFrame,
) -> Iterator[str]:
    """Yields what the faster half of connections has otherwise, and why it lasts."""
    exits = "slow_start_exit_cwnd"
    if exits in rows and _correlation(rows, exits) >= _MIN_CORRELATION:
        fast, slow = (number_text(half[exits].mean()) for half in halves)
        yield (
            f"Slow start left the faster half of them windows of {fast} segments on average, and the "
            f"slower half {slow}."
        )
    if _correlation(rows, "reductions") <= -_MIN_CORRELATION:
        fast, slow = (f"{half['reductions'].mean():.1f}" for half in halves)
        yield f"The faster half had {fast} reductions by losses each, the slower half {slow}."
    hit, connections = _hit_per_overflow(evidence, reductions), len(rows) / len(evidence.runs)
    if hit < connections:
        yield (
            f"A full buffer drops what arrives: an overflow hits {three_digits(hit)} of "
            f"{three_digits(connections)} connections on average, and the others grow on."
        )
    if (few := float(rows["reductions"].mean())) <= _MAX_FEW:
        yield f"With {few:.1f} reductions each, shares have no time to even out."


def _correlation(rows: pd.DataFrame, column: str) -> float:
    """Returns the rank correlation of the goodput and a column in the same run; 0 without any."""
    ranks = rows.groupby("run", observed=True)[["goodput_mbps", column]].rank()
    ranks = ranks.dropna()
    if ranks[column].nunique() <= 1:
        return 0.0
    return float(np.corrcoef(ranks["goodput_mbps"], ranks[column])[0, 1])


def _hit_per_overflow(evidence: Evidence, reductions: pd.DataFrame) -> float:
    """Returns the mean number of connections with drops in an overflow, those within an RTT."""
    rows = reductions[reductions["overflow"] > 0][["run", "overflow_s", "flow"]]
    drops = rows.itertuples(index=False, name=None)
    overflows = overflows_of(drops, evidence.mean("rtt_mean_ms") / 1e3)
    return sum(map(len, overflows)) / len(overflows) if overflows else math.inf
