"""Warnings about limits other than the network, kernels short of memory, and repeated traces."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp.labels import labels

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.results import Results

#: Column with the time under a limit, what happened in that time, and what sets the limit.
_LIMITS = (
    ("receive_window_limited_s", "the receive window was full", "receive"),
    ("send_buffer_limited_s", "the send buffer was full", "send"),
    ("application_limited_s", "the application had no more to send", "application"),
)

#: Share of the time from which on a limit is told.
_MOST = 0.5


def held_back(results: Results) -> list[str]:
    """Returns a warning for each limit but the network that held flows back for most of their time.

    While the bottleneck is busy with the flow, or stands still, the network is the limit, whatever else
    is full or empty: a sender whose last bytes wait in the queue has no more to send, either.
    """
    flows: pd.DataFrame = results.tables["flows"].to_pandas()
    if "receive_window_limited_s" not in flows:
        return []
    lineups = results.tables["runs"].select(["run", "cca"]).to_pandas()
    flows = flows.merge(lineups.rename(columns={"cca": "lineup"}), on="run")
    flows = flows[flows["duration_s"] > 0]
    idle = 1.0 - _busy(results, flows)
    warnings = []
    for column, happened, kind in _LIMITS:
        share = (flows[column] / flows["duration_s"]).clip(upper=idle)
        # A transfer that ends is short where all of it fits into the first window.
        counted = flows["completion_s"].isna() if kind == "application" else share.notna()
        found = (
            share[counted].groupby([flows["lineup"], flows["name"]], observed=True, sort=False).mean()
        )
        found = found[found > _MOST]
        if found.empty:
            continue
        several = flows["name"].nunique() > 1
        names = labels([str(lineup) for lineup in flows["lineup"].unique()])
        who = [f"{names[str(cca)]}{f', {flow}' if several else ''}" for cca, flow in found.index]
        low, high = (round(100 * value) for value in (found.min(), found.max()))
        time = f"{high} %" if low == high else f"{low} to {high} %"
        warnings.append(
            f"{('; ' if several else ', ').join(who)}: for {time} of the time {happened} while the "
            f"bottleneck had room; {_settings(kind, results)}"
        )
    return warnings


def _busy(results: Results, flows: pd.DataFrame) -> pd.Series:
    """Returns for each connection the share of its time in which the path carried it at its capacity.

    That is the utilisation of the capacity that others leave, and all of the time without any capacity.
    Zero where the capacity is not known.
    """
    slots = results.tables["slots"].select(["run", "flow", "goodput_mbps", "capacity_mbps"]).to_pandas()
    slots["known"] = slots["capacity_mbps"].notna()
    slots["outage"] = slots["capacity_mbps"] == 0
    slots.loc[~slots["known"], "goodput_mbps"] = 0.0
    sums = slots.groupby(["run", "flow"], observed=True)[
        ["goodput_mbps", "capacity_mbps", "known", "outage"]
    ].sum()
    utilisation = (sums["goodput_mbps"] / sums["capacity_mbps"]).clip(upper=1.0).fillna(0.0)
    outage = (sums["outage"] / sums["known"]).fillna(0.0)
    busy = (outage + (1.0 - outage) * utilisation).rename("busy")
    joined = flows[["run", "flow"]].join(busy, on=["run", "flow"])["busy"]
    return joined.fillna(0.0)


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


def repeating(about: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each recorded trace that is shorter than a run."""
    length = about.get("duration_s", 0.0)
    warnings = []
    for trace in about.get("traces", []):
        lasts = trace["duration_s"]
        if lasts >= length:
            continue
        again = (
            f"the last {length - lasts:.3g} s of a run of {length:g} s repeat its beginning"
            if length < 2 * lasts
            else f"a run of {length:g} s has it {length / lasts:.1f} times, one after another"
        )
        warnings.append(f"the trace {trace['file']} lasts {lasts:.6g} s: {again}")
    return warnings


def short_of_memory(results: Results) -> list[str]:
    """Returns a warning for each CCA in whose runs the kernel's TCP ran short of memory."""
    runs = results.tables["runs"]
    if "memory_pressures" not in runs.column_names:
        return []
    table: pd.DataFrame = runs.select(["run", "cca", "memory_pressures"]).to_pandas()
    names = labels([str(cca) for cca in table["cca"].unique()])
    warnings = []
    for cca, mine in table.groupby("cca", observed=True, sort=False):
        starved = int((mine["memory_pressures"] > 0).sum())
        if starved:
            warnings.append(
                f"{names[str(cca)]}: the kernel's TCP ran short of memory in {starved} of {len(mine)} "
                "runs, in which windows shrink that hosts of their own would have; fewer flows or "
                "smaller buffers (tcp.receive_buffer_max, tcp.send_buffer_max) avoid it"
            )
    return warnings


def all_warnings(results: Results) -> list[str]:
    """Returns everything that is to be known before the figures are believed."""
    from celltcp.results.coverage import uncovered
    from celltcp.results.delivered import without_delivery
    from celltcp.results.hints import unheard

    about = results.about
    return [
        *without_delivery(results),
        *uncovered(results),
        *unheard(results),
        *short_of_memory(results),
        *repeating(about),
        *held_back(results),
    ]
