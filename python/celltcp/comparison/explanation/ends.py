"""Rules about the ends of a connection: application, windows of the receiver and of the send buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.cause import Cause, percent

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Share of its time for which something limits a flow from which on it is a cause.
_LIMITED = 0.2
#: Share of the capacity that then stayed unused.
_UNUSED = 0.1


def application(evidence: Evidence) -> Cause | None:
    """The application had no more to send while the path had room.

    `idle` and `in_flight` take {_LIMITED:.0%} of the time, and {_UNUSED:.0%} is unused. Of bulk flows
    `idle` alone counts: the end of a transfer, for which all is in flight, is no pause of the
    application.
    """
    share = evidence.share("idle") if evidence.is_bulk else evidence.share("idle", "in_flight")
    if share < _LIMITED or evidence.unused < _UNUSED:
        return None
    kind = evidence.workload.get("kind", "bulk")
    if not evidence.is_bulk:
        # Pauses are its nature, and cost it nothing.
        text = f"The application ({kind}) had no more to send for {percent(share)} of the time."
        return Cause("application", text, 0.0)
    return Cause(
        "application",
        f"The application ({kind}) had no more to send for {percent(share)} of the time, and "
        f"{percent(evidence.unused)} of the capacity stayed unused.",
        min(share, evidence.unused),
    )


def receive_window(evidence: Evidence) -> Cause | None:
    """The receive window was the limit while the path had room.

    It takes {_LIMITED:.0%} of the time, and {_UNUSED:.0%} is unused.
    """
    fields = ("receive_window_max", "receive_buffer_max", "window_scale")
    return _window(evidence, "receive_window", "receive window", fields)


def send_buffer(evidence: Evidence) -> Cause | None:
    """The send buffer was the limit while the path had room.

    It takes {_LIMITED:.0%} of the time, and {_UNUSED:.0%} is unused.
    """
    return _window(evidence, "send_buffer", "send buffer", ("send_buffer_max",))


def _window(evidence: Evidence, limit: str, name: str, fields: tuple[str, ...]) -> Cause | None:
    share = evidence.share(limit)
    if share < _LIMITED or evidence.unused < _UNUSED:
        return None
    tcp = evidence.scenario.get("tcp", {})
    set_to = ", ".join(f"tcp.{field} = {_toml(tcp[field])}" for field in fields if field in tcp)
    return Cause(
        limit,
        f"The {name} was full for {percent(share)} of the time, and {percent(evidence.unused)} of the "
        f"capacity stayed unused ({set_to}).",
        min(share, evidence.unused),
    )


def _toml(value: object) -> str:
    """Returns a value as a scenario has it, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)
