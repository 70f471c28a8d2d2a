"""Rare conditions of random cases, at which faults of TCP stacks are reported most often."""

from __future__ import annotations

import math
from random import Random

#: Largest idle time between two requests, s: on wired links, and in a cell, whose channel is computed
#: for each transmission time interval.
_MAX_IDLE_S = (86_400, 20)

#: Idle time of a run, s, unless two requests need more.
_IDLE_S = (5_000, 40)

#: Lengths of a slot, s, and the largest number of slots.
_SLOTS_S = (1, 15, 60, 900)
_MAX_SLOTS = 50_000


def rare_conditions(draw: Random, on_radio: bool, duration: str) -> tuple[list[str], str]:
    """Draws conditions that half of the cases have.

    Args:
        draw: source of the draws.
        on_radio: whether the access link is that of a cell.
        duration: length of the run.

    Returns:
        Changes of the scenario, and the length of the run, which idle times make longer.
    """
    if draw.random() < 0.5:
        return [], duration
    of_all = (_bursts, _sockets, _interruption)
    of_wires = (_lost_handshakes, _far_away, _withdrawn_windows, _segment_size)
    changes = draw.choice(of_all if on_radio else of_all + of_wires)(draw)
    if draw.random() < 0.25:
        idle = math.exp(draw.uniform(math.log(10), math.log(_MAX_IDLE_S[on_radio])))
        count = max(2, min(12, round(_IDLE_S[on_radio] / idle)))
        workload = (
            f'{{ kind = "request-response", response = "{draw.randint(1, 400)}kB", '
            f'gap = "{idle:.0f}s", count = {count} }}'
        )
        slot = next(each for each in _SLOTS_S if 1.3 * count * idle < _MAX_SLOTS * each)
        duration = f"{math.ceil(1.3 * count * idle / slot) * slot}s"
        changes = [*changes, f"flows.0.workload={workload}", "samples=off", f"slot={slot}s"]
    return changes, duration


def _lost_handshakes(draw: Random) -> list[str]:
    share = math.exp(draw.uniform(math.log(0.01), math.log(0.1)))
    return [
        f"path.loss={share / 3:.4f}",
        f"path.uplink_loss={share:.4f}",
        f'flows.0.workload={{ kind = "sequence", size = "{draw.randint(5, 200)}kB", gap = "100ms" }}',
    ]


def _far_away(draw: Random) -> list[str]:
    rtt = math.exp(draw.uniform(math.log(300), math.log(2_000)))
    size = draw.randint(20, 2_000)
    short = f'flows.0.workload={{ kind = "sequence", size = "{size}kB", gap = "300ms" }}'
    return [f"path.rtt={rtt:.0f}ms", *([short] if draw.random() < 0.7 else [])]


def _withdrawn_windows(draw: Random) -> list[str]:
    """Draws Freeze-TCP, which closes the window before an outage, and opens it afterwards."""
    length = draw.uniform(0.5, 4)
    rate = draw.randint(2, 60)
    steps = f'[{{ at = "0s", rate = "{rate}Mbit/s" }}, {{ at = "7s", rate = "0bit/s" }}, '
    steps += f'{{ at = "{7 + length:.2f}s", rate = "{rate}Mbit/s" }}]'
    box = draw.choice(("freeze", "mtcp-plus"))
    return [f"path.down={{ steps = {steps} }}", f'path.middleboxes=[{{ kind = "{box}" }}]']


def _segment_size(draw: Random) -> list[str]:
    mss = round(math.exp(draw.uniform(math.log(88), math.log(8_960))))
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
    # Both applications set TCP_NODELAY by default; Nagle's algorithm is what is rare.
    held = [] if draw.random() < 0.3 else ["flows.0.nodelay=false"]
    return [f"flows.0.workload={{ {workload} }}", *held]


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
    rate, burst = math.exp(draw.uniform(math.log(1), math.log(40))), draw.randint(10, 300)
    at, length = draw.uniform(2, 8), draw.uniform(0.1, 4)
    return [
        draw.choice(
            (
                f'path.wired.0.policer={{ rate = "{rate:.2f}Mbit/s", burst = "{burst}kB" }}',
                f'path.wired.0.blackouts=[{{ at = "{at:.2f}s", duration = "{length:.2f}s" }}]',
            )
        )
    ]
