"""Families of random radio cells on which policies are trained, as TOML."""

from __future__ import annotations

import numpy as np

from celltcp.selection.training.distributions import log_uniform


def _radio(rng: np.random.Generator, sinr: str, tables: str = "") -> str:
    """Returns a cell with random RTT, speed, fading, buffer and bandwidth.

    Args:
        rng: generator of the draws.
        sinr: mean SINR of the UE (TOML).
        tables: further tables.
    """
    kmh = rng.choice([rng.uniform(3, 50), rng.uniform(50, 150), rng.uniform(150, 350)])
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
speed = "{kmh:.0f}km/h"
[[radio.ues]]
name = "phone"
sinr = {sinr}
{tables}
"""


def _ramp(rng: np.random.Generator) -> tuple[float, float, float]:
    """Returns a low and a high mean SINR, dB, and the time between them, s."""
    low_db = rng.uniform(-2, 8)
    return low_db, low_db + rng.uniform(8, 18), log_uniform(rng, 8, 80)


def _sinr_change(start_db: float, end_db: float, end_s: float) -> str:
    start = f'{{ at = "0s", sinr = "{start_db:.1f}dB" }}'
    return f'[{start}, {{ at = "{end_s:.1f}s", sinr = "{end_db:.1f}dB" }}]'


def away(rng: np.random.Generator) -> str:
    """Returns a cell whose UE moves away."""
    low_db, high_db, time_s = _ramp(rng)
    return _radio(rng, _sinr_change(high_db, low_db, time_s))


def closer(rng: np.random.Generator) -> str:
    """Returns a cell whose UE comes closer."""
    low_db, high_db, time_s = _ramp(rng)
    return _radio(rng, _sinr_change(low_db, high_db, time_s))


def standing(rng: np.random.Generator) -> str:
    """Returns a cell whose UE does not move."""
    return _radio(rng, f'"{rng.uniform(0, 22):.1f}dB"')


def loaded(rng: np.random.Generator) -> str:
    """Returns a cell in which another user starts or stops to receive data."""
    at_s = rng.uniform(3, 20)
    start_or_stop = rng.choice([f'start = "{at_s:.1f}s"', f'stop = "{at_s:.1f}s"'])
    neighbour = f"""
[[radio.ues]]
name = "neighbour"
sinr = "{rng.uniform(3, 20):.1f}dB"
cross_traffic = [{{ rate = "{log_uniform(rng, 3, 25):.1f}Mbit/s", {start_or_stop} }}]
"""
    return _radio(rng, f'"{rng.uniform(4, 20):.1f}dB"', neighbour)
