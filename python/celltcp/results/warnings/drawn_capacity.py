"""Warning about generated capacities whose mean in the runs is not that of the scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit
from celltcp.results.columns import rows_of
from celltcp.results.statistics import NORMAL_HALF_WIDTH
from celltcp.scenarios.narrow_hop import steady_rate
from celltcp.scenarios.quantity_texts import three_digits
from celltcp.scenarios.sides import SERVER

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Minimum difference of both means, as a share of that of the scenario.
_MIN_DIFFERENCE = 0.05
#: Rate of a hop, as a multiple of the mean capacity, from which on it hardly takes any.
_MIN_HOP_RATE = 2.0
#: Headers of IP and TCP in a packet, bytes.
_HEADER_BYTES = 52
_BITS_PER_MBIT = 1e6


def drawn_capacity(results: Results, scenario: Mapping[str, Any]) -> list[str]:
    """Returns a warning if the seeds of the runs draw another mean capacity than the scenario has.

    The rate is an Ornstein-Uhlenbeck process in logarithms: with the coefficient of variation c and the
    correlation time τ, its mean over a run of length T has about the coefficient of variation
    c √(2 τ / T). Slower hops hide what the link itself would have had.
    """
    path = scenario["path"]
    is_upload = scenario["flows"][0].get("from", "server") == "phone"
    name = "up" if is_upload else "down"
    link = path[name].get("generate") if isinstance(path.get(name), Mapping) else None
    if not link or path.get("cross_traffic") or "policer" in path:
        return []
    mean_mbps = (in_unit(link["mean"], "bit/s") or math.nan) / _BITS_PER_MBIT
    drawn_mbps = _mean_capacity(results, is_upload=is_upload)
    hops = (steady_rate(hop.get("rate", {})) for hop in path.get("wired", ()))
    slowest_mbps = min((rate / _BITS_PER_MBIT for rate in hops if rate), default=math.inf)
    difference = drawn_mbps / mean_mbps - 1
    is_hidden = slowest_mbps < _MIN_HOP_RATE * mean_mbps and difference < 0
    if math.isnan(difference) or abs(difference) < _MIN_DIFFERENCE or is_hidden:
        return []
    about = results.about
    seeds = sorted({seed for (seed,) in rows_of(results.tables["runs"], "seed")})
    of_seeds = f"seeds {seeds[0]} to {seeds[-1]} have" if len(seeds) > 1 else f"seed {seeds[0]} has"
    tau_s = in_unit(link["correlation"], "s") or 0.0
    spread = link["variability"] * math.sqrt(2 * tau_s / about["duration_s"])
    runs = math.ceil((NORMAL_HALF_WIDTH * spread / _MIN_DIFFERENCE) ** 2)
    more = f"; {runs} runs have it within 5 % (95 %)" if runs > len(seeds) else ""
    return [
        f"{of_seeds} a mean capacity of {three_digits(drawn_mbps)} Mbit/s, path.{name}.generate has "
        f"{link['mean']}{more}"
    ]


def _mean_capacity(results: Results, *, is_upload: bool) -> float:
    """Returns the mean rate of packets in a direction, Mbit/s; NaN if slots leave out much."""
    columns = ("run", "flow", "ue", "bytes", "segments", "retransmissions")
    flows = [
        row for row in rows_of(results.tables["flows"], *columns) if (row[2] == SERVER) == is_upload
    ]
    payloads = [of / (sent - again) for *_, of, sent, again in flows if sent > again]
    connections = {(run, flow) for run, flow, *_ in flows}
    own: dict[tuple[int, float], float] = {}
    of_slots = ("run", "flow", "t_s", "capacity_mbps", "rate_mbps")
    for run, flow, time_s, capacity, rate in rows_of(results.tables["slots"], *of_slots):
        if (run, flow) not in connections:
            continue
        # The capacity of a connection is what others leave.
        key = run, time_s
        value = rate if key in own else capacity
        own[key] = own.get(key, 0.0) + (math.nan if value is None else value)
    about = results.about
    count = len({run for run, _ in own}) * about["duration_s"] / about["slot_s"]
    values = [value for value in own.values() if not math.isnan(value)]
    if not payloads or len(values) < (1 - _MIN_DIFFERENCE) * count:
        return math.nan
    payload = max(payloads)
    return float(math.fsum(values) / len(values) * (payload + _HEADER_BYTES) / payload)
