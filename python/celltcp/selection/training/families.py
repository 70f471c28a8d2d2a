"""Families of random networks to train on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celltcp._core import CelltcpError, Scenario

#: Longest time that a network is looked at, s.
LONGEST_S = 40.0


@dataclass(frozen=True)
class Network:
    """A network of a family, as a scenario of the wanted length."""

    family: str
    number: int
    seed: int
    text: str

    def scenario(self, flows: str, duration_s: float) -> Scenario:
        """The network with these flows (TOML) for so long."""
        head = (
            f'name = "{self.family}-{self.number}"\nduration = "{duration_s:.1f}s"\n'
            '[variation]\nstart_jitter = "0s"\n'
        )
        return Scenario.from_toml(head + self.text + flows, f"{self.family}-{self.number}", "", [])


def _radio(rng: np.random.Generator, sinr: str, rest: str = "") -> str:
    """Returns a cell; latency, speed, fading, buffer and bandwidth are drawn for each network."""
    speed = rng.choice([rng.uniform(3, 50), rng.uniform(50, 150), rng.uniform(150, 350)])
    profile = rng.choice(["EPA", "EVA", "ETU"])
    return f"""
[path]
rtt = "{_log(rng, 5, 150):.1f}ms"
[radio]
prbs = {rng.choice([50, 75, 100])}
[radio.rlc]
buffer = "{_log(rng, 150, 2000):.0f}packets"
[radio.fading]
profile = "{profile}"
speed = "{speed:.0f}km/h"
[[radio.ues]]
name = "phone"
sinr = {sinr}
{rest}
"""


def _log(rng: np.random.Generator, low: float, high: float) -> float:
    """Draws uniformly by ratio."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _ramp(rng: np.random.Generator) -> tuple[float, float, float]:
    """Low and high mean SINR, dB, and the time between them, s."""
    low = rng.uniform(-2, 8)
    return low, low + rng.uniform(8, 18), _log(rng, 8, 80)


def _away(rng: np.random.Generator) -> str:
    low, high, time = _ramp(rng)
    points = f'[{{ at = "0s", sinr = "{high:.1f}dB" }}, {{ at = "{time:.1f}s", sinr = "{low:.1f}dB" }}]'
    return _radio(rng, points)


def _closer(rng: np.random.Generator) -> str:
    low, high, time = _ramp(rng)
    points = f'[{{ at = "0s", sinr = "{low:.1f}dB" }}, {{ at = "{time:.1f}s", sinr = "{high:.1f}dB" }}]'
    return _radio(rng, points)


def _standing(rng: np.random.Generator) -> str:
    return _radio(rng, f'"{rng.uniform(0, 22):.1f}dB"')


def _loaded(rng: np.random.Generator) -> str:
    """Returns a cell in which other users come or go."""
    at = rng.uniform(3, 20)
    when = rng.choice([f'start = "{at:.1f}s"', f'stop = "{at:.1f}s"'])
    other = f"""
[[radio.ues]]
name = "neighbour"
sinr = "{rng.uniform(3, 20):.1f}dB"
cross = [{{ rate = "{_log(rng, 3, 25):.1f}Mbit/s", {when} }}]
"""
    return _radio(rng, f'"{rng.uniform(4, 20):.1f}dB"', other)


def _wandering(rng: np.random.Generator) -> str:
    """Returns a link whose rate wanders, with or without outages, as recorded links do."""
    mean = _log(rng, 0.5, 120)
    outages = ""
    if rng.random() < 0.4:
        outages = (
            f', outage_interval = "{_log(rng, 5, 60):.1f}s"'
            f', outage_duration = "{_log(rng, 0.2, 3):.2f}s"'
        )
    return f"""
[path]
rtt = "{_log(rng, 15, 200):.1f}ms"
buffer = "{_log(rng, 100, 2000):.0f}packets"
down = {{ generate = {{ mean = "{mean:.2f}Mbit/s", variability = {rng.uniform(0.1, 1.0):.2f}, \
correlation = "{_log(rng, 0.2, 10):.2f}s"{outages} }} }}
up = {{ rate = "{max(1.0, mean / 2):.1f}Mbit/s" }}
"""


def _stepping(rng: np.random.Generator) -> str:
    """Returns a link whose rate jumps, as when the cell changes or is shared."""
    at, steps = 0.0, []
    while at < LONGEST_S:
        steps.append(f'{{ at = "{at:.1f}s", rate = "{_log(rng, 1, 120):.1f}Mbit/s" }}')
        at += _log(rng, 3, 20)
    return f"""
[path]
rtt = "{_log(rng, 15, 200):.1f}ms"
buffer = "{_log(rng, 30, 1500):.0f}packets"
down.steps = [{", ".join(steps)}]
"""


def _lossy(rng: np.random.Generator) -> str:
    """Returns a link that loses packets at random, often with a short buffer."""
    return f"""
[path]
rtt = "{_log(rng, 15, 200):.1f}ms"
buffer = "{_log(rng, 20, 1000):.0f}packets"
down = {{ rate = "{_log(rng, 1, 100):.1f}Mbit/s" }}
loss = {_log(rng, 2e-5, 1e-2):.6f}
"""


#: Functions that draw a network, by family.
FAMILIES: dict[str, Callable[[np.random.Generator], str]] = {
    "away": _away,
    "closer": _closer,
    "standing": _standing,
    "loaded": _loaded,
    "wandering": _wandering,
    "stepping": _stepping,
    "lossy": _lossy,
}


def networks(families: Sequence[str], each: int, seed: int) -> Iterator[Network]:
    """Returns `each` networks of each family; the same seed gives the same networks.

    Raises:
        CelltcpError: if there is no family of a name.
    """
    for name in families:
        if name not in FAMILIES:
            raise CelltcpError(f"scenarios: {name!r} is no family; allowed: {', '.join(FAMILIES)}")
        for number in range(each):
            place = list(FAMILIES).index(name)
            rng = np.random.default_rng([seed, place, number])
            yield Network(name, number, int(rng.integers(1 << 31)), FAMILIES[name](rng))
