"""Example: compares congestion controls on a link whose capacity is a CSV log of a phone.

Usage: python docs/examples/own_trace.py [FOLDER]
"""

import math
import sys
from pathlib import Path

import celltcp as ct

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
folder.mkdir(parents=True, exist_ok=True)

# Stands in for the CSV log of a measurement app: time in ms, rate in kbit/s.
table = folder / "phone.csv"
rates = [12_000 + 9_000 * math.sin(second / 4) for second in range(40)]
rows = [f"{1000 * second},{rate:.0f}" for second, rate in enumerate(rates)]
table.write_text("\n".join(["time,rate", *rows]) + "\n")

link = ct.load_scenario(table, column="time,rate", unit="ms,kbit/s", duration="20s")
result = ct.compare(link, cca=["cubic", "bbr"], runs=3, set={"path.rtt": "50ms"})
print(result.summary)
result.plot.time_series().savefig(folder / "own_trace.png")
