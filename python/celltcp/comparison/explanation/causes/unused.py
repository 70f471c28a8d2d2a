"""Unused capacity of a bulk flow by phase: start-up, PROBE_RTT, and what follows losses and rises."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.explanation.causes.cause import Cause, number_text, percent_text
from celltcp.comparison.explanation.evidence.evidence import MIN_COMPETING_RATIO
from celltcp.comparison.explanation.evidence.least_time import takes_least_time
from celltcp.comparison.explanation.evidence.ramps import (
    REACHED_SHARE,
    Ramp,
    capacity_share,
    link_share_text,
    ramp_from,
    reaches_capacity,
    unused_mbps,
)
from celltcp.comparison.explanation.evidence.recoveries import of_connection
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Window of PROBE_RTT: at most so many segments under BBR v1, and so small a share of the median
#: window of the seconds before under BBR v3, whose window is half a BDP then instead of two.
PROBE_RTT_SEGMENTS, _PROBE_RTT_SHARE = 4, 0.4
#: Time before a slot whose median window is compared, s.
_MEDIAN_S = 2.0
#: Maximum time that a flow needs to fill the path after PROBE_RTT, RTTs.
_MAX_REFILL_RTTS = 4
#: Minimum shares of the capacity, and of what is unused, for PROBE_RTT as a cause.
_MIN_PROBE_RTT_SHARE, _MIN_SHARE_OF_UNUSED = 0.03, 0.25
#: Ratio of the capacity to its mean over `_BEFORE_RISE_S` before, from which on it has risen.
_MIN_RISE, _BEFORE_RISE_S = 1.25, 2.0
#: Minimum shares of the time limited by the sender, and of unused capacity, for slow growth.
_MIN_SENDER_LIMITED_SHARE, _MIN_UNUSED_SHARE = 0.5, 0.1
#: Minimum share of the time in which a window at a host is full that a text names, and of unused
#: capacity for slow growth beside it.
_MIN_WINDOW_SHARE, _MIN_UNUSED_BESIDE = 0.05, 0.03
#: End of the sentence on slow growth beside such a window.
AS_WELL = "of the time as well."
#: Minimum length of a climb to the capacity that a text names, RTTs: slow start takes less.
_MIN_CLIMB_RTTS = 20
#: Minimum share of the unused capacity of a phase that a text names.
_MIN_NAMED_SHARE = 0.2
#: Phases of slots.
_OTHER, _START_UP, _PROBE_RTT, _LOSS, _RISE = range(5)


class ProbeRtt(NamedTuple):
    """Time in which BBR keeps its window small, to measure the RTT of an empty path."""

    run: int
    start_s: float
    end_s: float


def probe_rtt(evidence: Evidence) -> Cause | None:
    """BBR emptied the path to measure its lowest RTT (PROBE_RTT).

    At least {_MIN_PROBE_RTT_SHARE:.0%} of the capacity, and {_MIN_SHARE_OF_UNUSED:.0%} of what is
    unused, is so from then on until the path is full again, for at most {_MAX_REFILL_RTTS} RTTs. Other
    flows get less than {MIN_COMPETING_RATIO:.0%} of its goodput. {PROBE_RTT_SEGMENTS} segments are
    less than a BDP: otherwise they fill the path.
    """
    # Where others compete, they take what the flow leaves meanwhile.
    is_alone = evidence.others_mbps < MIN_COMPETING_RATIO * evidence.goodput_mbps
    probes = list(probes_of(evidence)) if evidence.is_bulk and is_alone else []
    if not probes or not evidence.capacity_mbps > 0 or probe_fills_path(evidence):
        return None
    share = _Phases(evidence, probes).unused_share(_PROBE_RTT)
    if share < max(_MIN_PROBE_RTT_SHARE, _MIN_SHARE_OF_UNUSED * evidence.unused_share):
        return None
    is_v1 = not evidence.is_bbr3
    window_text = f"{PROBE_RTT_SEGMENTS} segments" if is_v1 else "half a bandwidth-delay product"
    count = evidence.mean_count_text(len(probes))
    often_text = "once" if count == "1" else f"{count} times"
    return Cause(
        "probe_rtt",
        f"PROBE_RTT left {link_share_text(evidence, share)} of the capacity unused: {often_text}"
        f"{evidence.per_run_text}, BBR cut its window to {window_text} to measure the RTT of an empty "
        "path, and then filled the path again. Each costs 200 ms and a round trip, so that a shorter "
        "RTT costs less.",
        share,
    )


def probe_fills_path(evidence: Evidence) -> bool:
    """Returns whether the window of PROBE_RTT is a BDP or more, as on slow links."""
    return PROBE_RTT_SEGMENTS * evidence.mss >= evidence.bdp


def slow_growth(evidence: Evidence) -> Cause | None:
    """The window or the pacing rate was small, and no other rule finds the reason.

    Congestion window, pacing and slow start limit the flow for at least
    {_MIN_SENDER_LIMITED_SHARE:.0%} of the time, and at least {_MIN_UNUSED_SHARE:.0%} of the capacity is
    unused, apart from the start-up and PROBE_RTT; {_MIN_UNUSED_BESIDE:.0%} where a window at a host is
    full for {_MIN_WINDOW_SHARE:.0%} of the time. A transfer that takes its least time lacks nothing.
    """
    share = evidence.time_share("congestion_window", "pacing", "startup")
    window = window_beside(evidence)
    least = _MIN_UNUSED_BESIDE if window else _MIN_UNUSED_SHARE
    if share < _MIN_SENDER_LIMITED_SHARE or evidence.unused_share < least:
        return None
    if takes_least_time(evidence):
        return None
    phases = _Phases(evidence, list(probes_of(evidence)))
    unused = evidence.unused_share - (
        sum(map(phases.unused_share, (_START_UP, _PROBE_RTT))) if evidence.is_bulk else 0.0
    )
    if unused < least:
        return None
    limit = max(("congestion_window", "pacing", "startup"), key=evidence.time_share)
    names = {
        "congestion_window": "The congestion window",
        "pacing": "The pacing rate",
        "startup": "Slow start",
    }
    text = (
        f"{names[limit]} limited the flow for {percent_text(evidence.time_share(limit))} of the "
        f"time, and {link_share_text(evidence, unused)} of the capacity stayed unused"
    )
    parts = [
        f"{link_share_text(evidence, phases.unused_share(phase))} {phrase}"
        for phase, phrase in (
            (_LOSS, "after losses, until it had grown again"),
            (_RISE, "after the capacity rose, until it had followed"),
        )
        if phases.unused_share(phase) >= _MIN_NAMED_SHARE * unused
    ]
    if evidence.is_bulk and parts:
        text += f", {' and '.join(parts)}"
    elif evidence.is_bulk and evidence.bdp > 0:
        in_flight, bdp = float(evidence.slots["inflight"].mean()), evidence.bdp / evidence.mss
        text += (
            f": {in_flight / bdp:.2f} bandwidth-delay products were in flight on average "
            f"({number_text(in_flight)} of {number_text(bdp)} segments)"
        )
    if window:
        share_text = percent_text(evidence.time_share(window))
        text += f"; the {window.replace('_', ' ')} was full for {share_text} {AS_WELL}"
    return Cause("slow_growth", text if window else f"{text}.", unused)


def unused_after_losses(evidence: Evidence) -> float:
    """Returns the share of the capacity that is unused after losses, until the flow uses it again."""
    return _Phases(evidence, list(probes_of(evidence))).unused_share(_LOSS)


def climb_text(evidence: Evidence) -> str:
    """Returns what is unused while a bulk flow first climbs to the capacity, to follow what is in all.

    It is empty where the climb takes only some round trips, or little of what is unused, and where
    losses interrupt it.
    """
    if not evidence.is_bulk or not evidence.capacity_mbps > 0:
        return ""
    slow_start_s = _MIN_CLIMB_RTTS * evidence.min_rtt_ms / 1e3
    ramps: list[Ramp] = []
    left: list[float] = []
    for run, starts in evidence.connections.groupby("run")["first_data_s"]:
        if starts.notna().any():
            ramp = ramp_from(evidence, int(str(run)), float(starts.min()))
            rows = evidence.recoveries[evidence.recoveries["run"] == run]
            is_within = rows["t_s"].between(ramp.start_s + slow_start_s, ramp.end_s, inclusive="left")
            if (rows.loc[is_within, "drops"] > 0).any():
                return ""
            ramps.append(ramp)
            left += _left_windows(evidence, rows[rows["t_s"] < ramp.start_s + slow_start_s])
    share = capacity_share(evidence, sum(ramp.unused for ramp in ramps))
    mean_s = sum(ramp.length_s for ramp in ramps) / max(len(ramps), 1)
    if mean_s < slow_start_s or share < _MIN_NAMED_SHARE * evidence.unused_share:
        return ""
    if left:
        whole = number_text(evidence.bdp / evidence.mss)
        left_text = (
            f": slow start left a window of {number_text(sum(left) / len(left))} of {whole} segments"
        )
    else:
        left_text = ""
    if not any(ramp.has_reached for ramp in ramps):
        joint = f"{left_text}, which" if left else ": the window"
        return f"{joint} did not grow to {percent_text(REACHED_SHARE)} of it in {mean_s:.3g} s"
    goodput = rate_text(sum(ramp.goodput_mbps * ramp.length_s for ramp in ramps) / len(ramps) / mean_s)
    return (
        f", {link_share_text(evidence, share)} in the first {mean_s:.3g} s at {goodput}, until "
        f"{percent_text(REACHED_SHARE)} of it was in use{left_text}"
    )


def _left_windows(evidence: Evidence, starts: pd.DataFrame) -> Iterator[float]:
    """Yields the window that the last loss of a slow start leaves, in each connection, segments."""
    for _, rows in starts.groupby(["run", "flow"]):
        last = rows.sort_values("t_s").iloc[-1]
        if rows["slow_start"].any() and not last["timeouts"]:
            start_s, run, flow = float(last["t_s"]), int(last["run"]), int(last["flow"])
            end_s = start_s + float(last["length_s"])
            yield evidence.windows.change(run, flow, start_s, end_s, is_timeout=False)[1]


def window_beside(evidence: Evidence) -> str:
    """Returns the window at a host that is full for some of the time, as a limit; empty without one."""
    window = max(("receive_window", "send_buffer"), key=evidence.time_share)
    is_full = evidence.time_share(window) >= _MIN_WINDOW_SHARE
    return window if evidence.is_bulk and is_full else ""


def probes_of(evidence: Evidence) -> Iterator[ProbeRtt]:
    """Yields each PROBE_RTT of the connections under BBR, by the windows at the ends of slots."""
    if not evidence.is_bbr:
        return
    for _, connection in evidence.connections.iterrows():
        run, number = int(connection["run"]), int(connection["flow"])
        times, windows = evidence.windows.series(run, number)
        if len(times):
            # Samples at each ACK are many: that at the end of each slot is enough.
            ends = np.arange(times[0], times[-1] + evidence.slot_s, evidence.slot_s)
            last = np.unique(np.searchsorted(times, ends + 1e-6, side="right") - 1)
            times, windows = times[last], windows[last]
        is_small = _has_probe_window(evidence, times, windows) & ~_is_reduced(
            evidence, run, number, times
        )
        edges = np.flatnonzero(np.diff(np.r_[False, is_small, False].astype(int)))
        for first, after in edges.reshape(-1, 2):
            if first:
                yield ProbeRtt(run, float(times[first - 1]), float(times[after - 1]))


def _has_probe_window(
    evidence: Evidence, times: NDArray[np.float64], windows: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Returns at which times a window is as small as in PROBE_RTT."""
    firsts = np.searchsorted(times, times - _MEDIAN_S - 2 * evidence.min_rtt_ms / 1e3)
    before = np.array(
        [
            np.median(windows[first:index]) if index > first else np.nan
            for index, first in enumerate(firsts)
        ]
    )
    if evidence.is_bbr3:
        return np.asarray(windows < _PROBE_RTT_SHARE * before)
    largest = np.maximum.accumulate(windows) if len(windows) else windows
    return np.asarray((windows <= PROBE_RTT_SEGMENTS) & (largest > 2 * PROBE_RTT_SEGMENTS))


def _is_reduced(
    evidence: Evidence, run: int, number: int, times: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Returns at which times a recovery has reduced the window of a connection."""
    rows = of_connection(evidence.recoveries, run, number)
    rows = rows[rows["drops"] > 0]
    rtt_s = evidence.mean("rtt_mean_ms") / 1e3
    result = np.zeros(len(times), bool)
    for start_s, end_s in zip(rows["t_s"], rows["latest_s"], strict=True):
        result |= (times >= start_s) & (times <= end_s + 2 * rtt_s)
    return result


class _Phases:
    """Slots of a flow with their phases, and the unused capacity in each."""

    def __init__(self, evidence: Evidence, probes: list[ProbeRtt]) -> None:
        self._evidence = evidence
        self._unused = np.zeros(5)
        for run in evidence.runs:
            slots = evidence.slots[evidence.slots["run"] == run]
            phases = _phases(evidence, run, slots, [each for each in probes if each.run == run])
            np.add.at(self._unused, phases, unused_mbps(evidence, slots).to_numpy(float))

    def unused_share(self, phase: int) -> float:
        """Returns the unused capacity in a phase as a share of all capacity."""
        return capacity_share(self._evidence, float(self._unused[phase]))


def _phases(
    evidence: Evidence, run: int, slots: pd.DataFrame, probes: list[ProbeRtt]
) -> NDArray[np.int64]:
    """Returns the phase of each slot of a run."""
    times = slots["t_s"].to_numpy(float)
    is_reached = reaches_capacity(evidence, slots, 1).to_numpy()
    phases = np.full(len(times), _OTHER)
    starts = evidence.connections.loc[evidence.connections["run"] == run, "first_data_s"].dropna()
    start_up = ramp_from(evidence, run, float(starts.min())) if len(starts) else None
    is_slow_start = evidence.time_share("startup") >= _MIN_SENDER_LIMITED_SHARE
    if start_up is not None and not start_up.has_reached and not is_slow_start:
        # What never has the capacity has not lost it either, to a loss or a rise.
        return phases
    _mark_rises(evidence, slots, is_reached, phases)
    rows = evidence.recoveries
    rows = rows[(rows["run"] == run) & (rows["drops"] > 0)]
    for start_s in rows["t_s"]:
        _mark(phases, times, is_reached, _LOSS, start_s, start_s + evidence.slot_s)
    rtt_s = evidence.min_rtt_s
    for probe in probes:
        latest_s = probe.end_s + _MAX_REFILL_RTTS * rtt_s
        _mark(phases, times, is_reached, _PROBE_RTT, probe.start_s, probe.end_s + rtt_s, latest_s)
    if start_up is not None:
        phases[times < start_up.end_s] = _START_UP
    return phases


def _mark(
    phases: NDArray[np.int64],
    times: NDArray[np.float64],
    is_reached: NDArray[np.bool_],
    phase: int,
    start_s: float,
    earliest_s: float,
    latest_s: float = math.inf,
) -> None:
    """Marks the slots of a phase: from its start on until the flow uses the capacity again."""
    ends = times[is_reached & (times >= earliest_s)]
    end_s = min(float(ends[0]) if len(ends) else math.inf, latest_s)
    phases[(times >= start_s) & (times < end_s)] = phase


def _mark_rises(
    evidence: Evidence,
    slots: pd.DataFrame,
    is_reached: NDArray[np.bool_],
    phases: NDArray[np.int64],
) -> None:
    """Marks the slots after a rise of the capacity in which the flow does not use it yet."""
    capacity = slots["capacity_mbps"]
    count = max(round(_BEFORE_RISE_S / evidence.slot_s), 1)
    before = capacity.rolling(count, min_periods=1).mean().shift()
    has_risen = (capacity >= _MIN_RISE * before).to_numpy()
    is_late = False
    for index, reached in enumerate(is_reached):
        is_late = (is_late or bool(has_risen[index])) and not reached
        if is_late:
            phases[index] = _RISE
