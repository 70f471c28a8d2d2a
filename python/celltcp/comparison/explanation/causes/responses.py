"""Rules about responses: round trips of requests, BBR's pacing of small ones, time on the link."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.cause import Cause, number_text, percent_text
from celltcp.comparison.explanation.causes.sender import idle_restart
from celltcp.comparison.explanation.causes.tail import median_of_runs
from celltcp.comparison.explanation.causes.unit_reasons import MAJORITY
from celltcp.comparison.explanation.evidence.ramps import link_share_text
from celltcp.comparison.explanation.evidence.unit_windows import MIN_WINDOW_SHARE, window_share
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import has_several_flows, labels
from celltcp.scenarios.initial_window import initial_window
from celltcp.scenarios.quantity_texts import rate_text, size_text, three_digits, time_text
from celltcp.scenarios.requests import request_and_response, think_s

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Maximum median of responses that wait for a round trip, and of those that no CCA shortens, RTTs.
_MAX_RTTS, _MAX_LEAST_RTTS = 2.0, 1.1
#: Maximum share of the time in pauses of the application, and minimum share of unused capacity.
_MAX_IDLE_SHARE, _MIN_UNUSED_SHARE = 0.05, 0.5
#: Minimum share of the mean capacity that a steady link has always.
_MIN_STEADY_SHARE = 0.95
#: Minimum share of the least time of a response at which a part of it is named.
_MIN_PART = 0.005
#: Minimum time beyond the least one of a response whose window is too small, RTTs.
_MIN_FURTHER_RTTS = 0.7
#: Minimum ratio of the median to that under another CCA, and share of the time under BBR's pacing.
_MIN_SLOWER_RATIO, _MIN_PACED_SHARE = 1.1, 0.2
#: Minimum share of the mean duration that the link needs for the bytes.
_MIN_TRANSFER_SHARE = 0.6
#: Minimum number of responses in a run at which one more, which its end cuts, says little.
_MIN_RESPONSES = 10
#: Kinds of units that the rule checks, with the name of a unit.
_UNIT_NAMES = {"response": "response", "page_load": "page"}


def response_round_trips(evidence: Evidence) -> Cause | None:
    """Each response waits for a round trip, while the link is idle.

    The median response takes at most {_MAX_RTTS} lowest RTTs. The application pauses for less than
    {_MAX_IDLE_SHARE:.0%} of the time, all of its data are in flight for at least {MAJORITY:.0%} of it,
    and at least {_MIN_UNUSED_SHARE:.0%} of the capacity is unused.
    """
    responses = _idle_link_responses(evidence)
    if responses is None or evidence.time_share("in_flight") < MAJORITY:
        return None
    rtt_s = evidence.min_rtt_s
    rtts = median_of_runs(responses) / rtt_s
    if evidence.time_share("idle") >= _MAX_IDLE_SHARE or not rtts <= _MAX_RTTS:
        return None
    count = evidence.sessions
    subject = "The session" if count == 1 else f"{count} sessions"
    verb = "gets" if count == 1 else "get"
    rate = len(responses) / evidence.duration_s
    advice = ""
    if rtts <= _MAX_LEAST_RTTS:
        advice = " No CCA takes less: more requests at once, or larger responses, use the path."
    return Cause(
        "response_round_trips",
        f"Each response waits for a round trip of {1e3 * rtt_s:.0f} ms: {subject} with a request at a "
        f"time {verb} {three_digits(rate)} responses a second{_completion_text(evidence, responses)}, "
        f"{link_share_text(evidence, 1.0 - evidence.unused_share)} of the capacity.{advice}",
        min(len(responses) * rtt_s / float(responses["duration_s"].sum()), 1.0),
    )


def paced_responses(evidence: Evidence) -> Cause | None:
    """BBR paces responses slowly, as the application limited the rate that it measured.

    The median is over {_MIN_SLOWER_RATIO} times that under another CCA, or the least time of a
    response. Pacing or slow start limit the flow for at least {_MIN_PACED_SHARE:.0%} of the time
    without pauses, and at least {_MIN_UNUSED_SHARE:.0%} of the capacity is unused.
    """
    responses = _idle_link_responses(evidence)
    share, active_share = evidence.time_share("pacing", "startup"), 1.0 - evidence.time_share("idle")
    if responses is None or not evidence.is_bbr or share < _MIN_PACED_SHARE * active_share:
        return None
    application = evidence.application
    if application is None or has_several_flows(evidence.cca):
        return None
    medians_s = {
        cca: estimate(metrics["response_p50_s"]).mean
        for cca, metrics in application.metrics.items()
        if "response_p50_s" in metrics
    }
    own_s = medians_s.pop(evidence.cca, math.nan)
    best = min(medians_s, key=medians_s.__getitem__, default="")
    best_s, rtt_s = medians_s.get(best, math.inf), _usual_rtt_s(evidence)
    least_s = (least_response_s(evidence) or math.inf) + rtt_s - evidence.min_rtt_s
    if own_s > _MIN_SLOWER_RATIO * best_s:
        best_text = f"and {time_text(best_s)} under {labels(evidence.comparison.ccas)[best]}"
    elif _MIN_SLOWER_RATIO * least_s < own_s < least_s + rtt_s:
        # A response that takes a round trip more waits for its window.
        best_s, best_text = least_s, f"and the path alone {time_text(least_s)}"
    else:
        return None
    return Cause(
        "paced_responses",
        f"The median response takes {time_text(own_s)}, {best_text}: BBR paces each at the rate of "
        "earlier ones, which the application limited, not the link.",
        1.0 - best_s / own_s,
    )


def window_round_trips(evidence: Evidence) -> Cause | None:
    """Responses are larger than the window with which each begins, and take further round trips.

    The median takes at least {_MIN_FURTHER_RTTS} RTTs more than the least time of a response, of which
    that of the mean size stands for sizes that vary, while at least {_MIN_UNUSED_SHARE:.0%} of the
    capacity is unused. The window limits the flow for at least {MIN_WINDOW_SHARE:.0%} of the time
    without pauses. `idle_restart` is no cause.
    """
    responses = _idle_link_responses(evidence, has_one_size=False)
    is_limited = window_share(evidence) >= MIN_WINDOW_SHARE
    if responses is None or not is_limited or not evidence.mss > 0:
        return None
    sizes = request_and_response(evidence.workload)
    size = evidence.total("bytes") / len(responses) if sizes is None else sizes[1]
    segments, window = math.ceil(size / evidence.mss), initial_window(evidence.scenario.get("tcp", {}))
    rtt_s, own_s = _usual_rtt_s(evidence), median_of_runs(responses)
    least_s = least_response_s(evidence)
    if least_s is None:
        think = think_s(evidence.workload) or 0.0
        least_s = evidence.min_rtt_s + think + 8e-6 * size / evidence.capacity_mbps
    least_s += rtt_s - evidence.min_rtt_s
    further_s = own_s - least_s
    is_further = further_s >= _MIN_FURTHER_RTTS * evidence.min_rtt_s
    if segments <= window or not is_further or idle_restart(evidence):
        return None
    # ACKs of the first of a train, which jitter delays least, begin the next one.
    count = max(round(further_s / rtt_s), 1)
    trips = "a further round trip" if count == 1 else f"{count} further round trips"
    of_mean = "" if sizes else " on average"
    with_jitter = " with its jitter" if evidence.rtt_jitter_ms else ""
    return Cause(
        "window_round_trips",
        f"The median response takes {time_text(own_s)}, and the path alone {time_text(least_s)}"
        f"{with_jitter}: its "
        f"{number_text(segments)} segments{of_mean} are more than the window with which it begins "
        f"(initially {number_text(window)}, and hardly more after a pause), so that the rest takes "
        f"{trips} of {1e3 * rtt_s:.0f} ms.",
        1.0 - least_s / own_s,
    )


def least_response_s(evidence: Evidence) -> float | None:
    """Returns the least time of a response over a connection, s: an RTT, the server, and its bytes.

    None for other workloads, responses of a segment, and sizes, times or rates that vary.
    """
    parts = _parts_of_response(evidence)
    return None if parts is None else sum(parts)


def least_response_text(evidence: Evidence) -> str:
    """Returns a sentence on the least time of a response with its parts; empty where it is unknown."""
    parts, sizes = _parts_of_response(evidence), request_and_response(evidence.workload)
    if parts is None or sizes is None:
        return ""
    # Those of other sessions share the capacity where they meet.
    alone = " alone on the path" if evidence.sessions > 1 or evidence.competing_mbps else ""
    nouns = ("an RTT of {}", "{} of the server", "{} for its further bytes")
    texts = [
        noun.format(time_text(part))
        for noun, part in zip(nouns, parts, strict=True)
        if part >= _MIN_PART * sum(parts)
    ]
    return (
        f"a response of {size_text(sizes[1])}{alone} needs at least {time_text(sum(parts))} under "
        f"every CCA: {', '.join(texts)}"
    )


def _usual_rtt_s(evidence: Evidence) -> float:
    """Returns the RTT of a path without a queue, s: the mean if it has jitter, or else the lowest."""
    return evidence.mean("rtt_mean_ms") / 1e3 if evidence.rtt_jitter_ms else evidence.min_rtt_s


def _parts_of_response(evidence: Evidence) -> tuple[float, float, float] | None:
    """Returns the RTT, the think time and the time of the bytes of a response, s; or None."""
    sizes, server_s = request_and_response(evidence.workload), think_s(evidence.workload)
    rates = evidence.capacities_1s_mbps
    rtt_s = evidence.min_rtt_s
    is_steady = len(rates) and rates.min() >= _MIN_STEADY_SHARE * evidence.capacity_mbps > 0
    if sizes is None or server_s is None or not is_steady or evidence.has_middleboxes or not rtt_s > 0:
        return None
    # The RTT has the time of one of the segments, or of two with a delayed ACK.
    parts = rtt_s, server_s, 8e-6 * (sizes[1] - evidence.mss) / evidence.capacity_mbps
    units = evidence.units
    if units is None or sizes[1] <= evidence.mss:
        return None
    shortest_s = units.loc[units["unit"] == "response", "duration_s"].min()
    return parts if sum(parts) <= shortest_s else None


def _idle_link_responses(evidence: Evidence, *, has_one_size: bool = True) -> pd.DataFrame | None:
    """Returns the responses of a flow that leaves most of its path idle; None for others.

    They are of one size, unless `has_one_size` is False.
    """
    sizes, units = request_and_response(evidence.workload), evidence.units
    if units is None or evidence.has_middleboxes or (sizes is None and has_one_size):
        return None
    if sizes is not None and sizes[0] > sizes[1]:
        return None
    if evidence.is_held_by_nagle or evidence.is_queued or evidence.unused_share < _MIN_UNUSED_SHARE:
        return None
    responses = units[units["unit"] == "response"].dropna(subset=["duration_s"])
    return responses if len(responses) and evidence.min_rtt_ms > 0 else None


def _completion_text(evidence: Evidence, responses: pd.DataFrame) -> str:
    """Returns the number of responses of a run and the time of its sessions; empty without an end."""
    units = evidence.units
    completions = None if units is None else units[units["unit"] == "completion"]
    if completions is None or completions.empty or completions["duration_s"].isna().any():
        return ""
    time_s = float(completions.groupby("run")["duration_s"].max().mean())
    return f" ({number_text(len(responses) / len(evidence.runs))} in {time_s:.1f} s)"


def transfer_time(evidence: Evidence) -> Cause | None:
    """The link needs most of the time of pages or responses for their bytes.

    That is at least {_MIN_TRANSFER_SHARE:.0%} of their mean duration, and no other flow takes a share
    of the link.
    """
    units, capacity_mbps = evidence.units, evidence.capacity_mbps
    if units is None or not capacity_mbps > 0 or evidence.competing_mbps:
        return None
    for kind, name in _UNIT_NAMES.items():
        rows = units[units["unit"] == kind]
        mean_s = float(rows["duration_s"].mean())
        if not mean_s > 0:
            continue
        size = _mean_size(evidence, kind, len(rows))
        transfer_s = size / (capacity_mbps * 1e6 / 8)
        share = min(transfer_s / mean_s, 1.0)
        if not share >= _MIN_TRANSFER_SHARE:
            return None
        return Cause(
            "transfer_time",
            f"The link needs {time_text(transfer_s)} for the {size_text(size)} of a {name} at "
            f"{rate_text(capacity_mbps)} of payload, {percent_text(share)} of its {time_text(mean_s)} "
            "on average: no CCA changes that part, only fewer bytes or a faster link.",
            share,
        )
    return None


def _mean_size(evidence: Evidence, kind: str, count: int) -> float:
    """Returns the mean payload of pages or responses, bytes; NaN for too few responses."""
    application, sizes = evidence.application, request_and_response(evidence.workload)
    if kind == "response" and sizes is not None:
        return sizes[1]
    if kind == "page_load" and application is not None and "page_bytes" in application.names:
        return estimate(application.values("page_bytes")[evidence.cca]).mean
    if count < _MIN_RESPONSES * len(evidence.runs):
        return math.nan
    return evidence.total("bytes") / count
