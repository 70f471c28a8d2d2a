"""Rules about the path: buffer, outages, losses, delays of ACKs, queues and competing flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import in_unit
from celltcp.comparison.explanation.cause import Cause, grouped, percent, times
from celltcp.comparison.units_of_work import UNITS
from celltcp.present.quantities import size_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence import Evidence, Gap

#: Size below which a buffer is shallow, BDPs; CUBIC (beta 0.7) needs 0.43 to fill the path.
_MAX_SHALLOW_BDPS = 0.5
#: Minimum share of unused capacity at which a shallow buffer is a cause.
_MIN_UNUSED_SHARE = 0.02
#: Minimum share of the time in recoveries from overflows in slow start at which they are a cause.
_MIN_OVERSHOOT_SHARE = 0.05
#: Minimum share of the time in outages at which they are a cause.
_MIN_OUTAGE_SHARE = 0.02
#: Minimum waits after an outage, s and RTTs, at which the wait is due to the backoff of the RTO.
_MIN_BACKOFF_WAIT_S, _MIN_BACKOFF_WAIT_RTTS = 0.6, 3.0
#: Minimum share of the segments lost to one reason at which it is a cause.
_MIN_LOSS_SHARE = 5e-4
#: Minimum share of unused capacity at which a few losses are a cause, if most losses have their reason;
#: on a long path a few losses keep the window small.
_MIN_UNUSED_BY_LOSS = 0.1
#: Minimum share of the time limited by the congestion window at which losses cost time.
_MIN_WINDOW_LIMITED_SHARE = 0.2
#: Minimum share of the units of work that begin after a sleep of DRX at which the sleep is a cause.
_MIN_SLEEP_SHARE = 0.1
#: Kinds of workloads whose units of work begin with a request.
_REQUEST_WORKLOADS = ("request-response", "page")
#: Minimum silence before a time-out that late ACKs can have caused, s.
_MIN_SILENCE_S = 0.1
#: Minimum share of the goodput of all flows at which other flows compete.
_MIN_COMPETING_SHARE = 0.1
#: Minimum mean excess delays of ACKs, in lowest RTTs and ms, at which they are a cause.
_MIN_ACK_DELAY_RTTS, _MIN_ACK_DELAY_MS = 0.5, 30.0
#: Minimum mean waits in a queue, in lowest RTTs and ms, at which the queue is a cause.
_MIN_QUEUE_WAIT_RTTS, _MIN_QUEUE_WAIT_MS = 0.5, 20.0
#: Minimum mean waits, in ms and as a share of the mean RTT, at which a flow holds a queue.
_MIN_HELD_QUEUE_MS, _MIN_HELD_QUEUE_SHARE = 2.0, 0.05
#: Share of unused capacity below which a flow counts as having the capacity.
_MAX_UNUSED_SHARE = 0.2


def shallow_buffer(evidence: Evidence) -> Cause | None:
    """The buffer of the bottleneck is much smaller than a BDP, and overflows.

    Its largest queue is below {_MAX_SHALLOW_BDPS} BDP. The flow has data to send for most of the time,
    and at least {_MIN_UNUSED_SHARE:.0%} of the capacity is unused.
    """
    overflows = evidence.recoveries[evidence.recoveries["overflow"] > 0]
    queued = evidence.max_queued_bytes
    is_deep = queued >= _MAX_SHALLOW_BDPS * evidence.bdp
    if (
        not len(overflows)
        or is_deep
        or not evidence.needs_capacity
        or evidence.unused_share < _MIN_UNUSED_SHARE
    ):
        return None
    lost = overflows["overflow"].sum()
    count = evidence.mean_count(len(overflows))
    recoveries = "1 recovery" if count == "1" else f"{count} recoveries"
    bursts = ""
    if evidence.overflows_by_bursts:
        segments = evidence.burst_bytes / evidence.mss
        bursts = f", less than a burst of segmentation offload ({segments:.0f} segments at this rate)"
    return Cause(
        "shallow_buffer",
        f"T{evidence.buffer_text[1:]} is shallow: no more than {size_text(queued)} waited in it, "
        f"{queued / evidence.bdp:.2f} of the bandwidth-delay product of {size_text(evidence.bdp)}"
        f"{bursts}. It overflowed in {recoveries} and dropped {evidence.mean_count(lost)} "
        f"segments{evidence.per_run_text}; {percent(evidence.unused_share)} of the capacity stayed "
        "unused.",
        # Other losses reduce the window as well.
        evidence.unused_share * len(overflows) / (evidence.recoveries["drops"] > 0).sum(),
    )


def overshoot(evidence: Evidence) -> Cause | None:
    """Slow start overflowed the buffer.

    The recoveries from that took at least {_MIN_OVERSHOOT_SHARE:.0%} of the time.
    """
    rows = evidence.recoveries
    rows = rows[(rows["slow_start"] == 1) & (rows["overflow"] > 0)]
    share = rows["length_s"].sum() / evidence.connection_seconds if len(rows) else 0.0
    if share < _MIN_OVERSHOOT_SHARE:
        return None
    return Cause(
        "overshoot",
        f"Slow start overflowed {evidence.buffer_text}: "
        f"{evidence.mean_count(rows['overflow'].sum())} of "
        f"{evidence.mean_count(rows['segments'].sum())} segments{evidence.per_run_text} were lost, and "
        f"the recovery took {percent(share)} of the time.",
        share,
    )


def outage(evidence: Evidence) -> Cause | None:
    """The link let no data pass for at least {_MIN_OUTAGE_SHARE:.0%} of the time (table `outages`)."""
    gaps = evidence.outages
    whole = sum(gap.length for gap in gaps)
    if not evidence.seconds or whole < _MIN_OUTAGE_SHARE * evidence.seconds:
        return None
    share = min(whole / evidence.seconds, 1.0)
    waits = [wait for gap in gaps if (wait := evidence.restart_after(gap)) > 0]
    longest = max(gaps, key=lambda gap: gap.length)
    max_wait = max(waits, default=0.0)
    wait_text = f"; data arrived again at most {max_wait:.1f} s after that" if max_wait >= 0.05 else ""
    # Only an RTO that has doubled comes this late after the end of an outage.
    if max_wait >= max(_MIN_BACKOFF_WAIT_S, _MIN_BACKOFF_WAIT_RTTS * evidence.mean("rtt_min_ms") / 1e3):
        wait_text += ", when a time-out ended that had doubled with each loss"
    runs = f" in {len(evidence.runs)} runs" if len(evidence.runs) > 1 else ""
    return Cause(
        "outage",
        f"The link carried nothing for {percent(share)} of the time, {times(len(gaps))}{runs}, at most "
        f"{longest.length:.1f} s at {longest.start:.1f} s{wait_text}.",
        min(share + sum(waits) / evidence.seconds, 1.0),
    )


def uplink(evidence: Evidence) -> Cause | None:
    """ACKs came late or not at all, although the data had arrived.

    One sign is a time-out outside outages after at least {_MIN_SILENCE_S} s without an ACK, while data
    had arrived that no ACK reported. The other sign is a mean excess delay of ACKs of at least
    {_MIN_ACK_DELAY_MS:.0f} ms and {_MIN_ACK_DELAY_RTTS:.0%} of the lowest RTT.
    """
    rows = evidence.recoveries
    rows = rows[(rows["timeouts"] > 0) & (rows["unreported_bytes"] > 0)]
    # Late ACKs are not the reason of a time-out right after an ACK.
    rows = rows[rows["silence_s"] >= _MIN_SILENCE_S]
    rows = rows[~_time_out_in_gaps(rows, evidence.outages)]
    slots = evidence.slots.dropna(subset=["rtt_mean_ms", "owd_mean_ms"])
    ack_delays = slots["rtt_mean_ms"] - slots["owd_mean_ms"]
    min_ack_delay = evidence.mean("rtt_min_ms") - evidence.mean("owd_min_ms")
    excess_ms = float(ack_delays.mean() - min_ack_delay) if len(ack_delays) else 0.0
    is_late = excess_ms >= max(_MIN_ACK_DELAY_RTTS * evidence.mean("rtt_min_ms"), _MIN_ACK_DELAY_MS)
    if not len(rows) and not is_late:
        return None
    parts = []
    if len(rows):
        parts.append(
            f"{timeouts_text(evidence, rows)} came while data had arrived that no ACK reported, "
            f"with up to {rows['silence_s'].max():.1f} s without an ACK"
        )
    if is_late:
        parts.append(f"ACKs took {excess_ms:.0f} ms longer than at best on average")
    silence_share = rows["silence_s"].sum() / evidence.connection_seconds if len(rows) else 0.0
    delay_share = excess_ms / (excess_ms + evidence.mean("rtt_min_ms")) if is_late else 0.0
    weight = min(max(silence_share, delay_share), 1.0)
    link = "downlink" if evidence.is_upload else "uplink"
    verb = "lost" if evidence.loses_acks and not is_late else "held up"
    filler_text = _filler_text(evidence.reverse_mbps) if is_late else ""
    filled = f"{filler_text}," if filler_text else ""
    return Cause("uplink", f"The {link}{filled} {verb} ACKs: {', and '.join(parts)}.", weight)


def _time_out_in_gaps(rows: pd.DataFrame, gaps: Sequence[Gap]) -> NDArray[np.bool_]:
    """Returns for each recovery whether a gap overlaps the silence before its first time-out."""
    return _intervals_overlap_gaps(rows, rows["timeout_s"] - rows["silence_s"], rows["timeout_s"], gaps)


def overlap_gaps(rows: pd.DataFrame, gaps: Sequence[Gap]) -> NDArray[np.bool_]:
    """Returns for each recovery whether a gap overlaps the time from its first drop to its end."""
    return _intervals_overlap_gaps(
        rows, rows[["dropped_s", "t_s"]].min(axis=1), rows["end_s"].fillna(np.inf), gaps
    )


def _intervals_overlap_gaps(
    rows: pd.DataFrame, starts: pd.Series, ends: pd.Series, gaps: Sequence[Gap]
) -> NDArray[np.bool_]:
    """Returns for each recovery whether its interval from `starts` to `ends` overlaps a gap."""
    spans = zip(rows["run"], starts, ends, strict=True)
    return np.array(
        [any(gap.overlaps(run, start, end) for gap in gaps) for run, start, end in spans],
        bool,
    )


def sleep(evidence: Evidence) -> Cause | None:
    """Units of work began after a pause longer than the inactivity timer of DRX.

    The phone may then sleep until its next cycle. At least {_MIN_SLEEP_SHARE:.0%} of the units began
    after such a pause. A phone that sent a request stays awake until the answer, if the answer comes
    before the timer expires.
    """
    drx = (evidence.scenario.get("radio") or {}).get("drx")
    if not drx or evidence.units is None or not evidence.is_thin:
        return None
    inactivity, cycle, on = (
        in_unit(drx[name], "s") or 0.0 for name in ("inactivity", "long_cycle", "on_duration")
    )
    # The grant for a request starts the timer, as new data do (TS 36.321 clause 5.7).
    is_awake = evidence.mean("rtt_min_ms") / 1e3 < inactivity
    if evidence.workload.get("kind") in _REQUEST_WORKLOADS and is_awake and not evidence.is_upload:
        return None
    units = evidence.units.sort_values(["run", "connection", "start_s"])
    ends = units.groupby(["run", "connection"])["end_s"].shift()
    units_after_sleep = units[units["start_s"] - ends > inactivity]
    total_s = float(units["duration_s"].sum())
    if len(units_after_sleep) < _MIN_SLEEP_SHARE * len(units) or not total_s > 0:
        return None
    # A packet comes at a random time of the cycle.
    wait = (cycle - on) ** 2 / (2 * cycle)
    return Cause(
        "sleep",
        f"The phone slept (DRX): {grouped(len(units_after_sleep))} of {grouped(len(units))} "
        f"{UNITS[str(units['unit'].iloc[0])].noun} began after a pause of over "
        f"{1e3 * inactivity:g} ms, when data may wait for up to {1e3 * cycle:g} ms.",
        min(wait * len(units_after_sleep) / total_s, 1.0),
    )


def policer(evidence: Evidence) -> Cause | None:
    """A policer drops at least two segments.

    They are at least {_MIN_LOSS_SHARE:.2%} of all segments. Fewer count if they are most of the drops,
    or if most recoveries have them, and the congestion window leaves at least
    {_MIN_UNUSED_BY_LOSS:.0%} of the capacity unused.
    """
    return _losses_by_reason(evidence, "policer", f"A policer{_policer_text(evidence)} dropped")


def _policer_text(evidence: Evidence) -> str:
    """Returns rate and burst of the only policer as text; empty if there are several."""
    policers = evidence.policers
    if len(policers) != 1 or not evidence.bdp > 0:
        return ""
    (policer,) = policers.values()
    burst = in_unit(policer["burst"], "B") or 0.0
    share = burst / evidence.bdp
    return (
        f" of {policer['rate']}, whose burst of {size_text(burst)} is {share:.2f} of the "
        "bandwidth-delay product,"
    )


def random_loss(evidence: Evidence) -> Cause | None:
    """Segments are lost at random, with the thresholds of `policer`.

    Losses in recoveries during an outage that loses all packets do not count.
    """
    rows = evidence.recoveries
    rows = rows[~overlap_gaps(rows, [gap for gap in evidence.outages if gap.loses_all])]
    lost, sent = rows["random"].sum(), evidence.total("segments")
    if not _are_relevant(evidence, lost, sent, int((rows["random"] > 0).sum())):
        return None
    return _loss_cause("random_loss", "Random loss took", lost, sent, evidence)


def radio_loss(evidence: Evidence) -> Cause | None:
    """The radio lost segments, with the thresholds of `policer`."""
    return _losses_by_reason(evidence, "radio", "The radio lost")


def aqm(evidence: Evidence) -> Cause | None:
    """A queue discipline drops segments early, with the thresholds of `policer`."""
    return _losses_by_reason(evidence, "aqm", "The queue discipline dropped")


def _losses_by_reason(evidence: Evidence, reason: str, verb: str) -> Cause | None:
    losses, sent = evidence.recoveries[reason], evidence.total("segments")
    lost = losses.sum()
    if not _are_relevant(evidence, lost, sent, int((losses > 0).sum())):
        return None
    return _loss_cause(reason if reason != "radio" else "radio_loss", verb, lost, sent, evidence)


def _are_relevant(evidence: Evidence, lost: float, sent: float, recoveries: int) -> bool:
    """Returns whether losses of a reason are many, or are most losses while capacity stays unused.

    A recovery reduces the window once, however many segments it repairs. A few losses cost nothing
    where neither the window nor recoveries hold data back, as under BBR.
    """
    if not sent or lost < 2:
        return False
    drops = evidence.recoveries["drops"]
    are_most = lost > drops.sum() / 2 or recoveries > (drops > 0).sum() / 2
    window_share = evidence.time_share("congestion_window", "recovery", "timeout")
    # Results of earlier versions have no shares of limits.
    is_window_limited = window_share >= _MIN_WINDOW_LIMITED_SHARE or not evidence.shares
    costs_goodput = (
        is_window_limited and not evidence.is_thin and evidence.unused_share >= _MIN_UNUSED_BY_LOSS
    )
    return bool(lost >= _MIN_LOSS_SHARE * sent or (are_most and costs_goodput))


def _loss_cause(name: str, verb: str, lost: float, sent: float, evidence: Evidence) -> Cause:
    # A flow that sends little leaves most of the capacity unused, whatever is lost.
    cost = 0.0 if evidence.is_thin else evidence.unused_share
    rest = f"; {percent(cost)} of the capacity stayed unused" if cost >= 0.005 else ""
    window_share = evidence.time_share("congestion_window", "recovery")
    if evidence.is_thin and window_share >= _MIN_WINDOW_LIMITED_SHARE:
        cost = window_share
        rest = (
            f"; the congestion window then held its data back, for {percent(window_share)} of the time"
        )
    return Cause(
        name,
        f"{verb} {evidence.mean_count(lost)} of {evidence.mean_count(sent)} segments"
        f"{evidence.per_run_text} ({percent(lost / sent)}){rest}.",
        max(cost, lost / sent),
    )


def competition(evidence: Evidence) -> Cause | None:
    """Other flows of the same direction compete with this one.

    They got at least {_MIN_COMPETING_SHARE:.0%} of the goodput of all flows while this one ran. The
    rule is not for flows of responses or frames.
    """
    rates = evidence.competing_mbps
    total_mbps = evidence.goodput_mbps + sum(rates.values())
    share = sum(rates.values()) / total_mbps if total_mbps > 0 else 0.0
    if share < _MIN_COMPETING_SHARE or evidence.is_thin:
        return None
    largest = sorted(rates, key=rates.__getitem__, reverse=True)
    listed = ", ".join(f"{name} {rates[name]:.2f}" for name in largest[:3])
    more = f" and {len(largest) - 3} more" if len(largest) > 3 else ""
    return Cause(
        "competition",
        f"Other flows took {percent(share)} of what all got while it ran: {listed}{more} Mbit/s.",
        share,
    )


def queue(evidence: Evidence) -> Cause | None:
    """The flow, or other flows, kept a standing queue.

    The mean wait of packets is at least {_MIN_QUEUE_WAIT_MS:.0f} ms and {_MIN_QUEUE_WAIT_RTTS:.0%} of
    the lowest RTT. The delay by the jitter of the path does not count.
    """
    min_rtt = evidence.mean("rtt_min_ms")
    excess_rtt = evidence.mean("rtt_mean_ms") - min_rtt - evidence.jitter_ms
    waits = evidence.queue_wait_ms
    if not waits >= max(_MIN_QUEUE_WAIT_RTTS * min_rtt, _MIN_QUEUE_WAIT_MS):
        return None
    # A bulk flow fills the queue itself.
    filler_text = "" if evidence.is_bulk else _filler_text(evidence.competing_mbps)
    return Cause(
        "queue",
        f"A queue stood on the way{filler_text}: packets waited {waits:.0f} ms on average, "
        f"{percent(_share_of_rtt(evidence))} of the mean RTT; the lowest RTT is {min_rtt:.0f} ms.",
        min(excess_rtt / (excess_rtt + min_rtt), 1.0) if excess_rtt > 0 else 0.0,
    )


def held_queue(evidence: Evidence) -> Cause | None:
    """A bulk flow uses the capacity, and holds a queue that is shorter than that of `queue`.

    The mean wait of its packets is at least {_MIN_HELD_QUEUE_MS:.0f} ms and
    {_MIN_HELD_QUEUE_SHARE:.0%} of the mean RTT. Less than {_MAX_UNUSED_SHARE:.0%} of the capacity is
    unused.
    """
    rtt, waits = evidence.mean("rtt_mean_ms"), evidence.queue_wait_ms
    if not evidence.is_bulk or not waits >= max(_MIN_HELD_QUEUE_MS, _MIN_HELD_QUEUE_SHARE * rtt):
        return None
    if evidence.unused_share >= _MAX_UNUSED_SHARE:
        return None
    median = float(evidence.slots["owd_mean_ms"].median())
    standing = median - evidence.mean("owd_min_ms") - evidence.jitter_ms
    in_flight = float(evidence.slots["inflight"].mean()) * evidence.mss / evidence.bdp
    median_text = f" ({standing:.0f} ms or more for half of the time)" if standing >= 1 else ""
    share = _share_of_rtt(evidence)
    return Cause(
        "held_queue",
        f"It holds a queue: packets waited {waits:.0f} ms on average{median_text}, {percent(share)} of "
        f"the mean RTT, with {in_flight:.1f} bandwidth-delay products in flight.",
        share,
    )


def _share_of_rtt(evidence: Evidence) -> float:
    """Returns the mean wait in a queue as a share of the mean RTT, at most 1.

    Waits are means over packets and RTTs are means over ACKs, so that the wait may exceed the RTT.
    """
    waits = evidence.queue_wait_ms
    return waits / max(evidence.mean("rtt_mean_ms"), waits + evidence.mean("rtt_min_ms"))


def _filler_text(rates: Mapping[str, float]) -> str:
    """Returns the flow that fills a queue, that of the highest rate, as text; empty without flows."""
    if not rates:
        return ""
    largest = max(rates, key=rates.__getitem__)
    return f", which {largest} ({rates[largest]:.2f} Mbit/s) filled"


def timeouts_text(evidence: Evidence, rows: pd.DataFrame) -> str:
    """Returns the number of time-outs of recoveries as text."""
    count = evidence.mean_count(rows["timeouts"].sum())
    return f"{count} {'time-out' if count == '1' else 'time-outs'}{evidence.per_run_text}"
