"""Rule about other flows that compete with a flow, and the reason for unequal shares of bulk flows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.cause import Cause, percent_text
from celltcp.comparison.explanation.evidence import MIN_LIMITED_SHARE, Evidence
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.scenarios.cca_mix import parse_flow_cca
from celltcp.scenarios.ccas import family_of
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Minimum share of the goodput of all flows at which other flows compete.
_MIN_COMPETING_SHARE = 0.1
#: Ratio of the goodputs of two flows from which on their shares are unequal.
_MIN_UNEQUAL = 1.5
#: Maximum ratio of the goodput of another flow's connection to an own one that counts as alike.
_MAX_ALIKE = 1.25
#: Minimum number of overflows of each flow, and the shares of the window that one keeps after them:
#: a flow that reduces keeps at most the first one, and one that does not at least the second one.
_MIN_OVERFLOWS, _MAX_REDUCED, _MIN_HELD = 3, 0.85, 0.95
#: Minimum difference of the shares that two flows keep, both of which reduce.
_MIN_DIFFERENCE = 0.1
#: Minimum wait in the queue, lowest RTTs, that a flow meets whose window follows the delay.
_MIN_WAIT_RTTS = 0.3
#: Minimum difference of the starts, as a share of the run, and gain of the later flow in the last
#: quarter of its time, at which shares still converge.
_MIN_LATER_START, _MIN_CONVERGENCE = 0.05, 1.15
#: Families of CCAs that reduce the window at losses, and those whose window follows delay or rate.
_LOSS_BASED, _DELAY_BASED = ("loss", "hybrid"), ("delay", "model")
#: What bounds the window of a flow in a queue, by the family of its CCA; empty if the user wrote it.
_BOUNDS = {
    "model": "keeps about two bandwidth-delay products of its own rate and the latest lowest RTT",
    "delay": "reduces its window when packets wait",
    "": "makes room when packets wait, without an overflow of its own",
}
#: Minimum ratio of the lowest RTTs of a flow that started later, in a queue, and of the one before it.
_MIN_LATER_RTT = 1.1


def competition(evidence: Evidence) -> Cause | None:
    """Other flows of the same direction compete with this one.

    They got at least {_MIN_COMPETING_SHARE:.0%} of the goodput of all flows while this one ran. The
    rule is not for flows of responses or frames. Where another bulk flow got {_MIN_UNEQUAL} times as
    much, the reason follows that the tables show: more connections, no reduction after overflows, a
    window that follows the delay, or a later start.
    """
    rates = evidence.competing_mbps
    competing_mbps = evidence.others_mbps
    total_mbps = evidence.goodput_mbps + competing_mbps
    share = competing_mbps / total_mbps if total_mbps > 0 else 0.0
    if share < _MIN_COMPETING_SHARE or evidence.is_thin:
        return None
    fastest_first = sorted(rates, key=rates.__getitem__, reverse=True)
    flows_text = ", ".join(f"{name} {rates[name]:.2f}" for name in fastest_first[:3])
    more_text = f" and {len(rates) - 3} more" if len(rates) > 3 else ""
    reasons = []
    if rates[fastest_first[0]] >= _MIN_UNEQUAL * evidence.goodput_mbps:
        other = _evidence_of(evidence, fastest_first[0])
        reasons = [] if other is None else list(_reasons(evidence, other))
    return Cause(
        "competition",
        f"Other flows took {percent_text(share)} of what all got while it ran: "
        f"{flows_text}{more_text} Mbit/s.{''.join(f' {reason}' for reason in reasons)}",
        share,
    )


def _evidence_of(evidence: Evidence, name: str) -> Evidence | None:
    """Returns the evidence of another bulk flow; None for other applications and for cross-traffic."""
    for flow, workload in FlowUnderTest.each_with_workload(evidence.metadata):
        if flow.name == name and is_endless(workload) and evidence.is_bulk:
            return Evidence(evidence.comparison, evidence.cca, flow)
    return None


def _reasons(own: Evidence, other: Evidence) -> Iterator[str]:
    """Yields the reasons for which another bulk flow got more."""
    counts = [len(each.connections) / len(each.runs) for each in (own, other)]
    rates = [each.goodput_mbps / count for each, count in zip((own, other), counts, strict=True)]
    if counts[1] > counts[0] and rates[1] < _MAX_ALIKE * rates[0]:
        yield (
            f"{other.flow_name} has {counts[1]:.0f} connections with {rate_text(rates[1])} each, "
            f"this flow {counts[0]:.0f} with {rate_text(rates[0])}: a queue shares by connections."
        )
        return
    names = [_cca_of(each) for each in (own, other)]
    windows = list(map(_kept_window, (own, other)))
    if windows[0] <= _MAX_REDUCED and windows[1] >= _MIN_HELD:
        yield (
            f"After an overflow of the buffer, {names[0]} kept {percent_text(windows[0])} of its "
            f"window and {names[1]} all of it: {names[1]} does not reduce its rate at such losses, so "
            f"that {names[0]} alone makes room."
        )
    elif windows[1] - windows[0] >= _MIN_DIFFERENCE:
        yield (
            f"After an overflow of the buffer, {names[0]} kept {percent_text(windows[0])} of its "
            f"window, and {names[1]} {percent_text(windows[1])}."
        )
    if _is_held_by_queue(own, names):
        in_flight = [float(each.slots["inflight"].mean()) * each.mss / own.bdp for each in (own, other)]
        bound = _BOUNDS[family_of(names[0])]
        yield (
            f"{names[1]} fills the buffer until it overflows, so that packets wait "
            f"{own.queue_wait_ms:.0f} ms, {own.queue_wait_ms / own.min_rtt_ms:.1f} times the "
            f"lowest RTT; {names[0]} {bound}. On average {names[0]} has {in_flight[0]:.2f} and "
            f"{names[1]} {in_flight[1]:.2f} bandwidth-delay products of the link in flight."
        )
    yield from _convergence(own, other, names)
    yield from _later_lowest_rtt(own, other, names)


def _cca_of(evidence: Evidence) -> str:
    """Returns the name of the congestion control of a flow."""
    return parse_flow_cca(evidence.own_cca).name


def _kept_window(evidence: Evidence) -> float:
    """Returns the mean share of the window that a flow keeps after overflows; NaN for few of them."""
    rows = evidence.recoveries
    rows = rows[(rows["overflow"] > 0) & (rows["slow_start"] == 0) & (rows["timeouts"] == 0)]
    if len(rows) < _MIN_OVERFLOWS * len(evidence.runs):
        return math.nan
    before = after = 0.0
    for _, row in rows.dropna(subset=["end_s"]).iterrows():
        change = evidence.windows.change(
            int(row["run"]), int(row["flow"]), row["t_s"], row["end_s"], is_timeout=False
        )
        if change.before > 0 and change.after > 0:
            before, after = before + change.before, after + change.after
    return after / before if before else math.nan


def _follows_delay(own: Evidence, name: str) -> bool:
    """Returns whether the window of a flow follows delay or rate: by its CCA, or without an overflow.

    The family of a CCA that the user wrote is not known.
    """
    family = family_of(name)
    return family in _DELAY_BASED or (not family and not (own.recoveries["overflow"] > 0).any())


def _is_held_by_queue(own: Evidence, names: list[str]) -> bool:
    """Returns whether a queue that a loss-based flow fills holds back a flow that is not loss-based.

    BBR paces at the rate that its bounded window leaves it.
    """
    limits = ["congestion_window", *(["pacing"] if family_of(names[0]) == "model" else [])]
    return (
        _follows_delay(own, names[0])
        and family_of(names[1]) in _LOSS_BASED
        and own.queue_wait_ms >= _MIN_WAIT_RTTS * own.min_rtt_ms
        and own.time_share(*limits) >= MIN_LIMITED_SHARE
    )


def _later_lowest_rtt(own: Evidence, other: Evidence, names: list[str]) -> Iterator[str]:
    """Yields that another flow started later, in the queue of this one, whose window follows delay."""
    if names[0] != names[1] or not _follows_delay(own, names[0]):
        return
    starts = [float(each.connections["first_data_s"].min()) for each in (own, other)]
    # That of `connections` is the lowest one of all flows on the same way.
    rows = own.all_connections
    lowest = [
        float(rows.loc[each.flow.has(rows["name"]), "rtt_min_ms"].mean()) for each in (own, other)
    ]
    run_s = own.duration_s / len(own.runs)
    if starts[1] - starts[0] < _MIN_LATER_START * run_s or lowest[1] < _MIN_LATER_RTT * lowest[0]:
        return
    yield (
        f"{other.flow_name} started {starts[1] - starts[0]:.3g} s later, while packets waited: the "
        f"lowest RTT that it saw is {lowest[1]:.0f} ms, that of this flow {lowest[0]:.0f} ms. A window "
        "that follows the delay takes it for that of an empty path, and holds more in the queue."
    )


def _convergence(own: Evidence, other: Evidence, names: list[str]) -> Iterator[str]:
    """Yields the reason of a later start, while the share of the later flow still grows."""
    starts = [float(each.connections["first_data_s"].min()) for each in (own, other)]
    run_s = own.duration_s / len(own.runs)
    if names[0] != names[1] or starts[0] - starts[1] < _MIN_LATER_START * run_s:
        return
    slots = own.slots
    is_late = slots["t_s"] >= slots["t_s"].max() - run_s / 4
    late = float(slots.loc[is_late, "goodput_mbps"].mean())
    if late >= _MIN_CONVERGENCE * own.goodput_mbps:
        yield (
            f"It started {starts[0] - starts[1]:.3g} s later, and its share still grew: {late:.2f} "
            "Mbit/s in the last quarter of its time."
        )
