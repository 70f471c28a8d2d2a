"""Outputs of tools that have no rates over time: errors that say how to get a trace."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from celltcp._core import CelltcpError

if TYPE_CHECKING:
    from celltcp.logs.source import Source

#: First bytes of captures in pcap and pcapng.
_CAPTURE_MAGICS = tuple(
    bytes.fromhex(magic) for magic in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a")
)
#: Patterns of lines of such outputs, and the message of the error for each.
_PATTERNS = (
    (
        r"icmp_seq=\d+ .*time=|^rtt min/avg/max|^--- \w+ statistics from |\"msm_id\":",
        "output of ping or its like, which has RTTs and no rates: give the lowest RTT as path.rtt "
        "(--set path.rtt=20ms) beside a log of rates",
    ),
    (
        r'\A"?No\.?"?[,;\t]"?Time"?[,;\t]"?Source"?[,;\t]',
        "Wireshark's list of packets: celltcp pcap to-scenario FILE makes a scenario of the capture; "
        "or --column Time,Length --unit B with --run Source=ADDRESS reads the packets of a host",
    ),
    (
        r"^(?:\d{4}-\d\d-\d\d )?[\d:.]+ IP6? \S+ > \S+: ",
        "text of tcpdump: tcpdump -w FILE writes a capture, and celltcp pcap to-scenario FILE makes a "
        "scenario of it",
    ),
    (
        r"\bcwnd:\d+ .*\bsegs_out:\d+|\btcp_probe: .*\bsnd_cwnd=",
        "output of ss or tcp_probe, the state of connections and no capacity: log rates with iperf3 -J "
        "or as a table of times and rates",
    ),
    (
        r"^\s*face \|bytes",
        "/proc/net/dev, whose times are no columns: log its bytes with their times, as a table with "
        "the columns time and rx_bytes",
    ),
    (
        r"^(?:\d\d:){2}\d\d(?: [AP]M)?\s+IFACE\s+rxpck/s",
        "output of sar -n DEV: sadf -d -- -n DEV writes the same as a table",
    ),
    (
        r"Ostermann's tcptrace|^TCP connection \d+:$",
        "statistics of tcptrace over whole connections: celltcp pcap to-scenario FILE makes a scenario "
        "of the capture that it read",
    ),
    (
        r"^timeval (?:double|unsigned)$",
        "a plot of tcptrace for xplot: celltcp pcap to-scenario FILE makes a scenario of the capture",
    ),
    (
        r"^procs -+memory",
        "output of vmstat, which has no traffic: log the bytes of the interface with their times, as a "
        "table with the columns time and rx_bytes",
    ),
    (
        r"^\s*% Total\s+% Received|^\s*\d+K (?:[.]{10} ?){2,}|\d% +[\d.,]+ *[kKMG]i?B/s +\d+:\d\d"
        r"|^Transferred: .*B/s, ETA|^\[#\w{6} .* DL:",
        "the progress of a transfer, as of curl, wget or rsync: log rates with iperf3 -J, or as a "
        "table of times and received bytes",
    ),
    (
        r"\"qlog_(?:version|format)\":",
        "a qlog, the events of a connection: --column time,data.raw.length --unit ms,B with --run "
        "name=transport:packet_received reads the packets that it received",
    ),
    (
        r"\"PeerConnections\":\s*{",
        "a dump of webrtc-internals, whose series are texts: write bytesReceived with its times as a "
        "table",
    ),
    (
        r"bucketDuration=\d+|^\s*st=\d+ rb=\d+",
        "Android's netstats, buckets of an hour or more: log TrafficStats' rx_bytes with their times, "
        "as a table",
    ),
    (
        r"^[{\s]*\"round_trips\":|\"version\":\s*{\s*\"irtt\"",
        "results of irtt, which have RTTs and no rates: give the lowest RTT as path.rtt (--set "
        "path.rtt=20ms) beside a log of rates",
    ),
    (
        r"\A\ufeff?\s*<\?xml",
        "XML, which is not read: write its times and rates, or its counter of bytes, as a table with "
        "commas or as JSON",
    ),
    (
        r"^#kernel$|^Mtr_Version,"
        r"|^This is ApacheBench|^Running .* test @ http|^finished in [\d.]+m?s, ",
        "counters, RTTs or totals of a tool that logs no rates over time: log rates with iperf3 -J, or "
        "as a table of times and received bytes",
    ),
    (r"^\s*<(?:!DOCTYPE html|html|table)\b", "a web page and no log: is it the page about the file?"),
)


def reject_foreign(source: Source) -> None:
    """Rejects outputs of known tools that have no rates over time.

    Raises:
        CelltcpError: if the file is one of these outputs; the message says how to get a trace.
    """
    if source.magic.startswith(_CAPTURE_MAGICS):
        raise CelltcpError("a capture of packets: celltcp pcap to-scenario FILE makes a scenario of it")
    start = "\n".join(source.head.splitlines()[:20])
    for pattern, message in _PATTERNS:
        if re.search(pattern, start, re.MULTILINE | re.IGNORECASE):
            raise CelltcpError(message)
