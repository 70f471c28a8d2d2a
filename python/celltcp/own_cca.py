"""Congestion controls of one's own, written as Python classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from celltcp._core import CelltcpError, Report, register_cca
from celltcp.ccas import ALL, OWN


@dataclass(frozen=True)
class Decision:
    """Decision of a congestion control: new values; None leaves one as it is.

    Attributes:
        cwnd: congestion window, segments, from 1 on.
        pacing_rate_mbps: rate at which segments are paced out, Mbit/s; without one ever given, segments
            leave as ACKs let them.
    """

    cwnd: float | None = None
    pacing_rate_mbps: float | None = None


class CongestionControl(ABC):
    """A congestion control that is told now and then what happened, and answers with a window.

    An object is made for each connection that sends. Reports come every `interval`, and when losses
    or a retransmission time-out begin; never per packet. In between, window and rate stay as they are;
    lost segments are retransmitted within the window, and after a time-out the window grows back to
    what was decided. What a report says is in `celltcp.Report`.

    Attributes:
        name: by which scenarios and commands know it.
        title: the name in full, for tables.
        year: for tables.
        interval: between reports, such as `"10ms"`, from 1 ms on; None for an RTT each time.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    year: ClassVar[int] = 0
    interval: ClassVar[str | None] = None

    @abstractmethod
    def report(self, report: Report) -> Decision | None:
        """Answers a report; the first one has the cause `"start"`."""


Class = TypeVar("Class", bound=type[CongestionControl])


def register(cca: Class) -> Class:
    """Adds a class to the catalogue for the life of the process; may be used as a decorator.

    A class of the same name that was added earlier is replaced.

    Raises:
        CelltcpError: if the class has no name, or one that celltcp has itself.
    """
    name = getattr(cca, "name", None)
    if not isinstance(name, str):
        raise CelltcpError(f"{cca.__name__}: has no name; give it as a class attribute")
    if name in (ALL, OWN):
        raise CelltcpError(f"name: {name!r} has a meaning in lists of congestion controls")
    register_cca(name, cca.title or name, cca.year, cca, cca.interval)
    return cca
