"""Law of the steady state of Reno and CUBIC under random losses, beside the metrics of a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.results.steady_state import random_loss_rate, steady_state_of
from celltcp.results.warnings.few_losses import MAX_LOSS_RATE
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Minimum number of recoveries from random losses for a loss rate without one in the scenario.
_MIN_RECOVERIES = 20
#: Maximum share of the time in time-outs, which the law lacks.
_MAX_TIMEOUT_SHARE = 0.05


def law_text(evidence: Evidence) -> str:
    """Returns the rate of a bulk flow by the law of its CCA, and the loss rate for all the capacity.

    The text is empty where the law does not hold: other CCAs, splits, many time-outs, loss rates above
    `MAX_LOSS_RATE`, and rates beyond the capacity.
    """
    law = steady_state_of(evidence.cca)
    if law is None or not evidence.is_bulk or "bytes" in evidence.workload or evidence.has_middleboxes:
        return ""
    loss = _loss_rate(evidence)
    if not 0 < loss <= MAX_LOSS_RATE or evidence.time_share("timeout") >= _MAX_TIMEOUT_SHARE:
        return ""
    rtt_s = (evidence.mean("rtt_min_ms") + evidence.jitter_ms) / 1e3
    # Rate of a window of one segment in each connection.
    unit_mbps = 8e-6 * evidence.mss / rtt_s * len(evidence.connections) / len(evidence.runs)
    rate_mbps = law.window(loss, rtt_s) * unit_mbps
    if not rate_mbps < evidence.capacity_mbps:
        return ""
    tolerated = law.tolerated_loss(evidence.capacity_mbps / unit_mbps, rtt_s)
    return (
        f" By {law.name}'s law, {law.formula(loss, rtt_s)}, a steady state has about "
        f"{rate_text(rate_mbps)}; {rate_text(evidence.capacity_mbps)} need a loss rate of "
        f"{tolerated:.2g} at most."
    )


def _loss_rate(evidence: Evidence) -> float:
    """Returns the loss rate of the scenario, or that of the recoveries from random losses."""
    if loss := random_loss_rate(evidence.scenario, is_upload=evidence.is_upload):
        return loss
    count, segments = (evidence.recoveries["random"] > 0).sum(), evidence.total("segments")
    return float(count / segments) if count >= _MIN_RECOVERIES and segments else 0.0
