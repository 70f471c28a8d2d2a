"""Rules about ACKs that come late: held up or lost by their link, or delayed by the receiver."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import Cause, percent_text
from celltcp.comparison.explanation.causes.path import intervals_overlap_outages, timeouts_text
from celltcp.comparison.explanation.evidence.ack_rates import (
    acks_fill_link,
    permitted_text,
    unused_beside_pauses,
)
from celltcp.comparison.explanation.evidence.queue_owners import (
    ACK_SHARE,
    ack_queue_owner,
    ack_queue_owner_text,
)
from celltcp.comparison.explanation.evidence.ramps import link_share_text
from celltcp.scenarios.requests import request_and_response

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Share of the lowest RTT below which the RTT of an empty path differs from it.
_MAX_EMPTY_SHARE = 0.8
#: Minimum time without an ACK before a time-out that late ACKs can have caused, s.
_MIN_SILENCE_S = 0.1
#: Minimum mean excess delays of ACKs, in lowest RTTs and ms, at which they are a cause.
_MIN_ACK_DELAY_RTTS, _MIN_ACK_DELAY_MS = 0.5, 30.0
#: Minimum of the former as a share of the wait of the data: RTTs and delays are of other packets, so
#: that their difference has an error of up to a tenth.
_MIN_WAIT_SHARE = 0.2
#: Minimum share of the time in which ACKs have such delays, where the mean is shorter.
_MIN_LATE_TIME = 0.05
#: Minimum delay of ACKs that a text on the RTT names, ms.
_MIN_DELAYED_ACK_MS = 1.0
#: Minimum share of the time without ACKs.
_MIN_LATE_SHARE = 1e-3
#: Minimum RTO of hosts by default, s, and minimum share of segments that a lower one sends in vain.
_USUAL_MIN_RTO_S, _MIN_VAIN_SHARE = 0.2, 0.01
#: Minimum rate of a link in rates of its ACKs at which these do not wait.
_MIN_ACK_RATE_RATIO = 2.0


def uplink(evidence: Evidence) -> Cause | None:
    """The link of the ACKs held them up or lost them, although the data had arrived.

    One sign is a time-out outside outages after at least {_MIN_SILENCE_S} s without an ACK, while data
    had arrived that no ACK reported. The other sign is an excess delay of ACKs of at least
    {_MIN_ACK_DELAY_MS:.0f} ms and {_MIN_ACK_DELAY_RTTS:.0%} of the lowest RTT, as a mean or, with a
    slot more, for {_MIN_LATE_TIME:.0%} of the time. Without other data before them it is
    {_MIN_WAIT_SHARE:.0%} of the wait of the data, too. Less than {_MIN_LATE_SHARE:.1%} of the time
    without ACKs is no cause. The link holds ACKs up if it has other data, outages, grants, jitter or a
    varying rate, or hardly carries the ACKs. The last sign is a link that carries the ACKs of less than
    the capacity, while the goodput is about what they permit.
    """
    is_holding, is_losing = _holds_acks(evidence), _loses_acks(evidence)
    if not (is_holding or is_losing):
        return None
    late, is_full = _LateAcks.of(evidence), acks_fill_link(evidence)
    is_late = late.excess_ms or len(late.timeouts)
    if not is_full and not (is_late and late.weight(evidence) >= _MIN_LATE_SHARE):
        return None
    link = "downlink" if evidence.is_upload else "uplink"
    verb = "held up" if is_holding and (late.excess_ms or not is_losing) else "lost"
    filled_by_text = ack_queue_owner_text(evidence) if late.excess_ms else ""
    parts = [late.text(evidence)] if is_late else []
    if is_full:
        unused = link_share_text(evidence, unused_beside_pauses(evidence))
        beside = "" if evidence.is_bulk else " beside the pauses of the application"
        parts += [permitted_text(evidence), f"{unused} of the capacity stayed unused{beside}"]
    return Cause(
        "uplink",
        f"The {link}{filled_by_text} {verb} ACKs: {'; '.join(parts)}.",
        max(late.weight(evidence), unused_beside_pauses(evidence) if is_full else 0.0),
    )


def delayed_acks(evidence: Evidence) -> Cause | None:
    """The receiver delayed ACKs, and Nagle's algorithm waited for them.

    ACKs took at least {_MIN_ACK_DELAY_MS:.0f} ms and {_MIN_ACK_DELAY_RTTS:.0%} of the lowest RTT longer
    than at best, on a link that neither holds them up nor loses them.
    """
    if not evidence.is_held_by_nagle or _holds_acks(evidence) or _loses_acks(evidence):
        return None
    late = _LateAcks.of(evidence)
    if not late.excess_ms:
        return None
    return Cause(
        "delayed_acks",
        f"The receiver delayed ACKs, for which Nagle's algorithm waited: {late.text(evidence)}.",
        late.weight(evidence),
    )


def spurious_timeouts(evidence: Evidence) -> Cause | None:
    """Time-outs were spurious: data waited in a queue for longer than the RTO, and nothing was lost.

    Data had arrived that no ACK reported after at least {_MIN_SILENCE_S} s without an ACK, on a link
    that neither holds ACKs up nor loses them.
    """
    if _holds_acks(evidence) or _loses_acks(evidence):
        return None
    rows = _late_timeouts(evidence)
    rows = rows[rows["drops"] == 0]
    if not len(rows):
        return None
    text = timeouts_text(evidence, rows)
    return Cause(
        "spurious_timeouts",
        f"{text} {'was' if text.startswith('1 ') else 'were'} spurious: nothing was lost, but data "
        f"waited in a queue for longer than the RTO, up to {rows['silence_s'].max():.1f} s after the "
        "last ACK.",
        min(rows["silence_s"].sum() / evidence.connection_time_s, 1.0),
    )


def vain_retransmissions(evidence: Evidence) -> Cause | None:
    """Below a lowered minimum RTO, time-outs and loss probes sent data again that had arrived.

    The minimum is below {_USUAL_MIN_RTO_S} s, and these are at least {_MIN_VAIN_SHARE:.0%} of the
    segments.
    """
    vain, sent = evidence.total("spurious_retransmissions"), evidence.total("segments")
    timers = evidence.total("timeouts") + evidence.total("loss_probes")
    if evidence.min_rto_s >= _USUAL_MIN_RTO_S or not timers or not vain >= _MIN_VAIN_SHARE * sent > 0:
        return None
    return Cause(
        "vain_retransmissions",
        f"{evidence.mean_count_text(vain)} of {evidence.mean_count_text(sent)} segments"
        f"{evidence.per_run_text} ({percent_text(vain / sent)}) were sent again in vain: their ACKs "
        f"came later than a minimum RTO of {1e3 * evidence.min_rto_s:.0f} ms waits for.",
        vain / sent,
    )


class _LateAcks(NamedTuple):
    """ACKs that came late or not at all, although the data had arrived."""

    #: Recoveries with a time-out, while data had arrived that no ACK reported.
    timeouts: pd.DataFrame
    #: Mean delay of ACKs in excess of the lowest one, ms; 0 if it is short.
    excess_ms: float
    #: Share of the time in which it is long, if that is not the mean of the whole time.
    share: float = 1.0

    @classmethod
    def of(cls, evidence: Evidence) -> _LateAcks:
        """Returns the late ACKs of a flow."""
        timeouts, excess_ms = _late_timeouts(evidence), _excess_ms(evidence)
        min_late_ms = max(_MIN_ACK_DELAY_RTTS * evidence.min_rtt_ms, _MIN_ACK_DELAY_MS)
        if not evidence.has_data_on_ack_path:
            min_late_ms = max(min_late_ms, _MIN_WAIT_SHARE * evidence.queue_wait_ms)
        if excess_ms >= min_late_ms:
            return cls(timeouts, max(_beside_waits_ms(evidence), 0.0))
        slots = _slots_beside_outages(evidence).dropna(subset=["rtt_mean_ms", "owd_mean_ms"])
        excesses_ms = slots["rtt_mean_ms"] - slots["owd_mean_ms"] - _min_ack_delay_ms(evidence)
        # The RTTs of a slot are of data that arrived up to a slot before its other data.
        late_ms = excesses_ms[excesses_ms >= min_late_ms + 1e3 * evidence.slot_s]
        share = len(late_ms) / max(len(evidence.slots), 1)
        # A slot of an application has few packets, and the ACKs of others.
        if evidence.is_thin or share < _MIN_LATE_TIME:
            return cls(timeouts, 0.0)
        return cls(timeouts, float(late_ms.mean()), share)

    def weight(self, evidence: Evidence) -> float:
        """Returns the share of the time without ACKs, or of the delay in the RTT if that is larger."""
        silence_share = 0.0
        if len(self.timeouts):
            silence_share = _silences_s(evidence, self.timeouts).sum() / evidence.connection_time_s
        delay_share = self.excess_ms / (self.excess_ms + evidence.min_rtt_ms)
        return min(max(silence_share, self.share * delay_share), 1.0)

    def text(self, evidence: Evidence) -> str:
        """Returns the time-outs and the delay as the end of a sentence."""
        parts = []
        if len(self.timeouts):
            longest_s = _silences_s(evidence, self.timeouts).max()
            parts.append(
                f"{timeouts_text(evidence, self.timeouts)} came while data had arrived that no ACK "
                f"reported, with up to {longest_s:.1f} s without an ACK"
            )
        if self.excess_ms:
            when = "on average" if self.share == 1 else f"for {percent_text(self.share)} of the time"
            parts.append(f"ACKs took {self.excess_ms:.0f} ms longer than at best {when}")
        return ", and ".join(parts)


def _excess_ms(evidence: Evidence) -> float:
    """Returns the mean delay of ACKs outside outages in excess of the lowest one, ms.

    Behind the data of others it is that in excess of the empty path, as their queue may never empty.
    """
    slots = _slots_beside_outages(evidence)
    both = slots.dropna(subset=["rtt_mean_ms", "owd_mean_ms"])
    if both.empty:
        return 0.0
    if not evidence.is_thin:
        ack_delay = _mean_ms(both, "rtt_mean_ms") - _mean_ms(both, "owd_mean_ms")
    elif len(slots) < len(evidence.slots):
        # A slot has few packets: the ACK of its data comes in a later one, unless it is early.
        ack_delay = _mean_ms(slots, "rtt_mean_ms") - _mean_ms(slots, "owd_mean_ms")
    else:
        ack_delay = evidence.mean("rtt_mean_ms") - evidence.mean("owd_mean_ms")
    return ack_delay - _min_ack_delay_ms(evidence)


def _min_ack_delay_ms(evidence: Evidence) -> float:
    """Returns the lowest delay of ACKs, ms: behind the data of others that of the empty path."""
    owd_ms = evidence.mean("owd_min_ms")
    min_ms = evidence.min_rtt_ms - owd_ms
    if not evidence.scenario.get("radio") and not _has_jitter(evidence) and ack_queue_owner(evidence):
        return min(min_ms, max(evidence.base_rtt_ms - owd_ms, 0.0))
    return min_ms


def _beside_waits_ms(evidence: Evidence) -> float:
    """Returns what the mean RTT has beside the empty path and the waits of the data, ms."""
    waits_ms = max(evidence.queue_wait_ms, 0.0) + evidence.jitter_ms
    return evidence.mean("rtt_mean_ms") - empty_path_ms(evidence) - waits_ms


def empty_path_ms(evidence: Evidence) -> float:
    """Returns the RTT that late ACKs are compared with, ms: the lowest one, unless queues are in it."""
    rtt_ms = evidence.mean("owd_min_ms") + _min_ack_delay_ms(evidence)
    return rtt_ms if rtt_ms < _MAX_EMPTY_SHARE * evidence.min_rtt_ms else evidence.min_rtt_ms


def _mean_ms(slots: pd.DataFrame, column: str) -> float:
    """Returns the mean of a delay over the segments of slots, ms: a slot with few counts little."""
    rows = slots.dropna(subset=[column])
    return float(np.average(rows[column], weights=rows["segments"].fillna(0).clip(lower=1)))


def _slots_beside_outages(evidence: Evidence) -> pd.DataFrame:
    """Returns the slots without packets that an outage delayed, and without ACKs of such packets."""
    slots = evidence.slots
    sent_s = slots["t_s"] - slots[["rtt_mean_ms", "owd_mean_ms"]].max(axis=1).fillna(0.0) / 1e3
    outages = [*evidence.outages, *evidence.ack_outages]
    return slots[~intervals_overlap_outages(slots, sent_s, slots["t_s"] + evidence.slot_s, outages)]


def delayed_acks_text(evidence: Evidence) -> str:
    """Returns the part of delayed ACKs in the mean RTT of an application as text; empty for little.

    RTTs are samples of other packets than delays of data. Where data wait for longer than ACKs, that is
    their difference.
    """
    if not evidence.is_thin or _holds_acks(evidence) or _loses_acks(evidence):
        return ""
    excess_ms = _excess_ms(evidence)
    wait_ms = evidence.mean("owd_mean_ms") - evidence.mean("owd_min_ms")
    min_ms = max(_MIN_ACK_DELAY_RTTS * evidence.min_rtt_ms, _MIN_DELAYED_ACK_MS, wait_ms)
    return f" (delayed ACKs are {excess_ms:.1f} ms of it)" if excess_ms >= min_ms else ""


def _late_timeouts(evidence: Evidence) -> pd.DataFrame:
    """Returns the recoveries with a time-out outside outages, whose data had arrived unreported."""
    rows = evidence.recoveries
    rows = rows[(rows["timeouts"] > 0) & (rows["unreported_bytes"] > 0)]
    # Late ACKs are not the reason of a time-out right after an ACK.
    rows = rows[rows["silence_s"] >= _MIN_SILENCE_S]
    starts = rows["timeout_s"] - rows["silence_s"]
    return rows[~intervals_overlap_outages(rows, starts, rows["timeout_s"], evidence.outages)]


def _silences_s(evidence: Evidence, rows: pd.DataFrame) -> NDArray[np.float64]:
    """Returns the time without an ACK of recoveries, s: until the time-out or the end of its outage."""
    silences_s = rows["silence_s"].to_numpy(float, copy=True)
    for gap in evidence.ack_outages:
        rest_s = gap.end_s - rows["timeout_s"].to_numpy(float)
        is_within = (rows["run"] == gap.run).to_numpy() & (rest_s >= 0) & (rest_s <= gap.length_s)
        silences_s[is_within] += rest_s[is_within]
    return silences_s


def _loses_acks(evidence: Evidence) -> bool:
    """Returns whether the direction of the ACKs has random loss."""
    path = evidence.scenario.get("path", {})
    losses = [path.get("loss" if evidence.is_upload else "uplink_loss")]
    losses += [hop.get("loss") for hop in path.get("wired", ())]
    return any(losses)


def _holds_acks(evidence: Evidence) -> bool:
    """Returns whether ACKs may wait in their direction: behind data, for grants, or for a slow link.

    In outages that lose all packets ACKs do not wait, and time-outs in those are no signs of late ACKs.
    """
    path = evidence.scenario.get("path", {})
    hops = path.get("wired", ())
    link = path.get("down" if evidence.is_upload else "up", {})
    rate_mbps = (in_unit(link.get("rate"), "Mbit/s") if isinstance(link, dict) else None) or 0.0
    # Requests of the flow wait in the queue of its ACKs.
    request, response = request_and_response(evidence.workload) or (0.0, 1.0)
    return bool(
        evidence.scenario.get("radio")
        or evidence.has_middleboxes
        or evidence.has_data_on_ack_path
        or not all(gap.loses_all for gap in evidence.ack_outages)
        or _has_jitter(evidence)
        or any(hop.get("cross_traffic") for hop in hops)
        or rate_mbps < _MIN_ACK_RATE_RATIO * (ACK_SHARE + request / response) * evidence.goodput_mbps
    )


def _has_jitter(evidence: Evidence) -> bool:
    """Returns whether ACKs have jitter: that of hops, or of the path in the direction of downloads."""
    path = evidence.scenario.get("path", {})
    jitters = [hop.get("jitter") for hop in path.get("wired", ())]
    return any([*jitters, path.get("jitter") if evidence.is_upload else None])
