"""Families of random links on which policies are trained, as TOML."""

from __future__ import annotations

import numpy as np

from celltcp.selection.training.distributions import log_uniform

#: Maximum duration of a run on a network, s.
MAX_RUN_S = 40.0

#: Rate above which a link needs a faster core, Mbit/s.
_FASTER_CORE_MBPS = 150.0
#: Data in flight above which the default socket buffers of Linux are too small, Mbit.
_LARGE_FLIGHT_MBIT = 4.0
#: Size of a segment of 1500 bytes, kbit.
_SEGMENT_KBIT = 12.0


def wandering(rng: np.random.Generator) -> str:
    """Returns a link with a random varying rate, with or without outages, like recorded links."""
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
    """Returns a link whose rate changes in steps, as at handovers or in a shared cell."""
    at_s, steps = 0.0, []
    while at_s < MAX_RUN_S:
        steps.append(f'{{ at = "{at_s:.1f}s", rate = "{log_uniform(rng, 1, 120):.1f}Mbit/s" }}')
        at_s += log_uniform(rng, 3, 20)
    return f"""
[path]
rtt = "{log_uniform(rng, 15, 200):.1f}ms"
buffer = "{log_uniform(rng, 30, 1500):.0f}packets"
down.steps = [{", ".join(steps)}]
"""


def lossy(rng: np.random.Generator) -> str:
    """Returns a link with random losses, often with a short buffer."""
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
    fields: str = "",
    tables: str = "",
) -> str:
    """Returns a link with random RTT and rate.

    Args:
        rng: generator of the draws.
        rtt_ms: minimum and maximum RTT, ms.
        mbps: minimum and maximum rate, Mbit/s.
        buffer: buffer of the bottleneck, or its minimum and maximum in BDP.
        fields: further fields of the path.
        tables: further tables.
    """
    link_rtt_ms, link_mbps = log_uniform(rng, *rtt_ms), log_uniform(rng, *mbps)
    if not isinstance(buffer, str):
        buffer = f"{log_uniform(rng, *buffer):.2f}bdp"
    if link_mbps > _FASTER_CORE_MBPS:
        tables = '[[path.wired]]\nname = "core"\nrate = "10Gbit/s"\n' + tables
    if link_mbps * link_rtt_ms / 1e3 > _LARGE_FLIGHT_MBIT:
        tables += '[tcp]\nreceive_buffer_max = "256MiB"\nsend_buffer_max = "256MiB"\n'
    return f"""
[path]
rtt = "{link_rtt_ms:.1f}ms"
buffer = "{buffer}"
down = {{ rate = "{link_mbps:.3f}Mbit/s" }}
{fields}
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
    """Returns a link with losses, independent or in bursts, and a buffer of any size."""
    share = log_uniform(rng, 2e-4, 3e-2)
    loss = f"loss = {share:.6f}"
    if rng.random() < 0.25:
        loss = f'loss = {{ kind = "gilbert-elliott", to_bad = {share / 5:.6f}, to_good = 0.2 }}'
    return _link(rng, (10, 200), (2, 100), (0.3, 10), loss)


def managed(rng: np.random.Generator) -> str:
    """Returns a link with active queue management."""
    kind = rng.choice(["codel", "codel", "pie", "fq-codel"])
    return _link(rng, (10, 250), (2, 150), "1000packets", f'queue = "{kind}"')


def far(rng: np.random.Generator) -> str:
    """Returns a link with a long RTT, with or without random losses."""
    loss = f"loss = {log_uniform(rng, 1e-4, 5e-3):.6f}" if rng.random() < 0.4 else ""
    return _link(rng, (200, 700), (1, 60), (0.3, 3), loss)


def slow(rng: np.random.Generator) -> str:
    """Returns a link with a low rate, on which the transmission of a segment takes long."""
    return _link(rng, (20, 200), (0.1, 1.5), f"{log_uniform(rng, 8, 300):.0f}packets")


def fast(rng: np.random.Generator) -> str:
    """Returns a link of hundreds of Mbit/s."""
    return _link(rng, (5, 80), (150, 1000), (0.2, 2))


def interrupted(rng: np.random.Generator) -> str:
    """Returns a link with long outages, or with short ones that change the rate, like handovers."""
    is_long = rng.random() < 0.5
    at_s, mbps, steps = 0.0, log_uniform(rng, 3, 100), []
    while at_s < MAX_RUN_S:
        steps.append(f'{{ at = "{at_s:.2f}s", rate = "{mbps:.2f}Mbit/s" }}')
        at_s += log_uniform(rng, 4, 15)
        steps.append(f'{{ at = "{at_s:.2f}s", rate = "0bit/s" }}')
        at_s += log_uniform(rng, 0.5, 8) if is_long else rng.uniform(0.03, 0.15)
        mbps = mbps if is_long else log_uniform(rng, 3, 150)
    return f"""
[path]
rtt = "{log_uniform(rng, 15, 120):.1f}ms"
buffer = "{log_uniform(rng, 50, 1500):.0f}packets"
down.steps = [{", ".join(steps)}]
"""


def beside(rng: np.random.Generator) -> str:
    """Returns a link with a short buffer and one or two competing CUBIC flows."""
    return _link(rng, (15, 150), (5, 60), (0.8, 2), tables=_cubic_flows(rng))


def beside_deep(rng: np.random.Generator) -> str:
    """Returns a link with a deep buffer and one or two competing CUBIC flows."""
    buffer = f"{log_uniform(rng, 400, 1000):.0f}packets"
    return _link(rng, (15, 150), (5, 60), buffer, tables=_cubic_flows(rng))


def beside_bbr(rng: np.random.Generator) -> str:
    """Returns a link with a competing BBR flow."""
    return _link(rng, (15, 150), (5, 60), (0.3, 4), tables='[[flows]]\ncca = "bbr"\n')


def visited(rng: np.random.Generator) -> str:
    """Returns a link that competing traffic uses for a time: a CUBIC flow, or short downloads."""
    start_s = rng.uniform(0, 15)
    workload = _bulk(log_uniform(rng, 3, 25)) if rng.random() < 0.5 else _short_downloads(rng)
    flow = f'[[flows]]\nstart = "{start_s:.1f}s"\nworkload = {workload}\n'
    return _link(rng, (15, 150), (5, 80), (0.7, 10), tables=flow)


def _bulk(stop_s: float) -> str:
    return f'{{ kind = "bulk", stop = "{stop_s:.1f}s" }}'


def _short_downloads(rng: np.random.Generator) -> str:
    size_kb, gap_ms = log_uniform(rng, 50, 2000), log_uniform(rng, 100, 2000)
    # The built-in policy was trained without jitter.
    return (
        f'{{ kind = "sequence", size = "{size_kb:.0f}kB", '
        f'count = 60, gap = "{gap_ms:.0f}ms", jitter = 0 }}'
    )


def uploading(rng: np.random.Generator) -> str:
    """Returns a link whose uplink an upload fills for a time, so that ACKs are queued."""
    up = f'up = {{ rate = "{log_uniform(rng, 0.5, 5):.3f}Mbit/s" }}'
    up += f'\nuplink_buffer = "{log_uniform(rng, 30, 200):.0f}packets"'
    start_s, stop_s = rng.uniform(1, 15), log_uniform(rng, 5, 30)
    flow = f'''[[flows]]
from = "phone"
to = "server"
start = "{start_s:.1f}s"
workload = {_bulk(stop_s)}
'''
    return _link(rng, (20, 120), (10, 80), (0.7, 5), up, flow)


def combined(rng: np.random.Generator) -> str:
    """Returns a link with several difficulties, such as a varying rate and CoDel.

    Its rate, RTT, buffer, queue, losses, jitter, uplink and other flows are drawn independently. The
    other families have one difficulty each.
    """
    rtt_ms, mean_mbps = log_uniform(rng, 5, 300), log_uniform(rng, 0.3, 150)
    bdp = mean_mbps * rtt_ms / _SEGMENT_KBIT
    buffer = log_uniform(rng, 0.2, 20) * bdp if rng.random() < 0.5 else log_uniform(rng, 20, 3000)
    fields = [f'rtt = "{rtt_ms:.1f}ms"', f'buffer = "{max(8.0, buffer):.0f}packets"']
    kind = rng.choice(["steady", "wandering", "interrupted", "stepping"], p=[0.4, 0.35, 0.1, 0.15])
    if kind == "steady":
        fields.append(f'down = {{ rate = "{mean_mbps:.3f}Mbit/s" }}')
    elif kind == "stepping":
        fields.append(f"down.steps = [{_steps(rng, mean_mbps)}]")
    else:
        outages = _outages(rng) if kind == "interrupted" else ""
        fields.append(
            f'down = {{ generate = {{ mean = "{mean_mbps:.3f}Mbit/s", '
            f"variability = {rng.uniform(0.1, 1.2):.2f}, "
            f'correlation = "{log_uniform(rng, 0.2, 10):.2f}s"{outages} }} }}'
        )
    if rng.random() < 0.35:
        fields.append(f'queue = "{rng.choice(["codel", "pie", "fq-codel"])}"')
    if rng.random() < 0.25:
        fields.append(f"loss = {log_uniform(rng, 1e-5, 2e-2):.6f}")
    if rng.random() < 0.15:
        fields.append(
            f'jitter = {{ distribution = "exponential", mean = "{log_uniform(rng, 0.5, 20):.1f}ms" }}'
        )
    if rng.random() < 0.15:
        up_mbps = max(0.2, mean_mbps * log_uniform(rng, 0.01, 0.2))
        fields.append(f'up = {{ rate = "{up_mbps:.3f}Mbit/s" }}')
        fields.append(f'uplink_buffer = "{log_uniform(rng, 30, 200):.0f}packets"')
    return "\n[path]\n" + "\n".join(fields) + "\n" + _competing_flows(rng)


def _steps(rng: np.random.Generator, mean_mbps: float) -> str:
    at_s, steps = 0.0, []
    while at_s < MAX_RUN_S:
        mbps = mean_mbps * log_uniform(rng, 0.15, 6)
        steps.append(f'{{ at = "{at_s:.1f}s", rate = "{mbps:.3f}Mbit/s" }}')
        at_s += log_uniform(rng, 2, 20)
    return ", ".join(steps)


def _competing_flows(rng: np.random.Generator) -> str:
    """Returns the competing flows of a combined link, in four of ten cases."""
    kind = rng.random()
    if kind < 0.15:
        return _cubic_flows(rng)
    if kind < 0.25:
        cca = rng.choice(["bbr", "cubic", "bbr3"])
        workload = _bulk(log_uniform(rng, 3, 30))
        start_s = rng.uniform(0, 12)
        return f'[[flows]]\ncca = "{cca}"\nstart = "{start_s:.1f}s"\nworkload = {workload}\n'
    if kind < 0.4:
        workload = _short_downloads(rng)
        return f'[[flows]]\nstart = "{rng.uniform(0, 5):.1f}s"\nworkload = {workload}\n'
    return ""


def _cubic_flows(rng: np.random.Generator) -> str:
    return f'[[flows]]\ncca = "cubic"\ncount = {rng.integers(1, 3)}\n'


def jittery(rng: np.random.Generator) -> str:
    """Returns a link with random delays of packets."""
    mean_ms = log_uniform(rng, 1, 25)
    jitter = f'jitter = {{ distribution = "exponential", mean = "{mean_ms:.1f}ms" }}'
    return _link(rng, (15, 150), (5, 100), (0.7, 6), jitter)


def asymmetric(rng: np.random.Generator) -> str:
    """Returns a link with a slow uplink, or with losses of ACKs."""
    up = f'up = {{ rate = "{log_uniform(rng, 0.2, 3):.3f}Mbit/s" }}'
    up += f'\nuplink_buffer = "{log_uniform(rng, 30, 150):.0f}packets"'
    if rng.random() < 0.3:
        up = f"uplink_loss = {log_uniform(rng, 0.02, 0.3):.3f}"
    return _link(rng, (20, 120), (10, 80), (1, 4), up)


def shared(rng: np.random.Generator) -> str:
    """Returns a link that unresponsive traffic uses intermittently."""
    on_s, off_s = log_uniform(rng, 1, 6), log_uniform(rng, 1, 6)
    cross = f"""[[path.cross_traffic]]
rate = "{log_uniform(rng, 2, 20):.2f}Mbit/s"
on = {{ kind = "exponential", mean = "{on_s:.1f}s" }}
off = {{ kind = "exponential", mean = "{off_s:.1f}s" }}
"""
    return _link(rng, (15, 120), (25, 80), (0.7, 5), tables=cross)


def blocked(rng: np.random.Generator) -> str:
    """Returns a fast link with a varying rate and short blockages, like millimetre waves."""
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
