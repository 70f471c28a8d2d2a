"""HyStart before an overflow in slow start: whether it ended slow start too late, or why it did not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import bdps_text, number_text
from celltcp.comparison.explanation.causes.startup import exit_of
from celltcp.comparison.explanation.evidence.buffers import buffer_bdps, buffer_bytes
from celltcp.comparison.explanation.evidence.evidence import MIN_LATER_RTT
from celltcp.comparison.explanation.evidence.recoveries import of_connection
from celltcp.scenarios.cca_mix import parse_flow_cca
from celltcp.scenarios.ccas import default_parameters
from celltcp.scenarios.packets import PACKET_BYTES
from celltcp.scenarios.quantity_texts import ms_text, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Rise of the RTT at which HyStart ends slow start: a part of the lowest RTT with bounds, ms.
_RTT_DIVISOR, _MIN_RISE_MS, _MAX_RISE_MS = 8, 4.0, 16.0
#: Ratio of two times that differ by rounding of a capacity.
_ROUNDING = 1.01
#: Maximum window at which a train of ACKs ends slow start, BDPs.
_MAX_TRAIN_BDPS = 2.0
#: Resolution of times of recoveries, s.
_TIME_RESOLUTION_S = 1e-3


def hystart_text(evidence: Evidence, overflows: pd.DataFrame) -> str:
    """Returns a sentence on HyStart before the largest overflow in slow start; empty where it is off.

    Args:
        evidence: evidence of a flow.
        overflows: recoveries from overflows in slow start.
    """
    parameters = _parameters(evidence)
    row = overflows.sort_values("overflow").iloc[-1]
    key = row["run"], row["flow"]
    own = of_connection(evidence.connections, *key)
    if parameters.get("hystart") != "on" or own.empty or not own["slow_start_exit_cwnd"].iloc[0] > 0:
        return ""
    window = float(own["slow_start_exit_cwnd"].iloc[0])
    exit_s = float(own["first_data_s"].iloc[0] + own["slow_start_exit_s"].iloc[0])
    starts_s = of_connection(evidence.recoveries, *key)["t_s"]
    is_at_recovery = ((starts_s - exit_s).abs() <= _TIME_RESOLUTION_S).any()
    if exit_s > row["t_s"] + _TIME_RESOLUTION_S or (
        is_at_recovery and exit_s < row["t_s"] - _TIME_RESOLUTION_S
    ):
        # Another recovery ended slow start, which began anew after a time-out.
        return ""
    segments, train_text = number_text(window), _train_text(evidence, parameters)
    is_early = exit_s < row["t_s"] - _TIME_RESOLUTION_S
    if is_early and window >= float(parameters["hystart_low_window"]):
        since_drop_s = exit_s - row["dropped_s"]
        order = "after" if since_drop_s >= 0 else "before"
        return (
            f" HyStart ended it at a window of {segments} segments, {ms_text(1e3 * abs(since_drop_s))} "
            f"{order} the first drop: slow start sends twice what the link carries in a round trip"
            f"{f', and {train_text}' if train_text else ''}."
        )
    seen_ms = float(of_connection(evidence.all_connections, *key)["rtt_min_ms"].iloc[0])
    bdps = window * evidence.mss / evidence.bdp_at(int(row["run"]), exit_s)
    obstacle_text = _obstacle_text(evidence, parameters, window, bdps, seen_ms)
    return f" HyStart did not end it: {obstacle_text}."


def exit_text(evidence: Evidence) -> str:
    """Returns sentences on an exit from slow start by HyStart under CUBIC, of the first connection.

    They have the trigger, and the growth until the first loss. Empty for an exit at a loss.
    """
    parameters, connections = _parameters(evidence), evidence.connections
    if parse_flow_cca(evidence.own_cca).name != "cubic" or parameters.get("hystart") != "on":
        return ""
    row = connections.iloc[0]
    found = exit_of(evidence, row)
    rows = of_connection(evidence.recoveries, row["run"], row["flow"]).sort_values("t_s")
    if found is None or (rows["earliest_s"] <= found.t_s + _TIME_RESOLUTION_S).any():
        return ""
    bdps = found.cwnd * evidence.mss / evidence.bdp_at(int(row["run"]), found.t_s)
    run_text = "In the first run, " if len(evidence.runs) > 1 else ""
    text = (
        f"{run_text}HyStart ended slow start {time_text(found.t_s - row['start_s'])} after the SYN "
        f"at a window of {number_text(found.cwnd)} segments, {bdps_text(bdps)}, by "
        f"{_trigger_text(evidence, parameters, bdps)}."
    )
    if rows.empty:
        return text
    first = rows.iloc[0]
    before = evidence.windows.before(int(row["run"]), int(row["flow"]), first["t_s"])
    return (
        f"{text} Without a loss CUBIC has no W_max, and its window grows by at least 5 % per round "
        f"trip: to {number_text(before)} segments before the first loss, "
        f"{time_text(first['earliest_s'] - row['start_s'])} after the SYN."
    )


def _trigger_text(evidence: Evidence, parameters: Mapping[str, str], bdps: float) -> str:
    """Returns which of both signs HyStart saw at a window, in BDPs of that time.

    A train of ACKs of half of the RTT acknowledges half of the bandwidth-delay product. Slow start
    doubles the window, and so meets it below twice that product, before the RTT rises. Receivers
    acknowledge each of the first segments.
    """
    detect = parameters["hystart_detect"]
    delta_ms = in_unit(parameters["hystart_ack_delta"], "ms") or math.inf
    gap_ms = evidence.mss / evidence.link_bytes_per_s * 1e3
    is_close = gap_ms <= _ROUNDING * delta_ms and not _bursts_text(evidence, delta_ms)
    if detect == "train" or (detect == "both" and is_close and bdps <= _MAX_TRAIN_BDPS):
        return "the length of a train of ACKs (half of the lowest RTT, or all of it with pacing)"
    return "a rise of the RTT"


def _obstacle_text(
    evidence: Evidence, parameters: Mapping[str, str], window: float, bdps: float, min_rtt_ms: float
) -> str:
    """Returns why HyStart did not act before an overflow at a window, in segments and BDPs.

    `min_rtt_ms` is the lowest RTT that the connection saw.
    """
    low_window = float(parameters["hystart_low_window"])
    if window < low_window:
        return f"it waits for a window of {number_text(low_window)} segments, and had {window:.0f}"
    parts = []
    if parameters["hystart_detect"] != "train":
        rise_ms = min(max(min_rtt_ms / _RTT_DIVISOR, _MIN_RISE_MS), _MAX_RISE_MS)
        buffer_ms = 1e3 * buffer_bdps(evidence, buffer_bytes(evidence)) * evidence.min_rtt_s
        if buffer_ms < rise_ms:
            parts.append(
                f"the buffer holds {ms_text(buffer_ms)}, less than the rise of the RTT of "
                f"{ms_text(rise_ms)} for which it waits"
            )
        elif min_rtt_ms >= MIN_LATER_RTT * evidence.min_rtt_ms:
            parts.append(f"the lowest RTT that it saw, {ms_text(min_rtt_ms)}, has a queue in it")
        else:
            parts.append(
                f"at {bdps_text(bdps)}, the lowest "
                f"RTT of the round trip was not yet {ms_text(rise_ms)} above that of the path"
            )
    parts += filter(None, [_train_text(evidence, parameters)])
    return ", and ".join(parts or ["no train of ACKs was as long as half of the RTT"])


def _train_text(evidence: Evidence, parameters: Mapping[str, str]) -> str:
    """Returns why ACKs form no train, whose gaps are short, as a clause; empty where they may."""
    delta_ms = in_unit(parameters["hystart_ack_delta"], "ms") or math.inf
    gap_ms = 2e3 * PACKET_BYTES / (evidence.link_bytes_per_s * evidence.header_factor)
    if parameters["hystart_detect"] == "delay":
        return ""
    if bursts_text := _bursts_text(evidence, delta_ms):
        return bursts_text
    if gap_ms > delta_ms:
        return (
            f"ACKs of two segments come {ms_text(gap_ms)} apart, which is too far for a train of them "
            f"({ms_text(delta_ms)})"
        )
    return ""


def _bursts_text(evidence: Evidence, delta_ms: float) -> str:
    """Returns why ACKs come in bursts, as a clause; empty where they come as the link sends data."""
    reason = "the radio" if evidence.scenario.get("radio") else ""
    reason = "jitter" if evidence.jitter_ms >= delta_ms else reason
    return reason and (
        f"{reason} leaves gaps between ACKs that end a train of them ({ms_text(delta_ms)})"
    )


def _parameters(evidence: Evidence) -> dict[str, str]:
    """Returns the parameters of the congestion control of a flow; none if the user wrote it."""
    cca = parse_flow_cca(evidence.own_cca)
    values = default_parameters(cca.name) | cca.parameters
    if "slow_start" in cca.parameters:
        values["hystart"] = "on" if values["slow_start"] == "hystart" else "off"
    return values
