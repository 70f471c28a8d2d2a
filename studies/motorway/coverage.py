"""Mean SINR of one car along its way, and the cars of each cell, for the masts of cells.toml.

python3 coverage.py TRACE.tcl [--node N] [--every SECONDS] [--gap DB]
Friis path loss, no fading, all cells send with full power on the same channel all the time. A car is
served by the cell that it receives best.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import movement

HERE = Path(__file__).resolve().parent

CARRIER_HZ = 2620e6
BANDWIDTH_HZ = 100 * 180e3
"""Bandwidth of the 100 PRBs of a 20 MHz carrier."""
POWER_DBM = 46.0
NOISE_FIGURE_DB = 7.0
UE_HEIGHT_M = 1.5
LIGHT_M_PER_S = 299_792_458.0
NOISE_DBM = -174.0 + 10.0 * math.log10(BANDWIDTH_HZ) + NOISE_FIGURE_DB

Mast = tuple[float, float, float]
"""Metres east, north and over ground."""


@dataclass(frozen=True)
class Sample:
    """Reception of a car at a time."""

    time: int
    cell: int
    """The strongest one, in the order of the file."""
    distance_m: float
    """To its antenna."""
    sinr_db: float


def receive(masts: list[Mast], time: int, x: float, y: float) -> Sample:
    """The mean SINR at a place."""
    distances = [math.dist((x, y, UE_HEIGHT_M), mast) for mast in masts]
    losses = [20.0 * math.log10(4.0 * math.pi * far * CARRIER_HZ / LIGHT_M_PER_S) for far in distances]
    powers = [10.0 ** ((POWER_DBM - loss) / 10.0) for loss in losses]
    cell = max(range(len(masts)), key=powers.__getitem__)
    others = sum(powers) - powers[cell] + 10.0 ** (NOISE_DBM / 10.0)
    return Sample(time, cell, distances[cell], 10.0 * math.log10(powers[cell] / others))


def along(masts: list[Mast], trajectory: list[movement.Point]) -> list[Sample]:
    """One sample a second while the car is under way."""
    seconds = range(math.ceil(trajectory[0][0]), round(trajectory[-1][0]) + 1)
    return [receive(masts, time, *movement.place(trajectory, time)) for time in seconds]


def show_way(samples: list[Sample], every: int) -> None:
    """Prints a line every so many samples."""
    print("time_s  cell  distance_m  sinr_db")
    for sample in samples[::every]:
        print(f"{sample.time:6d} {sample.cell:5d} {sample.distance_m:11.0f} {sample.sinr_db:8.1f}")


def show_gaps(samples: list[Sample], below_db: float) -> None:
    """Prints the stretches in which the SINR is below a value, and the range of all of it."""
    for low, stretch in itertools.groupby(samples, key=lambda sample: sample.sinr_db < below_db):
        gap = list(stretch)
        if low:
            least = min(gap, key=lambda sample: sample.sinr_db)
            print(
                f"below {below_db:g} dB from {gap[0].time} to {gap[-1].time} s,"
                f" least {least.sinr_db:.1f} dB at {least.time} s"
            )
    sinrs = [sample.sinr_db for sample in samples]
    mean = sum(sinrs) / len(sinrs)
    print(f"mean SINR {mean:.1f} dB, from {min(sinrs):.1f} to {max(sinrs):.1f} dB")


def show_cells(cars: list[list[Sample]], cells: int) -> None:
    """Prints how many cars each cell serves, and how they receive it: means over all samples."""
    print("cell  cars  sinr_db")
    samples = list(itertools.chain.from_iterable(cars))
    for cell in range(cells):
        sinrs = [sample.sinr_db for sample in samples if sample.cell == cell]
        mean = sum(sinrs) / len(sinrs) if sinrs else math.nan
        print(f"{cell:4d} {len(cars) * len(sinrs) / len(samples):5.1f} {mean:8.1f}")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("trace", type=Path, help="movement file of ns-2")
    parser.add_argument("--node", type=int, default=50, help="the car (default: 50)")
    parser.add_argument("--every", type=int, default=10, help="seconds between lines (default: 10)")
    parser.add_argument("--gap", type=float, default=0.0, help="what is a gap, in dB (default: 0)")
    arguments = parser.parse_args()
    if arguments.every < 1:
        parser.error(f"--every {arguments.every} must be at least 1")
    try:
        tables = tomllib.loads((HERE / "cells.toml").read_text("utf-8"))["cells"]
        masts = [(cell["x"], cell["y"], cell["height"]) for cell in tables]
        trajectories = movement.read(arguments.trace)
        if arguments.node not in trajectories:
            raise movement.MovementError(f"{arguments.trace}: no node {arguments.node} that moves")
    except (movement.MovementError, OSError) as error:
        print(f"coverage.py: {error}", file=sys.stderr)
        return 2
    cars = {node: along(masts, trajectory) for node, trajectory in trajectories.items()}
    show_way(cars[arguments.node], arguments.every)
    show_gaps(cars[arguments.node], arguments.gap)
    show_cells(list(cars.values()), len(masts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
