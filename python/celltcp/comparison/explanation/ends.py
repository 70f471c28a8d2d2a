"""Rules about the ends of a connection: application, receive window, send buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.explanation.cause import Cause, percent
from celltcp.comparison.explanation.evidence import FULL
from celltcp.comparison.units_of_work import UNITS
from celltcp.present.quantities import size_text
from celltcp.results.statistics import estimate
from celltcp.results.warnings.aborted import silence_text
from celltcp.scenarios.frames import MAX_FRAME_SHARE, made_mbps

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Share of the capacity that then stayed unused.
_UNUSED = 0.1
#: Minimum share of the time for which the link carries less than a video plays at which it is a cause.
_BELOW = 0.05


def application(evidence: Evidence) -> Cause | None:
    """The application had no more to send while the path had room.

    `idle` and `in_flight` take {FULL:.0%} of the time, and {_UNUSED:.0%} is unused. Of bulk flows
    `idle` alone counts: the end of a transfer, for which all is in flight, is no pause of the
    application. What Nagle's algorithm holds back in slow start counts as `startup`.
    """
    waits = ("idle",) if evidence.is_bulk else ("idle", "in_flight")
    share = evidence.share(*waits, *(["startup"] if evidence.is_held_by_nagle else []))
    if share < FULL or evidence.unused < _UNUSED:
        return None
    kind = evidence.workload.get("kind", "bulk")
    if not evidence.is_bulk:
        # Pauses are its nature, and cost it nothing.
        idle = evidence.share("idle")
        held = ", or Nagle's algorithm held it back," if evidence.is_held_by_nagle else ""
        text = (
            f"The application ({kind}) had nothing to send for {percent(idle)} of the time, and all "
            f"that it had was in flight{held} for {percent(share - idle)}."
        )
        return Cause("application", text, 0.0)
    return Cause(
        "application",
        f"The application ({kind}) had no more to send for {percent(share)} of the time, and "
        f"{percent(evidence.unused)} of the capacity stayed unused.",
        min(share, evidence.unused),
    )


def overload(evidence: Evidence) -> Cause | None:
    """Frames are made at over {MAX_FRAME_SHARE:.0%} of the capacity, so that they wait under every CCA.

    Of an encoder that follows the rate, the smallest frames count.
    """
    made = made_mbps(evidence.workload)
    if made is None or evidence.others or not 0 < evidence.capacity < made / MAX_FRAME_SHARE:
        return None
    times = made / evidence.capacity
    least = "at least " if "encoder" in evidence.workload else ""
    return Cause(
        "overload",
        f"The application makes frames of {least}{made:.2f} Mbit/s, {times:.1f} times what the path "
        f"carries ({evidence.capacity:.2f} Mbit/s): they wait, or are dropped, under every CCA.",
        1.0,
    )


def video(evidence: Evidence) -> Cause | None:
    """The link carried less than the video plays for {_BELOW:.0%} of the time.

    That rate is the mean of the representations that were played.
    """
    application = evidence.application
    if application is None or "bitrate_mbps" not in application.names:
        return None
    rate, switches, stalls, stalled, startup = (
        estimate(application.values(name)[evidence.cca]).mean
        for name in ("bitrate_mbps", "switches", "stalls", "stalled_s", "startup_s")
    )
    below = float((evidence.slots["capacity_mbps"] < rate).mean())
    if below < _BELOW:
        return None
    return Cause(
        "video",
        f"The video played {rate:.2f} Mbit/s on average, with {switches:.3g} changes of the "
        f"representation, {stalls:.3g} stalls ({stalled:.1f} s) and a start-up of {startup:.2f} s; the "
        f"link carried less than that rate for {percent(below)} of the time.",
        below,
    )


def given_up(evidence: Evidence) -> Cause | None:
    """TCP aborted a connection because the other end had not answered for too long."""
    ends_s = evidence.given_up_s
    if not ends_s:
        return None
    units = evidence.units
    lost = 0 if units is None else int(units["duration_s"].isna().sum())
    count, runs = len(ends_s), len(evidence.runs)
    what = f"a connection at {ends_s[0]:.1f} s" if count == 1 else f"{count} connections"
    of_runs = f" in {runs} runs" if runs > 1 else ""
    rest = (
        f"; {UNITS[str(units['unit'].iloc[0])].unended}: {lost}" if units is not None and lost else ""
    )
    return Cause(
        "given_up",
        f"TCP gave {what} up{of_runs}, after no answer for {silence_text(evidence.scenario)}{rest}.",
        1.0,
    )


def receive_window(evidence: Evidence) -> Cause | None:
    """The receive window was the limit while the path had room.

    It takes {FULL:.0%} of the time beyond that in which a queue stood, with pacing at the rate that it
    allows, and {_UNUSED:.0%} is unused.
    """
    fields = ("receive_window_max", "receive_buffer_max", "window_scale")
    return _window(evidence, "receive_window", "receive window", fields)


def send_buffer(evidence: Evidence) -> Cause | None:
    """The send buffer was the limit while the path had room.

    It takes {FULL:.0%} of the time beyond that in which a queue stood, with pacing at the rate that it
    allows, and {_UNUSED:.0%} is unused.
    """
    return _window(evidence, "send_buffer", "send buffer", ("send_buffer_max",))


def _window(evidence: Evidence, limit: str, name: str, fields: tuple[str, ...]) -> Cause | None:
    share, held = evidence.share(limit), evidence.held_by(limit)
    # A window that is full at a queue that never empties holds nothing back.
    held_back = held if evidence.others else held - evidence.queued
    if held_back < FULL or evidence.unused < _UNUSED:
        return None
    tcp = evidence.scenario.get("tcp", {})
    set_to = ", ".join(f"tcp.{field} = {_toml(tcp[field])}" for field in fields if field in tcp)
    rtt_ms = evidence.mean("rtt_min_ms")
    most = ""
    if limit == "receive_window" and (window := in_unit(tcp.get("receive_window_max"), "B")):
        rate = 8e-3 * window / rtt_ms
        most = f"; that gives at most {rate:.2f} Mbit/s at an RTT of {rtt_ms:.1f} ms"
    if limit == "send_buffer":
        # The most is that of a moment.
        in_flight = size_text(float(evidence.slots["inflight"].mean()) * evidence.mss)
        most = f"; it counts memory, not data, so that {in_flight} were in flight on average"
    if held > share:
        most += (
            f"; pacing at the rate that this allows took another {percent(held - share)} of the time"
        )
    return Cause(
        limit,
        f"The {name} was full for {percent(share)} of the time, and {percent(evidence.unused)} of the "
        f"capacity stayed unused ({set_to}){most}.",
        # Whatever takes the rest of the time, more than the window cannot pass in a round trip.
        min(max(held_back, 1 - evidence.window_of(limit) / evidence.bdp), evidence.unused),
    )


def _toml(value: object) -> str:
    """Returns a value as a scenario has it, without quotes."""
    return str(value).lower() if isinstance(value, bool) else str(value)
