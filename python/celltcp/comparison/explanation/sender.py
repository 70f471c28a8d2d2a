"""Rules about the sender: slow start, recoveries without a loss, growth of the window."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from celltcp.comparison.explanation.cause import Cause, grouped, percent
from celltcp.comparison.explanation.path import beside, timeouts_of
from celltcp.comparison.units_of_work import UNITS

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Window at the exit from slow start below which it is early, BDPs: less than the path holds.
_EARLY = 0.9
#: Share of the capacity that then stays unused until the flow has it.
_UNUSED = 0.05
#: Minimum share of the capacity at which a flow has it.
_REACHED = 0.8
#: Round trips over which its goodput is averaged.
_ROUNDS = 3
#: Share of the time under limits of the ends that makes an early exit their matter.
_ENDS = 0.5
#: Minimum share of the time in waits for time-outs at which they are a cause.
_WAITS = 0.05
#: Share of the time under limits of the sender, and of the capacity unused, in a slow growth.
_SLOW_TIME, _SLOW = 0.5, 0.1
#: Share of its window to which a pause shrinks it at least.
_SHRUNK = 0.6
#: Minimum share of the units of work that begin with such a window at which pauses are a cause.
_RESTARTED = 0.3
#: Minimum share of the time without pauses in slow start that is a cause: after pauses, otherwise.
_STARTED, _STARTED_ANEW = 0.2, 0.5


def early_exit(evidence: Evidence) -> Cause | None:
    """Slow start ended without a loss at a window below {_EARLY} BDP.

    {_UNUSED:.0%} of the capacity is unused until the goodput over {_ROUNDS} RTTs reaches {_REACHED:.0%}
    of it. Limits of application and windows take less than {_ENDS:.0%} of the time, and the window at
    the exit is below what they allow.
    """
    if evidence.share("idle", "in_flight", "receive_window", "send_buffer") >= _ENDS:
        return None
    # What other applications leave unused is theirs.
    if not evidence.is_bulk:
        return None
    exits = [row for _, row in evidence.flows.iterrows() if _is_early(evidence, row)]
    if not exits:
        return None
    losts = [_lost_after(evidence, row) for row in exits]
    lost = sum(each for each, _ in losts)
    whole = float(evidence.slots["capacity_mbps"].sum())
    share = lost / whole if whole > 0 else 0.0
    if share < _UNUSED:
        return None
    until = f" until the flow had {percent(_REACHED)} of it" if all(has for _, has in losts) else ""
    if not until and not any(has for _, has in losts):
        until = f", of which the flow never had {percent(_REACHED)}"
    # Who sets the threshold ends slow start.
    why = ", at the threshold that initial_ssthresh sets" if "initial_ssthresh=" in evidence.cca else ""
    first = exits[0]
    cwnd = float(first["slow_start_exit_cwnd"])
    mss = evidence.mss
    return Cause(
        "early_exit",
        f"Slow start ended early, without a loss{why}: after {first['slow_start_exit_s']:.2f} s at a "
        f"window of {grouped(cwnd)} segments, {cwnd * mss / evidence.bdp:.2f} of the bandwidth-delay "
        f"product; "
        f"{percent(share)} of the capacity stayed unused{until}.",
        share,
    )


def _is_early(evidence: Evidence, flow: Any) -> bool:
    """Returns whether a connection left slow start below the BDP, without a loss until then."""
    if not flow["slow_start_exit_s"] >= 0:
        return False
    exit_s = flow["first_data_s"] + flow["slow_start_exit_s"]
    rows = evidence.recoveries
    rows = rows[(rows["run"] == flow["run"]) & (rows["flow"] == flow["flow"])]
    started = rows[["t_s", "dropped_s"]].min(axis=1)
    if (started <= exit_s + 1e-3).any():
        return False
    # Nothing is early about a window that is above those of the hosts: it changes nothing.
    windows = map(evidence.window_of, ("receive_window", "send_buffer"))
    needed = min(evidence.bdp, *windows)
    return bool(flow["slow_start_exit_cwnd"] * evidence.mss < _EARLY * needed)


def _lost_after(evidence: Evidence, flow: Any) -> tuple[float, bool]:
    """Returns the capacity unused from the exit until the flow had it, and whether it ever had.

    The capacity is in Mbit/s times slots.
    """
    exit_s = flow["first_data_s"] + flow["slow_start_exit_s"]
    slots = evidence.slots
    slots = slots[(slots["run"] == flow["run"]) & (slots["t_s"] >= exit_s)]
    # Within a round trip data comes in bursts.
    count = max(math.ceil(_ROUNDS * evidence.mean("rtt_min_ms") / 1e3 / evidence.slot_s), 1)
    means = slots[["goodput_mbps", "capacity_mbps"]].rolling(count, min_periods=1).mean()
    # A flow that has all of what others leave for a moment has not reached the capacity.
    reference = means["capacity_mbps"].clip(lower=slots["capacity_mbps"].median())
    has_it = (means["goodput_mbps"] >= _REACHED * reference) & (reference > 0)
    if has_it.any():
        slots = slots[slots["t_s"] < slots.loc[has_it.idxmax(), "t_s"]]
    unused = (slots["capacity_mbps"] - slots["goodput_mbps"]).clip(lower=0).sum()
    return float(unused), bool(has_it.any())


def idle_restart(evidence: Evidence) -> Cause | None:
    """The window of an application shrank in its pauses, and slow start took its time again.

    At least two, and {_RESTARTED:.0%} of the units of work, began after a pause with less than
    {_SHRUNK:.0%} of the window before. Slow start takes {_STARTED:.0%} of the time without pauses.
    """
    share = _in_slow_start(evidence)
    if evidence.is_bulk or share < _STARTED:
        return None
    before, after = evidence.idle_restarts(_SHRUNK)
    count, units = len(before), 0 if evidence.units is None else len(evidence.units)
    if count < max(2, _RESTARTED * units):
        return None
    noun = UNITS[evidence.unit.partition(":")[0]].noun if units else "pauses"
    verb = "began after a pause that shrank" if units else "shrank"
    return Cause(
        "idle_restart",
        f"{grouped(count)} {f'of {grouped(units)} ' if units else ''}{noun} {verb} the window (slow "
        f"start after idle), from {grouped(before.mean())} to {grouped(after.mean())} segments on "
        f"average; slow start took {percent(share)} of the time in which data were under way.",
        share,
    )


def slow_start(evidence: Evidence) -> Cause | None:
    """The units of work of an application are so short that most of their time is slow start.

    It takes {_STARTED_ANEW:.0%} of the time without pauses, and no pause shrank the window.
    """
    # What Nagle's algorithm holds back counts as slow start, too, if the sender has not left that.
    if evidence.is_held_by_nagle:
        return None
    share = _in_slow_start(evidence)
    if evidence.is_bulk or share < _STARTED_ANEW or idle_restart(evidence):
        return None
    window = evidence.scenario.get("tcp", {}).get("initial_window")
    first = f", from an initial window of {window} segments on" if window else ""
    return Cause(
        "slow_start",
        f"Slow start took {percent(share)} of the time in which data were under way{first}.",
        share,
    )


def _in_slow_start(evidence: Evidence) -> float:
    """Returns the share of the time without pauses that slow start takes."""
    busy = 1.0 - evidence.share("idle")
    return evidence.share("startup") / busy if busy > 0 else 0.0


def reordering(evidence: Evidence) -> Cause | None:
    """The sender recovered from losses that were none.

    Two recoveries began without a drop or a time-out, and a reduction was undone or a segment came
    twice.
    """
    rows = evidence.recoveries
    rows = rows[(rows["drops"] == 0) & (rows["timeouts"] == 0)]
    needless = evidence.total("spurious_retransmissions") + float(rows["undone"].sum())
    if len(rows) < 2 or needless < 1:
        return None
    share = rows["length_s"].sum() / evidence.connection_seconds
    counts = (len(rows), evidence.total("spurious_retransmissions"), rows["undone"].sum())
    recoveries, twice, undone = map(evidence.mean_count, counts)
    return Cause(
        "reordering",
        f"Packets overtook each other: {recoveries} recoveries{evidence.a_run} began with nothing "
        f"lost, {twice} segments arrived twice, and {undone} reductions of the window were undone.",
        min(max(share, evidence.unused), 1.0),
    )


def time_outs(evidence: Evidence) -> Cause | None:
    """The sender waited for time-outs for {_WAITS:.0%} of the time, outages and late ACKs apart."""
    rows = evidence.recoveries
    rows = rows[(rows["timeouts"] > 0) & (rows["unreported_bytes"] == 0)]
    rows = rows[~beside(rows, evidence.outages)]
    waited = (rows["silence_s"].fillna(0) + rows["length_s"]).sum()
    share = min(evidence.share("timeout"), waited / evidence.connection_seconds) if len(rows) else 0.0
    if share < _WAITS:
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
        f"The sender waited for {timeouts_of(evidence, rows)}, for {percent(share)} of the time"
        f"{in_a_row}.{bursts}",
        share,
    )


def slow_growth(evidence: Evidence) -> Cause | None:
    """The window or the pacing rate was small, for no reason that another rule finds.

    Window, pacing or slow start take {_SLOW_TIME:.0%} of the time, and {_SLOW:.0%} is unused.
    """
    share = evidence.share("congestion_window", "pacing", "startup")
    if share < _SLOW_TIME or evidence.unused < _SLOW:
        return None
    limit = max(("congestion_window", "pacing", "startup"), key=evidence.share)
    name = {"congestion_window": "congestion window", "pacing": "pacing rate", "startup": "slow start"}
    return Cause(
        "slow_growth",
        f"The {name[limit]} limited the flow for {percent(evidence.share(limit))} of the time, and "
        f"{percent(evidence.unused)} of the capacity stayed unused.",
        evidence.unused,
    )
