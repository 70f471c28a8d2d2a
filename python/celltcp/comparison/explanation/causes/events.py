"""Events: the longest loss recoveries and outages of a flow, with their times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.comparison.explanation.causes.path import timeout_text
from celltcp.comparison.explanation.evidence.cell_changes import MIN_WAIT_S, losing_change
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.quantity_texts import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.explanation.evidence.cell_changes import CellChange
    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.evidence.outages import Outage

#: Maximum number of events of a run.
_MAX_EVENTS = 3

#: Maximum length of a recovery that a loss probe alone repaired, mean RTTs.
_MAX_PROBE_RTTS = 2.0
#: Maximum share of the window left after a reduction that an event mentions.
_MAX_REDUCED_SHARE = 0.95
#: Minimum wait before a time-out or after an outage that an event mentions, s.
_MIN_WAIT_S = 0.05

#: Text for a drop by its reason.
_DROP_TEXTS = {
    "overflow": "overflow of the buffer",
    "aqm": "drops by the queue discipline",
    "policer": "drops by the policer",
    "random": "random loss",
    "radio": "loss on the radio",
}


class _Loss(NamedTuple):
    """Segments of a recovery that were lost for one reason."""

    reason: str
    segments: int
    #: Time of the first drop, s; NaN in results of earlier versions.
    t_s: float


class Event(NamedTuple):
    """Loss recovery, time-out or outage of a flow."""

    #: Seed of the run.
    seed: int
    #: Time since the start of the run, s.
    t_s: float
    #: `overflow`, `aqm`, `policer`, `random`, `radio`, `probe`, `timeout`, `needless`,
    #: `hidden` (in a queue of Linux) or `outage`.
    kind: str
    #: Description, with its metrics.
    text: str
    #: Duration, s.
    length_s: float
    #: Number of the connection in its run; None for an outage, which all connections have.
    connection: int | None = None


def longest_events(evidence: Evidence, run: int) -> list[Event]:
    """Returns the longest events of a run, in the order of time."""
    outages = [outage for outage in evidence.outages if outage.run == run]
    rows = evidence.recoveries
    names_connections = int((evidence.connections["run"] == run).sum()) > 1
    events = [
        _with_connection(_recovery_event(evidence, row), int(row["flow"]), names_connections)
        for row in rows[rows["run"] == run].to_dict("records")
        if not _is_caused_by_outage(row, outages)
    ]
    events += [
        _outage_event(evidence, outage, outages[index + 1 :]) for index, outage in enumerate(outages)
    ]
    longest = sorted(events, key=lambda event: -event.length_s)[:_MAX_EVENTS]
    return sorted(longest, key=lambda event: event.t_s)


def _with_connection(event: Event, connection: int, is_named: bool) -> Event:
    """Returns an event with its connection, which the text names if `is_named`."""
    text = f"connection {connection}: {event.text}" if is_named else event.text
    return event._replace(connection=connection, text=text)


def _is_caused_by_outage(row: dict[Any, Any], outages: list[Outage]) -> bool:
    """Returns whether an outage caused a recovery, by drops or a time-out; it has an event itself."""
    start, end = row["timeout_s"] - row["silence_s"], row["timeout_s"]
    dropped = row["dropped_s"]
    return any(
        outage.overlaps(row["run"], start, end)
        or (outage.loses_all and outage.overlaps(row["run"], dropped, dropped))
        for outage in outages
    )


def _outage_event(evidence: Evidence, outage: Outage, later: Sequence[Outage]) -> Event:
    """Returns the event of an outage, with the wait after it.

    Of successive outages without data in between, the last one has the wait.
    """
    arrival_s = outage.end_s + evidence.wait_from(outage.run, outage.end_s)
    is_last = not any(each.start_s <= arrival_s for each in later)
    wait_s = evidence.wait_after(outage) if is_last else 0.0
    effect = "all lost" if outage.loses_all else "without capacity"
    text = f"outage of the link at {outage.start_s:.1f} s: {outage.length_s:.1f} s {effect}"
    changes = [
        change
        for change in evidence.cell_changes
        if change.overlaps(outage.run, outage.start_s, outage.end_s)
    ]
    if changes:
        text += f", {' and '.join(change.text for change in changes)}"
    if math.isnan(wait_s):
        text += ", and nothing arrived after it"
        wait_s = 0.0
    elif wait_s >= _MIN_WAIT_S:
        text += f"; data arrived again {wait_s:.1f} s after its end"
        text += timeout_text(evidence, *outage[:3], loses_all=outage.loses_all)
    return Event(evidence.seeds[outage.run], outage.start_s, "outage", text, outage.length_s + wait_s)


def _recovery_event(evidence: Evidence, row: dict[Any, Any]) -> Event:
    """Returns the event of a recovery, with its cause."""
    losses = _losses(row)
    seed = evidence.seeds[int(row["run"])]
    if row["timeouts"] > 0 and not row["overflow"] > 0:
        return _time_out_event(evidence, row, losses, seed)
    length_s = float(row["length_s"])
    # A loss probe that repairs the loss ends the recovery within about an RTT.
    lost = sum(loss.segments for loss in losses)
    has_enough_probes = 0 < lost <= row["loss_probes"] and not row["timeouts"] > 0
    if has_enough_probes and length_s <= _MAX_PROBE_RTTS * evidence.mean("rtt_mean_ms") / 1e3:
        return _probe_event(row, losses, seed)
    if not losses and evidence.hides_queue:
        return Event(seed, float(row["t_s"]), "hidden", f"recovery at {row['t_s']:.2f} s", length_s)
    if not losses:
        text = f"recovery at {row['t_s']:.2f} s although nothing was lost"
        text += ", reduction undone" if row["undone"] > 0 else ""
        return Event(seed, float(row["t_s"]), "needless", text, length_s)
    first, *later = losses
    phase_text = " in slow start" if row["slow_start"] else ""
    later_text = "".join(
        f", and {_reason_text(evidence, row, loss)}{_first_drop_text(loss)}: "
        f"{number_text(loss.segments)}"
        for loss in later
    )
    timeouts_text = (
        f", with {count_text(int(row['timeouts']), 'time-out')}" if row["timeouts"] > 0 else ""
    )
    # The loss by a change of cells is seen when data arrives in the next cell.
    dropped_s, wait_text = float(row["dropped_s"]), ""
    if (change := _change_of(evidence, row, first)) and change.wait_s >= MIN_WAIT_S:
        dropped_s, length_s = change.end_s, length_s + change.wait_s
        wait_text = f"; nothing arrived for {change.wait_s:.1f} s"
    text = (
        f"{_reason_text(evidence, row, first)} at {dropped_s:.2f} s{phase_text}: "
        f"{number_text(first.segments)} of {number_text(row['segments'])} segments lost{later_text}"
        f"{wait_text}; "
        f"recovery {row['length_s']:.1f} s{timeouts_text}{_reduction_text(evidence, row)}"
    )
    return Event(seed, dropped_s, first.reason, text, length_s)


def _losses(row: dict[Any, Any]) -> list[_Loss]:
    """Returns the losses of a recovery by reason, in the order of time, then by number of segments."""
    losses = [
        _Loss(reason, int(row[reason]), float(row[f"{reason}_s"]))
        for reason in _DROP_TEXTS
        if row[reason] > 0
    ]
    return sorted(
        losses, key=lambda loss: (math.inf if math.isnan(loss.t_s) else loss.t_s, -loss.segments)
    )


def _reason_text(evidence: Evidence, row: dict[Any, Any], loss: _Loss) -> str:
    """Returns the reason of a loss as text; an outage or a change of cells is named as the reason."""
    in_outage = loss.reason == "random" and any(
        blackout.overlaps(row["run"], loss.t_s, loss.t_s) for blackout in evidence.blackouts
    )
    if change := _change_of(evidence, row, loss):
        return f"loss by a {change.text}"
    return "an outage of the link" if in_outage else _DROP_TEXTS[loss.reason]


def _change_of(evidence: Evidence, row: dict[Any, Any], loss: _Loss) -> CellChange | None:
    """Returns the change of cells that caused a loss on the radio; None without one."""
    if loss.reason != "radio":
        return None
    end_s = row["t_s"] + row["length_s"]
    return losing_change(evidence.cell_changes, row["run"], loss.t_s, end_s)


def _first_drop_text(loss: _Loss) -> str:
    """Returns the time of the first drop as text; empty if it is not known."""
    return "" if math.isnan(loss.t_s) else f" from {loss.t_s:.2f} s on"


def _probe_event(row: dict[Any, Any], losses: list[_Loss], seed: int) -> Event:
    """Returns the event of a loss that a loss probe repaired."""
    reasons = " and ".join(_DROP_TEXTS[loss.reason] for loss in losses)
    lost = sum(loss.segments for loss in losses)
    dropped_s = float(row["dropped_s"])
    length_s = float(row["t_s"] - dropped_s + row["length_s"])
    text = (
        f"{reasons} at {dropped_s:.2f} s: {count_text(lost, 'segment')} lost, which a loss probe "
        f"repaired {length_s:.2f} s after that"
    )
    return Event(seed, dropped_s, "probe", text, length_s)


def _time_out_event(evidence: Evidence, row: dict[Any, Any], losses: list[_Loss], seed: int) -> Event:
    """Returns the event of a time-out, with its cause as far as the tables show it."""
    timeout_s, silence_s = float(row["timeout_s"]), float(row["silence_s"])
    cause = _time_out_cause_text(evidence, row, losses)
    later = int(row["timeouts"]) - 1
    later_text = f", and {count_text(later, 'time-out')} after it" if later else ""
    undone = ", reduction undone" if row["undone"] > 0 else ""
    # An unrelated ACK, such as that of a keep-alive, may have come just before.
    silence_text = f": no ACK for {silence_s:.1f} s" if silence_s >= _MIN_WAIT_S else ""
    reduction = _reduction_text(evidence, row)
    text = f"time-out at {timeout_s:.1f} s{silence_text}{cause}{later_text}{undone}{reduction}"
    length_s = silence_s + (0.0 if math.isnan(row["length_s"]) else float(row["length_s"]))
    return Event(seed, timeout_s, "timeout", text, length_s)


def _reduction_text(evidence: Evidence, row: dict[Any, Any]) -> str:
    """Returns the reduction of the congestion window by a recovery as text; empty if it is small."""
    start, end = float(row["t_s"]), float(row["t_s"] + row["length_s"])
    run, connection = int(row["run"]), int(row["flow"])
    before, after = evidence.windows.change(run, connection, start, end, is_timeout=row["timeouts"] > 0)
    if not after < _MAX_REDUCED_SHARE * before:
        return ""
    return (
        f"; window {number_text(before)} to {number_text(after)} "
        f"{'segment' if after == 1 else 'segments'}"
    )


def _time_out_cause_text(evidence: Evidence, row: dict[Any, Any], losses: list[_Loss]) -> str:
    """Returns what led to a time-out as text in parentheses; empty if the tables do not show it."""
    start, end = row["timeout_s"] - row["silence_s"], row["timeout_s"]
    causes = []
    if any(outage.overlaps(row["run"], start, end) for outage in evidence.ack_outages):
        causes.append("nothing passed on the way of the ACKs")
    else:
        causes += [
            f"{_reason_text(evidence, row, loss)}: {count_text(loss.segments, 'segment')}"
            for loss in losses
        ]
    if row["unreported_bytes"] > 0 and not losses:
        causes.append(f"{size_text(row['unreported_bytes'])} had arrived that no ACK reported")
    return f" ({', '.join(causes)})" if causes else ""
