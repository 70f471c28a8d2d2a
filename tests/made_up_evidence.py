"""Evidence that is made up: a connection at the sender with an RTT of 40 ms and a queue of as much."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence
from celltcp.pcap.diagnosis.limits import LIMITS

_ROW = {
    "place": "sender",
    "direction": "down",
    "handshake": "whole",
    "ending": "open",
    "duration_s": 10.0,
    "download_s": 10.0,
    "bytes_down": 10_000_000,
    "segments_down": 7_000,
    "throughput_mbps": 8.0,
    "goodput_peak_mbps": 10.0,
    "segment_max": 1_448,
    "mss_up": 1_460.0,
    "mss_down": 1_460.0,
    "sack": 1,
    "in_flight_max": 100_000,
    "in_flight_mean": 90_000.0,
    "window_max": 1_000_000.0,
    "rtt_min_ms": 40.0,
    "far_rtt_samples": 5_000,
    "far_rtt_min_ms": 40.0,
    "far_rtt_p50_ms": 60.0,
    "far_rtt_p95_ms": 78.0,
    "far_rtt_max_ms": 80.0,
    "near_rtt_samples": 0,
    "near_rtt_min_ms": 0.0,
    "near_rtt_p50_ms": math.nan,
    "near_rtt_p95_ms": math.nan,
    "late_up_p50_ms": math.nan,
    "late_down_p50_ms": math.nan,
    "scale_client": 7.0,
}


def loss(t_s: float, rtt_ms: float, queue: float, count: int = 1, **other: Any) -> list[dict[str, Any]]:
    """Returns losses of one moment beside an RTT and a queue of a length from 0 to 1."""
    kind = "congestion" if queue >= 0.75 else "random"
    return [
        {
            "up": 0,
            "t_s": t_s + 1e-4 * number,
            "repaired_s": t_s + rtt_ms / 1e3,
            "seq": round(1e6 * t_s) + 1_448 * number,
            "len": 1_448,
            "kind": kind,
            "repair": "fast",
            "is_upstream": 0,
            "rtt_ms": rtt_ms,
            "queue": queue,
            "reason": "",
            **other,
        }
        for number in range(count)
    ]


def evidence(
    losses: Iterable[Mapping[str, Any]] = (),
    rtts_ms: Iterable[float] = (),
    bytes_: float = 100_000,
    **row: Any,
) -> Evidence:
    """Returns evidence with these losses, and an interval for each RTT in which so many bytes pass."""
    own = pd.DataFrame(list(losses), columns=list(loss(0, 0, 0)[0]))
    rtts = list(rtts_ms) or [60.0] * 100
    passed = [bytes_] * len(rtts)
    flights = [each / INTERVAL_S * rtt / 1e3 for each, rtt in zip(passed, rtts, strict=True)]
    intervals = pd.DataFrame(
        {
            "up": 0,
            "t_s": [INTERVAL_S * number for number in range(len(rtts))],
            "bytes": passed,
            "acked_bytes": passed,
            "retransmitted_bytes": 0,
            "in_flight_max": flights,
            "window_min": 1_000_000.0,
            "rtt_min_ms": rtts,
            "rtt_mean_ms": rtts,
            "held_s": 0.0,
            "paused_s": 0.0,
            "near_rtt_mean_ms": row.get("near_rtt_p50_ms", row.get("near_rtt_min_ms", 0.0)),
        }
    )
    lost = int((~own["kind"].isin(["spurious", "reordering"])).sum())
    return Evidence(defaultdict(int, {**_ROW, "losses": lost, **row}), own, intervals)


def limit(own: Evidence) -> str:
    """Returns the sentence of the first rule about limits that holds."""
    return str(next(filter(None, (rule(own) for rule in LIMITS)), ""))
