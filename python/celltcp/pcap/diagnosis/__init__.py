"""Diagnosis: one sentence for each connection about what it waited for, or what limits it.

Rules go from faults that explain everything else over what the connection waited for to limits of its
rate. A rule uses columns of the tables only, and claims nothing that they do not show.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from celltcp.pcap.diagnosis.evidence import Evidence, records
from celltcp.pcap.diagnosis.faults import FAULTS, dropped_by_the_capture, reset
from celltcp.pcap.diagnosis.limits import LIMITS
from celltcp.pcap.diagnosis.waits import Wait, waits
from celltcp.pcap.opposite import opposite_transfer
from celltcp.present.quantities import size_text

__all__ = ["DIAGNOSIS", "INTERVAL_COLUMNS", "diagnoses"]

#: Meaning of the column with the sentences.
DIAGNOSIS = "what it waited for, or what limits it, in one sentence; empty where nothing is to be said"

#: Columns of intervals that the rules use.
INTERVAL_COLUMNS = [
    *("file", "connection", "up", "t_s", "bytes", "in_flight_max", "window_min", "rtt_min_ms"),
    *("acked_bytes", "retransmitted_bytes", "rtt_mean_ms", "near_rtt_mean_ms"),
]

#: Share of a connection's time, and least time, for which a wait is what matters most.
_SHARE = 0.05
#: Minimum median RTT at which ACKs or data wait, of the lowest one.
_QUEUED = 2
_LEAST_S = 0.1


def diagnoses(connections: pd.DataFrame, losses: pd.DataFrame, intervals: pd.DataFrame) -> list[str]:
    """Returns the sentence of each connection; empty for a connection without a finding.

    Args:
        connections: rows of connections.
        losses: rows of their losses.
        intervals: rows of their intervals.
    """
    own = dict(iter(losses.groupby(["file", "connection"], observed=True)))
    none = losses.iloc[:0]
    places = intervals.groupby(["file", "connection"], observed=True).indices
    sentences = []
    for row in records(connections):
        key = (row["file"], row["connection"])
        times = intervals.iloc[places.get(key, [])]
        sentence = _diagnosis(Evidence(row, own.get(key, none), times))
        sentences.append("; ".join(filter(None, (sentence, _behind(connections, row, times)))))
    return sentences


def _behind(connections: pd.DataFrame, row: dict[Hashable, Any], intervals: pd.DataFrame) -> str:
    """A transfer in the other direction, in whose queue the ACKs of this one wait."""
    if not row["far_rtt_p50_ms"] + row["near_rtt_p50_ms"] > _QUEUED * row["rtt_min_ms"]:
        return ""
    own = intervals[intervals["up"] == (row["direction"] == "up")]
    other = opposite_transfer(connections, row, own)
    if other is None:
        return ""
    return (
        f"its ACKs may wait in the other direction, in which connection {other['connection']} sends "
        f"{size_text(other['bytes_' + str(other['direction'])])} meanwhile"
    )


def _diagnosis(evidence: Evidence) -> str:
    if fault := next(filter(None, (rule(evidence) for rule in FAULTS)), ""):
        return fault
    limits = (rule(evidence) for rule in LIMITS)
    longest = max(waits(evidence), key=lambda wait: wait.seconds, default=Wait(0.0, ""))
    matters = longest.seconds >= max(_LEAST_S, _SHARE * evidence.row["duration_s"])
    sentences = (longest.text if matters else "", *limits, longest.text)
    sentence = next(filter(None, sentences), "")
    # A few packets that the capture dropped hide nothing else.
    return "; ".join(filter(None, (dropped_by_the_capture(evidence), sentence, reset(evidence))))
