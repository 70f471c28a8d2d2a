"""Causes that a diagnosis names, as data of its sentence: next steps and tables ask for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from celltcp.pcap.outcome import CAUSE_COLUMNS


class Cause(StrEnum):
    """Cause of a limit, of losses or of waits of a connection; the value is its name in tables."""

    RECEIVE_WINDOW = "receive window"
    #: A send buffer, or an application.
    SENDER = "send buffer"
    #: One of the limits of a sender, of which the capture does not show which one holds.
    SOME_LIMIT = "some limit of the sender"
    WINDOW_GROWTH = "window growth"
    BURSTS_OVERFLOWED = "bursts above a buffer"
    STANDING_QUEUE = "standing queue"
    FULL_QUEUE = "full queue"
    #: A buffer that overflows at a short queue, and one that may be the cause among others.
    SHALLOW_BUFFER = "shallow buffer"
    OVERFLOW = "buffer or other cause"
    #: The buffer that another transfer overflows, and losses at the highest RTT.
    SHARED_BUFFER = "shared buffer"
    IN_FULL_QUEUE = "losses in a full queue"
    WITHOUT_QUEUE = "errors or policer"
    SHALLOW_OR_POLICER = "shallow buffer or policer"
    #: A queue discipline that drops, and one that may, beside a policer and errors of the path.
    AQM = "queue discipline"
    QUEUE_DISCIPLINE = "queue discipline or other cause"
    FEW_LOSSES = "few losses"
    POLICER = "policer"
    BURSTS = "losses in bursts"
    BURSTS_OR_POLICER = "policer or errors in bursts"
    OUTAGE = "outage"
    REORDERING = "reordering"
    #: Transfers that share the path, and queues in which ACKs wait, or may wait.
    SHARED_PATH = "shared path"
    FILLED_QUEUE = "queue of another transfer"
    ACKS_IN_QUEUE = "ACKs in a queue"
    ACKS_BEHIND = "ACKs maybe in a queue"
    NAGLE = "Nagle"
    LATE_CLIENT = "client application"
    ONE_REQUEST = "one request at a time"
    #: The same away from the sender.
    MAYBE_ONE_REQUEST = "maybe one request at a time"


#: Causes of losses of which the capture shows no single one.
UNDECIDED = (
    Cause.WITHOUT_QUEUE,
    Cause.SHALLOW_OR_POLICER,
    Cause.OVERFLOW,
    Cause.QUEUE_DISCIPLINE,
    Cause.BURSTS_OR_POLICER,
    Cause.FEW_LOSSES,
)
#: Causes that are a policer, or may be one.
POLICERS = (
    Cause.POLICER,
    Cause.WITHOUT_QUEUE,
    Cause.SHALLOW_OR_POLICER,
    Cause.OVERFLOW,
    Cause.QUEUE_DISCIPLINE,
    Cause.BURSTS_OR_POLICER,
)


class Clause(NamedTuple):
    """Part of a sentence, with the cause that it names and the figures of that."""

    text: str
    cause: Cause | None = None
    #: Rate of a policer, Mbit/s of payload.
    mbps: float | None = None
    #: Connection of which a queue is.
    connection: int | None = None


@dataclass(frozen=True)
class Sentence:
    """Sentence of a diagnosis: its clauses in order, with all of the text; false if it is empty."""

    clauses: tuple[Clause, ...] = ()

    def __str__(self) -> str:
        return "".join(clause.text for clause in self.clauses)

    def __bool__(self) -> bool:
        return bool(self.clauses)

    def __add__(self, other: Sentence | str) -> Sentence:
        return Sentence(self.clauses + said(other).clauses)

    def __radd__(self, text: str) -> Sentence:
        return said(text) + self

    @property
    def main_cause(self) -> Cause | None:
        """Cause with which the sentence begins; None without one."""
        return self.clauses[0].cause if self.clauses else None

    @property
    def causes(self) -> tuple[Cause, ...]:
        """All causes, in the order of the sentence."""
        return tuple(clause.cause for clause in self.clauses if clause.cause is not None)

    def names(self, *causes: Cause) -> bool:
        """Returns whether the sentence names one of these causes."""
        return not set(causes).isdisjoint(self.causes)

    def columns(self) -> dict[str, str | float]:
        """Returns the values of `CAUSE_COLUMNS`."""
        rates = [clause.mbps for clause in self.clauses if clause.mbps is not None]
        behind = [
            clause.connection
            for clause in self.clauses
            if clause.cause in (Cause.ACKS_IN_QUEUE, Cause.ACKS_BEHIND)
            and clause.connection is not None
        ]
        figures = (float(next(iter(figure), math.nan)) for figure in (rates, behind))
        values = (self.main_cause or "", ", ".join(self.causes), *figures)
        return dict(zip(CAUSE_COLUMNS, values, strict=True))


def said(text: Sentence | str) -> Sentence:
    """Returns a text as a sentence without a cause; a sentence as it is."""
    if isinstance(text, Sentence):
        return text
    return Sentence((Clause(text),)) if text else Sentence()


def named(
    cause: Cause, text: str, *, mbps: float | None = None, connection: int | None = None
) -> Sentence:
    """Returns a text as a sentence that names a cause."""
    return Sentence((Clause(text, cause, mbps, connection),))


def joined(separator: str, sentences: Iterable[Sentence | str]) -> Sentence:
    """Returns the sentences that are not empty as one, with a text between them."""
    result = Sentence()
    for sentence in sentences:
        if sentence:
            result = result + separator + sentence if result else said(sentence)
    return result


def is_headline(row: Mapping[Any, Any], *causes: Cause) -> bool:
    """Returns whether the diagnosis of a connection begins with one of these causes."""
    return row.get("main_cause") in causes


def names(row: Mapping[Any, Any], *causes: Cause) -> bool:
    """Returns whether the diagnosis of a connection names one of these causes."""
    return not set(str(row.get("causes", "")).split(", ")).isdisjoint(causes)
