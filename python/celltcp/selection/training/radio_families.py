"""Families of random cells to train on."""

from __future__ import annotations

import numpy as np

from celltcp.selection.training.distributions import log_uniform


def _radio(rng: np.random.Generator, sinr: str, rest: str = "") -> str:
    """Returns a cell; latency, speed, fading, buffer and bandwidth are drawn for each network."""
    speed = rng.choice([rng.uniform(3, 50), rng.uniform(50, 150), rng.uniform(150, 350)])
    profile = rng.choice(["EPA", "EVA", "ETU"])
    return f"""
[path]
rtt = "{log_uniform(rng, 5, 150):.1f}ms"
[radio]
prbs = {rng.choice([50, 75, 100])}
[radio.rlc]
buffer = "{log_uniform(rng, 150, 2000):.0f}packets"
[radio.fading]
profile = "{profile}"
speed = "{speed:.0f}km/h"
[[radio.ues]]
name = "phone"
sinr = {sinr}
{rest}
"""


def _ramp(rng: np.random.Generator) -> tuple[float, float, float]:
    """Low and high mean SINR, dB, and the time between them, s."""
    low = rng.uniform(-2, 8)
    return low, low + rng.uniform(8, 18), log_uniform(rng, 8, 80)


def away(rng: np.random.Generator) -> str:
    """Returns a cell that the UE leaves."""
    low, high, time = _ramp(rng)
    points = f'[{{ at = "0s", sinr = "{high:.1f}dB" }}, {{ at = "{time:.1f}s", sinr = "{low:.1f}dB" }}]'
    return _radio(rng, points)


def closer(rng: np.random.Generator) -> str:
    """Returns a cell that the UE approaches."""
    low, high, time = _ramp(rng)
    points = f'[{{ at = "0s", sinr = "{low:.1f}dB" }}, {{ at = "{time:.1f}s", sinr = "{high:.1f}dB" }}]'
    return _radio(rng, points)


def standing(rng: np.random.Generator) -> str:
    """Returns a cell in which the UE stands."""
    return _radio(rng, f'"{rng.uniform(0, 22):.1f}dB"')


def loaded(rng: np.random.Generator) -> str:
    """Returns a cell in which other users come or go."""
    at = rng.uniform(3, 20)
    when = rng.choice([f'start = "{at:.1f}s"', f'stop = "{at:.1f}s"'])
    other = f"""
[[radio.ues]]
name = "neighbour"
sinr = "{rng.uniform(3, 20):.1f}dB"
cross_traffic = [{{ rate = "{log_uniform(rng, 3, 25):.1f}Mbit/s", {when} }}]
"""
    return _radio(rng, f'"{rng.uniform(4, 20):.1f}dB"', other)
