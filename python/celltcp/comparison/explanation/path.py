"""Rules about the path: its buffer, interruptions, losses, the path of ACKs, and other flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import in_unit
from celltcp.comparison.explanation.cause import Cause, grouped, percent, times
from celltcp.comparison.units_of_work import UNITS
from celltcp.present.quantities import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence import Evidence, Gap

#: Size of a buffer below which it is shallow, BDPs (half of the window that CUBIC keeps is 0.7).
_SHALLOW = 0.5
#: Share of the capacity that a shallow buffer leaves unused.
_UNUSED = 0.02
#: Minimum share of the time in recoveries from an overflow in slow start at which they are a cause.
_OVERSHOT = 0.05
#: Minimum share of the time in interruptions at which they are a cause.
_INTERRUPTED = 0.02
#: Minimum wait after an outage at which a time-out has doubled, s and RTTs.
_DOUBLED_S, _DOUBLED = 0.6, 3.0
#: Minimum share of the segments lost to one reason at which it is a cause.
_LOST = 5e-4
#: Share of the capacity that losses of one reason leave unused where they are most of all losses; on a
#: long path a few of them keep the window small.
_UNUSED_BY_LOSS = 0.1
#: Share of the time for which a window reduced by losses holds back responses or frames.
_HELD = 0.2
#: Minimum share of the units of work after a sleep at which it is a cause.
_SLEPT = 0.1
#: Workloads whose units begin with a request.
_REQUESTED = ("request-response", "page")
#: Minimum silence before a time-out that late ACKs can have caused, s.
_SILENT_S = 0.1
#: Minimum share of what all flows got at which the others compete.
_COMPETES = 0.1
#: Minimum mean excess delay of ACKs that is a cause, of the lowest RTT and in ms.
_LATE_ACKS, _LATE_ACKS_MS = 0.5, 30.0
#: Minimum mean delay in the queue at which it is a cause, of the lowest RTT and in ms.
_QUEUE, _QUEUE_MS = 0.5, 20.0
#: Mean delay in the queue that a flow with the whole capacity holds, in ms and of the mean RTT.
_HELD_MS, _HELD_SHARE = 2.0, 0.05
#: Share of the capacity that is unused by a flow that does not have it.
_WITHOUT = 0.2


def shallow_buffer(evidence: Evidence) -> Cause | None:
    """The buffer of the bottleneck overflows although it is much smaller than a BDP.

    Less than {_SHALLOW} BDP ever waited in it, the flow has data to send for most of the time, and
    {_UNUSED:.0%} is unused.
    """
    overflows = evidence.recoveries[evidence.recoveries["overflow"] > 0]
    most = evidence.most_queued
    is_deep = most >= _SHALLOW * evidence.bdp
    if not len(overflows) or is_deep or not evidence.wants_more or evidence.unused < _UNUSED:
        return None
    lost = overflows["overflow"].sum()
    count = evidence.mean_count(len(overflows))
    recoveries = "1 recovery" if count == "1" else f"{count} recoveries"
    bursts = ""
    if evidence.overflows_by_bursts:
        segments = evidence.burst / evidence.mss
        bursts = f", less than a burst of segmentation offload ({segments:.0f} segments at this rate)"
    return Cause(
        "shallow_buffer",
        f"T{evidence.buffer_words[1:]} is shallow: no more than {size_text(most)} waited in it, "
        f"{most / evidence.bdp:.2f} of the bandwidth-delay product of {size_text(evidence.bdp)}{bursts}"
        f". It overflowed in {recoveries} and dropped {evidence.mean_count(lost)} "
        f"segments{evidence.a_run}; {percent(evidence.unused)} of the capacity stayed unused.",
        # Other losses reduce the window as well.
        evidence.unused * len(overflows) / (evidence.recoveries["drops"] > 0).sum(),
    )


def overshoot(evidence: Evidence) -> Cause | None:
    """Slow start overflowed the buffer, and the recoveries took {_OVERSHOT:.0%} of the time."""
    rows = evidence.recoveries
    rows = rows[(rows["slow_start"] == 1) & (rows["overflow"] > 0)]
    share = rows["length_s"].sum() / evidence.connection_seconds if len(rows) else 0.0
    if share < _OVERSHOT:
        return None
    return Cause(
        "overshoot",
        f"Slow start overflowed {evidence.buffer_words}: "
        f"{evidence.mean_count(rows['overflow'].sum())} of "
        f"{evidence.mean_count(rows['segments'].sum())} segments{evidence.a_run} were lost, and the "
        f"recovery took {percent(share)} of the time.",
        share,
    )


def outage(evidence: Evidence) -> Cause | None:
    """Nothing passed on the way of the data in {_INTERRUPTED:.0%} of the time (table `outages`)."""
    gaps = evidence.outages
    whole = sum(gap.length for gap in gaps)
    if not evidence.seconds or whole < _INTERRUPTED * evidence.seconds:
        return None
    share = min(whole / evidence.seconds, 1.0)
    waits = [wait for gap in gaps if (wait := evidence.restart_after(gap)) > 0]
    longest = max(gaps, key=lambda gap: gap.length)
    restarted = max(waits, default=0.0)
    after = f"; data arrived again at most {restarted:.1f} s after that" if restarted >= 0.05 else ""
    # Whatever is sent in an outage shows its end, but a time-out that has doubled comes late.
    if restarted >= max(_DOUBLED_S, _DOUBLED * evidence.mean("rtt_min_ms") / 1e3):
        after += ", when a time-out ended that had doubled with each loss"
    runs = f" in {len(evidence.runs)} runs" if len(evidence.runs) > 1 else ""
    return Cause(
        "outage",
        f"The link carried nothing for {percent(share)} of the time, {times(len(gaps))}{runs}, at most "
        f"{longest.length:.1f} s at {longest.start:.1f} s{after}.",
        min(share + sum(waits) / evidence.seconds, 1.0),
    )


def uplink(evidence: Evidence) -> Cause | None:
    """ACKs came late or not at all, although the data had arrived.

    A time-out without an outage came after {_SILENT_S} s without an ACK, while unreported data had
    arrived. Or ACKs are late by {_LATE_ACKS_MS:.0f} ms and {_LATE_ACKS:.0%} of the lowest RTT on
    average.
    """
    rows = evidence.recoveries
    rows = rows[(rows["timeouts"] > 0) & (rows["unreported_bytes"] > 0)]
    # A time-out right after an ACK is no matter of late ACKs.
    rows = rows[rows["silence_s"] >= _SILENT_S]
    rows = rows[~_during(rows, evidence.outages)]
    slots = evidence.slots.dropna(subset=["rtt_mean_ms", "owd_mean_ms"])
    back = slots["rtt_mean_ms"] - slots["owd_mean_ms"]
    least = evidence.mean("rtt_min_ms") - evidence.mean("owd_min_ms")
    late = float(back.mean() - least) if len(back) else 0.0
    is_late = late >= max(_LATE_ACKS * evidence.mean("rtt_min_ms"), _LATE_ACKS_MS)
    if not len(rows) and not is_late:
        return None
    parts = []
    if len(rows):
        parts.append(
            f"{timeouts_of(evidence, rows)} came while data had arrived that no ACK reported, "
            f"with up to {rows['silence_s'].max():.1f} s without an ACK"
        )
    if is_late:
        parts.append(f"ACKs took {late:.0f} ms longer than at best on average")
    silent = rows["silence_s"].sum() / evidence.connection_seconds if len(rows) else 0.0
    delayed = late / (late + evidence.mean("rtt_min_ms")) if is_late else 0.0
    weight = min(max(silent, delayed), 1.0)
    way = "downlink" if evidence.is_upload else "uplink"
    verb = "lost" if evidence.loses_acks and not is_late else "held up"
    others = evidence.others_back
    filler = max(others, key=others.__getitem__, default="")
    filled = f", which {filler} ({others[filler]:.2f} Mbit/s) filled," if filler and is_late else ""
    return Cause("uplink", f"The {way}{filled} {verb} ACKs: {', and '.join(parts)}.", weight)


def _during(rows: pd.DataFrame, gaps: Sequence[Gap]) -> NDArray[np.bool_]:
    """Returns for each recovery whether the link carried nothing while its first time-out ran."""
    return _overlap(rows, rows["timeout_s"] - rows["silence_s"], rows["timeout_s"], gaps)


def beside(rows: pd.DataFrame, gaps: Sequence[Gap]) -> NDArray[np.bool_]:
    """Returns for each recovery whether the link carried nothing for a part of it."""
    return _overlap(rows, rows[["dropped_s", "t_s"]].min(axis=1), rows["end_s"].fillna(np.inf), gaps)


def _overlap(
    rows: pd.DataFrame, starts: pd.Series, ends: pd.Series, gaps: Sequence[Gap]
) -> NDArray[np.bool_]:
    """Returns for each recovery whether a time of it, from `starts` to `ends`, overlaps a gap."""
    spans = zip(rows["run"], starts, ends, strict=True)
    return np.array(
        [any(gap.overlaps(run, start, end) for gap in gaps) for run, start, end in spans],
        bool,
    )


def sleep(evidence: Evidence) -> Cause | None:
    """Units of work began after a pause longer than the inactivity timer of DRX.

    The phone may then sleep until its next cycle. They are {_SLEPT:.0%} of all. A phone that requests
    them is awake until the answer, if that comes before the timer expires.
    """
    drx = (evidence.scenario.get("radio") or {}).get("drx")
    if not drx or evidence.units is None or not evidence.is_thin:
        return None
    inactivity, cycle, on = (
        in_unit(drx[name], "s") or 0.0 for name in ("inactivity", "long_cycle", "on_duration")
    )
    # The grant for a request starts the timer, as new data do (TS 36.321 clause 5.7).
    is_awake = evidence.mean("rtt_min_ms") / 1e3 < inactivity
    if evidence.workload.get("kind") in _REQUESTED and is_awake and not evidence.is_upload:
        return None
    units = evidence.units.sort_values(["run", "connection", "start_s"])
    ends = units.groupby(["run", "connection"])["end_s"].shift()
    slept = units[units["start_s"] - ends > inactivity]
    whole = float(units["duration_s"].sum())
    if len(slept) < _SLEPT * len(units) or not whole > 0:
        return None
    # A packet comes at any time of a cycle.
    wait = (cycle - on) ** 2 / (2 * cycle)
    return Cause(
        "sleep",
        f"The phone slept (DRX): {grouped(len(slept))} of {grouped(len(units))} "
        f"{UNITS[str(units['unit'].iloc[0])].noun} began after a pause of over "
        f"{1e3 * inactivity:g} ms, when data may wait for up to {1e3 * cycle:g} ms.",
        min(wait * len(slept) / whole, 1.0),
    )


def policer(evidence: Evidence) -> Cause | None:
    """A policer drops {_LOST:.2%} of the segments, and at least two.

    Or most drops or recoveries are due to it, and {_UNUSED_BY_LOSS:.0%} is unused.
    """
    return _losses(evidence, "policer", f"A policer{_of_policer(evidence)} dropped")


def _of_policer(evidence: Evidence) -> str:
    """Returns rate and burst of the only policer in words; empty if there are several."""
    policers = evidence.policers
    if len(policers) != 1 or not evidence.bdp > 0:
        return ""
    (policer,) = policers.values()
    burst = in_unit(policer["burst"], "B") or 0.0
    share = burst / evidence.bdp
    return (
        f" of {policer['rate']}, whose burst of {size_text(burst)} is {share:.2f} of the "
        "bandwidth-delay product,"
    )


def random_loss(evidence: Evidence) -> Cause | None:
    """Segments are lost at random, as many as for `policer`.

    Losses beside an outage that loses all do not count.
    """
    rows = evidence.recoveries
    rows = rows[~beside(rows, [gap for gap in evidence.outages if gap.loses_all])]
    lost, sent = rows["random"].sum(), evidence.total("segments")
    if not _matters(evidence, lost, sent, int((rows["random"] > 0).sum())):
        return None
    return _lost("random_loss", "Random loss took", lost, sent, evidence)


def radio_loss(evidence: Evidence) -> Cause | None:
    """The radio gave segments up, as many as for `policer`."""
    return _losses(evidence, "radio", "The radio lost")


def aqm(evidence: Evidence) -> Cause | None:
    """A queue discipline drops early, as many segments as for `policer`."""
    return _losses(evidence, "aqm", "The queue discipline dropped")


def _losses(evidence: Evidence, reason: str, verb: str) -> Cause | None:
    losses, sent = evidence.recoveries[reason], evidence.total("segments")
    lost = losses.sum()
    if not _matters(evidence, lost, sent, int((losses > 0).sum())):
        return None
    return _lost(reason if reason != "radio" else "radio_loss", verb, lost, sent, evidence)


def _matters(evidence: Evidence, lost: float, sent: float, recoveries: int) -> bool:
    """Returns whether losses of a reason are many, or most of all while capacity stays unused.

    A recovery reduces the window once, however many segments it repairs. A few losses cost nothing
    where neither the window nor recoveries hold data back, as under BBR.
    """
    if not sent or lost < 2:
        return False
    drops = evidence.recoveries["drops"]
    are_most = lost > drops.sum() / 2 or recoveries > (drops > 0).sum() / 2
    held = evidence.share("congestion_window", "recovery", "timeout")
    # Results of earlier versions have no shares.
    holds = held >= _HELD or not evidence.shares
    leaves = holds and not evidence.is_thin and evidence.unused >= _UNUSED_BY_LOSS
    return bool(lost >= _LOST * sent or (are_most and leaves))


def _lost(name: str, verb: str, lost: float, sent: float, evidence: Evidence) -> Cause:
    # A flow that sends little leaves most of the capacity unused, whatever is lost.
    cost = 0.0 if evidence.is_thin else evidence.unused
    rest = f"; {percent(cost)} of the capacity stayed unused" if cost >= 0.005 else ""
    held = evidence.share("congestion_window", "recovery")
    if evidence.is_thin and held >= _HELD:
        cost = held
        rest = f"; the congestion window then held its data back, for {percent(held)} of the time"
    return Cause(
        name,
        f"{verb} {evidence.mean_count(lost)} of {evidence.mean_count(sent)} segments{evidence.a_run} "
        f"({percent(lost / sent)}){rest}.",
        max(cost, lost / sent),
    )


def competition(evidence: Evidence) -> Cause | None:
    """Other flows of the same direction got {_COMPETES:.0%} of what all got while this one ran.

    Responses and frames do not compete.
    """
    others = evidence.others
    whole = evidence.goodput + sum(others.values())
    taken = sum(others.values()) / whole if whole > 0 else 0.0
    if taken < _COMPETES or evidence.is_thin:
        return None
    largest = sorted(others, key=others.__getitem__, reverse=True)
    named = ", ".join(f"{name} {others[name]:.2f}" for name in largest[:3])
    more = f" and {len(largest) - 3} more" if len(largest) > 3 else ""
    return Cause(
        "competition",
        f"Other flows took {percent(taken)} of what all got while it ran: {named}{more} Mbit/s.",
        taken,
    )


def queue(evidence: Evidence) -> Cause | None:
    """The flow, or others, kept a queue.

    Packets wait {_QUEUE_MS:.0f} ms and {_QUEUE:.0%} of the lowest RTT on average, beyond what the
    jitter of the path makes.
    """
    least = evidence.mean("rtt_min_ms")
    induced = evidence.mean("rtt_mean_ms") - least - evidence.jitter_ms
    waits = evidence.queue_wait_ms
    if not waits >= max(_QUEUE * least, _QUEUE_MS):
        return None
    return Cause(
        "queue",
        f"A queue stood on the way{_filled_by(evidence)}: packets waited {waits:.0f} ms on average, "
        f"{percent(_share_of_rtt(evidence))} of the mean RTT, beside a lowest RTT of "
        f"{least:.0f} ms.",
        min(induced / (induced + least), 1.0) if induced > 0 else 0.0,
    )


def held_queue(evidence: Evidence) -> Cause | None:
    """The flow has the capacity, and holds a shorter queue for that.

    Packets of a bulk flow wait {_HELD_MS:.0f} ms and {_HELD_SHARE:.0%} of the mean RTT on average, and
    less than {_WITHOUT:.0%} is unused.
    """
    rtt, waits = evidence.mean("rtt_mean_ms"), evidence.queue_wait_ms
    if not evidence.is_bulk or not waits >= max(_HELD_MS, _HELD_SHARE * rtt):
        return None
    if evidence.unused >= _WITHOUT:
        return None
    median = float(evidence.slots["owd_mean_ms"].median())
    standing = median - evidence.mean("owd_min_ms") - evidence.jitter_ms
    in_flight = float(evidence.slots["inflight"].mean()) * evidence.mss / evidence.bdp
    half = f" ({standing:.0f} ms or more for half of the time)" if standing >= 1 else ""
    share = _share_of_rtt(evidence)
    return Cause(
        "held_queue",
        f"It holds a queue: packets waited {waits:.0f} ms on average{half}, {percent(share)} of "
        f"the mean RTT, with {in_flight:.1f} bandwidth-delay products in flight.",
        share,
    )


def _share_of_rtt(evidence: Evidence) -> float:
    """Returns the share of the wait in a queue in the mean RTT.

    Delays are means over packets and RTTs over ACKs, so that the wait alone may be longer.
    """
    waits = evidence.queue_wait_ms
    return waits / max(evidence.mean("rtt_mean_ms"), waits + evidence.mean("rtt_min_ms"))


def _filled_by(evidence: Evidence) -> str:
    """Returns the flow that fills the queue of one that is no bulk flow; empty if none is known."""
    others = evidence.others
    if evidence.is_bulk or not others:
        return ""
    largest = max(others, key=others.__getitem__)
    return f", which {largest} ({others[largest]:.2f} Mbit/s) filled"


def timeouts_of(evidence: Evidence, rows: pd.DataFrame) -> str:
    """Returns the time-outs of recoveries in words."""
    count = evidence.mean_count(rows["timeouts"].sum())
    return f"{count} {'time-out' if count == '1' else 'time-outs'}{evidence.a_run}"
