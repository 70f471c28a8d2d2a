"""Laws of Reno, CUBIC and BBR under random losses, beside the metrics of a flow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.explanation.evidence.evidence import MIN_LIMITED_SHARE
from celltcp.comparison.explanation.evidence.frame_load import made_mbps
from celltcp.results.steady_state import random_loss_rate, steady_state_of
from celltcp.results.warnings.few_losses import MAX_LOSS_RATE
from celltcp.scenarios.quantity_texts import rate_text, time_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Gain at which BBR probes for bandwidth; no more than its rate arrives at a loss of 1 - 1/gain.
_BBR_GAIN = 1.25
#: Part in the queue of the two BDPs that BBR v1 keeps in flight at most.
_BBR_QUEUED_BDPS = 1
#: Loss rate beside that one, as a share of it, from which on the rate of BBR falls.
_MIN_BBR_LOSS_SHARE = 0.9
#: Minimum number of recoveries from random losses for a loss rate without one in the scenario.
_MIN_RECOVERIES = 20
#: Applications that send data again and again on a connection.
_PERSISTENT = ("frames", "video", "on-off", "chunked")
#: Minimum share of the time beside pauses that a window holds an application back, for the law of bulk
#: flows.
_MIN_BACKLOG_SHARE = 0.7
#: Maximum share of the time in time-outs, which the law lacks.
_MAX_TIMEOUT_SHARE = 0.05


def law_text(evidence: Evidence) -> str:
    """Returns the rate of a bulk flow by the law of its CCA, and the loss rate for all the capacity.

    For BBR v1 it is the loss rate at which its estimate falls. The text is empty where no law holds:
    other CCAs, splits, many time-outs, loss rates above `MAX_LOSS_RATE`, and rates beyond the capacity.
    """
    law = steady_state_of(evidence.own_cca)
    if _is_above_bbr_limit(evidence, evidence.recoveries["random"].sum() / evidence.total("segments")):
        return (
            f" BBR probes for bandwidth with {_BBR_GAIN} times its rate: at a loss of "
            f"{percent_text(1 - 1 / _BBR_GAIN)} no more than its rate arrives, so that its estimate "
            "only falls."
        )
    target_mbps = min(evidence.capacity_mbps, made_mbps(evidence) or math.inf)
    if law is None or not _has_backlog(evidence) or evidence.has_middleboxes or _is_short(evidence):
        return ""
    loss = _loss_rate(evidence)
    is_independent = random_loss_rate(evidence.scenario, is_upload=evidence.is_upload) > 0
    is_beyond = loss > MAX_LOSS_RATE and is_independent
    has_timeouts = loss > MAX_LOSS_RATE or evidence.time_share("timeout") >= _MAX_TIMEOUT_SHARE
    if not loss > 0 or (has_timeouts and not is_beyond):
        return ""
    rtt_s = (evidence.min_rtt_ms + evidence.jitter_ms) / 1e3
    # Rate of one segment a second, and of a window of one segment, in each connection.
    segment_mbps = 8e-6 * evidence.mss * _parallel(evidence)
    unit_mbps = segment_mbps / rtt_s
    rate_mbps = law.window(loss, rtt_s) * unit_mbps
    if not rate_mbps < target_mbps:
        return ""
    if is_beyond:
        return (
            f" {law.name}'s law, {law.formula(loss, rtt_s)}, would have {rate_text(rate_mbps)}, but "
            f"does not hold above a loss rate of {100 * MAX_LOSS_RATE:g} %: time-outs and recoveries "
            "take more (Padhye et al., 1998)."
        )
    independent_text = law.independent_text(loss, rtt_s) if is_independent else ""
    tolerated = law.tolerated_loss(target_mbps / unit_mbps, rtt_s)
    longest_rtt_s = law.longest_rtt_s(loss, target_mbps / segment_mbps)
    formulas = (law.formula(loss, each) for each in (rtt_s, longest_rtt_s))
    region = "" if len({*formulas}) == 1 else ", in the Reno-friendly region"
    waits = (
        ""
        if evidence.is_bulk
        else "; these are for a mean, below which the window is half of the time: data wait then"
    )
    return (
        f" By {law.name}'s law, {law.formula(loss, rtt_s)}, a steady state with a loss event in "
        f"{100 * loss:.2g} % of the segments (a window of {law.window(loss, rtt_s):.3g} segments) has "
        f"about {rate_text(rate_mbps)}"
        f"{independent_text}; "
        f"{rate_text(target_mbps)} need one in {100 * tolerated:.2g} % at most, or "
        f"an RTT of {time_text(longest_rtt_s)} at most{region}{waits}."
    )


def holds_bbr_back(evidence: Evidence, loss: float) -> bool:
    """Returns whether losses cost BBR capacity: by its window, by time-outs, or by its estimate."""
    window_share = evidence.time_share("congestion_window", "recovery", "timeout")
    return window_share >= MIN_LIMITED_SHARE or _is_above_bbr_limit(evidence, loss)


def probe_overflow_text(evidence: Evidence, buffer_bdps: float) -> str:
    """Returns a sentence on probes of BBR v1 that overflow a buffer; empty for one that holds them.

    In a round trip a probe sends more than arrives, by the share of the BDP that its gain has above 1.
    """
    excess = _BBR_GAIN - 1
    if evidence.own_cca != "bbr" or not evidence.is_bulk or buffer_bdps >= excess:
        return ""
    return (
        f" BBR probes for bandwidth with {_BBR_GAIN} times its rate for a round trip, so that "
        f"{excess:.2f} bandwidth-delay products more are in flight, of which the buffer holds "
        f"{buffer_bdps:.2f}."
    )


def window_overflow_text(evidence: Evidence, buffer_bdps: float) -> str:
    """Returns a sentence on a window of BBR v1 that path and buffer do not hold; empty for others."""
    if evidence.own_cca != "bbr" or buffer_bdps >= _BBR_QUEUED_BDPS:
        return ""
    return (
        " BBR keeps up to two bandwidth-delay products in flight, of which the path holds one and the "
        f"buffer {buffer_bdps:.2f}, and does not reduce its rate at losses."
    )


def _is_above_bbr_limit(evidence: Evidence, loss: float) -> bool:
    """Returns whether so much is lost that probes of BBR v1 find no more than the present rate."""
    is_default = evidence.own_cca == "bbr"
    return is_default and evidence.is_bulk and loss >= _MIN_BBR_LOSS_SHARE * (1 - 1 / _BBR_GAIN)


def _has_backlog(evidence: Evidence) -> bool:
    """Returns whether a flow always has data to send: bulk, or what its window holds back.

    That is so for applications with connections that last, beside their pauses.
    """
    held_share = evidence.time_share("congestion_window", "recovery")
    is_held = held_share >= _MIN_BACKLOG_SHARE * (1 - evidence.time_share("idle"))
    return evidence.is_bulk or (evidence.workload.get("kind") in _PERSISTENT and is_held)


def _parallel(evidence: Evidence) -> float:
    """Returns the number of connections at a time; a video opens another one in place of the last."""
    if evidence.is_bulk:
        return len(evidence.connections) / len(evidence.runs)
    return max(round(evidence.connection_time_s / evidence.duration_s), 1)


def _is_short(evidence: Evidence) -> bool:
    """Returns whether a transfer with an end has too few losses for a steady state."""
    count = (evidence.recoveries["random"] > 0).sum()
    return "bytes" in evidence.workload and count < _MIN_RECOVERIES * len(evidence.connections)


def _loss_rate(evidence: Evidence) -> float:
    """Returns the loss rate of the scenario, or that of the recoveries from random losses."""
    if loss := random_loss_rate(evidence.scenario, is_upload=evidence.is_upload):
        return loss
    count, segments = (evidence.recoveries["random"] > 0).sum(), evidence.total("segments")
    return float(count / segments) if count >= _MIN_RECOVERIES and segments else 0.0
