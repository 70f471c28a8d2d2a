"""Makes the movement file of the motorway: SUMO drives the cars, this script thins out the points.

python3 make_trace.py OUTPUT.tcl
Needs the package eclipse-sumo 1.28.0 in the same environment. Writes a movement file of ns-2.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import math
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from movement import Point

HERE = Path(__file__).resolve().parent

SEED = 6
"""Seed of trips and drivers. With 6, all cars stay on the road and no cell is without cars."""
OTHERS = 50
"""Cars beside the one under test."""
WARM_UP_S = 60
"""Time before the car under test departs (test-car.rou.xml), in which the others spread out."""
DURATION_S = 285
"""Length of the trace."""
TOLERANCE_M = 1.0
"""Maximum distance between the trace and SUMO's position of a car, at any full second."""


class TraceError(Exception):
    """Fault of the input; the message says where."""


def sumo_home() -> Path:
    """The folder of the package eclipse-sumo."""
    spec = importlib.util.find_spec("sumo")
    if spec is None or spec.origin is None:
        raise TraceError(f"{sys.executable} has no package eclipse-sumo; README.md says how to get it")
    return Path(spec.origin).parent


def simulate(folder: Path) -> Path:
    """Builds the network, draws the trips and drives; returns the floating-car data."""
    sumo = sumo_home()

    def run(*command: str | Path) -> None:
        # randomTrips.py leaves files where it is run.
        environment = os.environ | {"SUMO_HOME": str(sumo)}
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, cwd=folder, env=environment, check=False
        )
        if done.returncode != 0:
            raise TraceError(f"{Path(command[0]).name} ended with {done.returncode}")

    net, trips = folder / "net.xml", folder / "trips.xml"
    rerouters, fcd = folder / "rerouters.xml", folder / "fcd.xml"
    plain = [
        "--node-files", str(HERE / "motorway.nod.xml"),
        "--edge-files", str(HERE / "motorway.edg.xml"),
        "--type-files", str(HERE / "motorway.typ.xml"),
    ]  # fmt: skip
    # No normalisation: the coordinates are those of the masts.
    run(sumo / "bin" / "netconvert", *plain, "--no-turnarounds", "true",
        "--offset.disable-normalization", "true", "-o", net)  # fmt: skip
    run(sys.executable, sumo / "tools" / "randomTrips.py", "-n", net, "-o", trips, "-s", str(SEED),
        "-b", "0", "-e", "1", "-p", str(1 / OTHERS), "--length", "--lanes", "--random-departpos",
        "-t", 'departSpeed="max" departLane="best"')  # fmt: skip
    # Cars that arrive get a new destination, so that all of them are there all the time.
    run(sys.executable, sumo / "tools" / "generateContinuousRerouters.py", "-n", net,
        "-o", rerouters, "--long-routes", "-e", str(WARM_UP_S + DURATION_S + 1))  # fmt: skip
    run(sumo / "bin" / "sumo", "-n", net, "-r", f"{trips},{HERE / 'test-car.rou.xml'}",
        "-a", rerouters, "--seed", str(SEED), "--end", str(WARM_UP_S + DURATION_S + 1),
        "--fcd-output", fcd, "--device.fcd.begin", str(WARM_UP_S), "--no-step-log")  # fmt: skip
    return fcd


def trajectories(fcd: Path) -> dict[str, list[Point]]:
    """Returns the positions of every car at every second, the car under test last."""
    result: dict[str, list[Point]] = {}
    for step in ElementTree.parse(fcd).getroot().iter("timestep"):
        time = float(step.attrib["time"]) - WARM_UP_S
        for car in step.iter("vehicle"):
            place = (time, round(float(car.attrib["x"]), 1), round(float(car.attrib["y"]), 1))
            result.setdefault(car.attrib["id"], []).append(place)
    test = result.pop("test", [])
    cars = {**result, "test": test}
    incomplete = [name for name, trajectory in cars.items() if len(trajectory) != DURATION_S + 1]
    if len(cars) != OTHERS + 1 or incomplete:
        raise TraceError(
            f"SEED {SEED} gives {len(cars)} cars, not {OTHERS + 1}; not there all the time:"
            f" {', '.join(incomplete) or 'none'}"
        )
    return cars


def thin(trajectory: list[Point], tolerance_m: float) -> list[Point]:
    """Returns a simplified trajectory, within the tolerance of the original at each time.

    Top-down time-ratio algorithm (Meratnia and de By, Spatiotemporal Compression Techniques for Moving
    Point Objects, EDBT 2004): the distance is that to the position on the chord at the same time.
    """
    (start, x0, y0), (end, x1, y1) = trajectory[0], trajectory[-1]

    def distance(point: Point) -> float:
        part = (point[0] - start) / (end - start)
        return math.hypot(point[1] - x0 - part * (x1 - x0), point[2] - y0 - part * (y1 - y0))

    farthest = max(range(len(trajectory)), key=lambda index: distance(trajectory[index]))
    if distance(trajectory[farthest]) <= tolerance_m:
        return [trajectory[0], trajectory[-1]]
    before, after = trajectory[: farthest + 1], trajectory[farthest:]
    return thin(before, tolerance_m)[:-1] + thin(after, tolerance_m)


def ns2_commands(node: int, trajectory: list[Point]) -> Iterator[str]:
    """Yields the ns-2 commands of one node."""
    yield f"$node_({node}) set X_ {trajectory[0][1]:.1f}"
    yield f"$node_({node}) set Y_ {trajectory[0][2]:.1f}"
    for (start, x0, y0), (end, x1, y1) in itertools.pairwise(trajectory):
        speed = math.hypot(x1 - x0, y1 - y0) / (end - start)
        yield f'$ns_ at {start:g} "$node_({node}) setdest {x1:.1f} {y1:.1f} {speed:.4f}"'


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("output", type=Path, help="movement file of ns-2")
    output: Path = parser.parse_args().output
    try:
        with tempfile.TemporaryDirectory() as folder:
            cars = trajectories(simulate(Path(folder)))
        lines = [
            f"# {len(cars)} cars on and around a motorway for {DURATION_S} s; node {OTHERS} is the one"
            " under test. Made by studies/motorway/make_trace.py with SUMO."
        ]
        for node, trajectory in enumerate(cars.values()):
            lines += ns2_commands(node, thin(trajectory, TOLERANCE_M))
        part = output.with_name(output.name + ".part")
        part.write_text("\n".join(lines) + "\n", "utf-8")
        part.replace(output)
    except (TraceError, OSError) as error:
        print(f"make_trace.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
