"""Recorded traces in mahimahi's format: milliseconds at which a packet may pass."""

from __future__ import annotations

import json
from pathlib import Path

from probe import SLOT_MS

#: Packet of a trace, bytes.
PACKET = 1500
#: Steps of rates, milliseconds.
STEP_MS = 100
#: Least rate that rattan can wait for, bit/s.
LEAST_BPS = 10_000


def opportunities(trace: Path, seconds: float) -> list[int]:
    """Returns the bytes that a trace in mahimahi's format lets pass in each slot; it repeats itself."""
    times = [int(line) for line in trace.read_text().split()]
    slots = [0] * (int(1000 * seconds) // SLOT_MS)
    for repetition in range(len(slots) * SLOT_MS // times[-1] + 1):
        for time_ms in times:
            slot = (repetition * times[-1] + time_ms) // SLOT_MS
            if slot < len(slots):
                slots[slot] += PACKET
    return slots


def as_rates(trace: Path) -> str:
    """Returns a trace as rattan's list of rates (JSON), a step of `STEP_MS` each.

    rattan 0.1.1 reads mahimahi's format, but ends with a panic at a millisecond without an opportunity.
    """
    last_ms = int(trace.read_text().split()[-1])
    slots = opportunities(trace, last_ms / 1000)
    width = STEP_MS // SLOT_MS
    sums = [sum(slots[begin : begin + width]) for begin in range(0, len(slots), width)]
    steps = [
        {
            "StaticBwConfig": {
                "bw": f"{max(8000 * each // STEP_MS, LEAST_BPS)}bps",
                "duration": f"{STEP_MS}ms",
            }
        }
        for each in sums
    ]
    return json.dumps({"RepeatedBwPatternConfig": {"pattern": steps, "count": 0}})
