"""Metrics that are compared."""

from __future__ import annotations

#: Metrics in the order of the table, with their meanings.
METRICS = {
    "goodput_mbps": "Goodput, Mbit/s.",
    "rtt_mean_ms": "Mean RTT, ms.",
    "rtt_p95_ms": "95th percentile of the RTT, ms.",
    "rtt_min_ms": "Lowest RTT, ms.",
    "induced_delay_ms": "Mean RTT less the lowest one of the path, ms.",
    "retransmissions": "Segments sent again.",
    "pm_balanced": "Performance metric of even weights.",
    "pm_delay": "Performance metric that weighs delay.",
}
