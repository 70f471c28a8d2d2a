"""Shares of the path in a sweep of mixes: what each flow gets at each value, and which starve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.sweep_failures import MIN_EQUAL_SHARE
from celltcp.scenarios.cca_mix import has_several_flows, labels

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.parameter_sweep import Sweep
    from celltcp.comparison.shares import MeanShare

#: Maximum number of flows whose shares a line has.
_MAX_FLOWS = 4


def mix_share_texts(sweep: Sweep) -> list[str]:
    """Returns a line for each mix of a sweep: the shares of its flows at each value, in per cent."""
    return [text for mix in sweep.ccas if has_several_flows(mix) for text in _texts(sweep, mix)]


def shares_of(comparison: Comparison, mix: str) -> dict[MeanShare, float]:
    """Returns the shares of the flows of a mix that compete; empty for fewer than two."""
    rows = [each for each in comparison.competing_shares() if each.mix == mix]
    total = sum(each.goodput.mean for each in rows)
    return {each: each.goodput.mean / total for each in rows} if len(rows) > 1 and total > 0 else {}


def _texts(sweep: Sweep, mix: str) -> list[str]:
    by_value = {
        ", ".join(point): shares
        for point, comparison in sweep.points.items()
        if mix in comparison.ccas and (shares := shares_of(comparison, mix))
    }
    counts = {len(shares) for shares in by_value.values()}
    if not counts or max(counts) > _MAX_FLOWS or len(counts) > 1:
        return []
    parts, starved = [], []
    for value, shares in by_value.items():
        connections = sum(each.connections for each in shares)
        percent = " : ".join(f"{100 * share:.0f}" for share in shares.values())
        parts.append(f"{percent} with {value}")
        starved += [
            f"{each.flow} is starved with {value}, at {100 * equal:.0f} % of an equal share"
            for each, share in shares.items()
            if (equal := share * connections / each.connections) < MIN_EQUAL_SHARE
        ]
    flows = " : ".join(f"{each.flow} ({each.cca})" for each in next(iter(by_value.values())))
    name = labels(sweep.ccas)[mix]
    return ["; ".join([f"{name}: shares of {flows} in %: {', '.join(parts)}", *starved])]
