"""Remedies of waits for timers: a lower minimum RTO, where queues are short and time-outs single."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.tail import interval_before_time_outs
from celltcp.comparison.explanation.causes.unit_reasons import (
    PEER_TIME_OUT,
    PROBE,
    REQUEST_LOST,
    TIME_OUT,
)
from celltcp.comparison.explanation.evidence.evidence import MIN_QUEUED_RTTS
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.lines.linux_lines import REQUEST_KINDS, host_of_field
from celltcp.results.captured_limits import OPEN_ENDS
from celltcp.scenarios.frames import constant_frames
from celltcp.scenarios.lower_bounds import has_open_ends
from celltcp.scenarios.requests import response_deadline_s
from celltcp.scenarios.sides import SIDES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy

#: Minimum RTO of a remedy, and the lowest one that the timers of Linux keep, ms.
_MIN_RTO_MS, _LOWEST_MIN_RTO_MS = 20, 5
#: Number of time-outs in a row from which on an RTO is far above its minimum.
_MIN_DOUBLED = 3
#: Ends of the fields that set when time-outs expire.
_RTO_FIELDS = (".min_rto", ".rto_max")


def min_rtos(evidence: Evidence, reasons: Mapping[str, int] | None = None) -> Iterator[Remedy]:
    """Yields a lower minimum RTO: of all hosts, and of each whose timer slow units waited for alone.

    Of responses with a shorter deadline, it is half of that; of frames a lower one is tried, too, which
    leaves more of the time to a deadline or to the next frame. `reasons` of slow units say how many of
    them wait for the timer of either host.
    """
    counts = [
        sum((reasons or {}).get(each, 0) for each in timers)
        for timers in ((PROBE, TIME_OUT), (REQUEST_LOST, PEER_TIME_OUT))
    ]
    rto_ms = _MIN_RTO_MS
    if (deadline_s := response_deadline_s(evidence.workload)) is not None:
        rto_ms = max(min(rto_ms, math.floor(1e3 * deadline_s / 2)), _LOWEST_MIN_RTO_MS)
    price = "data sent again in vain where ACKs take longer"
    against = "waits for time-outs and loss probes"
    of_hosts = " ({} of the sender, which gains them alone, and {} of the other end)".format(*counts)
    # The setting of a side wins over that of all.
    tables = ["tcp", *(f"tcp.{side}" for side in SIDES if evidence.value_at(f"tcp.{side}.min_rto"))]
    changes = tuple(f"{table}.min_rto={rto_ms}ms" for table in tables)
    whole = f"{against}{of_hosts if all(counts) else ''}"
    of_all = Remedy(whole, changes, price=price, family=changes[0])
    yield of_all
    if constant_frames(evidence.workload) is not None:
        lower = tuple(f"{table}.min_rto={_LOWEST_MIN_RTO_MS}ms" for table in tables)
        yield of_all._replace(changes=lower, variant=1 + len(SIDES))
    if evidence.sides[0] != evidence.sides[1] and evidence.workload.get("kind") in REQUEST_KINDS:
        for side, count in zip(evidence.sides, counts, strict=True):
            change = f"tcp.{side}.min_rto={rto_ms}ms"
            host = host_of_field(f"tcp.{side}.min_rto", evidence.scenario)
            text = f"{against} of the {host} ({count} of {sum(counts)})"
            if count:
                variant = 1 + SIDES.index(side)
                yield Remedy(text, (change,), price=price, variant=variant, family=changes[0])


def with_open_ends(proposed: ProposedRemedy) -> ProposedRemedy:
    """Returns a change of an RTO as undecided where a capture leaves open when its blackouts ended.

    Time-outs expire before or after an end by its time, which a trial has as the scenario guesses it.
    """
    fields = (change.partition("=")[0] for change in proposed.remedy.changes)
    if not any(field.endswith(_RTO_FIELDS) for field in fields) or not has_open_ends(proposed.scenario):
        return proposed
    against = f"{proposed.remedy.against}; undecided: {OPEN_ENDS}"
    return proposed._replace(remedy=proposed.remedy._replace(against=against, is_untried=True))


def is_short_rto_useful(evidence: Evidence) -> bool:
    """Returns whether a shorter RTO helps: queues are short, and a repair after it meets a deadline."""
    min_rtt_ms = evidence.min_rtt_ms
    repair_ms = 1.5 * min_rtt_ms + _MIN_RTO_MS
    # The mean RTT has the delays of ACKs, too.
    is_queued = evidence.queue_wait_ms > (MIN_QUEUED_RTTS - 1.0) * min_rtt_ms
    if have_doubled(evidence):
        return False
    # Responses that miss their deadline anyway come sooner all the same.
    has_time = evidence.deadline_s is None or repair_ms < 1e3 * evidence.deadline_s
    return not is_queued and (has_time or evidence.workload.get("kind") == "request-response")


def is_rto_before_next_frame(evidence: Evidence) -> bool:
    """Returns whether the next frame shows a loss, and a short RTO would come sooner."""
    interval_s = interval_before_time_outs(evidence)
    rto_ms = evidence.min_rtt_ms + _MIN_RTO_MS
    return interval_s is not None and evidence.is_thin and 1e3 * interval_s > rto_ms


def have_doubled(evidence: Evidence) -> bool:
    """Returns whether most of the time in time-outs is of such that have doubled several times.

    A lower minimum RTO then only shifts the times at which they expire, to either side of an outage.
    """
    rows = evidence.recoveries[evidence.recoveries["timeouts"] > 0]
    lengths_s = rows["length_s"]
    return bool(lengths_s[rows["timeouts"] >= _MIN_DOUBLED].sum() > lengths_s.sum() / 2)
