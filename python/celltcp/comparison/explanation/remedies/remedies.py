"""Remedies of causes: changes of a setting, CCA or middlebox that an engineer tries next.

Each rule yields the remedies of a cause, the most promising one first. Some are changes that the
scenario cannot have, or already has; `proposals` leaves them out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.incast import synchronized_starts
from celltcp.comparison.explanation.causes.requests import limit_of_requests, opposite_rate
from celltcp.comparison.explanation.causes.unit_reasons import (
    BEHIND,
    BEHIND_LOST,
    IN_QUEUE,
    NAGLE,
    PEER_TIME_OUT,
    PROBE,
    RECOVERY,
    REQUEST_LOST,
    SLOW_LINK,
    TIME_OUT,
)
from celltcp.comparison.explanation.causes.unused import window_beside
from celltcp.comparison.explanation.evidence.buffers import (
    buffer_bytes,
    buffer_field,
    burst_text,
    bursts_exceed_buffer,
)
from celltcp.comparison.explanation.evidence.evidence import MIN_LIMITED_SHARE
from celltcp.comparison.explanation.evidence.frame_load import made_mbps
from celltcp.comparison.explanation.evidence.queue_owners import queue_owner
from celltcp.comparison.explanation.evidence.unit_windows import IN_PROBE_RTT
from celltcp.comparison.explanation.remedies.application_remedies import (
    CONNECTIONS_FILL_BUFFER,
    following_encoder,
    frames_for_window,
    one_connection,
    waiting_frames,
)
from celltcp.comparison.explanation.remedies.queue_remedies import queue
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.remedies.rto_remedies import (
    have_doubled,
    is_rto_before_next_frame,
    is_short_rto_useful,
    min_rtos,
)
from celltcp.comparison.explanation.remedies.sender_remedies import capped_sender, parallel_connections
from celltcp.comparison.explanation.remedies.split_remedies import split_proxy
from celltcp.comparison.explanation.remedies.window_remedies import (
    SEND_BUFFER_RATIO,
    WINDOW_BDPS,
    receive_window,
    rounded_size,
    send_buffer,
)
from celltcp.comparison.lines.linux_lines import host_text, node_word
from celltcp.comparison.lines.settings_lines import parameter_commands
from celltcp.results.limits import RETRIES_AT_RTO_MAX
from celltcp.scenarios.cca_mix import with_flow_cca
from celltcp.scenarios.ccas import default_parameters
from celltcp.scenarios.frames import MAX_FRAME_SHARE
from celltcp.scenarios.initial_window import LARGE_INITIAL_WINDOW, initial_window
from celltcp.scenarios.narrow_hop import path_parts
from celltcp.scenarios.packets import PACKET_BYTES
from celltcp.scenarios.requests import MSS, request_and_response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.comparison.explanation.causes.cause import Cause
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Buffer of a bottleneck that lets a loss-based CCA fill the path, BDPs.
_BUFFER_BDPS = 1
#: Minimum share of the slow units that have a reason which gets remedies.
_MIN_REASON_SHARE = 0.1
#: Lowest value that Linux allows for the maximum RTO, s.
_LOWEST_RTO_MAX_S = 1
#: Minimum ratio of a maximum RTO to the 95th percentile of the RTT: the RTO is the smoothed RTT and
#: four times its variation (RFC 6298), and a maximum below that fires while ACKs are on their way.
_MIN_RTO_MAX_RTTS = 2
#: Minimum wait after an outage for which a shorter RTO is a remedy, RTTs.
_MIN_OUTAGE_WAIT_RTTS = 2
#: Minimum RTT of a path over a satellite, ms.
_MIN_SATELLITE_RTT_MS = 300
#: Number of time-outs of a thin stream that do not double (`TCP_THIN_LINEAR_RETRIES` of Linux).
_THIN_LINEAR_RETRIES = 6
#: Wait after an outage from which on the RTO has doubled, s; a shorter one only shifts its phase.
_MIN_DOUBLED_RTO_WAIT_S = 0.6
#: Long cycle of DRX of a remedy, ms.
_SHORT_DRX_CYCLE_MS = 80
#: Largest initial window that holds a response, segments: senders of content delivery networks have up
#: to some 100 (R. Rüth et al., "Demystifying TCP Initial Window Configurations of Content Distribution
#: Networks", TMA 2018).
_MAX_INITIAL_WINDOW = 100
#: Minimum share of the time of a run that a larger initial window has to save.
_MIN_SAVED_SHARE = 0.05


def shallow_buffer(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Pacing, BBR, a buffer of one BDP, or a cap of the sender's rate below that of the link.

    Where a burst of segmentation offload does not fit into the buffer, segments are sent one by one.
    That is the only remedy if the CCA is BBR.
    """
    yield from synchronized_starts(evidence)
    against = "bursts that overflow a shallow buffer"
    no_tso = ("tcp.tso=1",) if bursts_exceed_buffer(evidence) else ()
    if evidence.is_bbr:
        if no_tso:
            yield Remedy(against, no_tso)
        return
    if no_tso:
        yield _pacing(against, no_tso)
        # Each ACK then lets one segment go, or two while slow start lasts, as in textbooks.
        yield Remedy(
            f"{against}: segments one by one, as in textbooks", (*no_tso, "tcp.delayed_ack=false")
        )
    yield _pacing(against)
    yield Remedy("a shallow buffer", no_tso, cca="bbr")
    yield from _buffer(evidence, _BUFFER_BDPS, "a shallow buffer")
    yield from capped_sender(evidence, against)


def overshoot(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """HyStart++, pacing, a buffer of two BDPs, or a cap, unless other flows fill the queue."""
    if evidence.competing_mbps:
        return
    yield from synchronized_starts(evidence)
    against = "losses at the end of slow start"
    cca, name = evidence.own_cca, evidence.own_cca.partition(":")[0]
    if "hystart=off" in cca:
        yield Remedy(against, cca=cca.replace("hystart=off", "hystart=on"))
    elif name != "cubic" and "slow_start" in default_parameters(name) and "slow_start=" not in cca:
        yield Remedy(against, parameter="slow_start=hystart++")
    elif name == "cubic":
        yield _pacing(against)
    if not name.startswith("bbr"):
        # BBR's window follows the rate that it measures.
        yield from _buffer(evidence, 2 * _BUFFER_BDPS, against)
        yield from capped_sender(evidence, against)


def nagle(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """`TCP_NODELAY`, with which no segment waits for an ACK, or a single write for a response."""
    yield from _nodelay(evidence)
    if int(evidence.workload.get("writes", 1)) > 1:
        yield Remedy(
            "several writes for a response",
            (f"flows.{evidence.flow_index}.workload.writes=1",),
            linux="sender: one write (writev) for header and body, or the socket option TCP_CORK",
        )


def delayed_acks(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """`TCP_NODELAY`, with which no segment waits for an ACK."""
    yield from _nodelay(evidence)


def grants(_evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Configured grants, or more opportunities to request one."""
    against = "data that wait for a grant of the uplink"
    yield Remedy(
        against,
        ("radio.uplink.access=configured",),
        network="base station: configured grants, which the operator of a cell of NR sets (TS 38.321, "
        "5.8.2); LTE's semi-persistent scheduling has periods of 10 ms or more before release 14",
    )
    yield Remedy(against, ("radio.uplink.sr_period=5ms",), network="base station: period of SR")


def sleep(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A longer inactivity timer of DRX, or shorter cycles."""
    against = "data that wait for the phone to wake up"
    yield Remedy(against, ("radio.drx.inactivity=2560ms",))
    if (in_unit(evidence.scenario["radio"]["drx"]["long_cycle"], "ms") or 0.0) > _SHORT_DRX_CYCLE_MS:
        yield Remedy(against, (f"radio.drx.long_cycle={_SHORT_DRX_CYCLE_MS}ms",))


def outage(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A maximum RTO above the RTTs, or shorter time-outs for flows that send little.

    After an outage that is longer than the time-outs which do not double, their number only shifts the
    end of the last one, by chance to an earlier or a later time.
    """
    waits_s = [wait_s for gap in evidence.outages if (wait_s := evidence.wait_after(gap)) > 0]
    max_wait_s = max(waits_s, default=0.0)
    against = "time-outs that double in an outage"
    # A connection should survive outages of twice the longest one.
    longest_s = max((gap.length_s for gap in evidence.outages), default=0.0)
    survived_s = 2 * longest_s
    least_s = max(
        _MIN_RTO_MAX_RTTS * np.nan_to_num(evidence.mean("rtt_p95_ms")) / 1e3, _LOWEST_RTO_MAX_S
    )
    rto_max_s = math.ceil(max(survived_s / RETRIES_AT_RTO_MAX, least_s))
    if max_wait_s >= rto_max_s:
        yield Remedy(
            f"{against} (with {rto_max_s} s, connections last in outages of up to {survived_s:.0f} s, "
            "twice the longest one; a lower maximum ends them sooner); "
            f"{_reconnection_text(evidence)}",
            (f"tcp.rto_max={rto_max_s}s",),
        )
    min_wait_s = _MIN_OUTAGE_WAIT_RTTS * evidence.min_rtt_ms / 1e3
    if not waits_s or not evidence.is_thin or not max_wait_s >= min_wait_s:
        return
    if max_wait_s < _MIN_DOUBLED_RTO_WAIT_S and is_short_rto_useful(evidence):
        yield from min_rtos(evidence)
    linear_s = _THIN_LINEAR_RETRIES * (evidence.min_rto_s + evidence.min_rtt_s)
    if not evidence.is_bbr and longest_s <= linear_s:
        # A stream that has never reduced its window is not thin, and BBR never does.
        yield Remedy(against, ("tcp.thin_linear_timeouts=true",))


def _reconnection_text(evidence: Evidence) -> str:
    """Returns what a program at the host that opens connections does in place of a maximum RTO."""
    flow = evidence.scenario["flows"][evidence.flow_index]
    if flow.get("opens", "to") == "from":
        return "a program that sets TCP_USER_TIMEOUT and connects anew does the same"
    client = node_word(str(flow.get("to", "phone")), evidence.scenario)
    return (
        f"a program at the {client}, which opens the connection, does the same if it misses heartbeats "
        "and connects anew"
    )


def policer(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """BBR, a cap of the sender's rate below that of the policer, a burst of two BDPs, or pacing."""
    against = "drops of a policer"
    yield Remedy(against, cca="bbr")
    yield from capped_sender(evidence, against, "policer")
    for field, settings in evidence.policers.items():
        bdp = evidence.bdp * evidence.header_factor
        if (in_unit(settings["burst"], "B") or 0.0) < bdp:
            burst = rounded_size(WINDOW_BDPS * bdp)
            yield Remedy(
                "a burst of the policer below a BDP",
                (f"{field}.burst={burst}",),
                network=f"the network that polices: a burst of {burst}",
            )
    yield _pacing("bursts that a policer drops")


def random_loss(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """BBR, parallel connections, or a split host before the lossy link, for flows that send much.

    On paths of satellites Hybla, too, whose window grows as if the RTT was short.
    """
    if evidence.is_thin and not _is_window_limited(evidence):
        return
    against = "a window that random losses keep small"
    yield Remedy(against, cca="bbr")
    if evidence.min_rtt_ms >= _MIN_SATELLITE_RTT_MS:
        yield Remedy(against, cca="hybla")
    yield from parallel_connections(evidence, against)
    loss = evidence.scenario.get("path", {}).get("loss")
    if loss and not isinstance(loss, dict):
        against = "repairs of random losses over the whole path"
        yield from split_proxy(evidence, against, ", where the losses are behind it")


def radio_loss(_evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Acknowledged mode of RLC."""
    yield Remedy("losses on the radio", ("radio.rlc.mode=am",))


def handovers(_evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Forwarding of all data that the phone has not confirmed."""
    yield Remedy(
        "data that the old cell does not hand over",
        ("radio.handover.forwarding=lossless",),
        network="base station: X2 or Xn forwarding for bearers in acknowledged mode",
    )


def link_failures(_evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Handovers that begin earlier, or cells that fetch the data of the old cell."""
    against = "radio links that fail before a handover"
    trigger = "radio.handover.trigger"
    yield Remedy(against, (f"{trigger}.hysteresis=1dB", f"{trigger}.time_to_trigger=100ms"))
    yield Remedy("data of a cell whose link failed", ("radio.link_failure.context_fetch=true",))


def early_exit(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """HyStart is turned off, if it is on."""
    cca = evidence.own_cca
    name = cca.partition(":")[0]
    if ":" in cca or default_parameters(name).get("hystart") not in ("on", "true"):
        return
    against, changed = "an early end of slow start", f"{cca}:hystart=off"
    mix = with_flow_cca(evidence.cca, evidence.flow_index, changed)
    of_flow = {"flows": [evidence.scenario["flows"][evidence.flow_index]]} if mix else {}
    sender = host_text("sender", of_flow)
    linux = "; ".join(f"{sender}: {command}" for command in parameter_commands(changed))
    if mix:
        yield Remedy(against, cca=mix, linux=linux)
    else:
        yield Remedy(against, parameter="hystart=off", linux=linux)


def idle_restart(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """No slow start after idle, a larger initial window, or BBR, which keeps its window in pauses.

    Where a whole window at once overflows the buffer, no slow start after idle needs pacing.
    """
    against, unshrunk = "a window that shrinks in pauses", ("tcp.slow_start_after_idle=false",)
    if evidence.cwnd_max * evidence.mss > buffer_bytes(evidence):
        yield Remedy(
            f"{against}; it is paced, as the buffer does not hold a whole window at once",
            (*unshrunk, "tcp.pacing=true"),
            family=unshrunk[0],
        )
    yield Remedy(against, unshrunk, family=unshrunk[0])
    yield from _initial_window(evidence, against)
    yield Remedy(against, cca="bbr")


def large_requests(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """No slow start after idle, or an initial window that holds a request, at the client."""
    against = "a window of the client that shrinks in pauses"
    yield Remedy(against, ("tcp.slow_start_after_idle=false",))
    if sizes := request_and_response(evidence.workload):
        segments = min(math.ceil(sizes[0] / MSS), _MAX_INITIAL_WINDOW)
        yield Remedy(against, (f"tcp.initial_window={segments}",))


def request_limit(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A window or buffer of two BDPs for requests that one of the hosts limits."""
    limit, rate = limit_of_requests(evidence), opposite_rate(evidence)
    if limit is None or rate is None or limit.kind == "link":
        return
    window = WINDOW_BDPS * rate / 8 * evidence.min_rtt_ms / 1e3
    field, ratio = {
        "receive_window": ("receive_window_max", 1),
        "send_buffer": ("send_buffer_max", SEND_BUFFER_RATIO),
    }[limit.kind]
    against = f"a full {limit.kind.replace('_', ' ')} of requests"
    yield Remedy(against, (f"tcp.{field}={rounded_size(ratio * window)}",))


def slow_start(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A larger initial window."""
    yield from _initial_window(evidence, "a long slow start")


def window_round_trips(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """An initial window that holds a response, or no slow start after idle."""
    against = "a window that is smaller than a response"
    yield from _initial_window(evidence, against)
    yield Remedy(against, ("tcp.slow_start_after_idle=false",))


def reordering(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Jitter that keeps packets in order, which is for the network to do."""
    fields = [
        field
        for field, part in path_parts(evidence.scenario).items()
        # The jitter of the path itself is that of the downlink.
        if not (evidence.is_upload and field == "path") and (part.get("jitter") or {}).get("reorder")
    ]
    if fields:
        yield Remedy(
            "packets that overtake each other",
            tuple(f"{field}.jitter.reorder=false" for field in fields),
            network="the network: links of a bundle by flow, not by packet",
        )


def time_outs(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """`TCP_NODELAY`, or a lower minimum RTO."""
    yield from _nodelay(evidence)
    if not have_doubled(evidence):
        yield from min_rtos(evidence)


def slow_units(evidence: Evidence, cause: Cause) -> Iterator[Remedy]:
    """Remedies for frequent waits: for a time-out or probe, behind earlier units, in a queue."""
    min_count = _MIN_REASON_SHARE * sum(cause.reasons.values())
    # If window or pacing hold frames back, frames in a recovery also wait behind earlier ones.
    is_paced = evidence.time_share("pacing") >= MIN_LIMITED_SHARE
    backlog_reasons = (
        (BEHIND, RECOVERY, BEHIND_LOST) if is_paced or _is_window_limited(evidence) else ()
    )
    for reason, count in sorted(cause.reasons.items(), key=lambda item: -item[1]):
        if count < min_count:
            return
        if reason in (PROBE, TIME_OUT, REQUEST_LOST, PEER_TIME_OUT):
            yield from _nodelay(evidence)
            if is_short_rto_useful(evidence):
                yield from min_rtos(evidence, cause.reasons)
        elif reason == NAGLE:
            yield from _nodelay(evidence)
        elif reason in (RECOVERY, BEHIND_LOST) and is_rto_before_next_frame(evidence):
            yield from min_rtos(evidence)
        elif reason in backlog_reasons and evidence.workload.get("kind") == "frames":
            yield from waiting_frames(evidence)
            frames_mbps = made_mbps(evidence) or 0.0
            # The remedies of `overload` are for a link that is too slow for the frames.
            if evidence.goodput_mbps < MAX_FRAME_SHARE * frames_mbps < evidence.capacity_mbps:
                yield from frames_for_window(evidence)
        elif reason == IN_QUEUE:
            yield from queue(evidence, cause)
            if evidence.workload.get("kind") == "frames" and queue_owner(evidence) is None:
                yield from following_encoder(evidence)
                yield from waiting_frames(evidence)
        if reason in (IN_QUEUE, SLOW_LINK) and evidence.workload.get("kind") == "page":
            yield from one_connection(evidence, CONNECTIONS_FILL_BUFFER)
        if reason == IN_PROBE_RTT:
            yield from probe_rtt(evidence, cause)


def round_trips(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Parallel requests over one connection, and a larger initial window."""
    against = "round trips for one object after another"
    yield from one_connection(evidence, against)
    yield from _initial_window(evidence, against)


def start_up(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A larger initial window, unless the round trips that it saves are few beside the run."""
    window = initial_window(evidence.scenario.get("tcp", {}))
    saved_rtts = math.log2(max(LARGE_INITIAL_WINDOW / window, 1.0))
    run_s = evidence.duration_s / len(evidence.runs)
    if saved_rtts * evidence.min_rtt_ms / 1e3 >= _MIN_SAVED_SHARE * run_s:
        yield from _initial_window(evidence, "a long slow start")


def probe_rtt(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """CUBIC, which keeps the path full, or BBR v3, which keeps half a BDP in flight."""
    against = "a path that PROBE_RTT empties"
    yield Remedy(against, cca="cubic")
    if not evidence.is_bbr3:
        yield Remedy(against, cca="bbr3")


def slow_growth(evidence: Evidence, cause: Cause) -> Iterator[Remedy]:
    """Larger windows at hosts that are full at times, a larger initial window, or another CCA."""
    if window := window_beside(evidence):
        yield from {"receive_window": receive_window, "send_buffer": send_buffer}[window](
            evidence, cause
        )
    if evidence.time_share("startup") >= evidence.time_share("congestion_window", "pacing"):
        yield from _initial_window(evidence, "a long slow start")
    elif evidence.is_thin:
        yield Remedy("a window that shrinks in pauses", ("tcp.slow_start_after_idle=false",))
    elif evidence.time_share("pacing") > evidence.time_share("congestion_window"):
        yield Remedy("a pacing rate that follows late", cca="cubic")
    else:
        yield Remedy("a window that grows slowly", cca="bbr")
        yield Remedy("a window that grows slowly", cca="hybla")


def _is_window_limited(evidence: Evidence) -> bool:
    """Returns whether the congestion window limits the flow for a large part of the time."""
    return evidence.time_share("congestion_window", "recovery") >= MIN_LIMITED_SHARE


def _pacing(against: str, further_changes: tuple[str, ...] = ()) -> Remedy:
    price = "a paced window grows and shrinks otherwise, which can cost goodput"
    return Remedy(against, (*further_changes, "tcp.pacing=true"), price=price)


def _initial_window(evidence: Evidence, against: str) -> Iterator[Remedy]:
    """Yields a larger initial window: one that holds a response, unless that is a very large one."""
    present = initial_window(evidence.scenario.get("tcp", {}))
    sizes = request_and_response(evidence.workload)
    segments = math.ceil(sizes[1] / evidence.mss) if sizes and evidence.mss > 0 else 0
    if not present < segments <= _MAX_INITIAL_WINDOW:
        segments = LARGE_INITIAL_WINDOW
    if segments > present:
        change = f"tcp.initial_window={segments}"
        yield Remedy(f"{against}{burst_text(evidence, segments)}", (change,))


def _nodelay(evidence: Evidence) -> Iterator[Remedy]:
    """Yields `TCP_NODELAY`, so that later segments report a loss before a probe or a time-out."""
    if evidence.is_held_by_nagle:
        against = "waits of Nagle's algorithm for ACKs"
        if len(evidence.recoveries):
            against += ", which leave no later segments that report a loss"
        yield Remedy(against, (f"flows.{evidence.flow_index}.nodelay=true",))


def _buffer(evidence: Evidence, bdps: int, against: str) -> Iterator[Remedy]:
    """Yields a deeper buffer at the bottleneck; nothing where it is as deep."""
    packets = math.ceil(bdps * evidence.bdp / evidence.mss)
    if packets * PACKET_BYTES > buffer_bytes(evidence):
        yield Remedy(against, (f"{buffer_field(evidence)}={packets}packets",))
