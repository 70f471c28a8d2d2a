"""Compares emulators: how exactly celltcp and rattan keep constant rates and a recorded trace.

Each run is a file in the folder of results, so that a comparison that was interrupted goes on where it
was. Run it as root, on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from emulators import EMULATORS, Link, Measured, Transfer
from probe import SLOT_MS
from recorded import PACKET, opportunities

#: Rates of the constant links, Mbit/s.
RATES = (100, 300, 1000)
#: Share of a packet of 1500 bytes that is TCP data, with timestamps.
PAYLOAD = 1448 / 1500
#: Time before TCP fills the link, which does not count, seconds.
START_S = 3.0
#: Part of the rate that may be missing where it holds.
TOLERANCE = 0.01
#: Slots in which a trace is compared, seconds.
TRACE_SLOT_S = 0.1
#: Time by which the trace may have begun before the transfer, seconds.
MOST_SHIFT_S = 15.0


def rate_share(slots: list[int], mbps: float) -> float:
    """Returns the goodput after the start, as a share of what the link carries at its rate."""
    counted = slots[int(1000 * START_S) // SLOT_MS :]
    got = 8e-6 * sum(counted) / (len(counted) * SLOT_MS / 1000)
    return got / (mbps * PAYLOAD)


def added(slots: list[int], begin: int, count: int) -> list[int]:
    """Returns `count` sums of slots of `TRACE_SLOT_S`, from a slot on."""
    width = int(1000 * TRACE_SLOT_S) // SLOT_MS
    return [sum(slots[begin + n * width : begin + (n + 1) * width]) for n in range(count)]


def against_trace(slots: list[int], trace: Path) -> tuple[float, float]:
    """Returns the correlation with a trace at the best shift, and the share of its bytes that arrived.

    The first and the last second of the transfer do not count.
    """
    second = 1000 // SLOT_MS
    width = int(1000 * TRACE_SLOT_S) // SLOT_MS
    count = (len(slots) - 2 * second) // width
    got = added(slots, second, count)
    possible = opportunities(trace, len(slots) * SLOT_MS / 1000 + MOST_SHIFT_S)
    fits = []
    for shift in range(int(1000 * MOST_SHIFT_S) // SLOT_MS):
        expected = added(possible, second + shift, count)
        fits.append((statistics.correlation(got, expected), sum(got) / sum(expected)))
    return max(fits)


def measured(out: Path, emulator: str, link: Link, transfer: Transfer) -> Measured:
    """Returns the measurement of a run, which is played unless its file is there."""
    file = out / f"{link.name}-{emulator}.json"
    if not file.is_file():
        with tempfile.TemporaryDirectory() as scratch:
            result = EMULATORS[emulator](link, transfer, Path(scratch))
        file.write_text(json.dumps(vars(result)))
    return Measured(**json.loads(file.read_text()))


def late(run: Measured) -> str:
    """Returns the share of late packets as the tables have it."""
    return "not reported" if run.late_percent is None else f"{run.late_percent:.2f}"


def compare_rates(asked: argparse.Namespace) -> None:
    """Prints how much of each constant rate TCP gets, and the highest rate that holds."""
    print("link,emulator,goodput % of the rate,late by over 1 ms %")
    highest = dict.fromkeys(asked.emulator, 0)
    for rate in asked.rate:
        # The queue holds 50 ms.
        packets = round(rate * 1e6 * 0.05 / 8 / PACKET)
        link = Link(f"{rate}Mbps", rate, None, 5, packets)
        for emulator in asked.emulator:
            run = measured(asked.out, emulator, link, Transfer("tcp", asked.seconds))
            share = rate_share(run.slots, rate)
            if share > 1 - TOLERANCE:
                highest[emulator] = max(highest[emulator], rate)
            print(f"{link.name},{emulator},{100 * share:.1f},{late(run)}", flush=True)
    for emulator, rate in highest.items():
        print(f"highest rate that holds within {TOLERANCE:.0%}: {emulator}: {rate} Mbit/s")


def compare_trace(asked: argparse.Namespace) -> None:
    """Prints how well the bytes per slot of each emulator follow a recorded trace."""
    trace: Path = asked.trace.resolve()
    mbps = 8e-6 * sum(opportunities(trace, asked.seconds)) / asked.seconds
    link = Link(trace.name, mbps, trace, 10, 1000)
    print("trace,emulator,r per 100 ms,received % of possible,late by over 1 ms %")
    for emulator in asked.emulator:
        run = measured(asked.out, emulator, link, Transfer("udp", asked.seconds, 2 * mbps))
        fit, share = against_trace(run.slots, trace)
        print(f"{link.name},{emulator},{fit:.4f},{100 * share:.2f},{late(run)}", flush=True)


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder of results")
    parser.add_argument("--rate", type=int, nargs="*", default=RATES, help="constant links, Mbit/s")
    parser.add_argument("--trace", type=Path, help="recorded trace in mahimahi's format")
    parser.add_argument("--emulator", nargs="+", choices=EMULATORS, default=list(EMULATORS))
    parser.add_argument("--seconds", type=float, default=20.0, help="length of a transfer")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    compare_rates(asked)
    if asked.trace:
        compare_trace(asked)


if __name__ == "__main__":
    main()
