"""Warnings about limits other than the network."""

from __future__ import annotations

import tomllib
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from celltcp.results.columns import connections, group_sums, means_by, numbers, rows_of, values_of
from celltcp.results.tested import is_thin
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.results.tables import Results

#: Column with the time under a limit, what happened in that time, and what sets the limit.
_LIMITS = (
    ("receive_window_limited_s", "the receive window was full", "receive"),
    ("send_buffer_limited_s", "the send buffer was full", "send"),
    ("application_limited_s", "the application had no more to send", "application"),
)

#: Share of the time from which on a limit is told.
_MOST = 0.5


def limited_flows(results: Results) -> list[str]:
    """Returns a warning for each limit but the network that held flows back for most of their time.

    While the bottleneck is busy with the flow, or stands still, the network is the limit, whatever else
    is full or empty: a sender whose last bytes wait in the queue has no more to send, either.
    """
    flows = results.tables["flows"]
    if "receive_window_limited_s" not in flows.column_names:
        return []
    lineups = results.lineups
    whole = numbers(flows["duration_s"])
    ran = (whole > 0) & np.isin(numbers(flows["run"]), list(lineups))
    flow_of = [(lineups[run], name) for run, name in compress(rows_of(flows, "run", "name"), ran)]
    idle = 1.0 - _busy(results)[ran]
    several = len({name for _, name in flow_of}) > 1
    names = {name: is_thin(name, results.about) for name in {name for _, name in flow_of}}
    thin = np.array([names[name] for _, name in flow_of], np.bool_)
    called = labels(dict.fromkeys(lineup for lineup, _ in flow_of))
    warnings = []
    for column, happened, kind in _LIMITS:
        share = numbers(flows[column])[ran] / whole[ran]
        share = np.where(share > idle, idle, share)
        counted = ~np.isnan(share)
        if kind == "application":
            # A transfer that ends is short where all of it fits into the first window.
            counted = np.isnan(numbers(flows["completion_s"])[ran]) & ~thin
        means = means_by(list(compress(flow_of, counted)), share[counted].tolist())
        result = {flow: mean for flow, mean in means.items() if mean > _MOST}
        if not result:
            continue
        who = [f"{called[lineup]}{f', {flow}' if several else ''}" for lineup, flow in result]
        low, high = (round(100 * value) for value in (min(result.values()), max(result.values())))
        time = f"{high} %" if low == high else f"{low} to {high} %"
        warnings.append(
            f"{('; ' if several else ', ').join(who)}: for {time} of the time {happened} while the "
            f"bottleneck had room; {_settings(kind, results)}"
        )
    return warnings


def _busy(results: Results) -> NDArray[np.float64]:
    """Returns for each connection the share of its time in which the path carried it at its capacity.

    That is the utilisation of the capacity that others leave, and all of the time without any capacity.
    Zero where the capacity is not known.
    """
    slots = results.tables["slots"]
    known, group = np.unique(connections(slots), return_inverse=True)
    count = len(known)
    capacity = numbers(slots["capacity_mbps"])
    goodput = np.where(np.isnan(capacity), 0.0, numbers(slots["goodput_mbps"]))
    with np.errstate(divide="ignore", invalid="ignore"):
        utilisation = group_sums(goodput, group, count) / group_sums(capacity, group, count)
        measured = np.bincount(group[~np.isnan(capacity)], minlength=count)
        outage = np.bincount(group[capacity == 0], minlength=count) / measured
    # Nothing of nothing is none of it.
    utilisation = np.nan_to_num(np.minimum(utilisation, 1.0), nan=0.0)
    outage = np.nan_to_num(outage, nan=0.0)
    busy = outage + (1.0 - outage) * utilisation
    return values_of(connections(results.tables["flows"]), known, busy, 0.0)


def _settings(kind: str, results: Results) -> str:
    """Returns the settings that a limit comes from, with their values."""
    if kind == "application":
        return "workload of the flow sets it"
    tcp = tomllib.loads(results.about["scenario"]).get("tcp", {})
    if kind == "send":
        return f"tcp.send_buffer_max ({tcp.get('send_buffer_max')}) sets it"
    # A split host offers no more than the room in its buffer.
    legs = results.tables.get("legs")
    split = ", or the buffer of the split host" if legs is not None and legs.num_rows > 0 else ""
    if "receive_window_max" in tcp:
        return f"tcp.receive_window_max ({tcp['receive_window_max']}) sets it{split}"
    scale = tcp.get("window_scale", True)
    if scale is not True:
        shown = "false" if scale is False else scale
        return f"tcp.window_scale ({shown}) or tcp.receive_buffer_max sets it{split}"
    return (
        f"tcp.receive_buffer_max ({tcp.get('receive_buffer_max')}) sets it, or tcp.receive_window_max"
        f"{split}"
    )
