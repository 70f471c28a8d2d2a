"""Next steps against the limits of captured transfers: commands of celltcp and Linux."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from celltcp.comparison.linux_lines import cca_line, linux_line
from celltcp.pcap.diagnosis.limits import OWN_LIMIT, SOME_LIMIT
from celltcp.present.quantities import size_text

if TYPE_CHECKING:
    from celltcp.pcap.analysis import CaptureAnalyses

#: Minimum payload of a transfer that a path is estimated from, bytes.
_LEAST_BYTES = 100_000
#: Name of a capture from the standard input, which no other command can read again.
_STDIN = "-"
#: Minimum share of the time of a limit that is worth acting on.
_LIMITED = 0.5
#: Buffer of a receiver for a byte of its window, and the largest one of Linux by default, bytes.
_BUFFER, _DEFAULT = 2, 6 * 1024 * 1024

#: Step that tells limits of a sender apart.
_WHICH_LIMIT = (
    "# another CCA changes nothing where the send buffer or the application is the limit: a capture at "
    "the sender, or ss -ti there (sndbuf_limited, app_limited), tells which it is"
)


def next_steps(analyses: CaptureAnalyses) -> list[str]:
    """Returns commands with comments for the transfer with most payload; none without such a one."""
    rows = [
        row
        for row in analyses.connections.to_dict("records")
        if _payload(row) >= _LEAST_BYTES and row["rtt_min_ms"] > 0
    ]
    if not rows:
        return []
    row = max(rows, key=_payload)
    if row["limit_idle"] >= _LIMITED:
        return []
    if row["limit_receive_window"] >= _LIMITED:
        return [_window_step(row)]
    if str(row["diagnosis"]).startswith(OWN_LIMIT):
        return [_buffer_step(row)]
    if str(row["diagnosis"]).startswith(SOME_LIMIT):
        return [_WHICH_LIMIT]
    if row["file"] == _STDIN:
        return []
    path = shlex.join(
        ["celltcp", "pcap", "to-scenario", str(row["file"]), "--connection", str(row["connection"])]
    )
    compare = "celltcp compare path.toml --cca cubic,bbr"
    return [f"{path} --out path.toml", f"{compare}  # {_against(row)}"]


def _payload(row: Mapping[Hashable, Any]) -> int:
    return int(row["bytes_up"] + row["bytes_down"])


def _against(row: Mapping[Hashable, Any]) -> str:
    """Returns what a comparison on the path of a transfer is for."""
    if 2 * row["losses_random"] > row["losses"] and not str(row["cca"]).startswith("bbr"):
        times = int(row["reductions"])
        reduced = f", and {times} reductions of the window" if times else ""
        return (
            f"against {row['losses_random']} random losses{reduced}; BBR does not take them for "
            f"congestion; Linux, {cca_line('bbr')}"
        )
    outages = "; without its outages, unless path.blackouts has them" if row["losses_outage"] else ""
    return f"whether another CCA would be better there{outages}"


def _buffer_step(row: Mapping[Hashable, Any]) -> str:
    """Returns the size that lets a sender go faster: its data per RTT in proportion to the rate."""
    rate_mbps, rtt_ms = float(row["throughput_mbps"]), float(row["rtt_min_ms"])
    bytes_per_rtt = 125 * rate_mbps * rtt_ms
    return (
        f"# {size_text(bytes_per_rtt)} pass per RTT of {rtt_ms:.3g} ms, which is {rate_mbps:.3g} "
        "Mbit/s; "
        f"twice the rate needs {size_text(2 * bytes_per_rtt)} in flight on average: "
        "a larger SO_SNDBUF (Linux, at most net.core.wmem_max; without it net.ipv4.tcp_wmem), or "
        "larger writes of an application that waits for each"
    )


def _window_step(row: Mapping[Hashable, Any]) -> str:
    """Returns the lines for a larger receive window."""
    side = "client" if row["direction"] == "down" else "server"
    most = max(_DEFAULT, round(2 * _BUFFER * row["window_max"]))
    lines = [linux_line(f"tcp.receive_buffer_max={most}B")]
    # Where both SYNs had a scale, the window has one already.
    if not all(row[f"scale_{each}"] > 0 for each in ("client", "server")):
        lines.insert(0, linux_line("tcp.window_scale=true"))
    return (
        f"# against the receive window of the {side}; Linux, {'; '.join(lines)}; an application that "
        "sets SO_RCVBUF keeps to that"
    )
