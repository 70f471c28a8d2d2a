"""Shares of the path in a sweep of mixes: what each flow gets at each value, and which starve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.equal_shares import equal_shares
from celltcp.scenarios.cca_mix import has_several_flows, labels

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.shares import MeanShare
    from celltcp.comparison.sweep.parameter_sweep import Sweep

#: Maximum number of flows whose shares a line has.
_MAX_FLOWS = 4


def mix_share_texts(sweep: Sweep) -> list[str]:
    """Returns a line for each mix of a sweep: the shares of its flows at each value, in per cent."""
    return [text for mix in sweep.ccas if has_several_flows(mix) for text in _texts(sweep, mix)]


def shares_of(comparison: Comparison, mix: str) -> dict[MeanShare, float]:
    """Returns the shares of the flows of a mix that ask for theirs all of the time; empty for one."""
    rows = [each.share for each in equal_shares(comparison, mix) if each.is_lasting]
    total = sum(each.goodput.mean for each in rows)
    return {each: each.goodput.mean / total for each in rows} if len(rows) > 1 and total > 0 else {}


def have_pauses(sweep: Sweep) -> bool:
    """Returns whether a flow pauses or sends now and then: its times come before shares."""
    return any(each.pausing_flows or each.intermittent_flows for each in sweep.points.values())


def _texts(sweep: Sweep, mix: str) -> list[str]:
    points = {
        ", ".join(point): comparison
        for point, comparison in sweep.points.items()
        if mix in comparison.ccas
    }
    by_value = {value: shares for value, each in points.items() if (shares := shares_of(each, mix))}
    parts = []
    if len({len(shares) for shares in by_value.values()}) == 1:
        shares = next(iter(by_value.values()))
        if len(shares) <= _MAX_FLOWS:
            flows = " : ".join(f"{each.flow} ({each.cca})" for each in shares)
            percents = (
                f"{' : '.join(f'{100 * share:.0f}' for share in shares.values())} with {value}"
                for value, shares in by_value.items()
            )
            parts = [f"shares of {flows} in %: {', '.join(percents)}"]
    parts += [
        f"{each.share.flow} is starved with {value}, at {each.starved_text}"
        for value, comparison in points.items()
        for each in equal_shares(comparison, mix)
        if each.is_starved
    ]
    return [f"{labels(sweep.ccas)[mix]}: {'; '.join(parts)}"] if parts else []
