"""Tests of the bundled trace against README.md, and of the thinning of trajectories."""

import math
import tomllib
from itertools import groupby
from pathlib import Path

import coverage
import make_trace
import movement
import pytest

HERE = Path(__file__).resolve().parent
BUNDLED = HERE.parents[1] / "python/celltcp/library/vehicular/motorway.tcl"


def test_51_cars_are_there_for_285_s() -> None:
    """Every way begins at 0 s and ends at 285 s, but for the rounding of speeds."""
    trajectories = movement.read(BUNDLED)
    assert sorted(trajectories) == list(range(51))
    for points in trajectories.values():
        assert points[0][0] == 0.0
        assert points[-1][0] == pytest.approx(285.0, abs=0.01)


def test_the_car_under_test_has_two_gaps_near_100_and_190_s() -> None:
    """Below -3 dB, and nowhere else."""
    masts = [
        (cell["x"], cell["y"], cell["height"])
        for cell in tomllib.loads((HERE / "cells.toml").read_text("utf-8"))["cells"]
    ]
    samples = coverage.along(masts, movement.read(BUNDLED)[50])
    low = [
        [sample.time for sample in stretch]
        for below, stretch in groupby(samples, key=lambda sample: sample.sinr_db < -3.0)
        if below
    ]
    assert [(gap[0], gap[-1]) for gap in low] == [(95, 108), (196, 204)]


def test_equal_masts_give_0_db_half_way() -> None:
    """Far above the noise, one interferer as strong as the signal is all there is."""
    sample = coverage.receive([(0.0, 0.0, 30.0), (400.0, 0.0, 30.0)], 0, 200.0, 0.0)
    assert sample.sinr_db == pytest.approx(0.0, abs=0.001)


@pytest.mark.parametrize("tolerance", [0.5, 1.0, 5.0])
def test_a_thinned_way_stays_within_the_tolerance(tolerance: float) -> None:
    """At every point of the way, at its time; and it is shorter."""
    points = [(t, 30.0 * t, 40.0 * math.sin(t / 9.0)) for t in map(float, range(200))]
    thinned = make_trace.thin(points, tolerance)
    assert len(thinned) < len(points) / 2
    for time, x, y in points:
        assert math.dist(movement.place(thinned, time), (x, y)) <= tolerance


def test_a_car_that_waits_is_not_cut_short() -> None:
    """On the straight line in space, but not in time."""
    points = [
        (0.0, 0.0, 0.0),
        (1.0, 10.0, 0.0),
        (2.0, 10.0, 0.0),
        (3.0, 10.0, 0.0),
        (4.0, 20.0, 0.0),
    ]
    assert make_trace.thin(points, 1.0) == [
        points[0],
        points[1],
        points[3],
        points[4],
    ]


def test_orders_are_read_back(tmp_path: Path) -> None:
    """movement.py reads what make_trace.py writes, a stop included."""
    points = [(0.0, 0.0, 0.0), (10.0, 300.0, 40.0), (20.0, 300.0, 40.0), (30.0, 0.0, 0.0)]
    file = tmp_path / "a.tcl"
    file.write_text("\n".join(make_trace.ns2_commands(7, points)))
    read = movement.read(file)[7]
    for time in (0.0, 4.0, 10.0, 15.0, 24.0):
        assert math.dist(movement.place(read, time), movement.place(points, time)) < 0.01


def test_other_lines_are_refused(tmp_path: Path) -> None:
    """The message names file, line and text."""
    file = tmp_path / "a.tcl"
    file.write_text("# cars\n$node_(1) set Q_ 3\n")
    with pytest.raises(movement.MovementError, match=r"a\.tcl:2: .*Q_ 3"):
        movement.read(file)
