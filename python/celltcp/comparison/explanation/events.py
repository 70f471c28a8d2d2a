"""Events: the few loss recoveries and interruptions that cost a flow most, with their dates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp.comparison.explanation.cause import grouped
from celltcp.present.quantities import size_text
from celltcp.scenarios.cca_mix import counted

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Events of a run at most.
_MAX_EVENTS = 5

#: Words for a drop by each reason: where, and what happened there.
_DROPPED = {
    "overflow": "overflow of the buffer",
    "aqm": "drops by the queue discipline",
    "policer": "drops by the policer",
    "random": "random loss",
    "radio": "loss on the radio",
}


class Event(NamedTuple):
    """Loss recovery, time-out or outage of a flow."""

    #: Seed of the run.
    seed: int
    #: Time, s.
    t_s: float
    #: `overflow`, `aqm`, `policer`, `random`, `radio`, `timeout`, `needless` or `outage`.
    kind: str
    #: Description, with its figures.
    text: str
    #: Time that it took, s.
    length_s: float


def longest_events(evidence: Evidence) -> list[Event]:
    """Returns the events that took most time in the first run, in the order of time."""
    run = evidence.runs[0]
    rows = evidence.recoveries
    events = [_recovery(evidence, row) for row in rows[rows["run"] == run].to_dict("records")]
    seed = evidence.seeds[run]
    events += [
        Event(
            seed,
            gap.start,
            "outage",
            f"outage of the link at {gap.start:.1f} s: {gap.length:.1f} s without capacity",
            gap.length,
        )
        for gap in evidence.outages
        if gap.run == run
    ]
    longest = sorted(events, key=lambda each: -each.length_s)[:_MAX_EVENTS]
    return sorted(longest, key=lambda each: each.t_s)


def _recovery(evidence: Evidence, row: dict[Any, Any]) -> Event:
    """Returns a recovery with what led to it."""
    reasons = {reason: int(row[reason]) for reason in _DROPPED if row[reason] > 0}
    seed = evidence.seeds[int(row["run"])]
    if row["timeouts"] > 0 and not row["overflow"] > 0:
        return _time_out(evidence, row, reasons, seed)
    length = float(row["length_s"])
    if not reasons:
        undone = row["undone"] > 0
        text = f"recovery at {row['t_s']:.2f} s although nothing was lost" + (
            ", reduction undone" if undone else ""
        )
        return Event(seed, float(row["t_s"]), "needless", text, length)
    kind = max(reasons, key=reasons.__getitem__)
    start = " in slow start" if row["slow_start"] else ""
    lost = sum(reasons.values())
    waits = f", with {counted(int(row['timeouts']), 'time-out')}" if row["timeouts"] > 0 else ""
    text = (
        f"{_DROPPED[kind]} at {row['dropped_s']:.2f} s{start}: {grouped(lost)} of "
        f"{grouped(row['segments'])} segments lost; recovery {length:.1f} s{waits}"
    )
    return Event(seed, float(row["dropped_s"]), kind, text, length)


def _time_out(evidence: Evidence, row: dict[Any, Any], reasons: dict[str, int], seed: int) -> Event:
    """Returns a time-out with its cause, as far as the tables show it."""
    at, silence = float(row["timeout_s"]), float(row["silence_s"])
    why = _cause_of_time_out(evidence, row, reasons)
    more = int(row["timeouts"]) - 1
    times = f", and {counted(more, 'time-out')} after it" if more else ""
    undone = ", reduction undone" if row["undone"] > 0 else ""
    text = f"time-out at {at:.1f} s: no ACK for {silence:.1f} s{why}{times}{undone}"
    length = silence + (0.0 if math.isnan(row["length_s"]) else float(row["length_s"]))
    return Event(seed, at, "timeout", text, length)


def _cause_of_time_out(evidence: Evidence, row: dict[Any, Any], reasons: dict[str, int]) -> str:
    start, end = row["timeout_s"] - row["silence_s"], row["timeout_s"]
    gaps = [*evidence.outages, *evidence.silences]
    if any(gap.run == row["run"] and gap.start < end and start < gap.end for gap in gaps):
        return " (outage of the link)"
    if reasons:
        kind = max(reasons, key=reasons.__getitem__)
        return f" ({_DROPPED[kind]}: {counted(sum(reasons.values()), 'segment')})"
    if row["unreported_bytes"] > 0:
        return f" ({size_text(row['unreported_bytes'])} had arrived that no ACK reported)"
    return ""
