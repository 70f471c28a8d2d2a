"""Rule about applications that make or ask for more than their path carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.comparison.explanation.causes.requests import request_link_rate
from celltcp.comparison.explanation.evidence.frame_load import load_of
from celltcp.scenarios.demand import SUSTAINED_VERBS, mean_of
from celltcp.scenarios.frames import MAX_FRAME_SHARE, growth_text
from celltcp.scenarios.quantity_texts import rate_text, time_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum time of the responses of several sessions, in times of one alone, at which they overload.
_MIN_SLOWDOWN = 2


def overload(evidence: Evidence) -> Cause | None:
    """The application makes data at over {MAX_FRAME_SHARE:.0%} of the capacity, whatever has arrived.

    These are frames, pieces of a video that are asked for at regular times, and transfers that start
    during most of the run. They then wait under every CCA. Those of all sessions and flows that share
    the path count. For an encoder that follows the rate, the size of the smallest frames counts.
    Several sessions of requests ask for more than the path carries if responses that came at once were
    so, and they take at least {_MIN_SLOWDOWN} times as long together as one alone.
    """
    load = load_of(evidence)
    if load is None:
        return _waiting_sessions(evidence)
    if not 0 < load.carried_mbps < load.made_mbps / MAX_FRAME_SHARE:
        return None
    bound_text = "at least " if "encoder" in evidence.workload else ""
    count, growth = evidence.sessions, "they wait, or are dropped"
    kind = evidence.workload.get("kind", "bulk")
    singular, plural = SUSTAINED_VERBS.get(kind, ("starts transfers", "start transfers"))
    subject = f"{count} sessions {plural}" if count > 1 else f"The application {singular}"
    if load.made_mbps > load.own_mbps:
        # The CCAs decide whose data wait.
        subject = f"All flows together {plural}"
    elif kind == "bulk":
        growth = "more and more are under way at once, and each takes longer"
    elif kind == "chunked":
        growth = "a piece takes longer than the time until the next one"
    else:
        growth = growth_text(evidence.workload, load.made_mbps, load.carried_mbps) or growth
    return Cause(
        "overload",
        f"{subject} of {bound_text}{rate_text(load.made_mbps)}, "
        f"{load.made_mbps / load.carried_mbps:.1f} times what the path carries "
        f"({rate_text(load.carried_mbps)}): {growth}, under every CCA.",
        1.0,
    )


def _waiting_sessions(evidence: Evidence) -> Cause | None:
    """Returns the overload by sessions whose requests wait for the response before; None without it.

    Each has one response under way, so that the response time law of closed systems holds: N sessions
    with a pause Z, and bytes that take a link the time D, have responses of at least N D - Z.
    """
    workload, count = evidence.workload, evidence.sessions
    is_alone = all(map(evidence.is_thin_flow, {**evidence.competing_mbps, **evidence.reverse_mbps}))
    if workload.get("kind") != "request-response" or count < 2 or not is_alone:
        return None
    pause_s = sum(mean_of(workload.get(name), "s") or 0.0 for name in ("think", "gap"))
    rates_mbps = {"response": evidence.capacity_mbps, "request": 1e-6 * request_link_rate(evidence)}
    sizes = {name: mean_of(workload.get(name), "B") or 0.0 for name in rates_mbps}
    times_s = {name: 8e-6 * sizes[name] / rate for name, rate in rates_mbps.items() if rate > 0}
    if not times_s:
        return None
    slower = max(times_s, key=times_s.__getitem__)
    path_s, carried_mbps = times_s[slower], rates_mbps[slower]
    asked_mbps = 8e-6 * count * sizes[slower] / (pause_s + evidence.base_rtt_ms / 1e3)
    if carried_mbps >= asked_mbps / MAX_FRAME_SHARE:
        return None
    least_s = count * path_s - pause_s
    if least_s < _MIN_SLOWDOWN * (path_s + evidence.base_rtt_ms / 1e3):
        return None
    units = evidence.units
    mean_s = (
        0.0 if units is None else float(units.loc[units["unit"] == "response", "duration_s"].mean())
    )
    return Cause(
        "overload",
        f"{count} sessions have {slower}s of {rate_text(asked_mbps)} if each request is answered at "
        f"once, {asked_mbps / carried_mbps:.1f} times what their link carries "
        f"({rate_text(carried_mbps)}): "
        f"with pauses of {time_text(pause_s)}, responses take {time_text(least_s)} or more on average, "
        "under every CCA.",
        min(least_s / mean_s, 1.0) if mean_s > 0 else 1.0,
    )
