"""Families of random links to train on."""

from __future__ import annotations

import numpy as np

from celltcp.selection.training.distributions import log_uniform

#: Maximum duration of a run on a network, s.
MAX_RUN_S = 40.0

#: Rate above which a link needs a faster core before it, Mbit/s, and data in flight, Mbit, above which
#: on the default buffers of Linux hold less than the path does.
_FASTER_CORE_MBPS = 150.0
_LARGE_FLIGHT_MBIT = 4.0
#: A segment of 1500 bytes, in Mbit/s times ms.
_SEGMENT_KBIT = 12.0


def wandering(rng: np.random.Generator) -> str:
    """Returns a link whose rate wanders, with or without outages, as recorded links do."""
    mean = log_uniform(rng, 0.5, 120)
    outages = _outages(rng) if rng.random() < 0.4 else ""
    return f"""
[path]
rtt = "{log_uniform(rng, 15, 200):.1f}ms"
buffer = "{log_uniform(rng, 100, 2000):.0f}packets"
down = {{ generate = {{ mean = "{mean:.2f}Mbit/s", variability = {rng.uniform(0.1, 1.0):.2f}, \
correlation = "{log_uniform(rng, 0.2, 10):.2f}s"{outages} }} }}
up = {{ rate = "{max(1.0, mean / 2):.1f}Mbit/s" }}
"""


def _outages(rng: np.random.Generator) -> str:
    return (
        f', outage_interval = "{log_uniform(rng, 5, 60):.1f}s"'
        f', outage_duration = "{log_uniform(rng, 0.2, 3):.2f}s"'
    )


def stepping(rng: np.random.Generator) -> str:
    """Returns a link whose rate jumps, as when the cell changes or is shared."""
    at, steps = 0.0, []
    while at < MAX_RUN_S:
        steps.append(f'{{ at = "{at:.1f}s", rate = "{log_uniform(rng, 1, 120):.1f}Mbit/s" }}')
        at += log_uniform(rng, 3, 20)
    return f"""
[path]
rtt = "{log_uniform(rng, 15, 200):.1f}ms"
buffer = "{log_uniform(rng, 30, 1500):.0f}packets"
down.steps = [{", ".join(steps)}]
"""


def lossy(rng: np.random.Generator) -> str:
    """Returns a link that loses packets at random, often with a short buffer."""
    return f"""
[path]
rtt = "{log_uniform(rng, 15, 200):.1f}ms"
buffer = "{log_uniform(rng, 20, 1000):.0f}packets"
down = {{ rate = "{log_uniform(rng, 1, 100):.1f}Mbit/s" }}
loss = {log_uniform(rng, 2e-5, 1e-2):.6f}
"""


def _link(
    rng: np.random.Generator,
    rtt_ms: tuple[float, float],
    mbps: tuple[float, float],
    buffer: str | tuple[float, float],
    rest: str = "",
    tables: str = "",
) -> str:
    """Returns a link whose RTT and rate are drawn between these; a buffer that is a range, too.

    Args:
        rng: for the draws.
        rtt_ms: lowest and highest RTT.
        mbps: lowest and highest rate.
        buffer: of the bottleneck; a range is one of BDP.
        rest: further fields of the path.
        tables: further tables.
    """
    rtt, rate = log_uniform(rng, *rtt_ms), log_uniform(rng, *mbps)
    if not isinstance(buffer, str):
        buffer = f"{log_uniform(rng, *buffer):.2f}bdp"
    if rate > _FASTER_CORE_MBPS:
        tables = '[[path.wired]]\nname = "core"\nrate = "10Gbit/s"\n' + tables
    if rate * rtt / 1e3 > _LARGE_FLIGHT_MBIT:
        tables += '[tcp]\nreceive_buffer_max = "256MiB"\nsend_buffer_max = "256MiB"\n'
    return f"""
[path]
rtt = "{rtt:.1f}ms"
buffer = "{buffer}"
down = {{ rate = "{rate:.3f}Mbit/s" }}
{rest}
{tables}
"""


def shallow(rng: np.random.Generator) -> str:
    """Returns a link with a buffer below the bandwidth-delay product."""
    return _link(rng, (10, 200), (2, 200), (0.1, 0.8))


def plain(rng: np.random.Generator) -> str:
    """Returns a link with a buffer of about the bandwidth-delay product."""
    return _link(rng, (10, 200), (2, 200), (0.9, 3))


def deep(rng: np.random.Generator) -> str:
    """Returns a link with a buffer of many bandwidth-delay products."""
    return _link(rng, (10, 200), (2, 100), (4, 20))


def dropping(rng: np.random.Generator) -> str:
    """Returns a link with any buffer that loses packets at random, alone or in bursts."""
    share = log_uniform(rng, 2e-4, 3e-2)
    loss = f"loss = {share:.6f}"
    if rng.random() < 0.25:
        loss = f'loss = {{ kind = "gilbert-elliott", to_bad = {share / 5:.6f}, to_good = 0.2 }}'
    return _link(rng, (10, 200), (2, 100), (0.3, 10), loss)


def managed(rng: np.random.Generator) -> str:
    """Returns a link whose queue is managed."""
    kind = rng.choice(["codel", "codel", "pie", "fq-codel"])
    return _link(rng, (10, 250), (2, 150), "1000packets", f'queue = "{kind}"')


def far(rng: np.random.Generator) -> str:
    """Returns a long path, with random losses or without."""
    loss = f"loss = {log_uniform(rng, 1e-4, 5e-3):.6f}" if rng.random() < 0.4 else ""
    return _link(rng, (200, 700), (1, 60), (0.3, 3), loss)


def slow(rng: np.random.Generator) -> str:
    """Returns a link on which a segment takes long."""
    return _link(rng, (20, 200), (0.1, 1.5), f"{log_uniform(rng, 8, 300):.0f}packets")


def fast(rng: np.random.Generator) -> str:
    """Returns a link of hundreds of Mbit/s."""
    return _link(rng, (5, 80), (150, 1000), (0.2, 2))


def interrupted(rng: np.random.Generator) -> str:
    """Returns a link with outages, after each of which it has another rate, as after a handover."""
    long = rng.random() < 0.5
    at, rate, steps = 0.0, log_uniform(rng, 3, 100), []
    while at < MAX_RUN_S:
        steps.append(f'{{ at = "{at:.2f}s", rate = "{rate:.2f}Mbit/s" }}')
        at += log_uniform(rng, 4, 15)
        steps.append(f'{{ at = "{at:.2f}s", rate = "0bit/s" }}')
        at += log_uniform(rng, 0.5, 8) if long else rng.uniform(0.03, 0.15)
        rate = rate if long else log_uniform(rng, 3, 150)
    return f"""
[path]
rtt = "{log_uniform(rng, 15, 120):.1f}ms"
buffer = "{log_uniform(rng, 50, 1500):.0f}packets"
down.steps = [{", ".join(steps)}]
"""


def beside(rng: np.random.Generator) -> str:
    """Returns a link with a short buffer that one or two CUBIC flows use all the time."""
    return _link(rng, (15, 150), (5, 60), (0.8, 2), tables=_cubic_flows(rng))


def beside_deep(rng: np.random.Generator) -> str:
    """Returns a link with a deep buffer that one or two CUBIC flows use all the time."""
    buffer = f"{log_uniform(rng, 400, 1000):.0f}packets"
    return _link(rng, (15, 150), (5, 60), buffer, tables=_cubic_flows(rng))


def beside_bbr(rng: np.random.Generator) -> str:
    """Returns a link that a BBR flow uses all the time."""
    return _link(rng, (15, 150), (5, 60), (0.3, 4), tables='[[flows]]\ncca = "bbr"\n')


def visited(rng: np.random.Generator) -> str:
    """Returns a link that a CUBIC flow uses for a time, or short downloads one after the other."""
    begin = rng.uniform(0, 15)
    if rng.random() < 0.5:
        workload = f'{{ kind = "bulk", stop = "{log_uniform(rng, 3, 25):.1f}s" }}'
    else:
        size, gap = log_uniform(rng, 50, 2000), log_uniform(rng, 100, 2000)
        # Without jitter, the networks are those on which the built-in policy was trained.
        workload = (
            f'{{ kind = "sequence", size = "{size:.0f}kB", '
            f'count = 60, gap = "{gap:.0f}ms", jitter = 0 }}'
        )
    other = f'[[flows]]\nstart = "{begin:.1f}s"\nworkload = {workload}\n'
    return _link(rng, (15, 150), (5, 80), (0.7, 10), tables=other)


def uploading(rng: np.random.Generator) -> str:
    """Returns a link whose uplink an upload fills for a time, so that ACKs wait behind it."""
    up = f'up = {{ rate = "{log_uniform(rng, 0.5, 5):.3f}Mbit/s" }}'
    up += f'\nuplink_buffer = "{log_uniform(rng, 30, 200):.0f}packets"'
    begin, stop = rng.uniform(1, 15), log_uniform(rng, 5, 30)
    other = f'''[[flows]]
from = "phone"
to = "server"
start = "{begin:.1f}s"
workload = {{ kind = "bulk", stop = "{stop:.1f}s" }}
'''
    return _link(rng, (20, 120), (10, 80), (0.7, 5), up, other)


def combined(rng: np.random.Generator) -> str:
    """Returns a link with several difficulties at a time, as a wandering rate behind CoDel.

    Its rate, RTT, buffer, queue, losses, jitter, uplink and other flows are drawn independently.
    The other families have one difficulty each.
    """
    rtt, mean = log_uniform(rng, 5, 300), log_uniform(rng, 0.3, 150)
    bdp = mean * rtt / _SEGMENT_KBIT
    buffer = log_uniform(rng, 0.2, 20) * bdp if rng.random() < 0.5 else log_uniform(rng, 20, 3000)
    rest = [f'rtt = "{rtt:.1f}ms"', f'buffer = "{max(8.0, buffer):.0f}packets"']
    kind = rng.choice(["steady", "wandering", "interrupted", "stepping"], p=[0.4, 0.35, 0.1, 0.15])
    if kind == "steady":
        rest.append(f'down = {{ rate = "{mean:.3f}Mbit/s" }}')
    elif kind == "stepping":
        rest.append(f"down.steps = [{_steps(rng, mean)}]")
    else:
        outages = _outages(rng) if kind == "interrupted" else ""
        rest.append(
            f'down = {{ generate = {{ mean = "{mean:.3f}Mbit/s", '
            f"variability = {rng.uniform(0.1, 1.2):.2f}, "
            f'correlation = "{log_uniform(rng, 0.2, 10):.2f}s"{outages} }} }}'
        )
    if rng.random() < 0.35:
        rest.append(f'queue = "{rng.choice(["codel", "pie", "fq-codel"])}"')
    if rng.random() < 0.25:
        rest.append(f"loss = {log_uniform(rng, 1e-5, 2e-2):.6f}")
    if rng.random() < 0.15:
        rest.append(
            f'jitter = {{ distribution = "exponential", mean = "{log_uniform(rng, 0.5, 20):.1f}ms" }}'
        )
    if rng.random() < 0.15:
        rest.append(f'up = {{ rate = "{max(0.2, mean * log_uniform(rng, 0.01, 0.2)):.3f}Mbit/s" }}')
        rest.append(f'uplink_buffer = "{log_uniform(rng, 30, 200):.0f}packets"')
    return "\n[path]\n" + "\n".join(rest) + "\n" + _others(rng)


def _steps(rng: np.random.Generator, mean: float) -> str:
    at, steps = 0.0, []
    while at < MAX_RUN_S:
        rate = mean * log_uniform(rng, 0.15, 6)
        steps.append(f'{{ at = "{at:.1f}s", rate = "{rate:.3f}Mbit/s" }}')
        at += log_uniform(rng, 2, 20)
    return ", ".join(steps)


def _others(rng: np.random.Generator) -> str:
    """Returns the other flows of a combined link, in four of ten cases."""
    kind = rng.random()
    if kind < 0.15:
        return _cubic_flows(rng)
    if kind < 0.25:
        cca = rng.choice(["bbr", "cubic", "bbr3"])
        stop = log_uniform(rng, 3, 30)
        begin = rng.uniform(0, 12)
        return (
            f'[[flows]]\ncca = "{cca}"\nstart = "{begin:.1f}s"\n'
            f'workload = {{ kind = "bulk", stop = "{stop:.1f}s" }}\n'
        )
    if kind < 0.4:
        size, gap = log_uniform(rng, 50, 2000), log_uniform(rng, 100, 2000)
        return (
            f'[[flows]]\nstart = "{rng.uniform(0, 5):.1f}s"\n'
            f'workload = {{ kind = "sequence", size = "{size:.0f}kB", '
            f'count = 60, gap = "{gap:.0f}ms", jitter = 0 }}\n'
        )
    return ""


def _cubic_flows(rng: np.random.Generator) -> str:
    return f'[[flows]]\ncca = "cubic"\ncount = {rng.integers(1, 3)}\n'


def jittery(rng: np.random.Generator) -> str:
    """Returns a link whose packets are delayed at random."""
    mean = log_uniform(rng, 1, 25)
    jitter = f'jitter = {{ distribution = "exponential", mean = "{mean:.1f}ms" }}'
    return _link(rng, (15, 150), (5, 100), (0.7, 6), jitter)


def asymmetric(rng: np.random.Generator) -> str:
    """Returns a link whose ACKs are slow or get lost."""
    up = f'up = {{ rate = "{log_uniform(rng, 0.2, 3):.3f}Mbit/s" }}'
    up += f'\nuplink_buffer = "{log_uniform(rng, 30, 150):.0f}packets"'
    if rng.random() < 0.3:
        up = f"uplink_loss = {log_uniform(rng, 0.02, 0.3):.3f}"
    return _link(rng, (20, 120), (10, 80), (1, 4), up)


def shared(rng: np.random.Generator) -> str:
    """Returns a link that unresponsive traffic uses intermittently."""
    on, off = log_uniform(rng, 1, 6), log_uniform(rng, 1, 6)
    cross = f"""[[path.cross_traffic]]
rate = "{log_uniform(rng, 2, 20):.2f}Mbit/s"
on = {{ kind = "exponential", mean = "{on:.1f}s" }}
off = {{ kind = "exponential", mean = "{off:.1f}s" }}
"""
    return _link(rng, (15, 120), (25, 80), (0.7, 5), tables=cross)


def blocked(rng: np.random.Generator) -> str:
    """Returns a fast link whose rate wanders, blocked for short times, as of millimetre waves."""
    return f"""
[path]
rtt = "{log_uniform(rng, 8, 40):.1f}ms"
buffer = "{log_uniform(rng, 0.5, 4):.2f}MB"
[path.down.generate]
mean = "{log_uniform(rng, 80, 400):.0f}Mbit/s"
variability = {rng.uniform(0.2, 0.8):.2f}
correlation = "{log_uniform(rng, 0.2, 2):.2f}s"
outage_interval = "{log_uniform(rng, 1, 6):.1f}s"
outage_duration = "{log_uniform(rng, 0.08, 0.5):.2f}s"
[[path.wired]]
name = "core"
rate = "10Gbit/s"
[tcp]
receive_buffer_max = "64MiB"
send_buffer_max = "64MiB"
"""
