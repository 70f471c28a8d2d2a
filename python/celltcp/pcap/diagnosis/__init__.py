"""Diagnosis: one sentence for each connection about what it waited for, or what limits it.

Rules for faults, which explain everything else, come first. Rules for waits follow, then those for
limits of the rate. A rule uses the tables only, and claims nothing that they do not show.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from celltcp.pcap.diagnosis.evidence import Evidence, plural, records
from celltcp.pcap.diagnosis.faults import FAULTS, dropped_by_the_capture, reset
from celltcp.pcap.diagnosis.limits import LIMITS
from celltcp.pcap.diagnosis.losses import FULL_QUEUE, OVERFLOW, SHALLOW_BUFFER
from celltcp.pcap.diagnosis.waits import Wait, filled_text, waits
from celltcp.pcap.opposite import opposite_transfer
from celltcp.pcap.shared_queue import queue_filler, sharing_transfers
from celltcp.scenarios.quantity_texts import size_text, three_digits

__all__ = ["ACKS_BEHIND", "DIAGNOSIS", "INTERVAL_COLUMNS", "diagnoses"]

#: Meaning of the column with the sentences.
DIAGNOSIS = "what it waited for, or what limits it, in one sentence; empty where nothing is to be said"

#: Columns of intervals that the rules use.
INTERVAL_COLUMNS = [
    *("file", "connection", "up", "t_s", "bytes", "in_flight_max", "window_min", "rtt_min_ms"),
    *("acked_bytes", "retransmitted_bytes", "rtt_mean_ms", "near_rtt_mean_ms"),
]

#: Beginning of the sentence about a transfer in whose queue ACKs may wait.
ACKS_BEHIND = "its ACKs may wait in the other direction, in which connection"
#: Minimum length of a wait that is named before limits: share of the time of the connection, and s.
_MIN_WAIT_SHARE = 0.05
#: Minimum ratio of the 95th percentile of RTTs to the lowest one at which ACKs or data wait.
_MIN_QUEUED_RATIO = 2
_MIN_WAIT_S = 0.1


def diagnoses(connections: pd.DataFrame, losses: pd.DataFrame, intervals: pd.DataFrame) -> list[str]:
    """Returns the sentence of each connection; empty for a connection without a finding."""
    loss_indices, interval_indices = (
        table.groupby(["file", "connection"], observed=True).indices for table in (losses, intervals)
    )
    sentences = []
    for row in records(connections):
        key = (row["file"], row["connection"])
        evidence = Evidence(
            row,
            losses.iloc[loss_indices.get(key, [])],
            intervals.iloc[interval_indices.get(key, [])],
            queue_filler(connections, row) if row["stalled_s"] else None,
        )
        if row["far_rtt_p95_ms"] + row["near_rtt_p95_ms"] > _MIN_QUEUED_RATIO * row["rtt_min_ms"]:
            opposite = opposite_transfer(connections, row, evidence.sender_intervals)
            evidence = replace(evidence, opposite=opposite)
        text = _diagnosis(evidence)
        texts = (text, _sharing_text(connections, row, text), _ack_queue_text(evidence, text))
        sentences.append("; ".join(filter(None, texts)))
    return sentences


def _sharing_text(connections: pd.DataFrame, row: Mapping[Hashable, Any], text: str) -> str:
    """Returns the connections that share a queue with another one, as text; empty without any."""
    is_limit = text.startswith((FULL_QUEUE, SHALLOW_BUFFER))
    if not (is_limit or OVERFLOW in text) or not (others := sharing_transfers(connections, row)):
        return ""
    total_mbps = sum(float(each["throughput_mbps"]) for each in (row, *others))
    return (
        f"it shares {'that' if is_limit else 'the path'} with "
        f"{plural(len(others), 'connection')} between the same hosts: "
        f"{three_digits(total_mbps)} Mbit/s together"
    )


def _ack_queue_text(evidence: Evidence, text: str) -> str:
    """Returns the transfer in whose queue the ACKs of a connection may wait, as text; empty without."""
    other = evidence.opposite
    if other is None or filled_text(other) in text:
        return ""
    text = (
        f"{ACKS_BEHIND} {other['connection']} sends "
        f"{size_text(other['bytes_' + str(other['direction'])])} meanwhile"
    )
    if evidence.beside_opposite is None:
        return text
    without, during = evidence.beside_opposite
    return f"{text}: then {during}, and without it {without}"


def _diagnosis(evidence: Evidence) -> str:
    if fault := next(filter(None, (rule(evidence) for rule in FAULTS)), ""):
        return fault
    limits = (rule(evidence) for rule in LIMITS)
    longest = max(waits(evidence), key=lambda wait: wait.time_s, default=Wait(0.0, ""))
    is_long = longest.time_s >= max(_MIN_WAIT_S, _MIN_WAIT_SHARE * evidence.row["duration_s"])
    sentences = (longest.text if is_long else "", *limits, longest.text)
    sentence = next(filter(None, sentences), "")
    # Packets that the capture dropped, and a reset, are named beside other findings.
    return "; ".join(filter(None, (dropped_by_the_capture(evidence), sentence, reset(evidence))))
