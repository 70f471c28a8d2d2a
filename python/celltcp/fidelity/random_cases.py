"""Random cases: scenarios drawn at random, for an unbiased comparison with the kernel."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from celltcp.fidelity.cases import RANDOM, Case
from celltcp.fidelity.rare import log_uniform, rare_conditions
from celltcp.scenarios.scenarios import load_scenario

#: Base scenario of cases on wired links.
_WIRED = "steady-20-68"

#: Base scenarios of cases on a radio access network.
_RADIO = (
    "static/mid-cell",
    "static/mid-cell-loaded",
    "mobility/forward-60-4g",
    "mobility/backward-120-4g",
    "startup/operator-1",
    "startup/operator-3",
    "nr/sub6-static",
    "nr/sub6-drive",
    "nr/mmwave-static",
    "nr/mmwave-drive",
)

#: Length of a run on wired links, and on a radio access network.
_DURATIONS = ("20s", "10s")


def random_cases(count: int, seed: int, duration: str | None = None) -> list[Case]:
    """Draws scenarios; case number i of a seed is the same whatever the count.

    Rates, RTTs, buffers, queue disciplines, loss, jitter, MTU, caps of windows and buffers, options of
    TCP, workloads, cross-traffic, several flows, LTE and NR are drawn independently of each other. Half
    of the cases have a rare condition, too: losses of up to a tenth of all ACKs, an RTT of up to two
    seconds, withdrawn windows, idle times of up to a day, policers, blackouts, any size of segments.

    Args:
        count: number of cases.
        seed: seed of the draws.
        duration: length of a run, such as `"60s"`; 20 s unless given, 10 s with a radio network. Cases
            with idle times last as long as these need.
    """
    return [_case(index, seed, duration) for index in range(1, count + 1)]


def _case(number: int, seed: int, duration: str | None) -> Case:
    draw = Random(f"celltcp fidelity {seed} {number}")
    name = f"random-{seed}-{number:03d}"
    is_radio = draw.random() < 0.2
    base = draw.choice(_RADIO) if is_radio else _WIRED
    changes = [
        f"name={name}",
        f"description=Drawn at random: number {number} of seed {seed}, from {base}.",
    ]
    changes.append("variation.start_jitter=100ms")
    if is_radio:
        changes += [f"path.rtt={log_uniform(draw, 5, 150):.0f}ms"]
    else:
        changes += _link(draw)
    changes += _tcp(draw)
    changes += _traffic(draw)
    rare, duration = rare_conditions(draw, is_radio, duration or _DURATIONS[is_radio])
    scenario = load_scenario(base, changes=changes + rare, duration=duration)
    return Case(name, RANDOM, scenario)


def _link(draw: Random) -> list[str]:
    """Draws the access link, its queue, losses and jitter, and the hops before it."""
    rate = log_uniform(draw, 1, 200)
    rtt = log_uniform(draw, 4, 250)
    changes = [f"path.rtt={rtt:.1f}ms", f"path.down={_capacity(draw, rate)}"]
    changes += [f"path.up.rate={max(rate / 4, 1):.2f}Mbit/s", f"path.buffer={_buffer(draw)}"]
    changes += _sometimes(
        draw, 0.3, lambda: [f"path.queue={draw.choice(('codel', 'fq-codel', 'pie'))}"]
    )
    changes += _sometimes(draw, 0.3, lambda: [f"path.loss={_loss(draw)}"])
    changes += _sometimes(draw, 0.1, lambda: [f"path.uplink_loss={log_uniform(draw, 1e-4, 2e-2):.5f}"])
    changes += _sometimes(draw, 0.2, lambda: [f"path.jitter={_jitter(draw)}"])
    changes += _sometimes(draw, 0.2, lambda: _mtu(draw))
    changes += _sometimes(
        draw, 0.2, lambda: [f"path.wired.0.rate={log_uniform(draw, 5, 2_000):.0f}Mbit/s"]
    )
    changes += _sometimes(draw, 0.1, lambda: [f"path.wired.0.buffer={_buffer(draw)}"])
    changes += _sometimes(draw, 0.15, lambda: [f"path.cross_traffic={_cross(draw, rate)}"])
    return changes


def _tcp(draw: Random) -> list[str]:
    """Draws limits of windows and buffers, and an option of TCP that differs from the default."""
    window_bytes = log_uniform(draw, 20_000, 4_000_000)
    option = draw.choice(
        (
            "tcp.timestamps=false",
            "tcp.window_scale=false",
            "tcp.delayed_ack=false",
            "tcp.tlp=false",
            "tcp.slow_start_after_idle=false",
            "tcp.ecn=true",
            "tcp.pacing=true",
            f"tcp.initial_window={draw.randint(1, 40)}",
            f"tcp.min_rto={draw.choice((50, 500, 1000))}ms",
        )
    )
    changes = _sometimes(draw, 0.1, lambda: [f"tcp.receive_window_max={window_bytes:.0f}B"])
    changes += _sometimes(draw, 0.15, lambda: [f"tcp.receive_buffer_max={4 * window_bytes:.0f}B"])
    changes += _sometimes(draw, 0.15, lambda: [f"tcp.send_buffer_max={2 * window_bytes:.0f}B"])
    return changes + _sometimes(draw, 0.3, lambda: [option])


def _traffic(draw: Random) -> list[str]:
    """Draws the workload of the flow under test, and competing flows."""
    changes = _sometimes(draw, 0.4, lambda: [f"flows.0.workload={_workload(draw)}"])
    return changes + _sometimes(draw, 0.15, lambda: [f"flows.0.count={draw.randint(2, 4)}"])


def _workload(draw: Random) -> str:
    """Draws a workload that ends or pauses."""
    size, time, gap = log_uniform(draw, 10, 10_000), log_uniform(draw, 0.2, 6), draw.randint(0, 500)
    fields = draw.choice(
        (
            f'kind = "bulk", bytes = "{size:.0f}kB"',
            f'kind = "bulk", stop = "{time:.2f}s"',
            f'kind = "on-off", on = "{time / 2:.2f}s", off = "{log_uniform(draw, 0.1, 3):.2f}s"',
            f'kind = "sequence", size = "{size / 5:.0f}kB", gap = "{gap}ms"',
            f'kind = "request-response", response = "{size / 5:.0f}kB", gap = "{gap}ms"',
        )
    )
    return f"{{ {fields} }}"


def _capacity(draw: Random, rate: float) -> str:
    """Draws a capacity around `rate`, Mbit/s: steady, in steps, or generated."""
    kind = draw.random()
    if kind < 0.7:
        return f'{{ rate = "{rate:.2f}Mbit/s" }}'
    if kind < 0.85:
        rates = [(at, rate * log_uniform(draw, 0.3, 2)) for at in (0, 5, 10, 15)]
        steps = ", ".join(f'{{ at = "{at}s", rate = "{mbps:.2f}Mbit/s" }}' for at, mbps in rates)
        return f"{{ steps = [{steps}] }}"
    return f'{{ generate = {{ mean = "{rate:.2f}Mbit/s" }} }}'


def _buffer(draw: Random) -> str:
    """Draws a buffer in bandwidth-delay products or packets."""
    if draw.random() < 0.5:
        return f"{log_uniform(draw, 0.3, 6):.2f}bdp"
    return f"{log_uniform(draw, 15, 2_000):.0f}packets"


def _loss(draw: Random) -> str:
    """Draws independent losses, or losses in bursts."""
    probability = log_uniform(draw, 1e-5, 2e-2)
    if draw.random() < 0.7:
        return f"{probability:.6f}"
    to_good = draw.uniform(0.1, 0.9)
    return f'{{ kind = "gilbert-elliott", to_bad = {probability / 3:.7f}, to_good = {to_good:.3f} }}'


def _jitter(draw: Random) -> str:
    """Draws a distribution of delays, with packets in order or not."""
    distribution = draw.choice(("normal", "uniform", "exponential"))
    mean = log_uniform(draw, 0.2, 10)
    sd = "" if distribution == "exponential" else f', sd = "{mean * draw.uniform(0.1, 1.2):.3f}ms"'
    reorder = str(draw.random() < 0.2).lower()
    return f'{{ distribution = "{distribution}", mean = "{mean:.3f}ms"{sd}, reorder = {reorder} }}'


def _mtu(draw: Random) -> list[str]:
    """Draws the MTU of all links."""
    mtu = draw.choice((576, 1280, 1400, 4000, 9000))
    return [f"path.mtu={mtu}B", f"path.wired.0.mtu={mtu}B"]


def _cross(draw: Random, rate: float) -> str:
    """Draws cross traffic with a share of `rate`, Mbit/s."""
    share = draw.uniform(0.05, 0.6)
    on, off = log_uniform(draw, 0.1, 3), log_uniform(draw, 0.1, 3)
    return f'[{{ rate = "{rate * share:.2f}Mbit/s", on = "{on:.2f}s", off = "{off:.2f}s" }}]'


def _sometimes(draw: Random, probability: float, changes: Callable[[], list[str]]) -> list[str]:
    """Draws the changes with a probability, and returns no changes otherwise."""
    return changes() if draw.random() < probability else []
