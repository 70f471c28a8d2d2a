"""Writes log.csv as a drive-test tool does: a line a second for 15 minutes of a saturating download."""

import math
import random
from pathlib import Path

draws = random.Random(7)
middle = math.log(18_000)
level = middle
hole = 0
lines = [
    "Date/Time;Lat;Lon;RSRP [dBm];SINR [dB];PDSCH Throughput DL [kbit/s];PUSCH Throughput UL [kbit/s]"
]
for second in range(900):
    if hole:
        hole -= 1
    elif draws.random() < 0.006:
        hole = draws.choice([1, 1, 2, 3])
    level += 0.05 * (middle - level) + draws.gauss(0, 0.22)
    down = 0.0 if hole else max(300.0, min(75_000.0, math.exp(level)))
    up = 0.0 if hole else down * 0.25 * draws.uniform(0.7, 1.2)
    radio = math.log(max(down, 300.0))
    clock = f"2026-03-12 09:{second // 60:02d}:{second % 60:02d}"
    place = f"50.{1000 + second};8.{6000 + second}"
    lines.append(f"{clock};{place};{-118 + 4 * radio:.1f};{-8 + 2 * radio:.1f};{down:.0f};{up:.0f}")
Path("log.csv").write_text("\n".join(lines) + "\n")
