"""Rule about the slowest units of work: the reasons of their delay."""

from __future__ import annotations

import collections
import math
from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.applications.application_metrics import nearest_rank
from celltcp.comparison.applications.units_of_work import UNITS
from celltcp.comparison.explanation.causes.bandwidth_estimates import LOW_ESTIMATE, LowEstimates
from celltcp.comparison.explanation.causes.cause import Cause, number_text, percent_text
from celltcp.comparison.explanation.causes.start_up_frames import late_frames
from celltcp.comparison.explanation.causes.unit_reasons import (
    BEHIND,
    BEHIND_LOST,
    DROPPED,
    IN_QUEUE,
    MAJORITY,
    PROBE,
    REASONS,
    RECOVERY,
    REQUEST_LOST,
    TIME_OUT,
    backlogs_of,
    reasons_of,
)
from celltcp.comparison.explanation.evidence.frame_load import late_beside_others_text, made_mbps
from celltcp.comparison.explanation.evidence.frame_sizes import oversized_text
from celltcp.comparison.explanation.evidence.least_time import transfer_bytes
from celltcp.comparison.explanation.evidence.queue_owners import competitors, longest_in_flight
from celltcp.comparison.explanation.evidence.unit_windows import full_window_text
from celltcp.scenarios.frames import constant_frames
from celltcp.scenarios.initial_window import LARGE_INITIAL_WINDOW, initial_window
from celltcp.scenarios.quantity_texts import size_text, time_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Kinds of units of a size of their own. Other kinds may take long because of their size.
UNIT_KINDS = ("response", "frame_delay", "page_load")
#: Minimum duration of a slow unit, medians of the durations.
_MIN_SLOW_MEDIANS = 1.5
#: Minimum ratio of the mean response weighted by time to the mean of all for a text on few slow ones.
_MIN_FEW_SLOW_RATIO = 1.5
#: Minimum share of the slow units that waited for the backlog of an outage for a text.
_MIN_BACKLOG_SHARE = 0.1
#: Shares of the slowest responses whose reasons have their times, those of percentiles, and minimum
#: number of them.
_SLOWEST_SHARES, _MIN_SLOWEST = (0.01, 0.05), 5
#: Minimum size of frames of several segments, mean sizes of a segment.
_MIN_FRAME_SEGMENTS = 1.5
#: Minimum duration of a page at which round trips are a cause: in lowest RTTs, and in times that the
#: link needs for its bytes.
_MIN_ROUND_TRIPS, _MIN_TRANSFER_TIMES = 5, 2


def slow_units(evidence: Evidence) -> Cause | None:
    """Some units of work were slow: their duration was over {_MIN_SLOW_MEDIANS} times the median.

    Frames with a deadline are slow if they came after it. Some slow units overlap an outage,
    time-out, loss probe or fast recovery, also of a unit before them, or the loss of their request.
    Others waited behind earlier units for most of their time, or in a queue that made their RTTs long.
    Further ones opened their connection, or came after TCP gave it up, the peer had time-outs, or
    losses or PROBE_RTT left them a low window.
    """
    if evidence.units is None:
        return None
    for name in (*UNIT_KINDS, *_alike_transfers(evidence)):
        units = evidence.units[evidence.units["unit"] == name]
        # Units that were not complete at the end took longer than all others.
        units = units.assign(duration_s=units["duration_s"].fillna(np.inf))
        median_s = median_of_runs(units)
        min_slow_s = _MIN_SLOW_MEDIANS * median_s
        bound_text = f"took over {_MIN_SLOW_MEDIANS} times the median of {time_text(median_s)}"
        deadline_s, dropped_count = evidence.deadline_s, 0
        if deadline_s is not None and (units["duration_s"] > deadline_s).any():
            min_slow_s, bound_text = deadline_s, f"came after their deadline of {time_text(deadline_s)}"
            dropped_count = evidence.dropped_frames
        path_ms = evidence.mean("owd_min_ms")
        if deadline_s is not None and len(units) and 1e3 * deadline_s < path_ms:
            return Cause(
                "slow_units",
                f"All {number_text(len(units))} {UNITS[name].noun} came after their deadline of "
                f"{time_text(deadline_s)} or never: the path alone takes {path_ms:.0f} ms, so that no "
                "CCA and no setting keeps it.",
                1.0,
            )
        slow = units[units["duration_s"] > min_slow_s]
        by_unit = {} if slow.empty else reasons_of(evidence, units, slow, min_slow_s)
        reasons = collections.Counter(by_unit.values())
        start_up_text = of_frames.text if (of_frames := late_frames(evidence)) else ""
        if not reasons and start_up_text:
            return Cause("slow_units", start_up_text.strip(), 0.0)
        if not reasons:
            continue
        other_count = len(slow) - reasons.total()
        if dropped_count:
            reasons[DROPPED] = dropped_count
        behind = slow.loc[[index for index, reason in by_unit.items() if reason == BEHIND]]
        parts = [
            f"{number_text(reasons[reason])} {reason}{_detail_text(evidence, reason, behind)}"
            for reason in REASONS
            if reason in reasons
        ]
        if other_count:
            parts.append(f"{number_text(other_count)} had other reasons")
        slow_count, count = len(slow) + dropped_count, len(units) + dropped_count
        ended = slow[np.isfinite(slow["duration_s"])]
        missing_text = ""
        if missing_count := len(slow) - len(ended):
            missing_text = f"; {number_text(missing_count)} of them were not complete at the end"
        longest_text = f", up to {time_text(ended['duration_s'].max())}" if len(ended) else ""
        excess_s = float((ended["duration_s"] - min(median_s, min_slow_s)).sum())
        total_s = units["duration_s"][np.isfinite(units["duration_s"])].sum()
        return Cause(
            "slow_units",
            f"{number_text(slow_count)} of {number_text(count)} {UNITS[name].noun}"
            f"{evidence.in_runs_text} ({percent_text(slow_count / count)}) {bound_text}"
            f"{' or never' if dropped_count else ''}{longest_text}: "
            f"{', '.join(parts)}{missing_text}.{start_up_text}"
            f"{_slowest_text(units, slow, by_unit)}{_repair_text(evidence, reasons)}"
            f"{_timer_text(evidence, reasons)}{_few_slow_text(evidence, units)}"
            f"{oversized_text(evidence)}{_kinds_text(evidence, reasons)}"
            f"{LowEstimates(evidence, units).text if reasons[LOW_ESTIMATE] else ''}"
            f"{_backlog_text(evidence, units, slow, min_slow_s)}"
            f"{late_beside_others_text(evidence, units, slow)}{_unavoidable_text(evidence, slow)}",
            min(excess_s / float(total_s), 1.0) if total_s > 0 else 0.0,
            {reason: reasons[reason] for reason in REASONS if reason in reasons},
        )
    return None


def _alike_transfers(evidence: Evidence) -> tuple[str, ...]:
    """Returns the kind of transfers if they are of one size, each over a connection of its own."""
    is_sequence = evidence.workload.get("kind") == "sequence"
    return ("completion",) if is_sequence and transfer_bytes(evidence.workload) else ()


def _slowest_text(units: pd.DataFrame, slow: pd.DataFrame, reasons: Mapping[Hashable, str]) -> str:
    """Returns sentences on what the slowest per cents of responses or transfers waited for.

    Empty for other units, for few of them, and where some of those are not slow.
    """
    if not units["unit"].isin(("response", "completion")).all():
        return ""
    ordered = slow["duration_s"].sort_values(ascending=False)
    times_s, of_all = units["duration_s"].tolist(), " of all runs" * (units["run"].nunique() > 1)
    texts = []
    for share in _SLOWEST_SHARES:
        count = math.floor(share * len(units))
        if not _MIN_SLOWEST <= count <= len(slow):
            continue
        slowest, percentile = ordered.iloc[:count], 100.0 * (1.0 - share)
        by_reason = collections.defaultdict(list)
        for index, duration_s in slowest.items():
            by_reason[reasons.get(index, "had other reasons")].append(duration_s)
        parts = [
            f"{number_text(len(each))} {reason} ({_range_text(each)})"
            for reason, each in sorted(by_reason.items(), key=lambda item: -len(item[1]))
        ]
        texts.append(
            f" The slowest {100 * share:.0f} % ({number_text(count)}, from "
            f"{time_text(float(slowest.iloc[-1]))} on; p{percentile:.0f}{of_all} "
            f"{_range_text([nearest_rank(times_s, percentile)])}): {', '.join(parts)}."
        )
    return "".join(texts)


def _range_text(times_s: Sequence[float]) -> str:
    """Returns the shortest and the longest of some times as text; those without an end are infinite."""
    ends = [
        time_text(each) if math.isfinite(each) else "no end" for each in (min(times_s), max(times_s))
    ]
    return " to ".join(dict.fromkeys(ends))


def _repair_text(evidence: Evidence, reasons: Mapping[str, int]) -> str:
    """Returns a sentence on repairs of losses that take longer than a deadline; empty for shorter ones.

    The next frame has to arrive after the lost one, its ACK at the sender, and the retransmission at
    the receiver (RFC 8985). Later segments of a frame of several show its losses, and a time-out those
    of frames that are further apart.
    """
    interval_s = interval_before_time_outs(evidence)
    in_recovery = reasons.get(RECOVERY, 0) + reasons.get(BEHIND_LOST, 0)
    is_usual = in_recovery >= MAJORITY * sum(reasons.values())
    if interval_s is None or evidence.deadline_s is None or not is_usual:
        return ""
    next_s = 1.5 * evidence.min_rtt_ms / 1e3
    repair_s = interval_s * (1.0 - float(evidence.workload.get("jitter", 0.0))) + next_s
    if repair_s <= evidence.deadline_s:
        return ""
    next_text = f", and the next one after {1e3 * next_s:.0f}" if reasons.get(BEHIND_LOST) else ""
    # A time-out takes more than an RTT.
    is_later = evidence.min_rtt_s >= interval_s
    rto_text = "" if is_later else ", or a time-out before the next frame (a lower minimum RTO)"
    return (
        f" Under every CCA a lost frame arrives after {1e3 * repair_s:.0f} ms or more{next_text}: the "
        "next frame shows its loss, and its repair takes 1.5 RTTs. A shorter RTT repairs it "
        f"sooner{rto_text}."
    )


def interval_before_time_outs(evidence: Evidence) -> float | None:
    """Returns the interval of frames, s, whose losses the next frame shows before a time-out does.

    It is None for frames of several segments, which show their own losses, and for rare ones.
    """
    frames = constant_frames(evidence.workload)
    if frames is None or frames[0] >= _MIN_FRAME_SEGMENTS * evidence.mss:
        return None
    return frames[1] if frames[1] <= evidence.min_rto_s else None


def _timer_text(evidence: Evidence, reasons: Mapping[str, int]) -> str:
    """Returns a sentence on the timer of loss probes and time-outs; empty where others decide.

    The probe of a lone segment comes no later than its time-out (Linux, `tcp_schedule_loss_probe`).
    """
    waits = sum(reasons.get(reason, 0) for reason in (PROBE, TIME_OUT, REQUEST_LOST))
    if waits < MAJORITY * sum(reasons.values()) or not evidence.is_thin:
        return ""
    rto_s = evidence.mean("rtt_mean_ms") / 1e3 + evidence.min_rto_s
    most = int(max(evidence.recoveries["timeouts"], default=0))
    most_text = f", of which {most} came in a row at most" if most > 1 else ""
    return (
        " The timer of a lone segment is an RTT and the minimum RTO of "
        f"{time_text(evidence.min_rto_s)}, some {time_text(rto_s)}; it doubles with each time-out"
        f"{most_text}."
    )


def _few_slow_text(evidence: Evidence, units: pd.DataFrame) -> str:
    """Returns a sentence on slow times that have few responses; empty where these change little.

    A request that waits for the response before it asks less often while that is slow (coordinated
    omission). Weighted by the time until the next request, responses count as often as a user who asks
    at any time meets them. Pauses of the application are part of that time.
    """
    if evidence.workload.get("kind") != "request-response":
        return ""
    ordered = units.sort_values("start_s")
    pauses_s = ordered.groupby(["run", "connection"])["start_s"].shift(-1) - ordered["end_s"]
    ordered = ordered.assign(pause_s=pauses_s.fillna(pauses_s.mean()).fillna(0.0))
    ordered = ordered[np.isfinite(ordered["duration_s"])]
    times_s = ordered["duration_s"]
    weights_s = times_s + ordered["pause_s"]
    if not weights_s.sum() > 0:
        return ""
    mean_s, weighted_s = times_s.mean(), (times_s * weights_s).sum() / weights_s.sum()
    if weighted_s < _MIN_FEW_SLOW_RATIO * mean_s:
        return ""
    return (
        " Each request waits for the response before it, so that slow times have fewer of them: "
        f"weighted by time, their mean is {time_text(weighted_s)} instead of {time_text(mean_s)}."
    )


def _backlog_text(
    evidence: Evidence, units: pd.DataFrame, slow: pd.DataFrame, min_slow_s: float
) -> str:
    """Returns a sentence on units that waited for the backlog of an outage; empty for few of them."""
    backlogs = backlogs_of(evidence, units)
    is_left = (backlogs.late_by_outages(min_slow_s) & ~backlogs.have_met)[slow.index]
    count = int((is_left & ~LowEstimates(evidence, units).are_met_by(slow)).sum())
    if count < _MIN_BACKLOG_SHARE * len(slow):
        return ""
    frames_mbps, link_mbps = made_mbps(evidence) or 0.0, evidence.link_rates_1s_mbps.median()
    frames_mbps += evidence.others_mbps if frames_mbps else 0.0
    # Frames of an outage have the size that an encoder had before it.
    flows = evidence.scenario["flows"]
    has_encoder = any("encoder" in flow.get("workload", {}) for flow in flows)
    drain_text = ""
    if 0 < frames_mbps < link_mbps and not has_encoder:
        needed_s = frames_mbps / (link_mbps - frames_mbps)
        drain_text = (
            f": after each second of it, the link needs {needed_s:.2g} s for the data of that second "
            "beside new ones"
        )
    return f" Of the slow ones, {number_text(count)} waited for the backlog of an outage{drain_text}."


def _unavoidable_text(evidence: Evidence, slow: pd.DataFrame) -> str:
    """Returns a sentence on late units that outages make late whatever is sent; empty without any.

    They begin in an outage that lasts for longer than their deadline from then on.
    """
    deadline_s = evidence.deadline_s
    if deadline_s is None:
        return ""
    count = 0
    for gap in evidence.outages:
        starts_s = slow["start_s"][slow["run"] == gap.run]
        count += int(starts_s.between(gap.start_s, gap.end_s - deadline_s, inclusive="left").sum())
    if not count:
        return ""
    return (
        f" {number_text(count)} of the {number_text(len(slow))} late ones began in an outage that "
        "lasted beyond their deadline: no CCA and no setting delivers those in time."
    )


def _kinds_text(evidence: Evidence, reasons: Mapping[str, int]) -> str:
    """Returns a sentence on kinds of frames that wait behind each other; empty for other waits."""
    if not evidence.workload.get("beside") or not reasons.get(BEHIND):
        return ""
    return " With a connection of its own, no kind of frames waits behind the others."


def round_trips(evidence: Evidence) -> Cause | None:
    """The objects of pages wait for each other, while the link is idle.

    The median page takes at least {_MIN_ROUND_TRIPS} round trips, and at least {_MIN_TRANSFER_TIMES}
    times as long as the link needs for its bytes. No queue makes the RTT long.
    """
    units = evidence.units
    if units is None or evidence.workload.get("kind") != "page" or not evidence.capacity_mbps > 0:
        return None
    pages = units[units["unit"] == "page_load"]
    min_rtt_ms = evidence.min_rtt_ms
    median_s = median_of_runs(pages.dropna(subset=["duration_s"]))
    count = 1e3 * median_s / min_rtt_ms if median_s and min_rtt_ms > 0 else 0.0
    page_bytes = evidence.total("bytes") / max(len(pages), 1)
    transfer_s = page_bytes / (evidence.capacity_mbps * 1e6 / 8)
    if count < _MIN_ROUND_TRIPS or median_s < _MIN_TRANSFER_TIMES * transfer_s or evidence.is_queued:
        return None
    return Cause(
        "round_trips",
        f"A page takes {count:.0f} round trips of {min_rtt_ms:.0f} ms ({median_s:.2f} s in the "
        f"median), while the {size_text(page_bytes)} of it would pass the link in {transfer_s:.2f} s: "
        f"its objects wait for requests, responses and each other{_window_text(evidence, page_bytes)}.",
        1.0 - transfer_s / median_s,
    )


def _window_text(evidence: Evidence, page_bytes: float) -> str:
    """Returns the round trips that slow start needs for a page of one connection; or empty."""
    segments = page_bytes / evidence.mss
    window = initial_window(evidence.scenario.get("tcp", {}))
    if not evidence.workload.get("multiplexed") or segments <= window:
        return ""
    # In each round trip of slow start the window doubles.
    counts = [math.ceil(math.log2(segments / each + 1)) for each in (window, LARGE_INITIAL_WINDOW)]
    larger = f", and one of {LARGE_INITIAL_WINDOW} needs {counts[1]}" if counts[1] < counts[0] else ""
    return (
        f". Its {number_text(segments)} segments need {counts[0]} of these round trips with an initial "
        f"window of {window}{larger}"
    )


def _detail_text(evidence: Evidence, reason: str, behind: pd.DataFrame) -> str:
    """Returns a text that follows a reason; empty for most of them. `behind` waited behind others."""
    if reason == BEHIND:
        return full_window_text(evidence, behind)
    if reason == IN_QUEUE:
        return _queue_owners_text(evidence)
    if reason == REQUEST_LOST:
        return f"{evidence.ack_link_text} (repeated after a loss probe or time-out of the other end)"
    return ""


def _queue_owners_text(evidence: Evidence) -> str:
    """Returns the flows that fill the queues of the units as text; empty if there are none.

    A request goes in the opposite direction, and may wait in a queue there.
    """
    texts = []
    names = [name for name in competitors(evidence) if not evidence.is_thin_flow(name)]
    if names:
        own = [] if evidence.is_thin else [evidence.flow_name]
        owner = longest_in_flight(evidence, [*own, *names])
        texts.append("its own data" if owner == evidence.flow_name else owner)
    reverse = [name for name in evidence.reverse_mbps if not evidence.is_thin_flow(name)]
    if reverse and evidence.workload.get("kind") != "frames":
        texts.append(f"{longest_in_flight(evidence, reverse)}{evidence.ack_link_text}")
    return f" (that of {' and of '.join(texts)})" if texts else ""


def median_of_runs(units: pd.DataFrame) -> float:
    """Returns the mean over the runs of the median duration of units, as in the tables, s."""
    medians = [
        nearest_rank(durations.tolist(), 50) for _, durations in units.groupby("run")["duration_s"]
    ]
    return float(np.mean(medians)) if medians else 0.0
