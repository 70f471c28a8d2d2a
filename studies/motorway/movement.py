"""Reads a movement file of ns-2 in the form that make_trace.py writes."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

Point = tuple[float, float, float]
"""Time in seconds, x and y in metres."""

NUMBER = r"(-?\d+(?:\.\d+)?)"
FIRST = re.compile(rf"\$node_\((\d+)\) set ([XY])_ {NUMBER}")
ORDER = re.compile(rf'\$ns_ at {NUMBER} "\$node_\((\d+)\) setdest {NUMBER} {NUMBER} {NUMBER}"')


class MovementError(Exception):
    """The file does not say what it should; the message names it and the line."""


def read(path: Path) -> dict[int, list[Point]]:
    """The points that each node passes, straight on from one to the next."""
    first: dict[tuple[int, str], float] = {}
    orders: dict[int, list[tuple[float, ...]]] = {}
    for line, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        if place := FIRST.fullmatch(text):
            first[int(place[1]), place[2]] = float(place[3])
        elif order := ORDER.fullmatch(text):
            time, node, *rest = order.groups()
            orders.setdefault(int(node), []).append((float(time), *map(float, rest)))
        elif not text.startswith("#"):
            raise MovementError(f"{path}:{line}: {text!r} is neither a first place nor a setdest")
    trajectories = {}
    for node, steps in orders.items():
        if (node, "X") not in first or (node, "Y") not in first:
            raise MovementError(f"{path}: node {node} has no first place")
        trajectories[node] = _points(first[node, "X"], first[node, "Y"], steps)
    return trajectories


def _points(x: float, y: float, steps: list[tuple[float, ...]]) -> list[Point]:
    """Every order is taken to be fulfilled when the next one comes, as make_trace.py times them."""
    points = []
    end = 0.0
    for time, to_x, to_y, speed in steps:
        points.append((time, x, y))
        end = time + (math.hypot(to_x - x, to_y - y) / speed if speed else 0.0)
        x, y = to_x, to_y
    return [*points, (end, x, y)]


def place(trajectory: list[Point], time: float) -> tuple[float, float]:
    """Position of a node; before its first point and after its last one, there."""
    for (start, x0, y0), (end, x1, y1) in itertools.pairwise(trajectory):
        if start <= time < end:
            part = (time - start) / (end - start)
            return x0 + part * (x1 - x0), y0 + part * (y1 - y0)
    return trajectory[0][1:] if time < trajectory[0][0] else trajectory[-1][1:]
