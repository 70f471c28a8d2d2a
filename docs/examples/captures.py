"""Captures: a run writes a pcap file, and the analysis finds its losses without knowing the run.

Usage: python docs/examples/captures.py [FOLDER]
"""

import sys
from pathlib import Path

import celltcp as ct
from celltcp.pcap import analyse
from celltcp.pcap.plots import plot_connection

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
folder.mkdir(parents=True, exist_ok=True)

capture = folder / "reno.pcap"
ct.run("steady-20-68", cca="reno", duration="20s", set={"path.buffer": "60packets"}, pcap=capture)
found = analyse(capture, segments=True)
(connection,) = found.connections.to_dict("records")
for name in ("throughput_mbps", "rtt_min_ms", "losses_congestion", "losses_random", "cca"):
    print(f"{name}: {connection[name]}")
plot_connection(found).savefig(folder / "captures.png")
