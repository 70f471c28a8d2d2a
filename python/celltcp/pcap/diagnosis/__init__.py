"""Diagnosis: one sentence for each connection about what it waited for, or what limits it.

Rules for faults, which explain everything else, come first. Rules for waits follow, then those for
limits of the rate. A rule uses the tables only, and claims nothing that they do not show.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from celltcp.pcap.common_queues import CommonQueues
from celltcp.pcap.diagnosis.causes import Cause, Clause, Sentence, joined, named, said
from celltcp.pcap.diagnosis.evidence import (
    INTERVAL_S,
    Evidence,
    mean_rtt_ms,
    plural,
    records,
    segments_were,
)
from celltcp.pcap.diagnosis.faults import FAULTS, dropped_by_the_capture, reset
from celltcp.pcap.diagnosis.limits import IN_THE_REST, LIMITS, receive_window
from celltcp.pcap.diagnosis.losses import NOT_STANDING, lost_in_outages, path_losses
from celltcp.pcap.diagnosis.messages import messages_of
from celltcp.pcap.diagnosis.standing_queues import standing_queue
from celltcp.pcap.diagnosis.thin_streams import is_thin, thin_stream
from celltcp.pcap.diagnosis.waits import Wait, for_application, waits
from celltcp.pcap.diagnosis.window_growth import grows_as_reno
from celltcp.pcap.opposite import opposite_transfer
from celltcp.pcap.shared_queue import (
    fill_link,
    filling_transfer,
    queue_filler,
    share_text,
    sharing_transfers,
    transfers_beside,
)
from celltcp.pcap.transfers import Transfers, client_of, hosts_of
from celltcp.pcap.uplink_queues import UplinkQueues
from celltcp.scenarios.quantity_texts import ms_text, size_text, three_digits

__all__ = ["DIAGNOSIS", "INTERVAL_COLUMNS", "MIN_CCA_CONFIDENCE", "diagnoses"]

#: Meaning of the column with the sentences.
DIAGNOSIS = "what it waited for, or what limits it, in one sentence; empty where nothing is to be said"

#: Columns of intervals that the rules use.
INTERVAL_COLUMNS = [
    *("file", "connection", "up", "t_s", "bytes", "in_flight_max", "window_min", "rtt_min_ms"),
    *("acked_bytes", "retransmitted_bytes", "rtt_mean_ms", "near_rtt_mean_ms", "held_s", "paused_s"),
]

#: Minimum length of a wait that is named before limits: share of the time of the connection, and s.
_MIN_WAIT_SHARE = 0.05
#: Minimum ratio of the 95th percentile of RTTs to the lowest one at which ACKs or data wait.
_MIN_QUEUED_RATIO = 2
#: Maximum excess of the median RTT of a connection over the lowest one of its hosts that is usual:
#: a share of it, and a queue of its own, ms.
_MAX_USUAL_SHARE, _MAX_USUAL_MS = 0.25, 30.0
_MIN_WAIT_S = 0.1
#: Minimum length of outages that are named whatever their share of the time, s.
_MIN_OUTAGE_S = 0.5
#: Minimum confidence in a CCA that counts as known, and that by the growth of its window alone.
MIN_CCA_CONFIDENCE = 0.5
_GROWTH_CONFIDENCE = 0.6
#: Maximum confidence in BBR without probes of the RTT, which its flight after losses has kept.
_KEPT_CONFIDENCE = 0.6
#: Causes that are an overflow for sure, and queues that another transfer fills.
_OVERFLOWS = (Cause.FULL_QUEUE, Cause.SHALLOW_BUFFER)
_FILLED = (Cause.FILLED_QUEUE, Cause.ACKS_IN_QUEUE)
#: Minimum wait in the queue of another transfer that is named, as a share of the lowest RTT.
_MIN_FILLED_SHARE = 0.5
#: Maximum share of the time in waits at which losses matter in the rest of it.
_MAX_WAITS_SHARE = 0.5


class Diagnosis(NamedTuple):
    """Sentence about a connection, empty without a finding, and its CCA with the confidence in it."""

    sentence: Sentence
    cca: str
    cca_confidence: float


def diagnoses(
    connections: pd.DataFrame,
    losses: pd.DataFrame,
    intervals: pd.DataFrame,
    own_near_rtts_ms: Iterable[float],
) -> list[Diagnosis]:
    """Returns the sentence and the CCA of each connection.

    `own_near_rtts_ms` are the lowest RTTs to its sender that each connection has itself.
    """
    loss_indices, interval_indices = (
        table.groupby(["file", "connection"], observed=True).indices for table in (losses, intervals)
    )
    transfers = Transfers(connections)
    usual = {
        (row["file"], hosts_of(row)[0])
        for row in records(connections)
        if row["near_rtt_p50_ms"] <= (1 + _MAX_USUAL_SHARE) * row["near_rtt_min_ms"] + _MAX_USUAL_MS
    }
    queues, common = UplinkQueues(connections, intervals), CommonQueues(transfers, intervals)
    results, rows, queues_ms = [], [], []
    main_causes: dict[tuple[Hashable, Hashable], Cause | None] = {}
    for row, own_near_rtt_ms in zip(records(connections), own_near_rtts_ms, strict=True):
        key = (row["file"], row["connection"])
        evidence = Evidence(
            row,
            losses.iloc[loss_indices.get(key, [])],
            intervals.iloc[interval_indices.get(key, [])],
            queue_filler(transfers, row) if row["stalled_s"] else None,
            own_near_rtt_ms=own_near_rtt_ms,
            is_lowest_rare=(row["file"], hosts_of(row)[0]) not in usual,
        )
        if row["far_rtt_p95_ms"] + row["near_rtt_p95_ms"] > _MIN_QUEUED_RATIO * row["rtt_min_ms"]:
            opposite = opposite_transfer(transfers, row, evidence.sender_intervals)
            evidence = replace(evidence, opposite=opposite)
        if row["place"] == "receiver" and (upload := queues.largest_upload(row)) is not None:
            answered = evidence.sender_intervals.dropna(subset=["near_rtt_mean_ms"])
            sent_s = answered["t_s"] + INTERVAL_S / 2 - answered["near_rtt_mean_ms"] / 1e3
            waits_s = queues.waits_s(row, sent_s)
            wait_ms = 1e3 * float(np.median(waits_s)) if len(waits_s) else 0.0
            evidence = replace(evidence, uplink_filler=upload, uplink_wait_ms=wait_ms)
        cca, confidence = row["cca"], row["cca_confidence"]
        if cca == "unknown" and grows_as_reno(evidence):
            cca, confidence = "reno", _GROWTH_CONFIDENCE
        # What is in flight is what such an application sends, not what a window allows: it keeps that
        # after losses under each CCA.
        has_kept = cca == "bbr" and confidence <= _KEPT_CONFIDENCE
        if (has_kept or confidence < MIN_CCA_CONFIDENCE) and messages_of(row) is not None:
            cca, confidence = "unknown", 0.0
        own = _diagnosis(evidence)
        rows.append({**row, "main_cause": own.main_cause})
        rtt_ms = mean_rtt_ms(evidence.sender_intervals, row["place"])
        queues_ms.append(rtt_ms - float(row["rtt_min_ms"]))
        main_causes[key] = own.main_cause
        sentences = (own, _sharing_text(transfers, common, row, own), _ack_queue_text(evidence, own))
        results.append(Diagnosis(joined("; ", sentences), cca, confidence))
    explained = Transfers(connections.assign(main_cause=[each["main_cause"] for each in rows]))
    finished = []
    for row, result, queue_ms in zip(rows, results, queues_ms, strict=True):
        sentence = _of_one_queue(transfers, row, result.sentence, main_causes)
        finished.append(result._replace(sentence=_with_filler(explained, row, sentence, queue_ms)))
    return finished


def _with_filler(
    transfers: Transfers, row: Mapping[Hashable, Any], sentence: Sentence, queue_ms: float
) -> Sentence:
    """Returns the sentence with the transfer that fills the queue in which a slower one waits."""
    if not queue_ms >= _MIN_FILLED_SHARE * row["rtt_min_ms"]:
        return sentence
    filler = filling_transfer(row, transfers_beside(transfers, row))
    if filler is None or sentence.names(*_FILLED):
        return sentence
    number = int(filler["connection"])
    text = (
        f"connection {number} fills the queue in which its segments wait {ms_text(queue_ms)} on average"
    )
    # Its own share of the queue says nothing about that.
    clauses = tuple(each for each in sentence.clauses if each.text != NOT_STANDING)
    return joined("; ", (Sentence(clauses), named(Cause.FILLED_QUEUE, text, connection=number)))


def _of_one_queue(
    transfers: Transfers,
    row: Mapping[Hashable, Any],
    sentence: Sentence,
    main_causes: Mapping[tuple[Hashable, Hashable], Cause | None],
) -> Sentence:
    """Returns the sentence with the buffer that a transfer beside it overflows as its only cause."""
    if not sentence.names(Cause.OVERFLOW):
        return sentence
    for other in sharing_transfers(transfers, row):
        if main_causes[other["file"], other["connection"]] in _OVERFLOWS:
            number = other["connection"]
            text = f", most likely in the buffer that connection {number} overflows, too"
            shared = Clause(text, Cause.SHARED_BUFFER, connection=number)
            clauses = sentence.clauses
            return Sentence(tuple(shared if each.cause is Cause.OVERFLOW else each for each in clauses))
    return sentence


def _sharing_text(
    transfers: Transfers, queues: CommonQueues, row: Mapping[Hashable, Any], own: Sentence
) -> Sentence:
    """Returns the connections that share a queue with another one, as text; empty without any."""
    is_limit = own.main_cause in _OVERFLOWS
    is_possible = own.names(Cause.OVERFLOW, Cause.SHALLOW_OR_POLICER, Cause.IN_FULL_QUEUE)
    same, of_queue = sharing_transfers(transfers, row), queues.others(row)
    others = [*same, *of_queue]
    if not others or not (is_limit or is_possible or fill_link([row, *others])):
        return Sentence()
    texts = [f"{plural(len(same), 'connection')} between the same hosts"] if same else []
    if of_queue:
        noun = plural(len(of_queue), "connection")
        clients = "other clients" if len(set(map(client_of, of_queue))) > 1 else "another client"
        texts.append(f"{noun} of {clients}, whose RTTs rise and fall with its own")
    total_mbps = sum(float(each["throughput_mbps"]) for each in (row, *others))
    return named(
        Cause.SHARED_PATH,
        f"it shares {'that' if is_limit else 'the path'} with {' and '.join(texts)}: "
        f"{three_digits(total_mbps)} Mbit/s together{share_text(row, others)}",
    )


def _ack_queue_text(evidence: Evidence, own: Sentence) -> Sentence:
    """Returns the transfer in whose queue the ACKs of a connection may wait, as text; empty without."""
    other = evidence.opposite
    queues = [each.connection for each in own.clauses if each.cause in _FILLED]
    is_named = other is not None and other["connection"] in queues
    if other is None or (is_named and evidence.beside_opposite is None):
        return Sentence()
    waits = "" if is_named else "its ACKs may wait in the other direction, in which "
    text = (
        f"{waits}connection {other['connection']} sends "
        f"{size_text(other['bytes_' + str(other['direction'])])} meanwhile"
    )
    if evidence.beside_opposite is not None:
        without, during = evidence.beside_opposite
        text = f"{text}: then {during}, and without it {without}"
    return named(Cause.ACKS_BEHIND, text, connection=other["connection"])


def _long_waits(evidence: Evidence, all_waits: list[Wait]) -> list[Wait]:
    """Returns the waits that took much of the time, the longest one first.

    Beside an outage, they include pauses of the application, unless it sends messages at an even rate.
    """
    min_s = max(_MIN_WAIT_S, _MIN_WAIT_SHARE * evidence.row["duration_s"])
    long_waits = [wait for wait in all_waits if wait.time_s >= min_s]
    if not long_waits or not evidence.row["losses_outage"]:
        return long_waits[:1]
    paused_s = evidence.pauses_s(evidence.sender)
    if evidence.is_at_sender and paused_s >= min_s and not is_thin(evidence):
        wait = Wait(paused_s, for_application(paused_s, evidence.sender, ", which paused"))
        long_waits = sorted([*long_waits, wait], key=lambda wait: -wait.time_s)
    return long_waits


def _waits_text(evidence: Evidence, long_waits: list[Wait]) -> Sentence:
    """Returns long waits as text; where an outage is not all of it, with the losses beside it."""
    waited = joined("; ", [wait.text for wait in long_waits])
    waited_s = sum(wait.time_s for wait in long_waits)
    if (
        long_waits
        and evidence.row["losses_outage"]
        and waited_s <= _MAX_WAITS_SHARE * evidence.row["duration_s"]
    ):
        rest = (receive_window(evidence), thin_stream(evidence) or path_losses(evidence))
        # A full queue is the usual limit.
        others = [each for each in map(said, rest) if each.main_cause is not Cause.FULL_QUEUE]
        if rest_text := joined("; ", others):
            return waited + IN_THE_REST + rest_text
        if standing_queue(evidence):
            rate_mbps = evidence.row["throughput_mbps"] / (1 - waited_s / evidence.row["duration_s"])
            count = int(evidence.row["losses"] - evidence.row["losses_outage"])
            return waited + (
                f"{IN_THE_REST}a full link limits the rate, with a queue: it carried "
                f"{three_digits(rate_mbps)} Mbit/s, and {segments_were(count)} lost"
            )
    return waited


def _diagnosis(evidence: Evidence) -> Sentence:
    if fault := next(filter(None, (rule(evidence) for rule in FAULTS)), ""):
        return said(fault)
    limits = (rule(evidence) for rule in LIMITS)
    all_waits = sorted(waits(evidence), key=lambda wait: -wait.time_s)
    long_waits = _long_waits(evidence, all_waits)
    sentences = (_waits_text(evidence, long_waits), *limits, *(wait.text for wait in all_waits))
    sentence = next((said(each) for each in sentences if each), Sentence())
    # Even a short outage is one that users notice.
    outages = [
        wait.text
        for wait in all_waits
        if wait.is_outage and wait.time_s >= _MIN_OUTAGE_S and str(wait.text) not in str(sentence)
    ]
    if outages and sentence.clauses[-1:] == lost_in_outages(evidence).clauses:
        rest = sentence.clauses[:-1]
        sentence = Sentence(rest[:-1] if rest[-1:] == said(IN_THE_REST).clauses else rest)
    # Packets that the capture dropped, and a reset, are named beside other findings.
    return joined("; ", (dropped_by_the_capture(evidence), sentence, *outages, reset(evidence)))
