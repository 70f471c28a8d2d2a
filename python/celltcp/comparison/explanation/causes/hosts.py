"""Rules about the ends of a connection: application, aborts, receive window, send buffer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.applications.units_of_work import UNITS
from celltcp.comparison.explanation.causes.cause import Cause, percent_text
from celltcp.comparison.explanation.causes.overload import overload
from celltcp.comparison.explanation.causes.split_hosts import SplitHost, later_leg
from celltcp.comparison.explanation.causes.standing_queues import queued_share
from celltcp.comparison.explanation.evidence.evidence import MIN_LIMITED_SHARE
from celltcp.comparison.explanation.evidence.frame_load import sent_mbps, whole_share
from celltcp.comparison.explanation.evidence.ramps import link_share_text
from celltcp.comparison.explanation.evidence.window_demand import offer_text
from celltcp.results.first_window import initial_buffer
from celltcp.results.limits import MIN_PEAK_SHARE, MIN_WINDOW_SHARE, receive_window_fields
from celltcp.results.warnings.aborted import silence_text
from celltcp.scenarios.frames import MAX_FRAME_SHARE
from celltcp.scenarios.lower_bounds import has_capacity_bound, has_sender_limit
from celltcp.scenarios.quantity_texts import delay_text, rate_text, size_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum share of unused capacity at which an application or a window of the hosts is a cause.
_MIN_UNUSED_SHARE = 0.1
#: Minimum share of the time without data to send or in flight at which a text names it.
_MIN_IDLE_SHARE = 0.005
#: Minimum share of a cap, of the receive window or of the pacing rate, that a flow reaches if the cap
#: limits it.
_MIN_CAP_SHARE = 0.9
#: Minimum share of the time in which the capacity is below the bitrate of frames or of a video.
MIN_SLOW_LINK_SHARE = 0.05


def application(evidence: Evidence) -> Cause | None:
    """The application had no more to send while the path had room.

    The limits `idle` and `in_flight` take at least {MIN_LIMITED_SHARE:.0%} of the time, and at least
    {_MIN_UNUSED_SHARE:.0%} of the capacity is unused. For bulk flows only `idle` counts: the end of a
    transfer, when all data is in flight, is no pause of the application. Where Nagle's algorithm holds
    data back, `startup` counts as well.
    """
    limits = ("idle",) if evidence.is_bulk else ("idle", "in_flight")
    share = evidence.time_share(*limits, *(["startup"] if evidence.is_held_by_nagle else []))
    if share < MIN_LIMITED_SHARE or evidence.unused_share < _MIN_UNUSED_SHARE:
        return None
    kind = evidence.workload.get("kind", "bulk")
    if not evidence.is_bulk:
        # Such an application pauses by design, so that pauses cost it nothing.
        idle_share = evidence.time_share("idle")
        nagle_text = ", or Nagle's algorithm held it back," if evidence.is_held_by_nagle else ""
        if idle_share < _MIN_IDLE_SHARE:
            text = (
                f"The application ({kind}) had no more to send for {percent_text(share)} of the time: "
                f"all that it had was in flight{nagle_text.rstrip(',')}."
            )
        else:
            text = (
                f"The application ({kind}) had nothing to send for {percent_text(idle_share)} of the "
                f"time, and all that it had was in flight{nagle_text} for "
                f"{percent_text(share - idle_share)}."
            )
        return Cause("application", text, 0.0, is_in_table=not nagle_text)
    return Cause(
        "application",
        f"The application ({kind}) had no more to send for {percent_text(share)} of the time, and "
        f"{link_share_text(evidence, evidence.unused_share)} of the capacity stayed unused.",
        min(share, evidence.unused_share),
    )


def slow_link(evidence: Evidence) -> Cause | None:
    """For at least {MIN_SLOW_LINK_SHARE:.0%} of the time the link carried less than the frames need.

    What other flows took of the link does not count. The link carries them on average, but
    {MAX_FRAME_SHARE:.0%} of its median rate of a second does not. For an encoder that follows the rate,
    the size of the smallest frames counts, and for one that hardly does the mean size.
    """
    frames_mbps = sent_mbps(evidence)
    are_all_thin = all(map(evidence.is_thin_flow, evidence.competing_mbps))
    if frames_mbps is None or overload(evidence) or not are_all_thin:
        return None
    rates = evidence.link_rates_1s_mbps
    # Times without any capacity are outages.
    is_slow = (rates > 0) & (rates < frames_mbps / MAX_FRAME_SHARE)
    share = float(is_slow.mean()) if len(rates) else 0.0
    if share < MIN_SLOW_LINK_SHARE:
        return None
    mean_share, encoder_text = whole_share(evidence), ""
    if mean_share is not None:
        encoder_text = (
            f" The encoder hardly follows the rate: frames have {percent_text(mean_share)} of their "
            "size on average."
        )
    less_share = float(((rates > 0) & (rates < frames_mbps)).mean())
    is_less = less_share >= MIN_SLOW_LINK_SHARE
    amount, waits = ("less", "wait for") if is_less else ("hardly more", "wait long behind late")
    return Cause(
        "slow_link",
        f"The link carried {amount} than the {rate_text(frames_mbps)} of the frames for "
        f"{percent_text(less_share if is_less else share)} of the time (in a tenth of it at most "
        f"{rate_text(float(rates.quantile(0.1)))}): frames {waits} earlier ones then, under every "
        f"CCA.{encoder_text}",
        share,
    )


def given_up(evidence: Evidence) -> Cause | None:
    """TCP aborted a connection after the peer had not answered for too long."""
    aborts_s = evidence.aborts_s.values()
    if not aborts_s:
        return None
    units = evidence.units
    unended_count = 0 if units is None else int(units["duration_s"].isna().sum())
    count = len(aborts_s)
    connections_text = (
        f"a connection at {min(aborts_s):.1f} s" if count == 1 else f"{count} connections"
    )
    unended_text = ""
    if units is not None and unended_count:
        unended_text = f"; {UNITS[str(units['unit'].iloc[0])].unfinished}: {unended_count}"
    return Cause(
        "given_up",
        f"TCP gave {connections_text} up{evidence.in_runs_text}, after no answer for "
        f"{silence_text(evidence.scenario)}{unended_text}.",
        1.0,
    )


def receive_window(evidence: Evidence) -> Cause | None:
    """The receive window was the limit while the path had room.

    A full window, or pacing at the rate that the window allows, limits the flow without a queue for at
    least {MIN_LIMITED_SHARE:.0%} of the time, and at least {_MIN_UNUSED_SHARE:.0%} of the capacity is
    unused. Or the window is full for at least {MIN_WINDOW_SHARE:.0%} of the time beside bulk flows, or
    for {MIN_PEAK_SHARE:.0%} if they have another CCA.
    """
    fields = receive_window_fields(evidence.scenario.get("tcp", {}))
    if later_leg(evidence) or has_sender_limit(evidence.scenario):
        return None
    return _window_cause(evidence, "receive_window", "receive window", fields)


def captured_limit(evidence: Evidence) -> Cause | None:
    """The limit of a sender in a capture was the limit, for which the receive window stands.

    That window is full for at least {MIN_LIMITED_SHARE:.0%} of the time.
    """
    share = evidence.time_share("receive_window")
    if not has_sender_limit(evidence.scenario) or share < MIN_LIMITED_SHARE:
        return None
    return Cause(
        "captured_limit",
        "The limit of the sender in the capture, for which tcp.receive_window_max stands, was reached "
        f"for {percent_text(share)} of the time: its send buffer or its application, of which celltcp "
        "pcap analyze has more. Another CCA, or a larger receive window, changes nothing there.",
        share,
    )


def send_buffer(evidence: Evidence) -> Cause | None:
    """The send buffer was the limit while the path had room.

    A full buffer, or pacing at the rate that the buffer allows, limits the flow without a queue for at
    least {MIN_LIMITED_SHARE:.0%} of the time, and at least {_MIN_UNUSED_SHARE:.0%} of the capacity is
    unused. Or the buffer is full for at least {MIN_WINDOW_SHARE:.0%} of the time beside bulk flows, or
    for {MIN_PEAK_SHARE:.0%} if they have another CCA.
    """
    return _window_cause(evidence, "send_buffer", "send buffer", ("send_buffer_max",))


def rate_cap(evidence: Evidence) -> Cause | None:
    """The cap of the sender's pacing rate was the limit.

    Pacing limits the flow for at least {MIN_LIMITED_SHARE:.0%} of the time, and its goodput reaches
    {_MIN_CAP_SHARE:.0%} of the cap in a tenth of the slots.
    """
    field = f"flows.{evidence.flow_index}.max_pacing_rate"
    value, paced_share = evidence.value_at(field), evidence.time_share("pacing")
    cap_mbps = 0.0 if value is None else in_unit(value, "Mbit/s") or 0.0
    highest_mbps = float(evidence.slots["goodput_mbps"].quantile(0.9)) / evidence.sessions
    if paced_share < MIN_LIMITED_SHARE or not highest_mbps >= _MIN_CAP_SHARE * cap_mbps > 0:
        return None
    return Cause(
        "rate_cap",
        f"The cap of the sender's rate ({field} = {value}) held it back for "
        f"{percent_text(paced_share)} of the time; "
        f"{link_share_text(evidence, evidence.unused_share)} of the capacity stayed unused.",
        evidence.unused_share,
    )


def _window_cause(evidence: Evidence, limit: str, name: str, fields: tuple[str, ...]) -> Cause | None:
    full_share, limited_share = evidence.time_share(limit), evidence.window_limited_share(limit)
    # A full window costs nothing while the bottleneck has a queue of this flow alone.
    cost = limited_share if evidence.competing_mbps else limited_share - queued_share(evidence)
    # A capacity that is a lower bound may be the rate that the window of the capture has let pass.
    is_bound = limit == "receive_window" and has_capacity_bound(evidence.scenario)
    tcp, unused = evidence.scenario.get("tcp", {}), evidence.unused_share
    settings_text = ", ".join(f"tcp.{field} = {_toml(tcp[field])}" for field in fields if field in tcp)
    if evidence.is_split and limit == "receive_window":
        host = SplitHost.of(evidence)
        settings_text = f"the buffer of the split host{f', {host.buffer}' if host else ''}"
    if cost < MIN_LIMITED_SHARE or (unused < _MIN_UNUSED_SHARE and not is_bound):
        text = _sharing_text(evidence, full_share)
        if not text:
            return None
        return Cause(
            limit,
            f"The {name} was full for {percent_text(full_share)} of the time beside other flows"
            f"{text} ({settings_text}).",
            full_share,
        )
    rtt_ms = evidence.min_rtt_ms
    # The maximum in flight of a send buffer lasts only for a moment, so that the text has the mean.
    mean_in_flight = float(evidence.slots["inflight"].mean()) * evidence.mss
    sessions = evidence.sessions
    window = mean_in_flight / sessions if limit == "send_buffer" else _receive_window(evidence)
    result_text = offer_text(evidence, name.split()[-1], window)
    detail = ""
    if result_text:
        result_text = f": {result_text}"
    else:
        result_text = f", and {link_share_text(evidence, unused)} of the capacity stayed unused"
        if is_bound:
            result_text = ", and the capture does not show what more the path carries"
        rate = rate_text(8e-3 * sessions * window / rtt_ms)
        each_text = f" for each of {sessions} sessions" if sessions > 1 else ""
        detail = (
            f"; {size_text(window)} in flight{each_text} give at most {rate} at an RTT of "
            f"{delay_text(rtt_ms)}"
        )
    first = initial_buffer(tcp, window) if limit == "receive_window" and not evidence.is_split else None
    if first:
        settings_text = f"tcp.receive_buffer_initial = {first}"
        detail += (
            f"; it begins at {size_text(_bytes(first) / 2)}, half of that buffer, and grows with the "
            "data that the application reads"
        )
    if limit == "send_buffer":
        in_flight_text = size_text(mean_in_flight)
        limit_bytes = in_unit(tcp.get("send_buffer_max"), "B") or math.inf
        reason = "it counts memory, not data"
        if window > limit_bytes:
            # Linux checks the limit before it takes data into a buffer of up to 64 KiB.
            reason = "a large write may end above it"
        detail = f"; {reason}, so that {in_flight_text} were in flight on average"
    if limited_share > full_share:
        paced_share = limited_share - full_share
        detail += (
            f"; pacing at the rate that this allows took another {percent_text(paced_share)} of the "
            "time"
        )
    return Cause(
        limit,
        f"The {name} was full for {percent_text(full_share)} of the time{result_text} "
        f"({settings_text}){detail}.",
        # Whatever limits the flow in the rest of the time, at most one window passes per RTT.
        cost if is_bound else min(max(cost, 1 - evidence.max_window(limit) / evidence.bdp), unused),
    )


def _receive_window(evidence: Evidence) -> float:
    """Returns the window that limits a session, bytes: its cap, or else the maximum in flight."""
    in_flight = evidence.max_window("receive_window") / evidence.sessions
    cap = in_unit(evidence.value_at("tcp.receive_window_max"), "B") or 0.0
    # The cap is no whole number of segments; a smaller buffer limits the window to less.
    return cap if in_flight >= _MIN_CAP_SHARE * cap > 0 else in_flight


def _bytes(size: str) -> float:
    """Returns a size in bytes."""
    return in_unit(size, "B") or 0.0


def _sharing_text(evidence: Evidence, full_share: float) -> str:
    """Returns what a window that is full beside bulk flows does to their shares; empty for nothing."""
    has_rival = not all(map(evidence.is_thin_flow, evidence.competing_mbps))
    if not evidence.is_bulk or not has_rival:
        return ""
    if full_share >= MIN_WINDOW_SHARE:
        return ", so that it decides how they share the path, not the congestion control"
    if full_share >= MIN_PEAK_SHARE and evidence.all_connections["cca"].nunique() > 1:
        return ", at the peaks in flight: a larger one may change how they share the path"
    return ""


def _toml(value: object) -> str:
    """Returns a value as in a scenario file, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)
