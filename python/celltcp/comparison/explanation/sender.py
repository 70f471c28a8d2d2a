"""Rules about the sender: slow start, time-outs, recoveries without a loss, growth of the window."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp.comparison.explanation.cause import Cause, number_text, percent_text
from celltcp.comparison.explanation.path import overlap_outages, timeouts_text
from celltcp.comparison.units_of_work import UNITS

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Window at the exit from slow start below which the exit is early, BDPs.
_MAX_EARLY_EXIT_BDPS = 0.9
#: Minimum share of the capacity of the whole flow that stays unused after an early exit, for a cause.
_MIN_UNUSED_UNTIL_REACHED = 0.05
#: Share of the capacity from which on a flow counts as using all of it.
_REACHED_SHARE = 0.8
#: Window of the moving average of the goodput, RTTs.
_GOODPUT_RTTS = 3
#: Share of the time limited by application and hosts from which on they, not the exit, are the cause.
_MAX_ENDS_SHARE = 0.5
#: Minimum share of the time in waits for time-outs at which time-outs are a cause.
_MIN_TIMEOUT_SHARE = 0.05
#: Minimum shares of the time limited by the sender, and of unused capacity, for slow growth.
_MIN_SENDER_LIMITED_SHARE, _MIN_UNUSED_SHARE = 0.5, 0.1
#: Share of the window before a pause below which the pause has shrunk it.
_MAX_SHRUNK_SHARE = 0.6
#: Minimum share of the units of work that begin with a shrunk window at which pauses are a cause.
_MIN_RESTARTED_SHARE = 0.3
#: Minimum shares of slow start in the time without pauses at which it is a cause: after pauses that
#: shrank the window, and without such pauses.
_MIN_SLOW_START_AFTER_PAUSES, _MIN_SLOW_START_SHARE = 0.2, 0.5


def early_exit(evidence: Evidence) -> Cause | None:
    """Slow start of a bulk flow ended without a loss at a window below {_MAX_EARLY_EXIT_BDPS} BDP.

    At least {_MIN_UNUSED_UNTIL_REACHED:.0%} of the capacity is unused until the mean goodput over
    {_GOODPUT_RTTS} RTTs reaches {_REACHED_SHARE:.0%} of the capacity. The application and the windows
    of the hosts limit the flow for less than {_MAX_ENDS_SHARE:.0%} of the time. The window at the exit
    is also below {_MAX_EARLY_EXIT_BDPS} of the windows of the hosts.
    """
    if evidence.time_share("idle", "in_flight", "receive_window", "send_buffer") >= _MAX_ENDS_SHARE:
        return None
    # Other applications leave capacity unused because they have no data.
    if not evidence.is_bulk:
        return None
    early = [row for _, row in evidence.connections.iterrows() if _has_early_exit(evidence, row)]
    if not early:
        return None
    ramps = [_ramp_after_exit(evidence, row) for row in early]
    # Sums over slots; their common length cancels out.
    capacity = float(evidence.slots["capacity_mbps"].sum())
    share = sum(ramp.unused for ramp in ramps) / capacity if capacity > 0 else 0.0
    if share < _MIN_UNUSED_UNTIL_REACHED:
        return None
    until_text = ""
    if all(ramp.has_reached for ramp in ramps):
        until_text = f" until the flow had {percent_text(_REACHED_SHARE)} of it"
    elif not any(ramp.has_reached for ramp in ramps):
        until_text = f", of which the flow never had {percent_text(_REACHED_SHARE)}"
    # A configured ssthresh ends slow start.
    threshold_text = (
        ", at the threshold that initial_ssthresh sets" if "initial_ssthresh=" in evidence.cca else ""
    )
    exit_s, cwnd = (float(early[0][name]) for name in ("slow_start_exit_s", "slow_start_exit_cwnd"))
    return Cause(
        "early_exit",
        f"Slow start ended early, without a loss{threshold_text}: after {exit_s:.2f} s at a window of "
        f"{number_text(cwnd)} segments, {cwnd * evidence.mss / evidence.bdp:.2f} of the "
        f"bandwidth-delay product; {percent_text(share)} of the capacity stayed unused{until_text}.",
        share,
    )


def _has_early_exit(evidence: Evidence, connection: Any) -> bool:
    """Returns whether a connection left slow start below the BDP, without a loss until then."""
    if not connection["slow_start_exit_s"] >= 0:
        return False
    exit_s = connection["first_data_s"] + connection["slow_start_exit_s"]
    rows = evidence.recoveries
    rows = rows[(rows["run"] == connection["run"]) & (rows["flow"] == connection["flow"])]
    loss_times = rows[["t_s", "dropped_s"]].min(axis=1)
    if (loss_times <= exit_s + 1e-3).any():
        return False
    # A congestion window above the windows of the hosts does not limit the flow.
    host_windows = map(evidence.max_window, ("receive_window", "send_buffer"))
    needed_bytes = min(evidence.bdp, *host_windows)
    return bool(connection["slow_start_exit_cwnd"] * evidence.mss < _MAX_EARLY_EXIT_BDPS * needed_bytes)


class _Ramp(NamedTuple):
    """Time from the exit of a connection from slow start until it uses the capacity."""

    #: Unused capacity in that time, the sum over its slots in Mbit/s.
    unused: float
    #: Whether the connection ever uses the capacity.
    has_reached: bool


def _ramp_after_exit(evidence: Evidence, connection: Any) -> _Ramp:
    """Returns the ramp of a connection after its exit from slow start."""
    exit_s = connection["first_data_s"] + connection["slow_start_exit_s"]
    slots = evidence.slots
    slots = slots[(slots["run"] == connection["run"]) & (slots["t_s"] >= exit_s)]
    # Within a round trip data comes in bursts.
    count = max(math.ceil(_GOODPUT_RTTS * evidence.mean("rtt_min_ms") / 1e3 / evidence.slot_s), 1)
    means = slots[["goodput_mbps", "capacity_mbps"]].rolling(count, min_periods=1).mean()
    # A moment in which other flows leave little capacity does not count as reaching it.
    capacity = means["capacity_mbps"].clip(lower=slots["capacity_mbps"].median())
    is_reached = (means["goodput_mbps"] >= _REACHED_SHARE * capacity) & (capacity > 0)
    if is_reached.any():
        slots = slots[slots["t_s"] < slots.loc[is_reached.idxmax(), "t_s"]]
    unused = (slots["capacity_mbps"] - slots["goodput_mbps"]).clip(lower=0).sum()
    return _Ramp(float(unused), bool(is_reached.any()))


def idle_restart(evidence: Evidence) -> Cause | None:
    """The window of an application shrank in its pauses, and slow start began anew.

    At least two units of work, and {_MIN_RESTARTED_SHARE:.0%} of all, began after a pause with less
    than {_MAX_SHRUNK_SHARE:.0%} of the window before the pause. Slow start takes at least
    {_MIN_SLOW_START_AFTER_PAUSES:.0%} of the time without pauses.
    """
    share = _slow_start_share(evidence)
    if evidence.is_bulk or share < _MIN_SLOW_START_AFTER_PAUSES:
        return None
    before, after = evidence.idle_restarts(_MAX_SHRUNK_SHARE)
    count, unit_count = len(before), 0 if evidence.units is None else len(evidence.units)
    if count < max(2, _MIN_RESTARTED_SHARE * unit_count):
        return None
    subject = "pauses shrank"
    if unit_count:
        noun = UNITS[evidence.unit_key.partition(":")[0]].noun
        subject = f"of {number_text(unit_count)} {noun} began after a pause that shrank"
    return Cause(
        "idle_restart",
        f"{number_text(count)} {subject} the window (slow start after idle), from "
        f"{number_text(before.mean())} to {number_text(after.mean())} segments on average; slow start "
        f"took {percent_text(share)} of the time in which data were under way.",
        share,
    )


def slow_start(evidence: Evidence) -> Cause | None:
    """The units of work of an application are so short that they mostly are in slow start.

    Slow start takes at least {_MIN_SLOW_START_SHARE:.0%} of the time without pauses, and `idle_restart`
    is no cause.
    """
    # While the sender is in slow start, waits by Nagle's algorithm count as time in it, too.
    if evidence.is_held_by_nagle:
        return None
    share = _slow_start_share(evidence)
    if evidence.is_bulk or share < _MIN_SLOW_START_SHARE or idle_restart(evidence):
        return None
    window = evidence.scenario.get("tcp", {}).get("initial_window")
    window_text = f", from an initial window of {window} segments on" if window else ""
    return Cause(
        "slow_start",
        f"Slow start took {percent_text(share)} of the time in which data were under way{window_text}.",
        share,
    )


def _slow_start_share(evidence: Evidence) -> float:
    """Returns the share of slow start in the time without pauses."""
    active_share = 1.0 - evidence.time_share("idle")
    return evidence.time_share("startup") / active_share if active_share > 0 else 0.0


def reordering(evidence: Evidence) -> Cause | None:
    """The sender took reordered packets for lost ones.

    At least two recoveries began without a drop or a time-out. At least one reduction was undone, or
    one segment arrived twice.
    """
    rows = evidence.recoveries
    rows = rows[(rows["drops"] == 0) & (rows["timeouts"] == 0)]
    duplicates, undone = evidence.total("spurious_retransmissions"), float(rows["undone"].sum())
    if len(rows) < 2 or duplicates + undone < 1:
        return None
    share = rows["length_s"].sum() / evidence.connection_time_s
    count_texts = map(evidence.mean_count_text, (len(rows), duplicates, undone))
    recoveries_text, duplicates_text, undone_text = count_texts
    return Cause(
        "reordering",
        f"Packets overtook each other: {recoveries_text} recoveries{evidence.per_run_text} began with "
        f"nothing lost, {duplicates_text} segments arrived twice, and {undone_text} reductions of the "
        "window were undone.",
        min(max(share, evidence.unused_share), 1.0),
    )


def time_outs(evidence: Evidence) -> Cause | None:
    """The sender waited for time-outs for at least {_MIN_TIMEOUT_SHARE:.0%} of the time.

    Time-outs during outages, or with data that had arrived unreported, do not count.
    """
    rows = evidence.recoveries
    rows = rows[(rows["timeouts"] > 0) & (rows["unreported_bytes"] == 0)]
    rows = rows[~overlap_outages(rows, evidence.outages)]
    waited_s = (rows["silence_s"].fillna(0) + rows["length_s"]).sum()
    share = 0.0
    if len(rows):
        share = min(evidence.time_share("timeout"), waited_s / evidence.connection_time_s)
    if share < _MIN_TIMEOUT_SHARE:
        return None
    max_timeouts = int(rows["timeouts"].max())
    row_text = f", up to {max_timeouts} in one recovery" if max_timeouts > 1 else ""
    burst_text = ""
    if evidence.counts_loss_bursts_in_packets:
        burst_text = (
            ' Bursts of "gilbert-elliott" last for packets, so that none ends while the sender waits; '
            'those of "gilbert-elliott-time" do.'
        )
    return Cause(
        "time_outs",
        f"The sender waited for {timeouts_text(evidence, rows)}, for {percent_text(share)} of the time"
        f"{row_text}.{burst_text}",
        share,
    )


def slow_growth(evidence: Evidence) -> Cause | None:
    """The window or the pacing rate was small, and no other rule finds the reason.

    Congestion window, pacing and slow start limit the flow for at least
    {_MIN_SENDER_LIMITED_SHARE:.0%} of the time, and at least {_MIN_UNUSED_SHARE:.0%} of the capacity is
    unused.
    """
    share = evidence.time_share("congestion_window", "pacing", "startup")
    if share < _MIN_SENDER_LIMITED_SHARE or evidence.unused_share < _MIN_UNUSED_SHARE:
        return None
    limit = max(("congestion_window", "pacing", "startup"), key=evidence.time_share)
    names = {"congestion_window": "congestion window", "pacing": "pacing rate", "startup": "slow start"}
    return Cause(
        "slow_growth",
        f"The {names[limit]} limited the flow for {percent_text(evidence.time_share(limit))} of the "
        f"time, and {percent_text(evidence.unused_share)} of the capacity stayed unused.",
        evidence.unused_share,
    )
