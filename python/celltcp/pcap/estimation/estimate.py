"""Estimate of a path from a transfer in a capture: capacity, RTT, buffer, and random loss."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import CelltcpError
from celltcp.pcap.analysis import STDIN, CaptureAnalyses, connection_rows
from celltcp.pcap.common_queues import CommonQueues
from celltcp.pcap.diagnosis.episodes import MAX_CLOSE_SEGMENTS
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence, has_time_of_server, segments_were
from celltcp.pcap.diagnosis.gaps import Gap, gaps_of
from celltcp.pcap.diagnosis.hypotheses import p_value_of_high_rtts, shortest_queue_ms
from celltcp.pcap.diagnosis.losses import is_full_queue
from celltcp.pcap.diagnosis.messages import messages_of, passing_mbps
from celltcp.pcap.diagnosis.policing import Policing, burst_before, policing
from celltcp.pcap.diagnosis.requests import cycle_mbps, one_request, waiting_requests
from celltcp.pcap.diagnosis.standing_queues import (
    are_after_gaps,
    longest_flight,
    queue_delays_ms,
    sender_bound,
    stands_before,
)
from celltcp.pcap.diagnosis.thin_streams import is_thin
from celltcp.pcap.diagnosis.trains import link_rate
from celltcp.pcap.estimation.blackouts import blackouts_of
from celltcp.pcap.estimation.buffer_size import Departures, buffer_size
from celltcp.pcap.estimation.endpoint_settings import HEADERS_RATIO, Ends, Flight, endpoint_settings
from celltcp.pcap.estimation.path import MTU, POLICED_UPLOADER, PathEstimate
from celltcp.pcap.estimation.token_bucket import are_too_few
from celltcp.pcap.leftovers import are_leftovers
from celltcp.pcap.opposite import opposite_transfer
from celltcp.pcap.segments import burst_mbps, of_sender, payload_segments
from celltcp.pcap.shared_path import (
    applications_beside,
    flows_beside,
    joint_intervals,
    joint_losses,
    left_out_text,
    lowest_rtt_ms,
    pages_beside,
    queue_shares_ms,
    reverse_link,
    server_of,
)
from celltcp.pcap.shared_queue import sharing_transfers, start_s, transfers_sharing
from celltcp.pcap.transfers import MIN_TRANSFER_BYTES, Transfers, main_transfer
from celltcp.pcap.units.large_requests import large_requests
from celltcp.scenarios.quantity_texts import digits_text

#: IP and TCP headers of a segment with timestamps, bytes.
_HEADERS = 52
#: Minimum delay beyond the lowest RTT, in ms and as a share of it, at which the sender fills the path.
_MIN_QUEUE_MS = 3.0
_MIN_QUEUE_SHARE = 0.05
#: Minimum queue at losses of a buffer that overflows, beside an unknown capacity: three packets, bytes.
_MIN_QUEUE_BYTES = 4_500
#: Minimum share of the time in which the capacity is measured, for an estimate.
_MIN_MEASURED_SHARE = 0.05

#: Minimum time in which an answer passes whose queue shows the capacity, intervals.
_MIN_PASSING_INTERVALS = 3

#: Minimum RTT right after an outage whose data had waited, as a share of its length.
_MIN_WAITED_SHARE = 0.8

#: Minimum ratio of a measured capacity to what passed about the same time.
_MIN_CAPACITY_RATIO = 0.9

#: Intervals over which a constant rate has a mean, and their number at least; maximum difference from
#: the median, and minimum share of the means within it.
_STEADY_INTERVALS, _MAX_STEADY_RANGE, _MIN_STEADY_SHARE = 10, 0.015, 0.9
#: Maximum difference of a single interval: ACKs of two segments at its start and end, packets; maximum
#: share of intervals that are faster, as ACKs after a repair.
_MAX_PACKETS, _MAX_FASTER_SHARE = 4, 0.02

#: Minimum share of the segments that are overtaken at which reordering matters.
_MIN_REORDERED_SHARE = 0.01

#: Minimum buffer over the data in flight that a limit of the sender keeps to: headers, ACKs and bursts.
_BOUND_BUFFER_RATIO = 1.05


def estimate_path(
    analyses: CaptureAnalyses, connection: int | None = None, file: str | None = None
) -> PathEstimate:
    """Estimates the path of a transfer.

    Args:
        analyses: analyses of one or more captures.
        connection: number of the connection; by default the one with most payload, or a slower one of
            its hosts with about as much.
        file: capture of the connection; by default the first one if `connection` is given, else all.

    Raises:
        CelltcpError: if there is no such transfer, or it is too small, or it has no RTT.
    """
    row = transfer_row(analyses, connection, file)
    up = int(row["direction"] == "up")
    name = f"{row['file']}: connection {row['connection']}"
    payload = row["bytes_up"] if up else row["bytes_down"]
    messages = messages_of(row)
    if payload < MIN_TRANSFER_BYTES and messages is None:
        raise CelltcpError(
            f"{name}: {payload} bytes are too few for an estimate; allowed: 100 kB or more, or "
            "messages at regular times"
        )
    if np.isnan(row["rtt_min_ms"]) and np.isnan(row["far_rtt_min_ms"]):
        raise CelltcpError(f"{name}: has no RTT sample; allowed: captures with both directions")

    own_intervals = connection_rows(analyses.intervals, row, up)
    own_losses = connection_rows(analyses.losses, row, up)
    evidence = Evidence(row, own_losses, connection_rows(analyses.intervals, row))
    episodes, bound, policed = evidence.episodes, sender_bound(evidence), policing(evidence)
    # Delays may be those of ACKs in the queue of another transfer, even if the data fill a queue, too.
    transfers = Transfers(analyses.connections)
    other = opposite_transfer(transfers, row, own_intervals)
    sharing = transfers_sharing(transfers, row, 8e-6 * policed.rate if policed else math.inf)
    if policed is None:
        sharing += CommonQueues(transfers, analyses.intervals).others(row)
    rtt_ms = min(lowest_rtt_ms(each) for each in (row, *sharing))
    beside = [*sharing, *([other] if other else [])]
    applications = applications_beside(analyses, row, beside)
    beside += applications
    origin_ns = min(int(each["start_ns"]) for each in (row, *beside))
    intervals, losses = own_intervals, own_losses
    if beside:
        intervals = joint_intervals(analyses, [row, *sharing, *applications], origin_ns)
        losses = joint_losses(analyses, [row, *sharing], origin_ns)
    times_s, capacity_mbps, is_measured, is_outage = _capacity(
        intervals,
        losses,
        row,
        max(_MIN_QUEUE_MS, shortest_queue_ms(evidence)),
        has_queue_before=stands_before(evidence)
        or any(episode.queue == "full" for episode in episodes),
        is_ack_queue=other is not None,
        held=[each for each in gaps_of(evidence) if each.is_outage and not each.lost],
        offset_s=start_s(row, origin_ns),
    )
    requests = one_request(row) or waiting_requests(evidence)
    if (
        not sharing
        and requests is not None
        and requests.passing_ms < _MIN_PASSING_INTERVALS * INTERVAL_S * 1e3
    ):
        # The queue of an answer is gone within the interval.
        is_measured[:], capacity_mbps[:] = False, float(np.percentile(capacity_mbps, 90))
    # Gaps show the rate of a link that is not full. The queue of a message is gone before the next one.
    link = link_rate(row) if other is None or row["place"] == "receiver" else None
    is_measured &= link is None or messages is None or bool(sharing)
    link = None if is_measured.any() else link
    if link is not None:
        capacity_mbps[:] = HEADERS_RATIO * link.mbps
        requests = requests and requests.at_link(link.mbps)
    elif requests is not None and not is_measured.any():
        capacity_mbps = np.maximum(capacity_mbps, HEADERS_RATIO * requests.answer_mbps)
    elif not is_measured.any():
        passed_mbps = HEADERS_RATIO * cycle_mbps(evidence)
        if messages is not None:
            passed_mbps = passing_mbps(row, messages, _HEADERS)
        elif other is None:
            moment_mbps = burst_mbps(row, is_readable=row["file"] != STDIN)
            passed_mbps = max(passed_mbps, HEADERS_RATIO * moment_mbps)
        capacity_mbps = np.maximum(capacity_mbps, passed_mbps)
    buffer_bytes, has_overflow, has_queue = 0.0, False, True
    if other is None:
        # A path that stands still shows that, whatever else shows its capacity.
        capacity_mbps = np.where(is_outage & ~is_measured, 0.0, capacity_mbps)
        # What a policer dropped did not fill the buffer.
        overflow = losses.iloc[:0] if policed else losses
        delays_ms = queue_delays_ms(intervals, row)[~are_after_gaps(intervals, row)]
        arrived_mbps = _arrived_mbps(intervals, times_s)
        # A full queue sends at the capacity. Without SACK, what arrived behind a loss is acknowledged
        # later.
        sent_mbps = np.maximum(arrived_mbps, capacity_mbps) if row["sack"] else capacity_mbps
        arrived, sent = Departures(times_s, arrived_mbps), Departures(times_s, sent_mbps)
        buffer_bytes, has_overflow = buffer_size(overflow, delays_ms, intervals, row, sent, arrived)
        has_overflow &= bool(is_measured.any()) or row["losses_congestion"] > row["losses_random"]
        # The time of a server is no queue at which segments are lost.
        is_long = buffer_bytes >= _MIN_QUEUE_BYTES and not has_time_of_server(row)
        has_queue = is_long or bool(is_measured.any())
        # The path holds all that is in flight, with headers, and nothing of that is lost.
        buffer_bytes = max(buffer_bytes, bound * _BOUND_BUFFER_RATIO)
    else:
        buffer_bytes = 125 * float(capacity_mbps.mean()) * queue_shares_ms(row, other)[0]
    if policed and link is None:
        # The link behind a policer carries the burst, too.
        peak_mbps = max(float(row["goodput_peak_mbps"]), 8e-6 * policed.rate)
        capacity_mbps = np.maximum(capacity_mbps, HEADERS_RATIO * peak_mbps)
    others = sharing_transfers(transfers, row) if policed and not sharing else []
    offset_s = start_s(row, origin_ns)
    since_start = capacity_mbps[round(offset_s / INTERVAL_S) :]
    blackouts, other_outages = blackouts_of(evidence, since_start)
    segments = int(row["segments_up"] if up else row["segments_down"])
    # Leftovers of full queues, and what a policer dropped, were not lost at random.
    kinds = ["random"] if has_queue else ["random", "congestion"]
    if is_thin(evidence):
        # Messages that are far apart are ends of flights, and fill no queue.
        kinds = ["random", "congestion", "tail"]
    is_random = own_losses["kind"].isin(kinds)
    known = [episode for episode in episodes if not np.isnan(episode.rtt_ms)]
    are_queued = has_queue and not is_thin(evidence)
    are_queued = are_queued and (are_leftovers(episodes) or is_full_queue(evidence, known))
    # Of transfers that overflow a queue together, each has some losses before its RTT shows that.
    are_queued |= bool(sharing) and has_overflow and (losses["kind"] == "congestion").mean() > 1 / 2
    random = own_losses[is_random & (policed is None) & (not are_queued)]
    bursts = _bursts(random, evidence.segment_bytes)
    name = f"connection-{row['connection']}" if beside else ""
    node, server_link = server_of(row, lowest_rtt_ms(row), rtt_ms)
    flight = longest_flight(evidence)
    flight_bytes = 0.0 if policed or other or math.isnan(flight) else HEADERS_RATIO * flight
    large = large_requests(row, connection_rows(analyses.units, row), own_intervals)
    if large is not None and not row["losses"]:
        # The queue holds a request that is sent at once after a pause, while nothing is on its way.
        bdp = 125 * float(capacity_mbps.mean()) * rtt_ms
        flight_bytes = max(flight_bytes, HEADERS_RATIO * large.request_bytes + bdp)
    ends = Ends(name, node, POLICED_UPLOADER if policed and up else "phone", offset_s)
    flows, links = flows_beside(analyses, row, beside, origin_ns)
    pages, down_link, of_pages = pages_beside(analyses, row, origin_ns)
    left_out = left_out_text(analyses.connections, row, [*beside, *of_pages])
    return PathEstimate(
        str(row["file"]),
        int(row["connection"]),
        str(row["direction"]),
        rtt_ms,
        times_s,
        capacity_mbps,
        is_measured,
        link,
        buffer_bytes,
        # A lower bound of the capacity gives only a lower bound of the buffer.
        has_overflow and (bool(is_measured.any()) or link is not None),
        has_overflow and has_queue,
        flight_bytes,
        len(random) / max(segments, 1),
        len(random) / max(bursts, 1),
        bursts,
        policed,
        _burst_bytes(row, evidence, policed) if policed else 0.0,
        endpoint_settings(
            row,
            own_intervals,
            float(capacity_mbps.max()),
            rtt_ms,
            Flight(bound, flight),
            requests,
            connection_rows(analyses.units, row),
            ends,
        ),
        tuple(each.later(offset_s) for each in blackouts),
        (*_missing_properties(row, other_outages), *([left_out] if left_out else [])),
        "" if requests is None else requests.rate_text(evidence.segment_bytes),
        len(others),
        sum(float(each["throughput_mbps"]) for each in others),
        None if other is None else int(other["connection"]),
        offset_s,
        flows + pages,
        server_link + links,
        down_link if other is None else reverse_link(analyses, row, other),
        may_be_policed=policed is None and are_too_few(row),
        p_value_of_losses=p_value_of_high_rtts(
            evidence, [each for each in known if each.queue != "full"]
        ),
    )


def _burst_bytes(row: dict[Hashable, Any], evidence: Evidence, policed: Policing) -> float:
    """Returns the payload that passed above the rate of a policer before its first drop.

    Bursts are shorter than intervals. A capture from the standard input cannot be read again for them.
    """
    if row["policer_burst_bytes"] > 0:
        return float(row["policer_burst_bytes"])
    if row["file"] == STDIN:
        counts = evidence.bytes_by_interval
        # The first data come an RTT after the first packet.
        starts_s = np.maximum(counts.index.to_numpy(float) * INTERVAL_S, evidence.rtt_or_zero_ms / 1e3)
        return burst_before(starts_s, counts.to_numpy(float), policed.first_s, policed.rate)
    number = int(row["connection"])
    sent = of_sender(payload_segments(str(row["file"]), [number]), row).sort_values("t_s")
    times_s, sizes = sent["t_s"].to_numpy(float), sent["len"].to_numpy(float)
    is_lost = pd.MultiIndex.from_frame(sent[["t_s", "seq"]]).isin(
        pd.MultiIndex.from_frame(evidence.true_losses[["t_s", "seq"]])
    )
    return burst_before(times_s, np.where(is_lost, 0.0, sizes), policed.first_s, policed.rate)


def _bursts(losses: pd.DataFrame, segment_bytes: float) -> int:
    """Returns the number of bursts of losses: each begins far from the segment that was lost before."""
    distances = losses["seq"].sort_values().diff().fillna(np.inf)
    return int((distances > MAX_CLOSE_SEGMENTS * segment_bytes).sum())


def transfer_row(
    analyses: CaptureAnalyses, connection: int | None = None, file: str | None = None
) -> dict[Hashable, Any]:
    """Returns the row of the connection whose path is estimated, as `estimate_path` does."""
    rows = analyses.connections
    if connection is not None or file is not None:
        rows = rows[rows["file"] == (file or analyses.summaries[0]["file"])]
    if connection is not None:
        rows = rows[rows["connection"] == connection]
    if rows.empty:
        raise CelltcpError("no such connection in the capture; celltcp pcap analyze lists them")
    return main_transfer(rows.to_dict("records"))


def _outages(
    acked: NDArray[np.float64],
    flight: NDArray[np.float64],
    max_rtt_ms: NDArray[np.float64],
    lowest_ms: float,
) -> NDArray[np.bool_]:
    """Returns which intervals are in outages: nothing arrived, and then all that had waited.

    Where windows pass in bursts, nothing arrives for most of an RTT either, but no data has waited.
    The arrays have a value for each interval: acknowledged bytes, maximum in flight, longest RTT.
    """
    is_outage = np.zeros(len(acked), bool)
    start = 0
    for index in range(1, len(acked) + 1):
        if index < len(acked) and acked[index] == 0 and flight[start] > 0:
            continue
        length_ms = (index - start - 1) * INTERVAL_S * 1e3
        rtt_ms = max_rtt_ms[index] if index < len(acked) else 0.0
        # Messages that are far apart, or were sent again, leave a first part of it without a sample.
        if length_ms and rtt_ms >= max(_MIN_WAITED_SHARE * length_ms, lowest_ms + length_ms / 2):
            # What was sent at its begin has waited for all of it, also for the rest of an interval.
            is_longer = rtt_ms >= lowest_ms + length_ms + INTERVAL_S * 1e3 / 2
            is_outage[start + 1 - is_longer : index] = True
        start = index
    return is_outage


def _capacity(
    intervals: pd.DataFrame,
    losses: pd.DataFrame,
    row: dict[Hashable, Any],
    min_queue_ms: float,
    *,
    has_queue_before: bool,
    is_ack_queue: bool,
    held: Sequence[Gap],
    offset_s: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Returns `times_s`, `capacity_mbps` and `is_measured` of an estimate, and where nothing passed.

    The rate at which a queue sends is the capacity, unless the queue may be that of the ACKs.
    """
    count = int(intervals["t_s"].max() / INTERVAL_S + 0.5) + 1
    indices = (intervals["t_s"] / INTERVAL_S + 0.5).astype(int).to_numpy()

    def by_interval(values: pd.Series, fill: float = 0.0) -> NDArray[np.float64]:
        result = np.full(count, fill)
        result[indices] = values.to_numpy(float)
        return result

    acked = by_interval(intervals["acked_bytes"])
    queue_ms = by_interval(queue_delays_ms(intervals, row, is_minimum=True), np.nan)
    # Close to the receiver nothing is in flight most of the time, whatever the sender does.
    is_limited = np.zeros(count, bool)
    if not (has_queue_before and row["place"] == "receiver"):
        is_limited = by_interval(intervals["is_limited"] == 1) > 0
    lowest_ms = float(np.nanmax([row["rtt_min_ms"], row["far_rtt_min_ms"]]))
    mss = float(np.nanmax([np.nanmin([row["mss_up"], row["mss_down"], 1460.0]) - 12, 536.0]))
    rate: NDArray[np.float64] = acked * 8e-6 / INTERVAL_S * (mss + _HEADERS) / mss
    max_rtt_ms = by_interval(intervals["rtt_max_ms"].fillna(0.0))
    is_outage = _outages(acked, by_interval(intervals["in_flight_max"]), max_rtt_ms, lowest_ms)
    for gap in held:
        end = int((gap.end_s + offset_s) / INTERVAL_S + 0.5)
        # Of the intervals in which it begins and ends, one has no rate if it is as long as that.
        is_outage[end - int(gap.length_s / INTERVAL_S + 0.5) : end] = True
    has_queue = queue_ms > max(min_queue_ms, _MIN_QUEUE_SHARE * lowest_ms)
    is_measured = (has_queue | is_outage) & ~is_limited
    if row["place"] == "receiver":
        # Delays there are means, so that a queue may have begun within its first interval.
        is_measured[1:] &= is_measured[:-1].copy()
    # The first and the last interval are not whole.
    is_measured[[0, -1]] = False
    times_s = np.arange(count, dtype=np.float64) * INTERVAL_S
    # A window passes in the course of an RTT. If it does not fill the path, its bursts make short
    # queues, behind which less passes than on average.
    block = int(np.ceil(lowest_ms / 1e3 / INTERVAL_S)) + 1
    passed = pd.Series(rate).rolling(block, min_periods=1, center=True).mean().to_numpy()
    is_below = rate[is_measured].sum() < _MIN_CAPACITY_RATIO * passed[is_measured].sum()
    if is_measured.mean() < _MIN_MEASURED_SHARE or is_below or is_ack_queue:
        is_measured[:] = False
        # A sender that never fills the path for long shows a lower bound: the rate that it has carried.
        # Slow start reaches it before its losses; after them, ACKs of what had arrived come at once.
        first_loss_s = float(losses["t_s"].min()) if len(losses) else np.inf
        if is_ack_queue:
            # ACKs that waited come at once.
            means = pd.Series(rate).rolling(_STEADY_INTERVALS, min_periods=1).mean()
            p90 = float(np.percentile(rate[rate > 0], 90)) if (rate > 0).any() else 0.0
            return times_s, np.full(count, max(float(means.max()), p90)), is_measured, is_outage
        before = rate[:-1][times_s[1:] <= first_loss_s]
        p90 = np.percentile(rate[rate > 0], 90) if (rate > 0).any() else 0.0
        return times_s, np.full(count, max(before.max(initial=0.0), p90)), is_measured, is_outage
    interpolated = np.interp(times_s, times_s[is_measured], rate[is_measured])
    if (constant := _constant_mbps(rate, is_measured)) is not None:
        return times_s, np.where(is_outage, 0.0, constant), is_measured, is_outage
    lower_bounds = np.maximum(np.maximum(interpolated, passed), np.where(is_limited, rate, 0))
    return times_s, np.where(is_measured, rate, lower_bounds), is_measured, is_outage


def _constant_mbps(rate: NDArray[np.float64], is_measured: NDArray[np.bool_]) -> float | None:
    """Returns the rate of a link that is constant but for whole packets in intervals; None otherwise.

    Such differences would end lock-ins of several flows: means over a second have none.
    """
    means = pd.Series(np.where(is_measured, rate, np.nan)).rolling(_STEADY_INTERVALS).mean().dropna()
    if len(means) < _STEADY_INTERVALS:
        return None
    is_steady = (means / means.median() - 1).abs() <= _MAX_STEADY_RANGE
    # A queue that is empty within an interval makes it lower.
    constant = float(means.quantile(0.9))
    max_difference = max(_MAX_PACKETS * 8e-6 * MTU / INTERVAL_S, 0.05 * constant)
    differences = rate[is_measured] - constant
    is_near = np.abs(differences) <= max_difference
    is_steady_link = min(is_steady.mean(), is_near.mean()) >= _MIN_STEADY_SHARE
    # A second is too long for short times at a higher rate.
    has_faster = (differences > max_difference).mean() > _MAX_FASTER_SHARE
    return constant if is_steady_link and not has_faster else None


def _arrived_mbps(intervals: pd.DataFrame, times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns what arrived in each interval of an estimate at the IP layer, Mbit/s."""
    indices = (intervals["t_s"] / INTERVAL_S + 0.5).astype(int).to_numpy()
    acked = np.zeros(len(times_s))
    acked[indices] = intervals["acked_bytes"].to_numpy(float)
    return acked * HEADERS_RATIO * 8e-6 / INTERVAL_S


def _missing_properties(row: dict[Hashable, Any], outage_losses: int) -> list[str]:
    """Returns the properties that a scenario lacks, each with the field that could have it."""
    texts = []
    if outage_losses:
        texts.append(f"outages, in which {segments_were(outage_losses)} lost (path.blackouts)")
    direction = row["direction"]
    # Both count the same segments, by ACKs and by arrival.
    overtaken = max(int(row["reordered"]), int(row[f"out_of_order_{direction}"]))
    share = overtaken / max(int(row[f"segments_{direction}"]), 1)
    if share >= _MIN_REORDERED_SHARE:
        texts.append(f"reordering of {digits_text(100 * share, 2)} % of the segments (path.jitter)")
    return texts
