"""Rules about the sender: slow start, time-outs, recoveries without a loss, growth of the window."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp.comparison.explanation.cause import Cause, grouped, percent
from celltcp.comparison.explanation.path import overlap_gaps, timeouts_text
from celltcp.comparison.units_of_work import UNITS

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Window at the exit from slow start below which the exit is early, BDPs.
_MAX_EARLY_EXIT_BDPS = 0.9
#: Minimum share of the capacity that is unused until the flow reaches it, after an early exit.
_MIN_UNUSED_UNTIL_REACHED = 0.05
#: Share of the capacity at which a flow has reached it.
_REACHED_SHARE = 0.8
#: Window of the moving average of the goodput, RTTs.
_GOODPUT_RTTS = 3
#: Share of the time under limits of the ends from which on they, not the exit, are the cause.
_MAX_ENDS_SHARE = 0.5
#: Minimum share of the time in waits for time-outs at which time-outs are a cause.
_MIN_TIMEOUT_SHARE = 0.05
#: Minimum shares of the time limited by the sender, and of unused capacity, for slow growth.
_MIN_SENDER_LIMITED_SHARE, _MIN_UNUSED_SHARE = 0.5, 0.1
#: Share of the window below which a pause has shrunk it.
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
    exits = [row for _, row in evidence.flows.iterrows() if _is_early(evidence, row)]
    if not exits:
        return None
    ramps = [_ramp_after_exit(evidence, row) for row in exits]
    unused = sum(ramp.unused for ramp in ramps)
    capacity = float(evidence.slots["capacity_mbps"].sum())
    share = unused / capacity if capacity > 0 else 0.0
    if share < _MIN_UNUSED_UNTIL_REACHED:
        return None
    until = (
        f" until the flow had {percent(_REACHED_SHARE)} of it"
        if all(ramp.has_reached for ramp in ramps)
        else ""
    )
    if not until and not any(ramp.has_reached for ramp in ramps):
        until = f", of which the flow never had {percent(_REACHED_SHARE)}"
    # A configured ssthresh ends slow start.
    threshold = (
        ", at the threshold that initial_ssthresh sets" if "initial_ssthresh=" in evidence.cca else ""
    )
    first = exits[0]
    exit_s, cwnd = float(first["slow_start_exit_s"]), float(first["slow_start_exit_cwnd"])
    mss = evidence.mss
    return Cause(
        "early_exit",
        f"Slow start ended early, without a loss{threshold}: after {exit_s:.2f} s at "
        f"a window of {grouped(cwnd)} segments, {cwnd * mss / evidence.bdp:.2f} of the bandwidth-delay "
        f"product; {percent(share)} of the capacity stayed unused{until}.",
        share,
    )


def _is_early(evidence: Evidence, flow: Any) -> bool:
    """Returns whether a connection left slow start below the BDP, without a loss until then."""
    if not flow["slow_start_exit_s"] >= 0:
        return False
    exit_s = flow["first_data_s"] + flow["slow_start_exit_s"]
    rows = evidence.recoveries
    rows = rows[(rows["run"] == flow["run"]) & (rows["flow"] == flow["flow"])]
    loss_times = rows[["t_s", "dropped_s"]].min(axis=1)
    if (loss_times <= exit_s + 1e-3).any():
        return False
    # A congestion window above the windows of the hosts does not limit the flow.
    host_windows = map(evidence.max_window, ("receive_window", "send_buffer"))
    needed = min(evidence.bdp, *host_windows)
    return bool(flow["slow_start_exit_cwnd"] * evidence.mss < _MAX_EARLY_EXIT_BDPS * needed)


class _Ramp(NamedTuple):
    """Time from the exit of a connection from slow start until it reaches the capacity."""

    #: Capacity that is unused in that time, the sum over its slots in Mbit/s.
    unused: float
    #: Whether the connection ever reaches the capacity.
    has_reached: bool


def _ramp_after_exit(evidence: Evidence, flow: Any) -> _Ramp:
    """Returns the ramp of a connection after its exit from slow start."""
    exit_s = flow["first_data_s"] + flow["slow_start_exit_s"]
    slots = evidence.slots
    slots = slots[(slots["run"] == flow["run"]) & (slots["t_s"] >= exit_s)]
    # Within a round trip data comes in bursts.
    count = max(math.ceil(_GOODPUT_RTTS * evidence.mean("rtt_min_ms") / 1e3 / evidence.slot_s), 1)
    means = slots[["goodput_mbps", "capacity_mbps"]].rolling(count, min_periods=1).mean()
    # A moment in which other flows leave little capacity does not count as reaching it.
    reference = means["capacity_mbps"].clip(lower=slots["capacity_mbps"].median())
    has_reached = (means["goodput_mbps"] >= _REACHED_SHARE * reference) & (reference > 0)
    if has_reached.any():
        slots = slots[slots["t_s"] < slots.loc[has_reached.idxmax(), "t_s"]]
    unused = (slots["capacity_mbps"] - slots["goodput_mbps"]).clip(lower=0).sum()
    return _Ramp(float(unused), bool(has_reached.any()))


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
    count, units = len(before), 0 if evidence.units is None else len(evidence.units)
    if count < max(2, _MIN_RESTARTED_SHARE * units):
        return None
    noun = UNITS[evidence.unit_key.partition(":")[0]].noun if units else "pauses"
    verb = "began after a pause that shrank" if units else "shrank"
    return Cause(
        "idle_restart",
        f"{grouped(count)} {f'of {grouped(units)} ' if units else ''}{noun} {verb} the window (slow "
        f"start after idle), from {grouped(before.mean())} to {grouped(after.mean())} segments on "
        f"average; slow start took {percent(share)} of the time in which data were under way.",
        share,
    )


def slow_start(evidence: Evidence) -> Cause | None:
    """The units of work of an application are so short that they mostly are in slow start.

    Slow start takes at least {_MIN_SLOW_START_SHARE:.0%} of the time without pauses, and `idle_restart`
    is no cause.
    """
    # Waits by Nagle's algorithm count as slow start, too, before the sender has left slow start.
    if evidence.is_held_by_nagle:
        return None
    share = _slow_start_share(evidence)
    if evidence.is_bulk or share < _MIN_SLOW_START_SHARE or idle_restart(evidence):
        return None
    window = evidence.scenario.get("tcp", {}).get("initial_window")
    first = f", from an initial window of {window} segments on" if window else ""
    return Cause(
        "slow_start",
        f"Slow start took {percent(share)} of the time in which data were under way{first}.",
        share,
    )


def _slow_start_share(evidence: Evidence) -> float:
    """Returns the share of slow start in the time without pauses."""
    busy = 1.0 - evidence.time_share("idle")
    return evidence.time_share("startup") / busy if busy > 0 else 0.0


def reordering(evidence: Evidence) -> Cause | None:
    """The sender took reordered packets for lost ones.

    At least two recoveries began without a drop or a time-out. At least one reduction was undone, or
    one segment arrived twice.
    """
    rows = evidence.recoveries
    rows = rows[(rows["drops"] == 0) & (rows["timeouts"] == 0)]
    signs = evidence.total("spurious_retransmissions") + float(rows["undone"].sum())
    if len(rows) < 2 or signs < 1:
        return None
    share = rows["length_s"].sum() / evidence.connection_seconds
    counts = (len(rows), evidence.total("spurious_retransmissions"), rows["undone"].sum())
    recoveries, twice, undone = map(evidence.mean_count, counts)
    return Cause(
        "reordering",
        f"Packets overtook each other: {recoveries} recoveries{evidence.per_run_text} began with "
        f"nothing lost, {twice} segments arrived twice, and {undone} reductions of the window were "
        "undone.",
        min(max(share, evidence.unused_share), 1.0),
    )


def time_outs(evidence: Evidence) -> Cause | None:
    """The sender waited for time-outs for at least {_MIN_TIMEOUT_SHARE:.0%} of the time.

    Time-outs during outages, or with data that had arrived unreported, do not count.
    """
    rows = evidence.recoveries
    rows = rows[(rows["timeouts"] > 0) & (rows["unreported_bytes"] == 0)]
    rows = rows[~overlap_gaps(rows, evidence.outages)]
    waited = (rows["silence_s"].fillna(0) + rows["length_s"]).sum()
    share = (
        min(evidence.time_share("timeout"), waited / evidence.connection_seconds) if len(rows) else 0.0
    )
    if share < _MIN_TIMEOUT_SHARE:
        return None
    most = int(rows["timeouts"].max())
    in_a_row = f", up to {most} in one recovery" if most > 1 else ""
    bursts = ""
    if evidence.loses_in_bursts_of_packets:
        bursts = (
            ' Bursts of "gilbert-elliott" last for packets, so that none ends while the sender waits; '
            'those of "gilbert-elliott-time" do.'
        )
    return Cause(
        "time_outs",
        f"The sender waited for {timeouts_text(evidence, rows)}, for {percent(share)} of the time"
        f"{in_a_row}.{bursts}",
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
        f"The {names[limit]} limited the flow for {percent(evidence.time_share(limit))} of the time, "
        f"and {percent(evidence.unused_share)} of the capacity stayed unused.",
        evidence.unused_share,
    )
