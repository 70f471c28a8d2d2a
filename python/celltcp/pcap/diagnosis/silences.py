"""Silences: times without an ACK while data were in flight, and the losses in them."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from celltcp.pcap.diagnosis.evidence import (
    INTERVAL_S,
    Evidence,
    plural,
    segments_were,
    times_text,
)
from celltcp.pcap.estimation.blackouts import outages_of

#: Minimum length of a silence, s and RTTs: what is beyond counts as a wait.
_MIN_S, _MIN_RTTS = 0.2, 2
#: Maximum error of a length, which intervals show: s, and as a share of all waits.
_MAX_ERROR_S, _MAX_ERROR_SHARE = INTERVAL_S, 0.1
#: Minimum mean RTT right after a silence, over its length, where packets waited in a queue meanwhile.
_MIN_OLD_SHARE = 0.5
#: Maximum number of silences that are listed one by one.
_MAX_LISTED = 4
#: Minimum part of silences that is no wait, s, for text: less is an error of their lengths.
_MIN_USUAL_S = 0.3


class Silence(NamedTuple):
    """Time without an ACK, s since the first packet of the connection, to about 0.1 s."""

    start_s: float
    length_s: float
    #: What of it is beyond the minimum length, s.
    waited_s: float
    #: Whether packets stayed in the queue meanwhile, and arrived after it.
    is_kept: bool
    #: Whether the sender sent nothing that could have an answer, as it waited for a time-out.
    is_unsent: bool


def silences_of(evidence: Evidence, waited_s: float) -> list[Silence]:
    """Returns the silences of the receiver; none if they are not those of a known wait, s."""
    own = evidence.sender_intervals.sort_values("t_s")
    in_flight = (own["bytes"] - own["acked_bytes"]).cumsum().to_numpy(float)
    acked = np.flatnonzero(own["acked_bytes"].to_numpy() > 0)
    times_s = own["t_s"].to_numpy(float)
    rtts_ms = own["rtt_mean_ms"].ffill().fillna(evidence.rtt_or_zero_ms).to_numpy(float)
    sent = (own["bytes"] + own["retransmitted_bytes"]).to_numpy(float)
    lowest_ms, mean_ms = (own[name].to_numpy(float) for name in ("rtt_min_ms", "rtt_mean_ms"))
    silences = []
    for number, (last, following) in enumerate(itertools.pairwise(acked), 1):
        length_s = float(times_s[following] - times_s[last])
        beyond_s = length_s - max(_MIN_S, _MIN_RTTS * rtts_ms[last] / 1e3)
        if beyond_s <= INTERVAL_S or in_flight[last] <= 0:
            continue
        # Behind an outage without a queue, a segment whose ACK alone was lost is the only old one.
        has_old = mean_ms[following] >= _MIN_OLD_SHARE * 1e3 * length_s
        are_old = lowest_ms[acked[number : number + 2]] >= 1e3 * (length_s - 2 * INTERVAL_S)
        is_kept = bool((has_old and mean_ms[following] > lowest_ms[following]) or are_old.all())
        answered_s = times_s[following] - rtts_ms[last] / 1e3 - INTERVAL_S
        is_unsent = (
            evidence.is_at_sender
            and not sent[last:following][times_s[last:following] < answered_s].any()
        )
        silences.append(Silence(float(times_s[last]), length_s, float(beyond_s), is_kept, is_unsent))
    error_s = abs(sum(each.waited_s for each in silences) - waited_s)
    is_known = error_s <= _MAX_ERROR_S * len(silences) + _MAX_ERROR_SHARE * waited_s
    return silences if is_known else []


def silences_text(silences: list[Silence], waited_s: float) -> str:
    """Returns times, lengths, and what of these is no wait, of silences as text; empty without any."""
    if not silences:
        return ""
    total_s = sum(each.length_s for each in silences)
    starts_text, usual_s = times_text([each.start_s for each in silences]), total_s - waited_s
    each_text = " each" if len(silences) > 1 else ""
    usual_text = f"; of these {total_s:.1f} s, {usual_s:.1f} s are no wait: {_MIN_RTTS} RTTs{each_text}"
    usual_text = f"{usual_text if usual_s >= _MIN_USUAL_S else ''})"
    if len(silences) == 1:
        return f"{starts_text} (no ACK for {total_s:.1f} s{usual_text}"
    if len(silences) > _MAX_LISTED:
        longest_s = max(each.length_s for each in silences)
        return (
            f"{starts_text[:-1]}: no ACK for {longest_s:.1f} s at most, {total_s:.1f} s in all"
            f"{usual_text}"
        )
    texts = [f"for {each.length_s:.1f} s from {each.start_s:.1f} s on" for each in silences]
    return f" ({len(silences)} times: no ACK {', '.join(texts[:-1])} and {texts[-1]}{usual_text}"


def lost_in_silences(evidence: Evidence, silences: list[Silence]) -> str:
    """Returns the losses by outages as text: those in them, and those in queues that outlived them."""
    groups = outages_of(evidence.losses)
    kept = [each for each in silences if each.is_kept]
    overflowed = sum(
        len(rows)
        for rows in groups
        if any(
            rows["t_s"].min() <= each.start_s + each.length_s
            and rows["repaired_s"].max() >= each.start_s + each.length_s
            for each in kept
        )
    )
    count = int(evidence.row["losses_outage"]) - overflowed
    time_outs = int((evidence.losses["repair"] == "time-out").sum())
    repaired_text = f" ({time_outs} repaired after time-outs)" if count and time_outs else ""
    lost = f"in which {segments_were(count) if count else 'nothing was'} lost{repaired_text}"
    if not overflowed:
        return lost
    overflowed_text = f"{plural(overflowed, 'segment')} overflowed the queue, which kept the others"
    return f"{lost}, and {overflowed_text}" if count else f"in which {overflowed_text}"
