"""Cases of the validation, fixed or random: runs whose captures are analysed."""

from __future__ import annotations

import json
import math
import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from celltcp._core import Scenario, in_unit
from celltcp.scenarios.scenarios import load_scenario

#: Node of a capture between the endpoints.
_BETWEEN = "node-1"


@dataclass(frozen=True)
class Case:
    """A run whose capture validates the analysis."""

    name: str
    scenario: str
    cca: str
    #: Overrides of the scenario.
    set: tuple[str, ...] = ()
    duration: str = "30s"
    #: Share of the path's delay between sender and capture; None for a capture at the sender.
    before: float | None = None
    #: Random loss between sender and capture, for a capture between the endpoints.
    loss_before: str = "0%"
    #: Group of cases with scores of its own; empty for none.
    group: str = ""

    @property
    def node(self) -> str:
        """Node of the capture."""
        return "server" if self.before is None else _BETWEEN

    def delay_ns(self) -> int:
        """Returns the delay between sender and capture."""
        if self.before is None:
            return 0
        path = json.loads(self._load(self.set).to_json())["path"]
        return round((in_unit(path["rtt"], "s") or 0.0) / 2 * self.before * 1e9)

    def load(self) -> Scenario:
        """Returns the scenario, with two wired hops for a capture between the endpoints."""
        if self.before is None:
            return self._load(self.set)
        path = json.loads(self._load(self.set).to_json())["path"]
        before_ns = self.delay_ns()
        after_ns = round((in_unit(path["rtt"], "s") or 0.0) / 2 * 1e9) - before_ns
        hops = (
            f'path.wired=[{{ name = "wan", delay = "{before_ns}ns", loss = "{self.loss_before}" }}, '
            f'{{ name = "ran", delay = "{after_ns}ns" }}]'
        )
        # A capture needs a middlebox. A reset tracker changes nothing for connections without a RST.
        middlebox = f'path.middleboxes=[{{ kind = "reset-tracker", at = "{_BETWEEN}" }}]'
        return self._load((*self.set, hops, middlebox))

    def _load(self, changes: tuple[str, ...]) -> Scenario:
        return load_scenario(self.scenario, duration=self.duration, changes=changes)


#: Fixed cases; the name of each tells its purpose.
CASES = tuple(
    Case(**{**fields, "set": tuple(fields.get("set", ()))})
    for fields in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["case"]
)

#: Scenario with a radio, which has losses and a buffer of its own.
_RADIO = "highway/drive"
#: Scenarios of random cases.
_SCENARIOS = (
    "steady-5-18",
    "steady-5-68",
    "steady-20-18",
    "steady-20-68",
    "steady-100-18",
    "drive",
    "outage",
    "rise",
    "fall",
    _RADIO,
)
#: CCAs of random cases.
CCAS = ("cubic", "reno", "bbr", "bbr3", "westwood", "illinois")
#: Buffers of random cases.
_BUFFERS = ("20packets", "40packets", "80packets", "150packets", "300packets")
#: Scenarios on which jitter lets packets overtake a few others only.
_SLOW = tuple(name for name in _SCENARIOS if "100" not in name)

#: Ranges of RTT (ms) and buffer (BDP), drawn log-uniformly.
_RTT_MS = (5.0, 300.0)
_BUFFER_BDP = (0.05, 4.0)
#: Smallest buffer: ten packets, as in shallow Ethernet switches.
_MIN_BUFFER_BYTES = 15_000

_RATES_MBPS = (5, 10, 20, 50, 100)
_LOSSES_PERCENT = (0, 0.05, 0.1, 0.3, 1)
_DELAYED_ACKS = (
    (),
    ("tcp.delayed_ack=false",),
    ("tcp.delayed_ack_timeout=40ms",),
    ("tcp.delayed_ack_timeout=100ms",),
    ("tcp.delayed_ack_timeout=200ms",),
)
#: Responses in segments: after an odd number of them, the last ACK is delayed.
_RESPONSES = (5, 7, 15, 31, 101)
#: Payload of a segment, bytes.
_MSS_BYTES = 1_448


def cases_at(cases: Sequence[Case], place: str) -> tuple[Case, ...]:
    """Returns the cases with captures at the sender, or between the endpoints for any other place."""
    if place == "sender":
        return tuple(replace(case, before=None) for case in cases)
    return tuple(replace(case, before=case.before or 0.5) for case in cases)


def random_cases(count: int, seed: int) -> tuple[Case, ...]:
    """Returns random cases; each depends only on the seed and its number."""
    return tuple(_random_case(random.Random(f"{seed} {index}"), index) for index in range(count))


def _random_case(rng: random.Random, number: int) -> Case:
    """Returns a random case: path, CCA, and up to three causes of losses."""
    changes = []
    jitter_draw = rng.random()
    scenario = rng.choice(_SLOW if jitter_draw < 0.2 else _SCENARIOS)
    has_radio = scenario == _RADIO
    if rng.random() < 0.4 and not has_radio:
        changes.append(f"path.buffer={rng.choice(_BUFFERS)}")
    if rng.random() < 0.4 and not has_radio:
        changes.append(f"path.loss={rng.choice((0.05, 0.1, 0.3, 0.5, 1))}%")
    if jitter_draw < 0.1 and not has_radio:
        mean, spread = rng.choice((2, 4, 8)), rng.choice(("500us", "1ms"))
        changes.append(f'path.jitter={{ mean = "{mean}ms", sd = "{spread}", reorder = true }}')
    elif jitter_draw < 0.2 and not has_radio:
        changes.append(
            f'path.jitter={{ distribution = "exponential", mean = "{rng.choice((20, 100))}ms" }}'
        )
    if rng.random() < 0.15:
        changes.append("tcp.timestamps=false")
    if rng.random() < 0.3:
        size, gap = rng.choice((6, 12, 50, 200)), rng.choice((20, 200))
        changes.append(
            'flows.0.workload={ kind = "request-response", request = "400B", '
            f'response = "{size}kB", think = "5ms", gap = "{gap}ms", jitter = 0, count = 300 }}'
        )
    before = rng.choice((0.25, 0.4, 0.5, 0.6, 0.75))
    loss_before = rng.choice(("0%", "0%", "0.1%", "0.5%"))
    cca = rng.choice(CCAS)
    return Case(f"random {number}", scenario, cca, tuple(changes), "30s", before, loss_before)


def path_cases(count: int, seed: int) -> tuple[Case, ...]:
    """Returns random cases that cycle through low and high RTT, small and large buffer.

    Each case depends only on the seed and its index.
    """
    return tuple(_path_case(random.Random(f"{seed} {index}"), index) for index in range(count))


def _path_case(rng: random.Random, index: int) -> Case:
    rtt_ms, rtt_range = _draw_in_half(rng, _RTT_MS, index % 2)
    buffer_bdps, buffer_range = _draw_in_half(rng, _BUFFER_BDP, index // 2 % 2)
    rate_mbps = rng.choice(_RATES_MBPS)
    bdp_bytes = rate_mbps * 1e6 / 8 * rtt_ms / 1e3
    changes = [
        f"path.rtt={rtt_ms:.2f}ms",
        f'path.down={{ rate = "{rate_mbps}Mbit/s" }}',
        f"path.buffer={max(round(buffer_bdps * bdp_bytes), _MIN_BUFFER_BYTES)}B",
        f"path.loss={rng.choice(_LOSSES_PERCENT)}%",
        *rng.choice(_DELAYED_ACKS),
    ]
    if rng.random() < 0.35:
        size, gap = rng.choice(_RESPONSES) * _MSS_BYTES, rng.choice((1, 10, 30))
        changes.append(
            'flows.0.workload={ kind = "request-response", request = "400B", '
            f'response = "{size}B", think = "0ms", gap = "{gap}ms", jitter = 0, count = 3000 }}'
        )
    # Fast paths have as many packets in less time.
    duration = "10s" if rate_mbps >= 50 else "20s"
    return Case(
        f"path {index}",
        "steady-20-68",
        rng.choice(CCAS),
        tuple(changes),
        duration,
        group=f"RTT {rtt_range} ms, buffer {buffer_range} BDP",
    )


def _draw_in_half(rng: random.Random, bounds: tuple[float, float], half: int) -> tuple[float, str]:
    """Returns a random value of the lower (0) or upper (1) half of a range, and that half as text."""
    low, high = bounds
    middle = math.sqrt(low * high)
    low, high = ((low, middle), (middle, high))[half]
    return math.exp(rng.uniform(math.log(low), math.log(high))), f"{low:.3g} to {high:.3g}"
