"""Tables and texts of a live run for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celltcp.live.host import PHONE, SERVER
from celltcp.live.outcome import Status, Traffic
from celltcp.live.path_changes import PathChange
from celltcp.present.section import Column, Table, number_columns, value_text


def traffic_table(traffic: Mapping[str, Traffic], duration_s: float) -> Table:
    """Returns the packets of all protocols by destination host."""
    rows = []
    for host, counts in traffic.items():
        sent = counts["packets"]
        lost = value_text(100 * counts["lost_packets"] / sent if sent else None, 2)
        mbps = 8 * counts["delivered_bytes"] / duration_s / 1e6 if duration_s else 0.0
        delays = (counts[name] for name in ("delay_p50_s", "delay_p95_s", "delay_p99_s"))
        cells = (value_text(None if delay is None else 1e3 * delay, 1) for delay in delays)
        rows.append((f"to {host}", str(sent), lost, f"{mbps:.2f}", *cells))
    columns = number_columns("packets", "lost, %", "Mbit/s", "delay, ms\np50", "\np95", "\np99")
    return Table((Column("direction"), *columns), tuple(rows), f"Packets in {duration_s:.1f} s")


def status_text(status: Status) -> str:
    """Returns the state of a live run in one line."""
    access, lateness = status["access"], status["lateness"]
    parts = [f"{status['time_s']:.1f} s"]
    for direction, host, capacity, queue in (
        ("down", PHONE, access["capacity_down_mbps"], access["queue_down_bytes"]),
        ("up", SERVER, access["capacity_up_mbps"], access["queue_up_bytes"]),
    ):
        part = f"{direction} {rate_text(capacity)} Mbit/s, queue {queue / 1e3:.1f} kB"
        traffic = status["to"].get(host)
        if traffic is not None and traffic["delay_p50_s"] is not None:
            part += f", delay {1e3 * traffic['delay_p50_s']:.1f} ms"
        parts.append(part)
    if access["cell"] is not None:
        parts.append(f"SINR {access['sinr_db']:.1f} dB, cell {access['cell']}")
    late = 100 * lateness["late_share"]
    parts.append(f"late p99 {lateness['p99_us']} us, {late:.2f} % over 1 ms")
    return " | ".join(parts)


def change_text(change: PathChange) -> str:
    """Returns a change of a path in one line."""
    return f"{change['time_s']:.3f} s: {change['field']} = {change['value']}"


def flows_table(flows: Sequence[Mapping[str, Any]]) -> Table | None:
    """Returns the TCP connections; None without any."""
    rows = [
        (
            str(flow["name"]),
            f"{flow['duration_s']:.1f}",
            rate_text(flow["goodput_mbps"]),
            value_text(flow["rtt_mean_ms"], 1),
            value_text(flow["rtt_p95_ms"], 1),
            value_text(flow["rtt_min_ms"], 1),
            str(flow["retransmissions"]),
        )
        for flow in flows
    ]
    columns = number_columns(
        "time, s", "goodput,\nMbit/s", "RTT, ms\nmean", "\np95", "\nmin", "retrans-\nmissions"
    )
    return Table((Column("connection"), *columns), tuple(rows), "TCP connections") if rows else None


def rate_text(mbps: float) -> str:
    """Returns a rate in Mbit/s with two decimals, or two significant digits below 1."""
    return f"{mbps:.2f}" if mbps >= 1 or not mbps else f"{mbps:.2g}"


def lateness_text(status: Status) -> str:
    """Returns the lateness of the packets of a run in one sentence."""
    lateness = status["lateness"]
    if not lateness["departures"]:
        return "real time: no packet passed"
    return (
        f"{lateness['departures']} packets left {lateness['p50_us']} us late (median), p99 "
        f"{lateness['p99_us']} us, at most {lateness['max_us']} us; the path took "
        f"{100 * status['cpu_share']:.0f} % of a core"
    )
