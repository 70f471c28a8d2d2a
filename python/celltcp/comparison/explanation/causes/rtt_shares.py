"""Shares of flows of one congestion control with different RTTs: windows, losses and filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.causes.cause import number_text, percent_text
from celltcp.comparison.explanation.causes.sawtooth import Sawtooth
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.evidence.recoveries import overflows_of
from celltcp.scenarios.quantity_texts import delay_text, size_text, three_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from celltcp.comparison.explanation.evidence.window_growth import WindowGrowth

#: Minimum ratio of the lowest RTTs of two flows whose RTTs differ.
_MIN_OTHER_RTT = 1.3
#: Maximum part of the losses after which growth like that of Reno is ahead that decides no shares.
_MAX_RARE = 0.1
#: Time over which BBR takes the lowest RTT, s.
MIN_RTT_FILTER_S = 10.0


def rtt_text(own: Evidence, other: Evidence) -> str:
    """Returns how RTTs decide the shares of two flows of one CCA; empty for much the same RTTs.

    Of loss-based flows, losses and the growth between them make the windows, and a window passes once
    in an RTT. BBR keeps data in flight by the lowest RTT.
    """
    flows = (own, other)
    lowest = [each.min_rtt_ms for each in flows]
    if not max(lowest) >= _MIN_OTHER_RTT * min(lowest):
        return ""
    rtts = [each.mean("rtt_mean_ms") for each in flows]
    in_flight = [float(each.slots["inflight"].mean()) * each.mss for each in flows]
    sizes_text = _by_flow(flows, map(size_text, in_flight))
    text = f"The RTTs differ, {_by_flow(flows, map(delay_text, rtts))} on average."
    if own.is_bbr:
        return f"{text} {_model_text(flows, in_flight)}"
    rate = other.goodput_mbps / own.goodput_mbps
    shorter, longer = min(rtts), max(rtts)
    text += (
        f" On average {sizes_text} are in flight: {other.flow_name} has {three_digits(rate)} times the "
        f"rate, by {three_digits(in_flight[1] / in_flight[0])} times the data in flight over an RTT "
        f"{three_digits(longer / shorter)} times as {'short' if rtts[1] < rtts[0] else 'long'}."
    )
    sawtooths = [Sawtooth(each) for each in flows]
    growth = sawtooths[0].growth
    if growth is None or not all(each.epochs and each.is_of_own_window for each in sawtooths):
        return text
    return f"{text} {_losses_text(flows)} {_growth_text(growth, flows, sawtooths)}"


def filtered_rtt_ms(flow: Evidence) -> float:
    """Returns the mean of the lowest RTT in the filter of BBR, ms.

    It is that of the means of slots, of which PROBE_RTT lasts longer than one.
    """
    count = max(round(MIN_RTT_FILTER_S / flow.slot_s), 1)
    by_run = flow.slots.sort_values("t_s").groupby("run")["rtt_mean_ms"]
    lowest = by_run.transform(lambda rtts: rtts.rolling(count, min_periods=count // 2).min())
    return float(lowest.mean())


def _by_flow(flows: Iterable[Evidence], texts: Iterable[str]) -> str:
    """Returns a text of each flow with its name, joined."""
    named = [f"{text} ({each.flow_name})" for text, each in zip(texts, flows, strict=True)]
    return " and ".join(named)


def _model_text(flows: Sequence[Evidence], in_flight: list[float]) -> str:
    """Returns what BBR keeps in flight, by its filters."""
    filtered_ms = [filtered_rtt_ms(each) for each in flows]
    # The lowest RTT of a run counts where slots have no lower one.
    products = [
        each.goodput_mbps * 1e6 / 8 * rtt_ms / 1e3
        for each, rtt_ms in zip(flows, filtered_ms, strict=True)
    ]
    parts = [three_digits(size / bdp) for size, bdp in zip(in_flight, products, strict=True)]
    return (
        "BBR's cwnd is twice the largest delivery rate of ten round trips times the lowest RTT of "
        f"{MIN_RTT_FILTER_S:.0f} s, {_by_flow(flows, map(delay_text, filtered_ms))}, and some segments "
        f"for bursts and aggregated ACKs: {_by_flow(flows, map(size_text, in_flight))} are in flight, "
        f"{_by_flow(flows, parts)} times goodput by that RTT. At the same rate the flow with the "
        "longer RTT has more in flight, and so holds more of the queue."
    )


def _losses_text(flows: Sequence[Evidence]) -> str:
    """Returns at how many overflows each flow lost; losses within an RTT are of one overflow."""
    rtt_s = max(each.mean("rtt_mean_ms") for each in flows) / 1e3
    losses: list[tuple[float, float, float]] = []
    for index, each in enumerate(flows):
        rows = each.recoveries
        rows = rows[(rows["slow_start"] == 0) & (rows["drops"] > 0) & ~(rows["undone"] > 0)]
        losses += [(run, t_s, index) for run, t_s in rows[["run", "dropped_s"]].to_numpy(float)]
    overflows = overflows_of(losses, rtt_s)
    both = sum(len(each) > 1 for each in overflows)
    alone = [number_text(overflows.count({index})) for index in range(len(flows))]
    return (
        f"Of {number_text(len(overflows))} overflows after the start-up, {number_text(both)} cost both "
        f"flows segments, and {_by_flow(flows, alone)} one alone."
    )


def _growth_text(growth: WindowGrowth, flows: Sequence[Evidence], sawtooths: Sequence[Sawtooth]) -> str:
    """Returns how the windows of both flows grow between losses."""
    befores = [[epoch.loss.before for epoch in each.epochs] for each in sawtooths]
    windows_text = _by_flow(flows, (number_text(float(np.mean(each))) for each in befores))
    windows_text = f"{percent_text(growth.beta)} of {windows_text} segments remain after losses"
    linear_text = _by_flow(flows, (three_digits(growth.per_rtt / each.rtt_s) for each in sawtooths))
    linear_text = f"per round trip, {linear_text} a second"
    if not growth.cubic_constant:
        return f"{windows_text}; Reno adds a segment {linear_text}."
    cubic_text = f"{windows_text}. The cubic function grows by time alone, whatever the RTT"
    linear = [sum(epoch.is_linear for epoch in each.epochs) for each in sawtooths]
    friendly_text = f"the Reno-friendly region, {growth.per_rtt:.2f} segments {linear_text}"
    if sum(linear) <= _MAX_RARE * sum(len(each.epochs) for each in sawtooths):
        return f"{cubic_text}; {friendly_text}, is slower here, so that losses make the difference."
    shares_text = _by_flow(
        flows,
        (f"{part} of {len(each.epochs)}" for part, each in zip(linear, sawtooths, strict=True)),
    )
    return f"{cubic_text}; {friendly_text}, favours the shorter RTT, and is ahead after {shares_text}."
