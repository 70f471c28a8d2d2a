"""Rules about the path of the data: buffer, outages, losses and competing flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import in_unit
from celltcp.comparison.applications.units_of_work import UNITS
from celltcp.comparison.explanation.causes.below_bdp import below_bdp_text
from celltcp.comparison.explanation.causes.cause import (
    Cause,
    bdps_text,
    number_text,
    percent_text,
    times_text,
)
from celltcp.comparison.explanation.causes.hystart import hystart_text
from celltcp.comparison.explanation.causes.incast import (
    are_of_initial_window,
    first_bursts_text,
    initial_window_text,
)
from celltcp.comparison.explanation.causes.law import (
    holds_bbr_back,
    law_text,
    probe_overflow_text,
    window_overflow_text,
)
from celltcp.comparison.explanation.causes.standing_queues import queued_share
from celltcp.comparison.explanation.causes.startup import start_up
from celltcp.comparison.explanation.causes.unused import climb_text, unused_after_losses
from celltcp.comparison.explanation.evidence.buffers import (
    arrival_hop,
    buffer_bdps,
    buffer_bytes,
    burst_bytes,
    bursts_exceed_buffer,
)
from celltcp.comparison.explanation.evidence.cell_changes import losing_change
from celltcp.comparison.explanation.evidence.evidence import MIN_LIMITED_SHARE
from celltcp.comparison.explanation.evidence.least_time import fits_initial_window
from celltcp.comparison.explanation.evidence.openings import requested_s
from celltcp.comparison.explanation.evidence.outages import MIN_OUTAGE_SHARE
from celltcp.comparison.explanation.evidence.ramps import link_share_text, unused_mbps
from celltcp.comparison.retransmitted import MIN_RESENT
from celltcp.scenarios.packets import PACKET_BYTES
from celltcp.scenarios.quantity_texts import size_text, time_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence.cell_changes import CellChange
    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.evidence.outages import Outage

#: Words of bursts that overflow a shallow buffer.
BURSTS_ARRIVE = "Bursts arrive at"
#: Size below which a buffer is shallow, BDPs; CUBIC (beta 0.7) needs 0.43 to fill the path.
_MAX_SHALLOW_BDPS = 0.5
#: Minimum ratio of the rates of a hop before the bottleneck and of the bottleneck for a text on it.
_MIN_ARRIVAL_RATIO = 2.0
#: Minimum share of unused capacity at which a shallow buffer is a cause.
_MIN_UNUSED_SHARE = 0.02
#: Minimum share of the recoveries with losses, or of these losses, by overflows of a shallow buffer.
_MIN_OVERFLOW_SHARE = 0.1
#: Minimum share of the time in recoveries from overflows in slow start at which they are a cause.
_MIN_OVERSHOOT_SHARE = 0.05
#: Minimum share of the time of the runs in which a flow with connections nearly always has some.
_MIN_ALWAYS_SHARE = 0.95
#: Units of work that begin at any time, and take longer in an outage.
_TIMED_UNITS = ("completion", "response", "page_load")
#: Minimum wait after an outage that a text mentions, s.
_MIN_WAIT_S = 0.05
#: Time of a mean rate beside an outage, s, and the share of that before at which the rate is back.
_RATE_SPAN_S, _MIN_RATE_BACK = 0.5, 0.9
#: Minimum waits, s and RTTs, after which a time-out of a request must have doubled.
_MIN_RTO_WAIT_S, _MIN_RTO_RTTS = 0.6, 3.0
#: Minimum share of the segments that are lost for one reason at which it is a cause.
_MIN_LOSS_SHARE = 5e-4
#: Minimum share of unused capacity at which a few losses for a reason are a cause, if they are most of
#: the losses; on a long path a few losses keep the window small.
_MIN_UNUSED_BY_LOSS = 0.1
#: Minimum share of the segments of BBR that overflow a buffer at which they are a cause.
_MIN_BBR_OVERFLOWS = 0.01
#: Minimum share of the time without data at which a text names the pauses of the application.
_MIN_IDLE_SHARE = 0.05


def shallow_buffer(evidence: Evidence) -> Cause | None:
    """The buffer of the bottleneck is much smaller than a BDP, and overflows.

    It holds, or held at most, less than {_MAX_SHALLOW_BDPS} BDP. The flow has data to send for most of
    the time, and at least {_MIN_UNUSED_SHARE:.0%} of the capacity is unused beside `start_up`.
    Overflows are in at least {_MIN_OVERFLOW_SHARE:.0%} of the recoveries with losses, or of what these
    lost.
    """
    overflows = evidence.recoveries[evidence.recoveries["overflow"] > 0]
    # An overflow fills the buffer, also between the ends of slots.
    queued = max(evidence.max_queued_bytes, buffer_bytes(evidence))
    bdps = buffer_bdps(evidence, queued)
    if not len(overflows) or bdps >= _MAX_SHALLOW_BDPS or not evidence.needs_capacity:
        return None
    slow_start = start_up(evidence)
    unused_share = evidence.unused_share - (slow_start.weight if slow_start else 0.0)
    if unused_share < _MIN_UNUSED_SHARE:
        return None
    lost, drops = overflows["overflow"].sum(), evidence.recoveries["drops"]
    share = len(overflows) / (drops > 0).sum()
    if max(share, lost / drops.sum()) < _MIN_OVERFLOW_SHARE:
        return None
    unused_text = ""
    if _precede_unused(evidence, evidence.recoveries["overflow"]):
        beside_text = " beside slow start" if slow_start else climb_text(evidence)
        unused_text = link_share_text(evidence, unused_share)
        unused_text = f"; {unused_text} of the capacity stayed unused{beside_text}"
    count = evidence.mean_count_text(len(overflows))
    recoveries_text = "1 recovery" if count == "1" else f"{count} recoveries"
    burst_text = ""
    if bursts_exceed_buffer(evidence):
        segments = burst_bytes(evidence) / evidence.mss
        burst_text = (
            f", less than a burst of segmentation offload ({segments:.0f} segments at this rate)"
        )
    return Cause(
        "shallow_buffer",
        f"T{evidence.buffer_text[1:]} is shallow: no more than {size_text(queued)} waited in it, "
        f"{bdps_text(bdps)} of {number_text(evidence.bdp / evidence.mss)} packets{burst_text}. It "
        f"overflowed in {recoveries_text} and dropped {evidence.mean_count_text(lost)} segments"
        f"{evidence.per_run_text}{unused_text}."
        f"{_arrival_text(evidence)}{probe_overflow_text(evidence, bdps)}",
        # Recoveries from other losses reduce the window as well.
        unused_share * share,
    )


def _arrival_text(evidence: Evidence) -> str:
    """Returns the rate of the bursts of an unpaced sender, if the link is much slower; else empty."""
    hop = arrival_hop(evidence)
    if hop is None:
        return ""
    # Of the whole link, of which others may have left little.
    link_mbps = float(evidence.link_rates_1s_mbps.mean()) * PACKET_BYTES / evidence.mss
    ratio = (in_unit(hop["rate"], "Mbit/s") or 0.0) / link_mbps
    if ratio < _MIN_ARRIVAL_RATIO:
        return ""
    return f" {BURSTS_ARRIVE} {hop['rate']} ({hop['name']}), {ratio:.0f} times the rate of the link."


def overshoot(evidence: Evidence) -> Cause | None:
    """Slow start overflowed the buffer.

    The recoveries from that, outside outages, took at least {_MIN_OVERSHOOT_SHARE:.0%} of the time.
    """
    rows = evidence.recoveries
    rows = rows[~overlap_outages(rows, evidence.outages)]
    rows = rows[(rows["slow_start"] == 1) & (rows["overflow"] > 0)]
    share = rows["length_s"].sum() / evidence.connection_time_s if len(rows) else 0.0
    if share < _MIN_OVERSHOOT_SHARE:
        return None
    first_text = first_bursts_text(evidence) or initial_window_text(evidence, rows)
    return Cause(
        "overshoot",
        f"Slow start overflowed {evidence.buffer_text}: "
        f"{evidence.mean_count_text(rows['overflow'].sum())} of the "
        f"{evidence.mean_count_text(rows['segments'].sum())} segments until its repair"
        f"{evidence.per_run_text} were lost, and the recovery took {percent_text(share)} of the time."
        f"{first_text or hystart_text(evidence, rows[~are_of_initial_window(evidence, rows)])}",
        share,
    )


def outage(evidence: Evidence) -> Cause | None:
    """The link let no data pass for at least {MIN_OUTAGE_SHARE:.0%} of the time (table `outages`)."""
    outages = evidence.outages
    total_s = sum(outage.length_s for outage in outages)
    # An outage may delay the first data, with which the slots of a flow begin.
    whole_s = sum(requested_s(evidence).values())
    if not whole_s or total_s < MIN_OUTAGE_SHARE * whole_s:
        return None
    runs_s = float(evidence.comparison.runs["duration_s"].mean()) * len(evidence.runs)
    of_text = "" if whole_s > _MIN_ALWAYS_SHARE * runs_s else " in which it had connections"
    share = min(total_s / whole_s, 1.0)
    waits_s = {outage: wait_s for outage in outages if (wait_s := evidence.wait_after(outage)) > 0}
    longest = max(outages, key=lambda outage: outage.length_s)
    max_wait_s = max(waits_s.values(), default=0.0)
    wait_text = ""
    if max_wait_s >= _MIN_WAIT_S:
        last = max(waits_s, key=waits_s.__getitem__)
        wait_text = (
            f"; data arrived again {_range_text(waits_s.values())} after one"
            f"{timeout_text(evidence, *last[:3], loses_all=last.loses_all)}"
        )
    returns_s = [time_s for gap in outages if (time_s := _rate_return_s(evidence, gap)) is not None]
    if returns_s and evidence.is_bulk:
        wait_text += f"; the rate before it was back {_range_text(returns_s)} after its end"
    if silent := [outage for outage in outages if evidence.ends_silent_after(outage)]:
        runs = len({outage.run for outage in silent})
        of_runs = f" in {runs} of {len(evidence.runs)} runs" if len(evidence.runs) > 1 else ""
        wait_text += f"; nothing arrived after that at {silent[0].start_s:.1f} s{of_runs}"
    link = evidence.value_at("path.up" if evidence.is_upload else "path.down")
    if isinstance(link, dict) and "trace" in link and not any(gap.loses_all for gap in outages):
        wait_text += ". Packets wait in an outage of a trace; those of path.blackouts lose them"
    return Cause(
        "outage",
        f"{_units_text(evidence)}The link carried nothing for {percent_text(share)} of the "
        f"time{of_text}, {times_text(len(outages))}{evidence.in_runs_text}, at most "
        f"{longest.length_s:.1f} s at {longest.start_s:.1f} s{wait_text}.",
        min(share + sum(waits_s.values()) / whole_s, 1.0),
    )


def _units_text(evidence: Evidence) -> str:
    """Returns what outages take of the mean time of units of work as a sentence; empty without any.

    Those that met one are held against the others. Frames come in the outage, too, and are left out.
    """
    kind = evidence.unit_key.partition(":")[0]
    if evidence.units is None or kind not in _TIMED_UNITS:
        return ""
    units = evidence.units
    units = units[(units["unit"] == kind) & units["duration_s"].notna()]
    gaps = [*evidence.outages, *evidence.ack_outages]
    has_met = intervals_overlap_outages(units, units["start_s"], units["end_s"], gaps)
    met, others = units[has_met]["duration_s"], units[~has_met]["duration_s"]
    if met.empty or others.empty or not met.mean() > others.mean():
        return ""
    part = 1.0 - others.mean() / units["duration_s"].mean()
    noun = UNITS[kind].noun
    return (
        f"Outages are {percent_text(part)} of the mean time of {noun}: {number_text(len(met))} of "
        f"{number_text(len(units))} met one, and took {time_text(met.mean())} on average, the others "
        f"{time_text(others.mean())}. "
    )


def _range_text(times_s: Collection[float]) -> str:
    """Returns the mean of times as text, with their range where they differ."""
    times_s = [sum(times_s) / len(times_s), min(times_s), max(times_s)]
    mean, low, high = map(time_text, times_s)
    return mean if low == high else f"{mean} (mean; {low} to {high})"


def _rate_return_s(evidence: Evidence, gap: Outage) -> float | None:
    """Returns the time from the end of an outage until data arrive at the rate before it, s.

    Both rates are means over `_RATE_SPAN_S`. None if there was none, or if it does not come back.
    """
    slots = evidence.slots[evidence.slots["run"] == gap.run]
    before = slots[slots["t_s"].between(gap.start_s - _RATE_SPAN_S, gap.start_s - evidence.slot_s)]
    after = slots[slots["t_s"] >= gap.end_s]
    width = max(round(_RATE_SPAN_S / evidence.slot_s), 1)
    means = after["rate_mbps"].rolling(width).mean()
    wanted = _MIN_RATE_BACK * before["rate_mbps"].mean()
    back = after["t_s"][means >= wanted]
    if not wanted > 0 or back.empty:
        return None
    # The first such span may begin before data arrive.
    since_end_s = float(back.iloc[0]) - (width - 1) * evidence.slot_s - gap.end_s
    return max(since_end_s, evidence.wait_after(gap))


def timeout_text(
    evidence: Evidence, run: int, start_s: float, end_s: float, *, loses_all: bool = True
) -> str:
    """Returns which time-out ended the wait for data after an outage as text; empty without one.

    Packets that wait in an outage pass after it, whatever has expired meanwhile.

    Args:
        evidence: evidence of the flow.
        run: number of the run.
        start_s: start of the outage.
        end_s: end of the outage.
        loses_all: whether packets that were sent in the outage are lost.
    """
    arrival_s = end_s + evidence.wait_from(run, end_s)
    rows = evidence.recoveries[evidence.recoveries["run"] == run]
    since_s = start_s if loses_all else end_s
    rows = rows[rows["timeout_s"].between(since_s, arrival_s + evidence.slot_s)]
    min_rtt_s = evidence.min_rtt_s
    # The recoveries lack time-outs of requests. Only an RTO that has doubled takes this long.
    is_long = arrival_s - end_s >= max(_MIN_RTO_WAIT_S, _MIN_RTO_RTTS * min_rtt_s)
    is_request = rows.empty and is_long and loses_all and evidence.units is not None
    if rows["timeouts"].max() > 1 or is_request:
        return ", when a time-out ended that had doubled with each loss"
    if rows.empty:
        return ""
    return f", when a time-out expired {rows['silence_s'].max():.1f} s after the last ACK"


def overlap_outages(rows: pd.DataFrame, outages: Sequence[Outage]) -> NDArray[np.bool_]:
    """Returns for each recovery whether an outage overlaps the time from its first drop to its end."""
    return intervals_overlap_outages(rows, rows["earliest_s"], rows["latest_s"], outages)


def intervals_overlap_outages(
    rows: pd.DataFrame, starts: pd.Series, ends: pd.Series, outages: Sequence[Outage]
) -> NDArray[np.bool_]:
    """Returns for each row of a run whether an outage overlaps its interval `starts` to `ends`, s."""
    overlap = np.zeros(len(rows), bool)
    for gap in outages:
        overlap |= ((rows["run"] == gap.run) & (gap.start_s <= ends) & (starts <= gap.end_s)).to_numpy()
    return overlap


def losing_changes(evidence: Evidence) -> list[CellChange | None]:
    """Returns for each recovery the change of cells that lost its data on the radio; None without."""
    rows = evidence.recoveries
    times = zip(rows["run"], rows["radio_s"], rows["latest_s"], strict=True)
    return [losing_change(evidence.cell_changes, *each) for each in times]


def policer(evidence: Evidence) -> Cause | None:
    """A policer drops at least two segments.

    They are at least {_MIN_LOSS_SHARE:.2%} of all segments. Fewer count if they are most of the drops,
    or if most recoveries have them, and the congestion window leaves at least
    {_MIN_UNUSED_BY_LOSS:.0%} of the capacity unused.
    """
    verb_text = f"A policer{_policer_text(evidence)} dropped"
    return _loss_cause(evidence, "policer", verb_text, evidence.recoveries["policer"])


def _policer_text(evidence: Evidence) -> str:
    """Returns rate and burst of the only policer as text; empty if there are several."""
    policers = evidence.policers
    if len(policers) != 1 or not evidence.min_rtt_ms > 0:
        return ""
    (policer,) = policers.values()
    burst, mbps = (
        in_unit(policer["burst"], "B") or 0.0,
        1e-6 * (in_unit(policer["rate"], "bit/s") or 0.0),
    )
    # Rate and burst are both of packets with headers.
    share = burst / (125 * mbps * evidence.min_rtt_ms)
    return f" of {policer['rate']}, whose burst of {size_text(burst)} is {bdps_text(share)},"


def random_loss(evidence: Evidence) -> Cause | None:
    """Segments are lost at random, with the thresholds of `policer`.

    Losses in recoveries during an outage that loses all packets do not count.
    """
    rows = evidence.recoveries
    rows = rows[~overlap_outages(rows, evidence.blackouts)]
    cause = _loss_cause(evidence, "random_loss", "Random loss took", rows["random"])
    return cause and cause._replace(text=f"{cause.text}{law_text(evidence)}{below_bdp_text(evidence)}")


def overflows(evidence: Evidence) -> Cause | None:
    """The buffer overflows, and is neither shallow nor overflowed by slow start for long.

    The thresholds are those of `policer`. At least {_MIN_UNUSED_BY_LOSS:.0%} of the capacity is unused,
    by a bulk flow after losses: loss-based CCAs overflow each buffer in the end. Of a bulk flow,
    {MIN_RESENT:.0%} of its segments are enough, and under BBR, which does not reduce its rate then,
    {_MIN_BBR_OVERFLOWS:.0%}.
    Losses in recoveries during an outage do not count.
    """
    is_named = shallow_buffer(evidence) or overshoot(evidence)
    rows = evidence.recoveries
    losses = rows.loc[~overlap_outages(rows, evidence.outages), "overflow"]
    least = _MIN_BBR_OVERFLOWS if evidence.is_bbr else MIN_RESENT
    is_much = evidence.is_bulk and losses.sum() >= least * evidence.total("segments")
    unused = unused_after_losses(evidence) if evidence.is_bulk else evidence.unused_share
    is_costly = min(unused, evidence.unused_share) >= _MIN_UNUSED_BY_LOSS
    if is_named or not (is_much or is_costly) or not _are_most(evidence, losses):
        return None
    cause = _loss_cause(evidence, "overflows", f"{evidence.buffer_text.capitalize()} dropped", losses)
    is_of_bbr = is_much and evidence.is_bbr
    text = (
        window_overflow_text(evidence, buffer_bdps(evidence, buffer_bytes(evidence)))
        if is_of_bbr
        else ""
    )
    return cause and cause._replace(text=f"{cause.text}{text}")


def radio_loss(evidence: Evidence) -> Cause | None:
    """The radio lost segments, with the thresholds of `policer`.

    Losses by handovers and radio link failures do not count.
    """
    is_other = np.array([change is None for change in losing_changes(evidence)], bool)
    rows = evidence.recoveries[is_other]
    return _loss_cause(evidence, "radio_loss", "The radio lost", rows["radio"])


def aqm(evidence: Evidence) -> Cause | None:
    """A queue discipline drops segments early, with the thresholds of `policer`."""
    return _loss_cause(evidence, "aqm", "The queue discipline dropped", evidence.recoveries["aqm"])


def _are_relevant(evidence: Evidence, losses: pd.Series, lost: float, sent: float) -> bool:
    """Returns whether losses for a reason are many, or are most losses while capacity stays unused.

    A recovery reduces the window once, however many segments it repairs. A few losses cost nothing
    where neither the window nor recoveries hold data back, as under BBR.

    Args:
        evidence: evidence of the flow.
        losses: segments that were lost for the reason, in each recovery.
        lost: sum of `losses`.
        sent: segments of the flow.
    """
    if not sent or lost < 2:
        return False
    window_share = evidence.time_share("congestion_window", "recovery", "timeout")
    # Results of earlier versions have no shares of limits.
    is_window_limited = window_share >= MIN_LIMITED_SHARE or not evidence.limit_shares
    costs_goodput = (
        is_window_limited and not evidence.is_thin and evidence.unused_share >= _MIN_UNUSED_BY_LOSS
    )
    return bool(lost >= _MIN_LOSS_SHARE * sent or (costs_goodput and _are_most(evidence, losses)))


def _are_most(evidence: Evidence, losses: pd.Series) -> bool:
    """Returns whether losses for a reason are most drops, or in most recoveries."""
    drops = evidence.recoveries["drops"]
    return bool(losses.sum() > drops.sum() / 2 or (losses > 0).sum() > (drops > 0).sum() / 2)


def _precede_unused(evidence: Evidence, losses: pd.Series) -> bool:
    """Returns whether losses for a reason reduced the window last before most of what stays unused.

    An overflow of slow start may drop most of all segments, but other losses cut the window later.
    Without losses before it, what stays unused counts for the reason of most losses.
    """
    rows = evidence.recoveries
    rows = rows.assign(is_own=losses.reindex(rows.index, fill_value=0) > 0)
    rows = rows[rows["drops"] > 0].sort_values("t_s")
    own = total = 0.0
    for run in evidence.runs:
        slots, of_run = evidence.slots[evidence.slots["run"] == run], rows[rows["run"] == run]
        latest = np.searchsorted(of_run["t_s"], slots["t_s"], side="right") - 1
        unused = unused_mbps(evidence, slots).to_numpy(float)[latest >= 0]
        total += unused.sum()
        own += unused[of_run["is_own"].to_numpy(bool)[latest[latest >= 0]]].sum()
    return own > total / 2 if total > 0 else _are_most(evidence, losses)


def _loss_cause(evidence: Evidence, name: str, verb_text: str, losses: pd.Series) -> Cause | None:
    """Returns the cause of the losses for a reason; None if they are too few.

    Args:
        evidence: evidence of the flow.
        name: name of the cause.
        verb_text: beginning of its sentence, up to the number of lost segments.
        losses: segments that were lost for the reason, in each recovery.
    """
    lost, sent = losses.sum(), evidence.total("segments")
    if not _are_relevant(evidence, losses, lost, sent):
        return None
    # A flow that sends little leaves most of the capacity unused, whatever is lost. BBR hardly reacts
    # to a recovery, so that the reason of most lost segments counts, where they hold it back.
    is_bbr, drops = evidence.is_bbr, evidence.recoveries["drops"].sum()
    if is_bbr:
        is_minor = lost <= drops / 2 or not holds_bbr_back(evidence, lost / sent)
    else:
        is_minor = not _precede_unused(evidence, losses)
    # What stays unused in pauses of the application is not for losses. A transfer of a sequence has no
    # pauses: at its end all is in flight until it is repaired, but much of it may be slow start. One
    # that the initial window holds is in flight as a whole, losses or not.
    is_sequence = evidence.workload.get("kind") == "sequence"
    limits: tuple[str, ...] = () if evidence.is_bulk else ("in_flight",)
    if is_sequence:
        limits = ("startup", "in_flight") if fits_initial_window(evidence) else ("startup",)
    idle_share = evidence.time_share("idle", *limits)
    cost = 0.0 if evidence.is_thin or is_minor else max(evidence.unused_share - idle_share, 0.0)
    after_text = ""
    if is_bbr and evidence.is_bulk and cost:
        # Start-up and probes of BBR leave capacity unused, too.
        cost, after_text = min(cost, unused_after_losses(evidence)), " after losses"
    share_text = f"; {link_share_text(evidence, cost)} of the capacity stayed unused{after_text}"
    cost_text = share_text if cost >= 0.005 else ""
    if cost_text and idle_share >= _MIN_IDLE_SHARE:
        cost_text += " beside slow start" if is_sequence else " beside the pauses of the application"
    # While the link has a queue of the flow, it sends all that the link carries.
    window_share = evidence.time_share("congestion_window", "recovery") - queued_share(evidence)
    if evidence.is_thin and window_share >= MIN_LIMITED_SHARE:
        cost = window_share
        cost_text = (
            "; the congestion window or a recovery then held its data back, for "
            f"{percent_text(window_share)} of the time"
        )
    return Cause(
        name,
        f"{verb_text} {evidence.mean_count_text(lost)} of {evidence.mean_count_text(sent)} segments"
        f"{evidence.per_run_text} ({percent_text(lost / sent)}){cost_text}.",
        max(cost, lost / sent),
    )


def timeouts_text(evidence: Evidence, rows: pd.DataFrame) -> str:
    """Returns the mean number of time-outs per run in these recoveries as text."""
    count = evidence.mean_count_text(rows["timeouts"].sum())
    return f"{count} {'time-out' if count == '1' else 'time-outs'}{evidence.per_run_text}"
