"""Causes that a diagnosis names, with the words of its sentence: next steps and tables ask for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Cause(StrEnum):
    """Cause of a limit, of losses or of waits of a connection; the value is in its sentence."""

    RECEIVE_WINDOW = "the receive window of the "
    #: A send buffer, or an application.
    SENDER = "the send buffer of the "
    #: One of the limits of a sender, of which the capture does not show which one holds.
    SOME_LIMIT = "either the send buffer, the application"
    WINDOW_GROWTH = "the congestion window is the limit"
    BURSTS_OVERFLOWED = "bursts overflowed the buffer"
    STANDING_QUEUE = "a queue stands"
    FULL_QUEUE = "a full queue on the path"
    #: A buffer that overflows at a short queue, and one that may be the cause among others.
    SHALLOW_BUFFER = "a shallow buffer on the path"
    OVERFLOW = "a buffer that overflowed"
    #: The buffer that another transfer overflows, and losses at the highest RTT.
    SHARED_BUFFER = "the buffer that connection"
    IN_FULL_QUEUE = ", most likely in a full queue"
    WITHOUT_QUEUE = " at random, by a policer, or in a very short buffer"
    SHALLOW_OR_POLICER = "either in a shallow buffer or by a policer"
    QUEUE_DISCIPLINE = "either a queue discipline"
    UNKNOWN = "to tell why"
    POLICER = "a policer on the path"
    BURSTS = "lost in bursts"
    #: Queues that other transfers fill, in which data or ACKs wait, or may wait.
    FILLED_QUEUE = "the queue that connection"
    ACKS_BEHIND = "its ACKs may wait in the other direction, in which connection"
    NAGLE = "only when its last segment is acknowledged (Nagle)"
    LATE_CLIENT = "for the application of the client"
    ONE_REQUEST = "one request at a time limits the rate"
    #: The same away from the sender.
    MAYBE_ONE_REQUEST = "one request at a time seems to be the limit"


#: Causes of losses of which the capture shows no single one.
UNDECIDED = (
    Cause.WITHOUT_QUEUE,
    Cause.SHALLOW_OR_POLICER,
    Cause.OVERFLOW,
    Cause.QUEUE_DISCIPLINE,
    Cause.UNKNOWN,
)


def is_headline(row: Mapping[Any, Any], *causes: Cause) -> bool:
    """Returns whether the diagnosis of a connection begins with one of these causes."""
    return str(row.get("diagnosis", "")).startswith(causes)


def names(row: Mapping[Any, Any], *causes: Cause) -> bool:
    """Returns whether the diagnosis of a connection names one of these causes."""
    return any(cause in str(row.get("diagnosis", "")) for cause in causes)


def number_after(row: Mapping[Any, Any], words: str) -> float | None:
    """Returns the number behind words of the diagnosis of a connection; None without them."""
    match = re.search(f"{re.escape(words)} ([\\d.]+)", str(row.get("diagnosis", "")))
    return float(match[1]) if match else None
