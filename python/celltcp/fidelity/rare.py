"""Rare conditions of random cases, which reveal most reported faults of TCP stacks."""

from __future__ import annotations

import math
from random import Random

#: Maximum idle time between two requests, s: on wired links, and in a cell, whose channel is computed
#: for each transmission time interval.
_MAX_IDLE_S = (86_400, 20)

#: Total idle time of a run, s: on wired links, and in a cell. Two requests may need more.
_IDLE_S = (5_000, 40)

#: Lengths of a slot, s.
_SLOTS_S = (1, 15, 60, 900)
#: Maximum number of slots of a run.
_MAX_SLOTS = 50_000


def rare_conditions(draw: Random, is_radio: bool, duration: str) -> tuple[list[str], str]:
    """Draws a rare condition for half of the cases.

    Returns:
        Changes of the scenario, and the length of the run, which idle times extend.
    """
    if draw.random() < 0.5:
        return [], duration
    everywhere = (_bursts, _sockets, _interruption)
    wired_only = (_lost_handshakes, _long_rtt, _withdrawn_windows, _segment_size)
    changes = draw.choice(everywhere if is_radio else everywhere + wired_only)(draw)
    if draw.random() < 0.25:
        idle = log_uniform(draw, 10, _MAX_IDLE_S[is_radio])
        count = max(2, min(12, round(_IDLE_S[is_radio] / idle)))
        workload = (
            f'{{ kind = "request-response", response = "{draw.randint(1, 400)}kB", '
            f'gap = "{idle:.0f}s", count = {count} }}'
        )
        slot = next(slot for slot in _SLOTS_S if 1.3 * count * idle < _MAX_SLOTS * slot)
        duration = f"{math.ceil(1.3 * count * idle / slot) * slot}s"
        changes = [*changes, f"flows.0.workload={workload}", "samples=off", f"slot={slot}s"]
    return changes, duration


def log_uniform(draw: Random, low: float, high: float) -> float:
    """Draws a number between two, log-uniformly."""
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def _lost_handshakes(draw: Random) -> list[str]:
    share = log_uniform(draw, 0.01, 0.1)
    return [
        f"path.loss={share / 3:.4f}",
        f"path.uplink_loss={share:.4f}",
        f'flows.0.workload={{ kind = "sequence", size = "{draw.randint(5, 200)}kB", gap = "100ms" }}',
    ]


def _long_rtt(draw: Random) -> list[str]:
    rtt = log_uniform(draw, 300, 2_000)
    size = draw.randint(20, 2_000)
    workload = f'flows.0.workload={{ kind = "sequence", size = "{size}kB", gap = "300ms" }}'
    return [f"path.rtt={rtt:.0f}ms", *([workload] if draw.random() < 0.7 else [])]


def _withdrawn_windows(draw: Random) -> list[str]:
    """Draws Freeze-TCP, which closes the window before an outage, and opens it afterwards."""
    length = draw.uniform(0.5, 4)
    rate = draw.randint(2, 60)
    steps = f'[{{ at = "0s", rate = "{rate}Mbit/s" }}, {{ at = "7s", rate = "0bit/s" }}, '
    steps += f'{{ at = "{7 + length:.2f}s", rate = "{rate}Mbit/s" }}]'
    box = draw.choice(("freeze", "mtcp-plus"))
    return [f"path.down={{ steps = {steps} }}", f'path.middleboxes=[{{ kind = "{box}" }}]']


def _segment_size(draw: Random) -> list[str]:
    mss = round(log_uniform(draw, 88, 8_960))
    return [f"tcp.mss={mss}B", "path.mtu=9000B", "path.wired.0.mtu=9000B"]


def _bursts(draw: Random) -> list[str]:
    """Draws an application that idles and bursts, or writes in parts."""
    size, interval, parts = draw.randint(1, 60), draw.randint(20, 800), draw.randint(2, 5)
    workload = draw.choice(
        (
            f'kind = "frames", size = "{size}kB", interval = "{interval}ms", '
            f'beside = [{{ size = "{20 * size}kB", interval = "6s" }}]',
            f'kind = "request-response", response = "{size}kB", writes = {parts}, gap = "100ms"',
        )
    )
    # Both applications set TCP_NODELAY by default, so that Nagle's algorithm is rare.
    nagle = [] if draw.random() < 0.3 else ["flows.0.nodelay=false"]
    return [f"flows.0.workload={{ {workload} }}", *nagle]


def _sockets(draw: Random) -> list[str]:
    return [
        draw.choice(
            (
                "tcp.sack=false",
                "tcp.nodelay=true",
                f"tcp.notsent_lowat={draw.randint(4, 500)}kB",
                f"tcp.keepalive={draw.randint(1, 10)}s",
                f"tcp.user_timeout={draw.randint(20, 60)}s",
            )
        )
    ]


def _interruption(draw: Random) -> list[str]:
    rate, burst = log_uniform(draw, 1, 40), draw.randint(10, 300)
    start, length = draw.uniform(2, 8), draw.uniform(0.1, 4)
    return [
        draw.choice(
            (
                f'path.wired.0.policer={{ rate = "{rate:.2f}Mbit/s", burst = "{burst}kB" }}',
                f'path.wired.0.blackouts=[{{ at = "{start:.2f}s", duration = "{length:.2f}s" }}]',
            )
        )
    ]
