"""Rules about the queue of the bottleneck: one that stands, and one that a bulk flow holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from celltcp.comparison.explanation.causes.acks import empty_path_ms
from celltcp.comparison.explanation.causes.cause import Cause, percent_text
from celltcp.comparison.explanation.causes.sleep import sleep
from celltcp.comparison.explanation.causes.split_hosts import queue_behind_split
from celltcp.comparison.explanation.causes.standing_queues import harq_text
from celltcp.comparison.explanation.causes.tail import median_of_runs
from celltcp.comparison.explanation.evidence.evidence import MIN_COMPETING_RATIO, MIN_LATER_RTT
from celltcp.comparison.explanation.evidence.queue_owners import queue_owner, queue_owner_text
from celltcp.scenarios.quantity_texts import delay_text, ms_text, rate_text, time_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum mean waits in a queue, in lowest RTTs and ms, at which the queue is a cause.
_MIN_QUEUE_WAIT_RTTS, _MIN_QUEUE_WAIT_MS = 0.5, 20.0
#: Minimum mean waits behind another flow, as a share of the median response and in ms.
_MIN_WAIT_OF_RESPONSE, _MIN_WAIT_OF_RESPONSE_MS = 0.1, 1.0
#: Minimum mean waits, in ms and as a share of the mean RTT, at which a flow holds a queue.
_MIN_HELD_QUEUE_MS, _MIN_HELD_QUEUE_SHARE = 2.0, 0.05
#: Share of unused capacity below which a flow counts as having the capacity.
_MAX_UNUSED_SHARE = 0.2
#: A rate that varies explains the queue if its lower quartile is at most the first share of the upper
#: one, and packets wait at least the second value times as long below it as above the upper one.
_MAX_QUARTILE_RATIO, _MIN_WAIT_RATIO = 0.7, 2.0


def queue(evidence: Evidence) -> Cause | None:
    """The flow, or other flows, kept a standing queue.

    The mean wait of packets is at least {_MIN_QUEUE_WAIT_MS:.0f} ms and {_MIN_QUEUE_WAIT_RTTS:.0%} of
    the lowest RTT. Of responses behind another flow, {_MIN_WAIT_OF_RESPONSE_MS:.0f} ms and
    {_MIN_WAIT_OF_RESPONSE:.0%} of the median response are enough. The delay by the jitter of the path
    does not count.
    """
    min_rtt_ms = evidence.min_rtt_ms
    excess_ms = evidence.mean("rtt_mean_ms") - min_rtt_ms - evidence.jitter_ms
    wait_ms = _wait_beside_outages_ms(evidence)
    responses = _responses_behind_others(evidence)
    enough_ms = max(_MIN_QUEUE_WAIT_RTTS * min_rtt_ms, _MIN_QUEUE_WAIT_MS)
    if len(responses):
        of_response_ms = _MIN_WAIT_OF_RESPONSE * 1e3 * median_of_runs(responses)
        enough_ms = min(enough_ms, max(of_response_ms, _MIN_WAIT_OF_RESPONSE_MS))
    if not wait_ms >= enough_ms:
        return None
    # The data of a phone that sleeps waits without a queue, unless other flows fill one.
    if sleep(evidence) and all(map(evidence.is_thin_flow, evidence.competing_mbps)):
        return None
    if evidence.is_split:
        return Cause(
            "queue",
            f"Data waited {delay_text(wait_ms, 0)} on average, in queues and at the split host"
            f"{queue_behind_split(evidence)}; without that, it takes "
            f"{evidence.mean('owd_min_ms'):.0f} ms one way.",
            wait_ms / (wait_ms + min_rtt_ms),
        )
    filled_by_text = queue_owner_text(evidence)
    # The least one-way delay may be of a moment in which ACKs took longer.
    of_all_ms = min(evidence.queue_wait_ms, excess_ms) if excess_ms > 0 else evidence.queue_wait_ms
    waited_ms = min(wait_ms, of_all_ms)
    outage_ms = of_all_ms - waited_ms
    outage_text = f", and {delay_text(outage_ms, 0)} for outages" if outage_ms >= 1 else ""
    share_text = (
        f"{delay_text(waited_ms, 0)} on average, "
        f"{percent_text(_share_of_rtt(evidence, waited_ms))} of the "
        f"mean RTT{outage_text}; the lowest RTT is {delay_text(min_rtt_ms, 0)}"
    )
    if (empty_ms := empty_path_ms(evidence)) < min_rtt_ms:
        share_text += f" ({delay_text(empty_ms, 0)} without ACKs that wait)"
    if evidence.competing_mbps and evidence.seen_min_rtt_ms >= MIN_LATER_RTT * min_rtt_ms:
        share_text += (
            f", and {delay_text(evidence.seen_min_rtt_ms, 0)} in this flow, which met no empty queue"
        )
    if len(responses):
        # Their RTTs have the delays of ACKs, too.
        shortest = time_text(float(responses["duration_s"].min()))
        share_text = f"{ms_text(wait_ms)} on average; the shortest response took {shortest}"
    return Cause(
        "queue",
        f"A queue stood {_place_text(evidence)}{filled_by_text}: packets waited {share_text}"
        f"{_waits_by_rate_text(evidence)}.{harq_text(evidence)}",
        min(excess_ms / (excess_ms + min_rtt_ms), 1.0) if excess_ms > 0 else 0.0,
    )


def _place_text(evidence: Evidence) -> str:
    """Returns the place of the queue of the bottleneck: before a hop, in RLC, or before the access."""
    if evidence.bottleneck_field:
        return f"before {evidence.bottleneck_text}"
    path, is_upload = evidence.scenario.get("path", {}), evidence.is_upload
    if not evidence.scenario.get("radio"):
        return f"before the {'uplink' if is_upload else 'downlink'}"
    own = path.get("uplink_queue") if is_upload else None
    discipline = own or path.get("queue", "droptail")
    kind = discipline.get("kind") if isinstance(discipline, dict) else discipline
    place = "in the RLC buffer" if kind == "droptail" else "above RLC"
    return f"{place} of the {'UE' if is_upload else 'base station'}"


def _responses_behind_others(evidence: Evidence) -> pd.DataFrame:
    """Returns the complete responses that have no deadline, if another flow fills their queue."""
    if evidence.units is None:
        return pd.DataFrame(columns=["run", "duration_s"])
    is_response = (evidence.units["unit"] == "response") & evidence.units["duration_s"].notna()
    is_own = queue_owner(evidence) in (None, evidence.flow_name)
    return evidence.units[is_response & (evidence.deadline_s is None) & (not is_own)]


def _wait_beside_outages_ms(evidence: Evidence) -> float:
    """Returns the mean wait of packets without outages and what waited for their end, ms."""
    if not evidence.outages:
        return evidence.queue_wait_ms
    wait_ms = _mean_wait_ms(evidence, _slots_beside_outages(evidence))
    return 0.0 if math.isnan(wait_ms) else wait_ms


def _slots_beside_outages(evidence: Evidence) -> pd.DataFrame:
    """Returns the slots in which packets arrived that had not waited for the end of an outage."""
    slots = evidence.slots.dropna(subset=["owd_mean_ms"])
    is_beside = ~slots["t_s"].isna()
    for gap in evidence.outages:
        arrival_s = gap.end_s + evidence.wait_from(gap.run, gap.end_s)
        waits = slots["t_s"].between(gap.start_s - evidence.slot_s, arrival_s + evidence.slot_s)
        is_beside &= ~((slots["run"] == gap.run) & waits)
    return slots[is_beside]


def _mean_wait_ms(evidence: Evidence, slots: pd.DataFrame) -> float:
    """Returns the mean wait of the packets that arrived in slots, ms; NaN without one."""
    weights = slots["rate_mbps"].to_numpy(float)
    if not weights.sum() > 0:
        return math.nan
    mean_ms = float((slots["owd_mean_ms"].to_numpy(float) * weights).sum() / weights.sum())
    return evidence.wait_ms(mean_ms)


def _waits_by_rate_text(evidence: Evidence) -> str:
    """Returns the mean waits while the link was slow and while it was fast, as text.

    The limits are the quartiles of the capacity. Empty where they are close, or the waits are, and
    where other flows compete, whose goodput varies what they leave.
    """
    if evidence.others_mbps >= MIN_COMPETING_RATIO * evidence.goodput_mbps:
        return ""
    rates_mbps = evidence.capacities_1s_mbps
    slow_mbps, fast_mbps = rates_mbps.quantile([0.25, 0.75])
    if not slow_mbps <= _MAX_QUARTILE_RATIO * fast_mbps:
        return ""
    slots = _slots_beside_outages(evidence)
    of_slots = rates_mbps.reindex(slots.index)
    slow_ms = _mean_wait_ms(evidence, slots[of_slots <= slow_mbps])
    fast_ms = _mean_wait_ms(evidence, slots[of_slots >= fast_mbps])
    # A link that stands still has outages in place of a rate.
    if not slow_mbps > 0:
        return ""
    if not slow_ms >= _MIN_WAIT_RATIO * fast_ms > 0:
        return ""
    return (
        f". Its length follows the rate of the link: {delay_text(slow_ms, 0)} at "
        f"{rate_text(slow_mbps)} or less, {delay_text(fast_ms, 0)} at "
        f"{rate_text(fast_mbps)} or more (quartiles)"
    )


def held_queue(evidence: Evidence) -> Cause | None:
    """A bulk flow uses the capacity, and holds a queue that is shorter than that of `queue`.

    The mean wait of its packets is at least {_MIN_HELD_QUEUE_MS:.0f} ms and
    {_MIN_HELD_QUEUE_SHARE:.0%} of the mean RTT. Less than {_MAX_UNUSED_SHARE:.0%} of the capacity is
    unused.
    """
    rtt_ms, wait_ms = evidence.mean("rtt_mean_ms"), evidence.queue_wait_ms
    if not evidence.is_bulk or not wait_ms >= max(_MIN_HELD_QUEUE_MS, _MIN_HELD_QUEUE_SHARE * rtt_ms):
        return None
    if evidence.unused_share >= _MAX_UNUSED_SHARE:
        return None
    median_ms = evidence.wait_ms(float(evidence.slots["owd_mean_ms"].median()))
    in_flight_bdps = float(evidence.slots["inflight"].mean()) * evidence.mss / evidence.bdp
    median_text = (
        f" ({delay_text(median_ms, 0)} or more for half of the time)" if median_ms >= 1 else ""
    )
    share = _share_of_rtt(evidence, wait_ms)
    return Cause(
        "held_queue",
        f"It holds a queue: packets waited {delay_text(wait_ms, 0)} on average{median_text}, "
        f"{percent_text(share)} of the mean RTT, with {in_flight_bdps:.1f} bandwidth-delay products "
        f"in flight.{harq_text(evidence)}",
        share,
    )


def _share_of_rtt(evidence: Evidence, wait_ms: float) -> float:
    """Returns a mean wait in a queue, ms, as a share of the mean RTT, at most 1.

    Waits are means over packets and RTTs are means over ACKs, so that the wait may exceed the RTT.
    """
    return wait_ms / max(evidence.mean("rtt_mean_ms"), wait_ms + evidence.min_rtt_ms)
