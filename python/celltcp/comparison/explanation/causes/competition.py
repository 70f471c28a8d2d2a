"""Rule about other flows that compete with a flow, and the reason for unequal shares of bulk flows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.explanation.causes.cause import Cause, percent_text
from celltcp.comparison.explanation.causes.rtt_shares import MIN_RTT_FILTER_S, filtered_rtt_ms, rtt_text
from celltcp.comparison.explanation.causes.start_shares import start_text
from celltcp.comparison.explanation.evidence.evidence import MIN_LATER_RTT, MIN_LIMITED_SHARE, Evidence
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.scenarios.cca_mix import parse_flow_cca
from celltcp.scenarios.ccas import family_of
from celltcp.scenarios.quantity_texts import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


#: Minimum share of the goodput of all flows at which other flows compete.
_MIN_COMPETING_SHARE = 0.1
#: Ratio of the goodputs of two flows from which on their shares are unequal.
MIN_UNEQUAL = 1.5
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
#: Families of CCAs that reduce the window at losses.
LOSS_BASED = ("loss", "hybrid")
#: What bounds the window of a flow in a queue, by the family of its CCA.
_BOUNDS = {
    "model": "keeps at most two bandwidth-delay products of its own rate and the latest lowest RTT",
    "delay": "reduces its window when packets wait",
}
#: What fills a queue, by the family of a CCA.
_FILLS = dict.fromkeys(LOSS_BASED, "fills the buffer until it overflows")
_FILLS["model"] = "keeps up to two bandwidth-delay products in flight"
#: Minimum part outside loss recoveries of all by which a window falls, at which a CCA of the user
#: reduces without losses, and the maximum ratio of two windows that counts as a steady one.
_MIN_WITHOUT_LOSS, _MAX_STEADY = 0.5, 1.1
#: Minimum ratio of the lowest RTT that BBR has in its filter, and of that of the path, for a text.
_MIN_FILTERED_RTT = 1.25


def competition(evidence: Evidence) -> Cause | None:
    """Other flows of the same direction compete with this one.

    They got at least {_MIN_COMPETING_SHARE:.0%} of the goodput of all flows while this one ran. The
    rule is not for flows of responses or frames. Where another bulk flow got {MIN_UNEQUAL} times as
    much, or as little, the reason follows that the tables show: more connections, no reduction after
    overflows, a window that follows the delay or stays as it is, a start together or a later one, or
    else the data in flight. Beside a loss-based flow, BBR has the lowest RTT of its filter. Flows of
    other UEs have queues of their own: the scheduler of the cell shares its resource blocks.
    """
    rates = {**evidence.competing_mbps, **evidence.cell_mbps}
    competing_mbps = sum(rates.values())
    total_mbps = evidence.goodput_mbps + competing_mbps
    share = competing_mbps / total_mbps if total_mbps > 0 else 0.0
    if share < _MIN_COMPETING_SHARE or evidence.is_thin:
        return None
    fastest_first = sorted(rates, key=rates.__getitem__, reverse=True)
    flows_text = ", ".join(f"{name} {rates[name]:.2f}" for name in fastest_first[:3])
    more_text = f" and {len(rates) - 3} more" if len(rates) > 3 else ""
    reasons, fastest = [], fastest_first[0]
    if fastest in evidence.cell_mbps:
        reasons = [
            f"{fastest} is of another UE, with a queue of its own: the scheduler of the cell divides "
            "resource blocks among UEs, whatever their CCAs."
        ]
    elif rates[fastest] >= MIN_UNEQUAL * evidence.goodput_mbps:
        other = _evidence_of(evidence, fastest)
        reasons = [] if other is None else list(_reasons(evidence, other))
    elif rates[fastest] * MIN_UNEQUAL <= evidence.goodput_mbps:
        other = _evidence_of(evidence, fastest)
        reasons = [] if other is None else list(_reasons_of_room(other, evidence))
    reasons += _filtered_rtt(evidence)
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
    start = start_text(own, other) if names[0] == names[1] else ""
    if names[0] == names[1] and (text := rtt_text(own, other)):
        yield from filter(None, [text, start])
        return
    reasons = [
        *filter(None, [start]),
        *_reductions(own, other, names),
        *_held_by_queue(own, other, names),
        *_convergence(own, other, names),
        *_later_lowest_rtt(own, other, names),
    ]
    if not reasons:
        reasons = [f"The shares follow the data in flight: {_in_flight_text(own, other, names)}."]
    yield from reasons


def _reasons_of_room(other: Evidence, own: Evidence) -> Iterator[str]:
    """Yields the reasons for which another bulk flow of another CCA got less than this one."""
    names = [_cca_of(each) for each in (other, own)]
    if names[0] != names[1] and len(other.connections) == len(own.connections):
        yield from _reductions(other, own, names)
        yield from _held_by_queue(other, own, names)


def _reductions(own: Evidence, other: Evidence, names: list[str]) -> Iterator[str]:
    """Yields that another flow keeps more of its window after overflows."""
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


def _held_by_queue(own: Evidence, other: Evidence, names: list[str]) -> Iterator[str]:
    """Yields that a queue which another flow fills holds this one back, or a window that is steady."""
    bound = _bound_text(own, names[0])
    if not bound or own.time_share(*_window_limits(names[0])) < MIN_LIMITED_SHARE:
        return
    in_flight = _in_flight_text(own, other, names)
    family = family_of(names[1])
    is_queued = own.queue_wait_ms >= _MIN_WAIT_RTTS * own.min_rtt_ms
    # Two models share by their filters.
    if family not in _FILLS or not is_queued or family_of(names[0]) == family == "model":
        if not family_of(names[0]):
            yield f"{names[0]} {bound}: {in_flight}."
        return
    yield (
        f"{names[1]} {_FILLS[family]}, so that packets wait "
        f"{own.queue_wait_ms:.0f} ms, {own.queue_wait_ms / own.min_rtt_ms:.1f} times the "
        f"lowest RTT; {names[0]} {bound}. {in_flight[0].upper()}{in_flight[1:]}."
    )


def _window_limits(name: str) -> list[str]:
    """Returns the limits by the window of a CCA: BBR paces at the rate that its window leaves it."""
    return ["congestion_window", *(["pacing"] if family_of(name) == "model" else [])]


def _in_flight_text(own: Evidence, other: Evidence, names: list[str]) -> str:
    """Returns the mean data in flight of two flows as a clause."""
    bdps = [float(each.slots["inflight"].mean()) * each.mss / own.bdp for each in (own, other)]
    return (
        f"on average {names[0]} has {bdps[0]:.2f} and {names[1]} {bdps[1]:.2f} bandwidth-delay "
        "products of the link in flight"
    )


def _bound_text(own: Evidence, name: str) -> str:
    """Returns what bounds the window of a flow in a queue; empty for loss-based CCAs.

    The family of a CCA that the user wrote is not known, but its windows are.
    """
    family = family_of(name)
    if family:
        return _BOUNDS.get(family, "")
    falls, is_lossy = _falls(own)
    total, without_loss = falls.sum(), falls[~is_lossy].sum()
    if without_loss >= max(_MIN_WITHOUT_LOSS * total, math.log(_MAX_STEADY)):
        share_text = percent_text(float(without_loss / total))
        return f"reduces its window without a loss of its own ({share_text} of what it reduces)"
    windows = own.slots["cwnd"]
    low, high = windows.quantile([0.05, 0.95])
    return f"keeps its window at {windows.median():.0f} segments" if high <= _MAX_STEADY * low else ""


def _falls(own: Evidence) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Returns by how much the window fell until each slot, in logarithms, and if a loss was near."""
    slots = own.slots.sort_values(["run", "t_s"])
    logs = np.log(slots["cwnd"].clip(lower=1.0))
    falls = -logs.groupby(slots["run"]).diff().clip(upper=0.0).fillna(0.0).to_numpy(float)
    is_lossy = np.zeros(len(slots), bool)
    rows = own.recoveries[["run", "earliest_s", "latest_s"]]
    for run, start_s, end_s in rows.itertuples(index=False, name=None):
        is_near = slots["t_s"].between(start_s - own.slot_s, end_s + own.slot_s)
        is_lossy |= ((slots["run"] == run) & is_near).to_numpy()
    return falls, is_lossy


def _filtered_rtt(own: Evidence) -> Iterator[str]:
    """Yields the lowest RTT in the filter of BBR, where a loss-based flow keeps a queue in it."""
    rivals = [
        name
        for name in own.competing_mbps
        if not own.is_thin_flow(name) and family_of(_cca_of_flow(own, name)) in LOSS_BASED
    ]
    if not own.is_bbr or not rivals or not own.is_bulk:
        return
    lowest_ms = filtered_rtt_ms(own)
    if not lowest_ms >= _MIN_FILTERED_RTT * own.min_rtt_ms:
        return
    yield (
        f"Over {MIN_RTT_FILTER_S:.0f} s, in which BBR measures it, the lowest RTT is "
        f"{lowest_ms:.0f} ms on average instead of {own.min_rtt_ms:.0f} ms: the queue of "
        f"{' and '.join(rivals)} does not empty meanwhile, and BBR's cap in flight is "
        f"{lowest_ms / own.min_rtt_ms:.1f} times as large."
    )


def _cca_of_flow(own: Evidence, name: str) -> str:
    """Returns the name of the congestion control of another flow; empty without a connection."""
    ccas = own.all_connections.loc[own.all_connections["name"] == name, "cca"]
    return parse_flow_cca(str(ccas.iloc[0])).name if len(ccas) else ""


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


def _later_lowest_rtt(own: Evidence, other: Evidence, names: list[str]) -> Iterator[str]:
    """Yields that another flow started later, in the queue of this one, whose window follows delay."""
    if names[0] != names[1] or not _bound_text(own, names[0]):
        return
    starts = [float(each.connections["first_data_s"].min()) for each in (own, other)]
    lowest = [each.seen_min_rtt_ms for each in (own, other)]
    run_s = own.duration_s / len(own.runs)
    if starts[1] - starts[0] < _MIN_LATER_START * run_s or lowest[1] < MIN_LATER_RTT * lowest[0]:
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
