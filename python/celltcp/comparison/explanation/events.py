"""Events: the loss recoveries and interruptions with the largest cost for a flow, with their times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp.comparison.explanation.cause import grouped
from celltcp.present.quantities import size_text
from celltcp.scenarios.cca_mix import counted

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence, Gap

#: Maximum of events of a run.
_MAX_EVENTS = 5

#: Round trips, means, in which a loss probe is answered.
_ROUND_TRIPS = 2.0
#: Maximum share of a window after a reduction.
_SHRUNK = 0.95
#: Minimum silence before a time-out or after an outage that is mentioned, s.
_SILENT_S = 0.05

#: Words for a drop by its reason.
_DROPPED = {
    "overflow": "overflow of the buffer",
    "aqm": "drops by the queue discipline",
    "policer": "drops by the policer",
    "random": "random loss",
    "radio": "loss on the radio",
}


class _Loss(NamedTuple):
    """Segments that a recovery lost for one reason."""

    reason: str
    segments: int
    #: Time of the first drop, s; NaN in results of earlier versions.
    t_s: float


class Event(NamedTuple):
    """Loss recovery, time-out or outage of a flow."""

    #: Seed of the run.
    seed: int
    #: Time, s.
    t_s: float
    #: `overflow`, `aqm`, `policer`, `random`, `radio`, `probe`, `timeout`, `needless` or `outage`.
    kind: str
    #: Description, with its metrics.
    text: str
    #: Time that it took, s.
    length_s: float
    #: Number of the connection in its run; None for an outage, which all of them have.
    connection: int | None = None


def longest_events(evidence: Evidence, run: int) -> list[Event]:
    """Returns the events that took most time in a run, in the order of time."""
    outages = [gap for gap in evidence.outages if gap.run == run]
    rows = evidence.recoveries
    names_connections = int((evidence.flows["run"] == run).sum()) > 1
    events = [
        _of_connection(_recovery(evidence, row), int(row["flow"]), names_connections)
        for row in rows[rows["run"] == run].to_dict("records")
        if not _belongs_to_an_outage(row, outages)
    ]
    events += [_outage(evidence, gap) for gap in outages]
    longest = sorted(events, key=lambda each: -each.length_s)[:_MAX_EVENTS]
    return sorted(longest, key=lambda each: each.t_s)


def _of_connection(event: Event, connection: int, is_named: bool) -> Event:
    """Returns an event with its connection, named in the text if the flow has several."""
    text = f"connection {connection}: {event.text}" if is_named else event.text
    return event._replace(connection=connection, text=text)


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
    elif wait >= _SILENT_S:
        text += f"; data arrived again {wait:.1f} s after its end"
    return Event(evidence.seeds[gap.run], gap.start, "outage", text, gap.length + wait)


def _recovery(evidence: Evidence, row: dict[Any, Any]) -> Event:
    """Returns a recovery with its cause."""
    losses = _losses(row)
    seed = evidence.seeds[int(row["run"])]
    if row["timeouts"] > 0 and not row["overflow"] > 0:
        return _time_out(evidence, row, losses, seed)
    length = float(row["length_s"])
    # A probe that repairs a loss leaves nothing for a fast recovery, and its ACK comes in a round trip.
    lost = sum(loss.segments for loss in losses)
    is_repaired = 0 < lost <= row["loss_probes"] and not row["timeouts"] > 0
    if is_repaired and length <= _ROUND_TRIPS * evidence.mean("rtt_mean_ms") / 1e3:
        return _probe(row, losses, seed)
    if not losses:
        undone = row["undone"] > 0
        text = f"recovery at {row['t_s']:.2f} s although nothing was lost" + (
            ", reduction undone" if undone else ""
        )
        return Event(seed, float(row["t_s"]), "needless", text, length)
    first, *later = losses
    start = " in slow start" if row["slow_start"] else ""
    more = "".join(
        f", and {_words(evidence, row, loss)}{_since(loss)}: {grouped(loss.segments)}" for loss in later
    )
    waits = f", with {counted(int(row['timeouts']), 'time-out')}" if row["timeouts"] > 0 else ""
    text = (
        f"{_DROPPED[first.reason]} at {row['dropped_s']:.2f} s{start}: {grouped(first.segments)} of "
        f"{grouped(row['segments'])} segments lost{more}; recovery {length:.1f} s{waits}"
        f"{_window(evidence, row)}"
    )
    return Event(seed, float(row["dropped_s"]), first.reason, text, length)


def _losses(row: dict[Any, Any]) -> list[_Loss]:
    """Returns what a recovery lost by reason, in the order of time; without times the most first."""
    losses = [
        _Loss(reason, int(row[reason]), float(row[f"{reason}_s"]))
        for reason in _DROPPED
        if row[reason] > 0
    ]
    return sorted(
        losses, key=lambda loss: (math.inf if math.isnan(loss.t_s) else loss.t_s, -loss.segments)
    )


def _words(evidence: Evidence, row: dict[Any, Any], loss: _Loss) -> str:
    """Returns the reason of a loss in words: an outage, if one loses all from its first drop on."""
    in_outage = loss.reason == "random" and any(
        gap.loses_all and gap.overlaps(row["run"], loss.t_s, loss.t_s) for gap in evidence.outages
    )
    return "an outage of the link" if in_outage else _DROPPED[loss.reason]


def _since(loss: _Loss) -> str:
    """Returns the time of the first drop in words; empty if it is not known."""
    return "" if math.isnan(loss.t_s) else f" from {loss.t_s:.2f} s on"


def _probe(row: dict[Any, Any], losses: list[_Loss], seed: int) -> Event:
    """Returns a loss that a loss probe repaired."""
    reasons = " and ".join(_DROPPED[loss.reason] for loss in losses)
    lost = sum(loss.segments for loss in losses)
    at = float(row["dropped_s"])
    whole = float(row["t_s"] - at + row["length_s"])
    text = (
        f"{reasons} at {at:.2f} s: {counted(lost, 'segment')} lost, which a loss probe repaired "
        f"{whole:.2f} s after that"
    )
    return Event(seed, at, "probe", text, whole)


def _time_out(evidence: Evidence, row: dict[Any, Any], losses: list[_Loss], seed: int) -> Event:
    """Returns a time-out with its cause, as far as the tables show it."""
    at, silence = float(row["timeout_s"]), float(row["silence_s"])
    why = _cause_of_time_out(evidence, row, losses)
    more = int(row["timeouts"]) - 1
    times = f", and {counted(more, 'time-out')} after it" if more else ""
    undone = ", reduction undone" if row["undone"] > 0 else ""
    # An ACK of what was not waited for, such as of a keep-alive, may have come just before.
    silent = f": no ACK for {silence:.1f} s" if silence >= _SILENT_S else ""
    text = f"time-out at {at:.1f} s{silent}{why}{times}{undone}{_window(evidence, row)}"
    length = silence + (0.0 if math.isnan(row["length_s"]) else float(row["length_s"]))
    return Event(seed, at, "timeout", text, length)


def _window(evidence: Evidence, row: dict[Any, Any]) -> str:
    """Returns the reduction of the congestion window by a recovery in words; empty without one."""
    start, end = float(row["t_s"]), float(row["t_s"] + row["length_s"])
    before, after = evidence.window_change(
        int(row["run"]), int(row["flow"]), start, end, is_timeout=row["timeouts"] > 0
    )
    if not after < _SHRUNK * before:
        return ""
    return f"; window {grouped(before)} to {grouped(after)} {'segment' if after == 1 else 'segments'}"


def _cause_of_time_out(evidence: Evidence, row: dict[Any, Any], losses: list[_Loss]) -> str:
    start, end = row["timeout_s"] - row["silence_s"], row["timeout_s"]
    causes = []
    if any(gap.overlaps(row["run"], start, end) for gap in evidence.ack_outages):
        causes.append("nothing passed on the way of the ACKs")
    else:
        causes += [f"{_DROPPED[loss.reason]}: {counted(loss.segments, 'segment')}" for loss in losses]
    if row["unreported_bytes"] > 0 and not losses:
        causes.append(f"{size_text(row['unreported_bytes'])} had arrived that no ACK reported")
    return f" ({', '.join(causes)})" if causes else ""
