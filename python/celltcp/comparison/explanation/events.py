"""Events: the few loss recoveries and interruptions that cost a flow most, with their dates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp.comparison.explanation.cause import grouped
from celltcp.present.quantities import size_text
from celltcp.scenarios.cca_mix import counted

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence, Gap

#: Events of a run at most.
_MAX_EVENTS = 5

#: Round trips, means, in which a loss probe is answered.
_ROUND_TRIPS = 2.0
#: Least silence before a time-out that is worth a word, s.
_SILENT_S = 0.05

#: Words for a drop by its reason.
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
    #: `overflow`, `aqm`, `policer`, `random`, `radio`, `probe`, `timeout`, `needless` or `outage`.
    kind: str
    #: Description, with its figures.
    text: str
    #: Time that it took, s.
    length_s: float


def longest_events(evidence: Evidence, run: int) -> list[Event]:
    """Returns the events that took most time in a run, in the order of time."""
    outages = [gap for gap in evidence.outages if gap.run == run]
    rows = evidence.recoveries
    events = [
        _recovery(evidence, row)
        for row in rows[rows["run"] == run].to_dict("records")
        if not _belongs_to_an_outage(row, outages)
    ]
    events += [_outage(evidence, gap) for gap in outages]
    longest = sorted(events, key=lambda each: -each.length_s)[:_MAX_EVENTS]
    return sorted(longest, key=lambda each: each.t_s)


def _belongs_to_an_outage(row: dict[Any, Any], outages: list[Gap]) -> bool:
    """Returns whether an outage, an event of its own, led to a recovery: to its drops or time-out."""
    start, end = row["timeout_s"] - row["silence_s"], row["timeout_s"]
    dropped = row["dropped_s"]
    return any(
        gap.overlaps(row["run"], start, end)
        or (gap.loses_all and gap.overlaps(row["run"], dropped, dropped))
        for gap in outages
    )


def _outage(evidence: Evidence, gap: Gap) -> Event:
    """Returns an outage with the wait after it."""
    wait = evidence.restart_after(gap)
    meanwhile = "all lost" if gap.loses_all else "without capacity"
    text = f"outage of the link at {gap.start:.1f} s: {gap.length:.1f} s {meanwhile}"
    if math.isnan(wait):
        text += ", and nothing arrived after it"
        wait = 0.0
    elif wait > 0:
        text += f"; data arrived again {wait:.1f} s after its end"
    return Event(evidence.seeds[gap.run], gap.start, "outage", text, gap.length + wait)


def _recovery(evidence: Evidence, row: dict[Any, Any]) -> Event:
    """Returns a recovery with what led to it."""
    reasons = {reason: int(row[reason]) for reason in _DROPPED if row[reason] > 0}
    seed = evidence.seeds[int(row["run"])]
    if row["timeouts"] > 0 and not row["overflow"] > 0:
        return _time_out(evidence, row, reasons, seed)
    length = float(row["length_s"])
    # A probe that repairs a loss leaves nothing for a fast recovery, and its ACK comes in a round trip.
    is_repaired = 0 < sum(reasons.values()) <= row["loss_probes"] and not row["timeouts"] > 0
    if is_repaired and length <= _ROUND_TRIPS * evidence.mean("rtt_mean_ms") / 1e3:
        return _probe(row, reasons, seed)
    if not reasons:
        undone = row["undone"] > 0
        text = f"recovery at {row['t_s']:.2f} s although nothing was lost" + (
            ", reduction undone" if undone else ""
        )
        return Event(seed, float(row["t_s"]), "needless", text, length)
    kind = _most_frequent(reasons)
    start = " in slow start" if row["slow_start"] else ""
    lost = sum(reasons.values())
    waits = f", with {counted(int(row['timeouts']), 'time-out')}" if row["timeouts"] > 0 else ""
    text = (
        f"{_DROPPED[kind]} at {row['dropped_s']:.2f} s{start}: {grouped(lost)} of "
        f"{grouped(row['segments'])} segments lost; recovery {length:.1f} s{waits}"
    )
    return Event(seed, float(row["dropped_s"]), kind, text, length)


def _most_frequent(reasons: dict[str, int]) -> str:
    return max(reasons, key=reasons.__getitem__)


def _probe(row: dict[Any, Any], reasons: dict[str, int], seed: int) -> Event:
    """Returns a loss that a loss probe repaired."""
    kind = _most_frequent(reasons)
    at = float(row["dropped_s"])
    whole = float(row["t_s"] - at + row["length_s"])
    text = (
        f"{_DROPPED[kind]} at {at:.2f} s: {counted(sum(reasons.values()), 'segment')} lost, which a "
        f"loss probe repaired {whole:.2f} s after that"
    )
    return Event(seed, at, "probe", text, whole)


def _time_out(evidence: Evidence, row: dict[Any, Any], reasons: dict[str, int], seed: int) -> Event:
    """Returns a time-out with its cause, as far as the tables show it."""
    at, silence = float(row["timeout_s"]), float(row["silence_s"])
    why = _cause_of_time_out(evidence, row, reasons)
    more = int(row["timeouts"]) - 1
    times = f", and {counted(more, 'time-out')} after it" if more else ""
    undone = ", reduction undone" if row["undone"] > 0 else ""
    # An ACK of what was not waited for, such as of a keep-alive, may have come just before.
    silent = f": no ACK for {silence:.1f} s" if silence >= _SILENT_S else ""
    text = f"time-out at {at:.1f} s{silent}{why}{times}{undone}"
    length = silence + (0.0 if math.isnan(row["length_s"]) else float(row["length_s"]))
    return Event(seed, at, "timeout", text, length)


def _cause_of_time_out(evidence: Evidence, row: dict[Any, Any], reasons: dict[str, int]) -> str:
    start, end = row["timeout_s"] - row["silence_s"], row["timeout_s"]
    causes = []
    if any(gap.overlaps(row["run"], start, end) for gap in evidence.ack_outages):
        causes.append("nothing passed on the way of the ACKs")
    elif reasons:
        kind = _most_frequent(reasons)
        causes.append(f"{_DROPPED[kind]}: {counted(sum(reasons.values()), 'segment')}")
    if row["unreported_bytes"] > 0 and not reasons:
        causes.append(f"{size_text(row['unreported_bytes'])} had arrived that no ACK reported")
    return f" ({', '.join(causes)})" if causes else ""
