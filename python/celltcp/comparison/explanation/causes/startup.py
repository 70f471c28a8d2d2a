"""Rules about the start-up of bulk flows: slow start that takes long, or that ends early."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celltcp.comparison.explanation.causes.cause import Cause, number_text, percent_text
from celltcp.comparison.explanation.evidence.ack_rates import acks_fill_link
from celltcp.comparison.explanation.evidence.openings import opening_outage_s
from celltcp.comparison.explanation.evidence.ramps import (
    REACHED_SHARE,
    Ramp,
    capacity_share,
    link_share_text,
    ramp_from,
)
from celltcp.comparison.explanation.evidence.recoveries import of_connection
from celltcp.scenarios.cca_mix import labels, parse_flow_cca
from celltcp.scenarios.quantity_texts import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Window at the exit from slow start below which the exit is early, BDPs.
_MAX_EARLY_EXIT_BDPS = 0.9
#: Time after the exit whose mean rate has that BDP, s: a pulse of other traffic counts little.
_AFTER_EXIT_S = 2.0
#: Minimum share of the capacity of the whole flow that stays unused after an early exit, for a cause.
_MIN_UNUSED_UNTIL_REACHED = 0.05
#: Minimum ratio of the shares of the capacity in the last and the first quarter of a flow that grows.
_MIN_LATE_GROWTH = 1.15
#: Share of the time limited by application and hosts from which on they, not the exit, are the cause.
_MAX_ENDS_SHARE = 0.5
#: Minimum shares of the capacity of the whole flow, and of what is unused, for the start-up as a cause.
_MIN_UNUSED_IN_STARTUP, _MIN_SHARE_OF_UNUSED = 0.05, 0.25
#: Minimum share of the start-up that slow start limits.
_MIN_SLOW_START_SHARE = 0.5
#: Resolution of times of recoveries, s.
_TIME_RESOLUTION_S = 1e-3
#: Growth of the window in an RTT below which slow start is over; it doubles the window, or grows it by
#: half where an ACK for two segments counts as one.
_MIN_SLOW_START_GROWTH = 1.25
#: Minimum ratio of times or windows at which slow start ended differently.
_MIN_EXIT_RATIO = 1.1
#: Share of the window an RTT later from which on a window has grown.
_MIN_GROWN_SHARE = 0.95


class _Exit(NamedTuple):
    """Exit of a connection from slow start."""

    t_s: float
    #: Window, segments.
    cwnd: float


def start_up(evidence: Evidence) -> Cause | None:
    """Slow start of a bulk flow takes a large part of its time.

    At least {_MIN_UNUSED_IN_STARTUP:.0%} of the capacity, and {_MIN_SHARE_OF_UNUSED:.0%} of what is
    unused, is so in slow start, until the mean goodput over three RTTs reaches
    {REACHED_SHARE:.0%} of the capacity. Slow start limits the flow for at least
    {_MIN_SLOW_START_SHARE:.0%} of that time.
    """
    if not evidence.is_bulk or not evidence.capacity_mbps > 0:
        return None
    ramps, has_resumed = [], False
    for run in evidence.runs:
        connections = evidence.connections[evidence.connections["run"] == run]
        starts = connections["first_data_s"].dropna()
        if starts.empty:
            continue
        exits = []
        for _, row in connections.iterrows():
            found = exit_of(evidence, row)
            exits.append(found.t_s if found else math.inf)
            first_s = row["first_data_s"] + row["slow_start_exit_s"]
            has_resumed |= bool(exits[-1] > first_s + _TIME_RESOLUTION_S)
        # A connection that never leaves slow start ends it no earlier than the others.
        before_s = max((t_s for t_s in exits if math.isfinite(t_s)), default=math.inf)
        ramps.append(ramp_from(evidence, run, float(starts.min()), before_s))
    share = capacity_share(evidence, sum(ramp.unused for ramp in ramps))
    if share < max(_MIN_UNUSED_IN_STARTUP, _MIN_SHARE_OF_UNUSED * evidence.unused_share):
        return None
    total_s = sum(ramp.length_s for ramp in ramps)
    # The limit `startup` of BBR ends with a reduction, even if that is undone.
    limited_s = evidence.time_share("startup") * (evidence.duration_s + opening_outage_s(evidence))
    if limited_s < _MIN_SLOW_START_SHARE * total_s and not has_resumed:
        return None
    mean_s = total_s / len(ramps)
    rtt_s = evidence.min_rtt_s
    whole, longer = ("transfer", "larger") if "bytes" in evidence.workload else ("run", "longer")
    return Cause(
        "start_up",
        f"Slow start took {mean_s:.3g} s ({number_text(mean_s / rtt_s)} round trips), which left "
        f"{link_share_text(evidence, share)} of the capacity unused; it is a smaller share of a "
        f"{longer} {whole}.",
        share,
    )


def early_exit(evidence: Evidence) -> Cause | None:
    """Slow start of a bulk flow ended without a loss at a window below {_MAX_EARLY_EXIT_BDPS} BDP.

    At least {_MIN_UNUSED_UNTIL_REACHED:.0%} of the capacity is unused until the mean goodput over
    three RTTs reaches {REACHED_SHARE:.0%} of the capacity. The application and the windows
    of the hosts limit the flow for less than {_MAX_ENDS_SHARE:.0%} of that time. The window at the exit
    is also below {_MAX_EARLY_EXIT_BDPS} of the windows of the hosts. A reduction that was undone is no
    exit. A flow that never has {REACHED_SHARE:.0%} of the capacity uses {_MIN_LATE_GROWTH} times as
    much of it in the last quarter as in the first one: otherwise its CCA keeps the window small.
    Where ACKs fill their link, no window uses the capacity.
    """
    # Other applications leave capacity unused because they have no data.
    if not evidence.is_bulk or acks_fill_link(evidence):
        return None
    early = [
        (row, found)
        for _, row in evidence.connections.iterrows()
        if (found := exit_of(evidence, row)) and _is_early(evidence, row, found)
    ]
    if not early:
        return None
    # Slots are those of all connections of a run.
    by_run: dict[int, Ramp] = {}
    for row, found in early:
        ramp = ramp_from(evidence, int(row["run"]), found.t_s)
        longest = by_run.setdefault(int(row["run"]), ramp)
        by_run[int(row["run"])] = max(longest, ramp, key=lambda each: each.unused)
    ramps = list(by_run.values())
    # The hosts may limit a flow that has the capacity for all of its time.
    ends_share = evidence.time_share("idle", "in_flight", "receive_window", "send_buffer")
    total_s, ramps_s = evidence.duration_s, sum(ramp.length_s for ramp in ramps)
    if ends_share * total_s - max(total_s - ramps_s, 0.0) >= _MAX_ENDS_SHARE * ramps_s:
        return None
    share = capacity_share(evidence, sum(ramp.unused for ramp in ramps))
    is_level = not any(ramp.has_reached for ramp in ramps) and not _grows(evidence)
    if share < _MIN_UNUSED_UNTIL_REACHED or is_level:
        return None
    until_text = ""
    if all(ramp.has_reached for ramp in ramps):
        until_text = f" until the flow had {percent_text(REACHED_SHARE)} of it"
    elif not any(ramp.has_reached for ramp in ramps):
        until_text = f", as the flow never used {percent_text(REACHED_SHARE)} of it"
    # A configured ssthresh ends slow start.
    threshold_text = (
        ", at the threshold that initial_ssthresh sets"
        if "initial_ssthresh=" in evidence.own_cca
        else ""
    )
    first_row, (t_s, cwnd) = early[0]
    bdps = cwnd * evidence.mss / evidence.bdp_at(int(first_row["run"]), t_s, after_s=_AFTER_EXIT_S)
    return Cause(
        "early_exit",
        f"Slow start ended early, without a loss{threshold_text}: after "
        f"{t_s - first_row['start_s']:.2f} s from the SYN on at a window of "
        f"{number_text(cwnd)} segments, {bdps:.2f} of the bandwidth-delay product; "
        f"{link_share_text(evidence, share)} of the capacity stayed unused{until_text}.",
        share,
    )


def slow_start_ends_text(evidences: Sequence[Evidence]) -> str:
    """Returns a sentence on where slow start ended under variants of one congestion control.

    Empty for applications, with one variant alone, or where times and windows differ by less than
    a factor of `_MIN_EXIT_RATIO`. Times, from the SYN on, and windows are means over connections.
    """
    by_name: dict[str, dict[str, _Exit]] = {}
    for evidence in evidences:
        found = (exit_of(evidence, row) for _, row in evidence.connections.iterrows())
        starts = evidence.connections["start_s"]
        exits = [
            each._replace(t_s=each.t_s - start_s)
            for each, start_s in zip(found, starts, strict=True)
            if each and evidence.is_bulk
        ]
        if exits:
            mean = _Exit(*(float(np.mean(values)) for values in zip(*exits, strict=True)))
            by_name.setdefault(parse_flow_cca(evidence.own_cca).name, {})[evidence.own_cca] = mean
    texts = []
    for variants in by_name.values():
        columns = list(zip(*variants.values(), strict=True))
        if any(max(column) >= _MIN_EXIT_RATIO * min(column) for column in columns):
            names = labels(list(variants))
            texts.append(
                ", ".join(
                    f"under {names[cca]} after {time_text(each.t_s)} at a window of "
                    f"{number_text(each.cwnd)} segments"
                    for cca, each in variants.items()
                )
            )
    return f"slow start ended, from the SYN on, {'; '.join(texts)}" if texts else ""


def _grows(evidence: Evidence) -> bool:
    """Returns whether a flow uses more of the capacity in its last quarter than in the first one."""
    slots = evidence.slots
    place = slots.groupby("run")["t_s"].rank(pct=True)
    first, last = (
        slots.loc[is_in, "goodput_mbps"].sum() / max(slots.loc[is_in, "capacity_mbps"].sum(), 1e-9)
        for is_in in (place <= 0.25, place > 0.75)
    )
    return bool(last >= _MIN_LATE_GROWTH * first)


def exit_of(evidence: Evidence, connection: Any) -> _Exit | None:
    """Returns the exit of a connection from slow start; None if it never left it.

    The table has the first reduction. Where that was undone, slow start went on until the window grew
    slowly, or until the next recovery.
    """
    if not connection["slow_start_exit_s"] >= 0:
        return None
    first = _Exit(
        float(connection["first_data_s"] + connection["slow_start_exit_s"]),
        float(connection["slow_start_exit_cwnd"]),
    )
    rows = of_connection(evidence.recoveries, connection["run"], connection["flow"])
    found = first
    while True:
        own = rows[(rows["t_s"] - found.t_s).abs() <= _TIME_RESOLUTION_S]
        if own.empty or not _is_spurious(own).all() or own["end_s"].isna().any():
            return found
        end_s = float(own["end_s"].max())
        resumed = _end_of_growth(evidence, connection, end_s)
        if resumed is None:
            return None
        # Slow start, once resumed, may end in another recovery.
        later = rows.loc[(rows["t_s"] > end_s) & (rows["t_s"] <= resumed.t_s), "t_s"]
        if later.empty:
            return resumed
        found = _Exit(float(later.min()), resumed.cwnd)


def _is_spurious(recoveries: pd.DataFrame) -> pd.Series:
    """Returns for each recovery whether nothing was lost, and its reduction was undone."""
    return (recoveries["undone"] > 0) & (recoveries["drops"] == 0)


def _end_of_growth(evidence: Evidence, connection: Any, start_s: float) -> _Exit | None:
    """Returns the time at which a window stops growing as in slow start; None if it never does."""
    times, windows = evidence.windows.series(int(connection["run"]), int(connection["flow"]))
    times, windows = times[times >= start_s], windows[times >= start_s]
    if not len(times):
        return None
    rtt_s = evidence.min_rtt_s
    later = np.interp(times + 2 * rtt_s, times, windows)
    is_slow = (later < _MIN_SLOW_START_GROWTH**2 * windows) & (times + 2 * rtt_s <= times[-1])
    if not is_slow.any():
        return None
    # The last step of slow start may lie within the time compared.
    first = int(is_slow.argmax())
    grown = np.interp(times[first] + rtt_s, times, windows)
    index = first + int((windows[first:] >= _MIN_GROWN_SHARE * grown).argmax())
    return _Exit(float(times[index]), float(windows[index]))


def _is_early(evidence: Evidence, connection: Any, found: _Exit) -> bool:
    """Returns whether a connection left slow start below the BDP, without a loss until then."""
    rows = of_connection(evidence.recoveries, connection["run"], connection["flow"])
    rows = rows[~_is_spurious(rows)]
    loss_times = rows[["t_s", "dropped_s"]].min(axis=1)
    if (loss_times <= found.t_s + _TIME_RESOLUTION_S).any():
        return False
    # A congestion window above the windows of the hosts does not limit the flow.
    host_windows = map(evidence.max_window, ("receive_window", "send_buffer"))
    bdp = evidence.bdp_at(int(connection["run"]), found.t_s, after_s=_AFTER_EXIT_S)
    needed_bytes = min(bdp, *host_windows)
    return bool(found.cwnd * evidence.mss < _MAX_EARLY_EXIT_BDPS * needed_bytes)
