"""Trade-offs between the flows of a workload: gains and losses by a change of the CCA."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.stakes import mix_stakes, stakes_of
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.stakes import Stake

#: Maximum number of CCAs with a line on their gains and losses.
_MAX_LISTED_CCAS = 3
#: Least gain for which another flow loses, as a share of the mean.
_MIN_GAIN = 0.05


def trade_off_texts(comparison: Comparison) -> list[str]:
    """Returns the gains and losses of all flows under CCAs that are better for some than the usual CCA.

    The usual CCA has the best mean for the first flow. Another CCA has a line if a further flow gains
    from it; CCAs that lead for a flow come first.
    """
    every = comparison.stakes or mix_stakes(comparison) or stakes_of(comparison)
    stakes = [stake for stake in every if stake.verdict.leader is not None]
    if len(stakes) < 2 or not comparison.decides:
        return []
    usual, *leaders = (str(stake.verdict.leader) for stake in stakes)
    names = labels(comparison.ccas)
    gaining = [
        cca
        for cca in dict.fromkeys((*leaders, *stakes[0].values))
        if cca != usual
        and any(stake.is_gain(cca, usual) and _is_large(stake, cca, usual) for stake in stakes[1:])
    ]
    return [
        f"{names[cca]} instead of {names[usual]}: "
        + "; ".join(stake.text(cca, usual) for stake in stakes)
        for cca in gaining[:_MAX_LISTED_CCAS]
    ]


def _is_large(stake: Stake, cca: str, usual: str) -> bool:
    """Returns whether a gain is more than a twentieth of the mean; shares have differences instead."""
    before, after = stake.means(usual, cca)
    is_ratio = not stake.metric.endswith("_share") and before > 0 and math.isfinite(after)
    return not is_ratio or abs(after - before) >= _MIN_GAIN * before
