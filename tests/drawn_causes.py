"""Scenarios drawn at random whose cause of a low goodput is known by construction."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import celltcp as ct

Changes = dict[str, Any]

#: Commands of a game.
GAME = {"kind": "frames", "size": "40B", "interval": "200ms", "deadline": "200ms"}


class Path:
    """A steady path, drawn at random."""

    def __init__(self, draw: random.Random) -> None:
        self.rate = draw.choice([12, 16, 20, 30])
        self.rtt = draw.choice([40, 60, 80])
        self.changes: Changes = {
            "path.rtt": f"{self.rtt}ms",
            "path.down.rate": f"{self.rate}Mbit/s",
            "path.buffer": "1.5bdp",
        }

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product, bytes."""
        return self.rate * self.rtt * 1e3 / 8


def _shallow_buffer(_path: Path, draw: random.Random) -> Changes:
    return {"path.buffer": f"{draw.uniform(0.05, 0.2):.2f}bdp"}


def _receive_window(path: Path, draw: random.Random) -> Changes:
    return {"tcp.receive_window_max": f"{path.bdp * draw.uniform(0.2, 0.7):.0f}B"}


def _send_buffer(path: Path, draw: random.Random) -> Changes:
    return {"tcp.send_buffer_max": f"{path.bdp * draw.uniform(0.2, 0.5):.0f}B"}


def _application(path: Path, draw: random.Random) -> Changes:
    size, share = draw.choice([2, 5, 20]), draw.uniform(0.1, 0.6)
    interval = f"{size * 8 / (path.rate * share):.2f}ms"
    frames = {"kind": "frames", "size": f"{size}kB", "interval": interval}
    return {"flows.0.workload": frames, "flows.0.opens": "from"}


def _outage(path: Path, draw: random.Random) -> Changes:
    at, rate = draw.uniform(2, 4), f"{path.rate}Mbit/s"
    del path.changes["path.down.rate"]
    return {"path.down.steps": interrupted(rate, [(at, draw.uniform(0.8, 2.5))])}


def _uplink(_path: Path, draw: random.Random) -> Changes:
    """An uplink without a grant for a while, twice."""
    first, again = draw.uniform(2, 3), draw.uniform(4.5, 6)
    gaps = [(at, draw.uniform(0.7, 1.2)) for at in (first, again)]
    return {"path.up.steps": interrupted("50Mbit/s", gaps)}


def interrupted(rate: str, gaps: list[tuple[float, float]]) -> list[dict[str, str]]:
    """Returns the steps of a link that stands still from a time on for a while, s."""
    steps = [(0.0, rate)]
    for at, length in gaps:
        steps += [(at, "0bit/s"), (at + length, rate)]
    return [{"at": f"{at:.2f}s", "rate": step} for at, step in steps]


def _policer(path: Path, draw: random.Random) -> Changes:
    rate, burst = f"{path.rate * draw.uniform(0.3, 0.7):.2f}Mbit/s", draw.choice([20, 50, 100])
    return {"path.policer": {"rate": rate, "burst": f"{burst}kB"}}


def _competition(_path: Path, draw: random.Random) -> Changes:
    other = draw.choice(["cubic", "bbr", "reno"])
    return {"flows": [{"name": "mine", "cca": "cubic"}, {"name": "other", "cca": other}]}


def _early_exit(_path: Path, draw: random.Random) -> Changes:
    """A pulse of other traffic in the second round trip: HyStart takes its queue for an own one."""
    rtt = draw.choice([100, 120, 150])
    start = 3.5 - rtt / 1e3 * draw.uniform(2.5, 2.8)
    pulse = {"kind": "constant", "value": f"{draw.uniform(1.5, 2.5) * rtt:.0f}ms"}
    return {
        "path.rtt": f"{rtt}ms",
        "path.down.rate": "80Mbit/s",
        "tcp.send_buffer_max": "64MiB",
        "tcp.receive_buffer_max": "64MiB",
        "flows.0.start": f"{start:.3f}s",
        "path.cross_traffic": [
            {
                "rate": f"{80 * draw.uniform(1.1, 1.3):.1f}Mbit/s",
                "on": pulse,
                "off": {"kind": "constant", "value": "3.5s"},
            }
        ],
    }


def _reordering(_path: Path, draw: random.Random) -> Changes:
    mean = f"{draw.choice([5, 10, 15])}ms"
    return {"path.jitter": {"distribution": "exponential", "mean": mean, "reorder": True}}


CAUSES: dict[str, Callable[[Path, random.Random], Changes]] = {
    "shallow_buffer": _shallow_buffer,
    "receive_window": _receive_window,
    "send_buffer": _send_buffer,
    "application": _application,
    "outage": _outage,
    "uplink": _uplink,
    "policer": _policer,
    "competition": _competition,
    "early_exit": _early_exit,
    "reordering": _reordering,
}


def drawn(cause: str, seed: int) -> Changes:
    """Returns a drawn path that has this cause."""
    draw = random.Random(f"{cause} {seed}")
    path = Path(draw)
    changes = CAUSES[cause](path, draw)
    return {"variation.start_jitter": "0s", **path.changes, **changes}


def compared_with(cause: str, seed: int) -> ct.Comparison:
    """Returns a run of 8 s on a drawn path that has this cause."""
    return ct.compare("steady-20-68", "own", 1, seed=seed, duration="8s", set=drawn(cause, seed))
