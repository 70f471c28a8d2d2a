"""Settings of the endpoints of a captured transfer: windows, options, CCA and application."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from celltcp.pcap.diagnosis import MIN_CCA_CONFIDENCE
from celltcp.pcap.diagnosis.causes import Cause, is_headline
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, mean_rtt_ms
from celltcp.pcap.diagnosis.messages import large_messages, messages_of, size_spread
from celltcp.pcap.diagnosis.requests import Requests
from celltcp.pcap.units.large_requests import large_requests
from celltcp.pcap.units.video_segments import video_spread

#: Minimum share of the time with a full receive window at which the window has limited the transfer.
_MIN_LIMITED_SHARE = 0.05
#: Defaults of the maximum receive buffer and send buffer, bytes.
_RECEIVE_BUFFER = 6 * 2**20
_SEND_BUFFER = 4 * 2**20
#: Maximum memory of a packet per byte of payload: Linux counts receive buffers by memory.
_MEMORY_RATIO = 3
#: Largest window of the default receive buffer, as a share of it, where packets are full.
_DEFAULT_WINDOW_SHARE = 0.67
#: Ratio of a send buffer to the data of an RTT that it allows at least: Linux wakes an application that
#: waits for room when a third is free.
_WAKE_RATIO = 1.5
#: Minimum share of the capacity that a sender of one rate takes where it fills the link.
_MIN_FULL_SHARE = 0.9
#: Bytes on the path over payload, for segments of 1460 bytes with timestamps.
HEADERS_RATIO = 1500 / 1448
#: IP and TCP headers without options, which are not part of the MSS, bytes.
_HEADERS = 40
#: Option of timestamps, which segments have beside their data, and the MSS where no SYN has one, bytes.
_TIMESTAMPS_OPTION, _DEFAULT_MSS = 12, 1_460
#: Minimum share of the time in pauses or turns of an application, and minimum number of them, at which
#: the scenario has them.
_MIN_PAUSED_SHARE = 0.1
_MIN_PAUSES = 3
#: Minimum number of requests, and minimum share of them with a wait of an application.
_MIN_REQUESTS, _MIN_TURNS_SHARE = 20, 0.5
#: Minimum median time of a server until an answer, RTTs: queues and rounding have less.
_MIN_THINK_RTTS = 0.02
#: Minimum number of requests at regular times, minimum share of them after a pause, and maximum
#: correlation of answers with the waits after them.
_MIN_REGULAR, _MIN_SHOWN_SHARE, _MAX_CORRELATION = 5, 0.8, -0.5
#: Range of intervals from the 10th to the 90th percentile, over the share of their jitter.
_RANGE_OF_JITTER = 1.6
#: Minimum time between intervals with data for a pause, intervals.
_MIN_PAUSE_INTERVALS = 1.5
#: CCA of short responses to large requests, which have the default of the engine.
_RESPONSES_CCA = 'cca = "cubic" # of the responses: requests have the default of their client'
#: Defaults of the MTU, bytes, and of the rate of the wired hop, Mbit/s.
_MTU = 1_500
_WIRED_MBPS = 1_000.0

#: What a scenario of frames says without a given deadline, and the workloads that can have one.
_NO_DEADLINE = "the capture shows no deadline: 150ms by default, --deadline sets it"
_WITH_DEADLINE = re.compile(
    r'^(workload = \{ kind = "(?:frames|request-response)".*) \} #', re.MULTILINE
)


class Flight(NamedTuple):
    """Data in flight of a sender, bytes."""

    #: Limit of the sender to which it keeps; 0 if none is seen.
    bound: float
    #: Most data in flight; NaN if it is not known.
    longest: float


class Ends(NamedTuple):
    """Place of a transfer in a scenario."""

    #: Name of its flow where others share the path; empty for the only one.
    name: str = ""
    #: Nodes of its hosts.
    server: str = "server"
    client: str = "phone"
    #: Its start, s.
    start_s: float = 0.0
    #: Whether it has the CCA that fits best even with little confidence.
    has_guessed_cca: bool = False


def endpoint_settings(
    row: Mapping[Hashable, Any],
    intervals: pd.DataFrame,
    capacity_mbps: float,
    rtt_ms: float,
    flight: Flight,
    requests: Requests | None,
    units: pd.DataFrame,
    ends: Ends,
) -> str:
    """Returns the parts of a scenario about the endpoints of a connection, as TOML.

    Under these settings a sender can reach the rate of the captured one.

    Args:
        row: the connection.
        intervals: intervals of its sender.
        capacity_mbps: highest capacity of its path.
        rtt_ms: lowest RTT of the whole path.
        flight: data in flight of its sender.
        requests: requests of its receiver; None without any.
        units: its units of work.
        ends: its place in the scenario.
    """
    # On a full link, the queue holds the rest of what is in flight (Little's law).
    if HEADERS_RATIO * float(row["throughput_mbps"]) >= _MIN_FULL_SHARE * capacity_mbps:
        rtt_ms = float(np.fmax(rtt_ms, mean_rtt_ms(intervals, str(row["place"]))))
    tcp = _tcp(row, _bytes_per_rtt(row, intervals, rtt_ms), flight)
    flow = flow_text(row, intervals, requests, units, ends)
    return f"{_wired(row, capacity_mbps)}\n[tcp]\n{tcp}{flow}"


def flow_text(
    row: Mapping[Hashable, Any],
    intervals: pd.DataFrame,
    requests: Requests | None,
    units: pd.DataFrame,
    ends: Ends,
) -> str:
    """Returns the flow of a connection as TOML, of the arguments of `endpoint_settings`.

    It has ends, the sender's CCA and application, and is empty with defaults alone.
    """
    lines = [f'name = "{ends.name}"'] if ends.name else []
    large = large_requests(row, units, intervals)
    if row["direction"] == "up" and large is None:
        lines += [f'from = "{ends.client}"', f'to = "{ends.server}"', 'opens = "from" # an upload']
    else:
        lines += [f'from = "{ends.server}"'] if ends.server != "server" else []
        lines += [f'to = "{ends.client}"'] if ends.client != "phone" else []
    if ends.start_s >= INTERVAL_S:
        lines.append(f'start = "{ends.start_s:.2f}s"')
    if large is not None:
        lines += [_RESPONSES_CCA] * ends.has_guessed_cca + [large.workload]
        return "\n[[flows]]\n" + "".join(f"{line}\n" for line in lines)
    if (cca := likely_cca(row)) is not None or (ends.has_guessed_cca and (cca := _guessed_cca(row))):
        confidence_text = f"with confidence {row['cca_confidence']:.2f}"
        lines.append(f'cca = "{cca}" # of the captured sender, {confidence_text}')
    frames = units[units["up"] == (row["direction"] == "up")]
    if workload := _workload(row, intervals, requests, frames):
        lines.append(workload)
    return "\n[[flows]]\n" + "".join(f"{line}\n" for line in lines) if lines else ""


def with_deadline(endpoints: str, deadline: str) -> str | None:
    """Returns endpoints whose frames or responses have a deadline, as TOML; None if there are none."""
    given = endpoints.replace(f"; {_NO_DEADLINE}", "")
    given, count = _WITH_DEADLINE.subn(rf'\1, deadline = "{deadline}" }} #', given)
    return given if count else None


def likely_cca(row: Mapping[Any, Any]) -> str | None:
    """Returns the CCA that a capture shows; None if it shows none with enough confidence."""
    is_likely = row["cca"] != "unknown" and row["cca_confidence"] >= MIN_CCA_CONFIDENCE
    return str(row["cca"]) if is_likely else None


def _guessed_cca(row: Mapping[Any, Any]) -> str | None:
    """Returns the CCA that fits best, even with little confidence: others share a path with it."""
    return None if row["cca"] == "unknown" else str(row["cca"])


def cca_text(row: Mapping[Any, Any]) -> str:
    """Returns the CCA that a capture shows, with a question mark if it is not likely; empty without."""
    name = "" if row["cca"] == "unknown" else str(row["cca"])
    return f"{name}?" if name and likely_cca(row) is None else name


def _mss(row: Mapping[Hashable, Any]) -> int | None:
    """Returns the MSS that both sides allow, bytes; None if neither is known."""
    sizes = [size for size in (row["mss_up"], row["mss_down"]) if not math.isnan(size)]
    return int(min(sizes)) if sizes else None


def _wired(row: Mapping[Hashable, Any], capacity_mbps: float) -> str:
    """Returns the MTU of the path, and a wired hop of that MTU that is no bottleneck."""
    mtu = max((_mss(row) or 0) + _HEADERS, _MTU)
    lines = [] if mtu == _MTU else [f'mtu = "{mtu}B"']
    if mtu > _MTU or capacity_mbps > _WIRED_MBPS / 2:
        rate = max(_WIRED_MBPS, 10 * capacity_mbps)
        lines += ["", "[[path.wired]]", 'name = "wan"', f'rate = "{rate:.0f}Mbit/s"']
        lines += [f'mtu = "{mtu}B"']
    return "".join(f"{line}\n" for line in lines)


def _bytes_per_rtt(row: Mapping[Hashable, Any], intervals: pd.DataFrame, rtt_ms: float) -> int:
    """Returns the data that passed per RTT, in the later half of the time if that is more."""
    latest = intervals["t_s"].max()
    later = intervals.loc[intervals["t_s"] >= latest / 2, "acked_bytes"].sum() * 8e-6
    mbps = max(float(row["throughput_mbps"]), later / (latest / 2 + INTERVAL_S) if latest > 0 else 0.0)
    return math.ceil(125 * mbps * rtt_ms)


def _tcp(row: Mapping[Hashable, Any], bytes_per_rtt: int, flight: Flight) -> str:
    receiver = "client" if row["direction"] == "down" else "server"
    lines = []
    if (mss := _mss(row)) not in (None, _DEFAULT_MSS):
        lines.append(f'mss = "{mss}B" # as announced')
    if row["handshake"] == "whole":
        scale = row[f"scale_{receiver}"]
        shift = "false" if math.isnan(scale) else f"{min(scale, 14):.0f}"
        lines.append(f"window_scale = {shift} # of the receiver")
        lines += [f"{name} = false" for name in ("timestamps", "sack") if not row[name]]
    window = row["window_max"]
    if is_headline(row, Cause.SENDER, Cause.SOME_LIMIT):
        # A send buffer counts memory, and an application may be the limit: a window bounds the data.
        segment = (mss or _DEFAULT_MSS) - (_TIMESTAMPS_OPTION if row["timestamps"] else 0)
        limit = segment * math.ceil(bytes_per_rtt / segment)
        lines.append(f'receive_window_max = "{limit}B" # for the limit of the sender: data per RTT')
    elif flight.bound:
        lines.append(
            f'receive_window_max = "{flight.bound:.0f}B" # for the limit of the sender: data in flight'
        )
    elif row["window_limited"] >= _MIN_LIMITED_SHARE and not math.isnan(window):
        share = 100 * row["window_limited"]
        lines.append(f'receive_window_max = "{window:.0f}B" # full in {share:.0f} % of the time')
    elif is_headline(row, Cause.RECEIVE_WINDOW):
        # Away from the sender, the window is seldom seen full.
        lines.append(f'receive_window_max = "{window:.0f}B" # which limits the rate')
    if not math.isnan(window):
        is_default = window <= _DEFAULT_WINDOW_SHARE * _RECEIVE_BUFFER
        size = _RECEIVE_BUFFER if is_default else _MEMORY_RATIO * window
        lines.append(f'receive_buffer_max = "{size:.0f}B" # for windows up to {window:.0f} B and more')
    # A capture at the receiver shows the data of an RTT, not what is in flight.
    most, ratio = row["in_flight_max"], 1.0
    if row["place"] == "receiver":
        most = round(max(bytes_per_rtt, 0.0 if math.isnan(flight.longest) else flight.longest))
        ratio = _WAKE_RATIO
    size = max(ratio * most, _SEND_BUFFER)
    lines.append(f'send_buffer_max = "{size:.0f}B" # at least: {most} B were in flight')
    return "".join(f"{line}\n" for line in lines)


def _size_text(size: float, spread: float) -> str:
    """Returns sizes as TOML: their mean, or a log-normal distribution, whose bursts overrun policers.

    Args:
        size: mean size, bytes.
        spread: standard deviation of the logarithms of the sizes; 0 for equal ones.
    """
    if not spread:
        return f'"{round(size)}B"'
    median = size / math.exp(spread**2 / 2)
    return f'{{ kind = "lognormal", median = "{round(median)}B", sigma = {spread:.2f} }}'


def _workload(
    row: Mapping[Hashable, Any],
    intervals: pd.DataFrame,
    requests: Requests | None,
    frames: pd.DataFrame,
) -> str:
    """Returns the application: one that answers or pauses for 30 % of the time, or one that ended."""
    min_pauses_s = _MIN_PAUSED_SHARE * row["download_s"]
    direction = str(row["direction"])
    receiver = "up" if direction == "down" else "down"
    responses = frames[frames["unit"] == "response"]
    think_s = _think_s(row, responses)
    asked_s, answered_s = row[f"turns_{receiver}_s"], row[f"turns_{direction}_s"]
    answered_s = max(answered_s, think_s * len(responses))
    if requests is not None:
        if (period_s := _regular_s(intervals, frames, requests.number)) is not None:
            return _chunked(requests.request_bytes, requests.answer_bytes, period_s, requests.number)
        return (
            f'workload = {{ kind = "request-response", request = "{round(requests.request_bytes)}B", '
            f'response = "{round(requests.answer_bytes)}B", think = "{requests.think_ms:.3f}ms", '
            f'gap = "{requests.gap_ms:.3f}ms" }} # {requests.number} requests, one at a time'
        )
    if (messages := messages_of(row)) is not None:
        jitter = min(row["message_interval_range"] / _RANGE_OF_JITTER, 1.0)
        mbps = max(messages.mbps, 8e-6 * row[f"bytes_{direction}"] / row["download_s"])
        number, interval_ms = messages.number, messages.interval_ms
        size, beside, spread = 125 * mbps * interval_ms, "", size_spread(frames)
        large = large_messages(frames)
        if large is None and (interval_s := frames["start_s"].diff().median()) > 0:
            # Messages that come as one after an outage are several frames.
            number, interval_ms, size = len(frames), 1e3 * interval_s, float(frames["bytes"].mean())
        if large is not None:
            ratio, large_bytes = large.interval_ms / interval_ms, large.bytes
            if not spread:
                # A large one that comes with others hides their number, but not the sum of their bytes.
                large_bytes = max((size - large.usual_bytes) * ratio, large.usual_bytes)
            size -= large_bytes / ratio
            table = f'size = "{round(large_bytes)}B", interval = "{large.interval_ms:.0f}ms"'
            beside = f", beside = [{{ {table} }}]"
        return (
            f'workload = {{ kind = "frames", size = {_size_text(size, spread)}, '
            f'interval = "{interval_ms:.3f}ms", jitter = {jitter:.2f}{beside} }} '
            f"# {number} messages; {_NO_DEADLINE}"
        )
    turns, count = max(row["turns_up"], row["turns_down"]), row[f"segments_{receiver}"]
    turns = max(turns, len(responses) - 1) if think_s else turns
    # Where a segment of the receiver is a request, some waits are too short to show.
    are_all = count >= _MIN_REQUESTS and turns >= _MIN_TURNS_SHARE * count
    is_waiting = asked_s + answered_s >= min_pauses_s and turns >= _MIN_PAUSES
    if are_all or is_waiting:
        number = count if are_all else turns
        if row["place"] == "sender" and direction == "up":
            # The time since its last data has that in which an answer passes.
            asked_s = max(row["limit_idle"] * row["download_s"] - answered_s, 0.0)
        # The first request follows no turn, but its answer does.
        answers = max(row[f"turns_{direction}"], len(responses) if think_s else 0)
        requested = number if are_all else max(answers, row[f"turns_{receiver}"] + 1)
        request, response = (
            int(row[f"bytes_{each}"]) // requested or 1 for each in (receiver, direction)
        )
        if (period_s := _regular_s(intervals, frames, number)) is not None:
            return _chunked(request, response, period_s, number)
        think_s = max(answered_s / number, think_s)
        return (
            f'workload = {{ kind = "request-response", request = "{request}B", '
            f'response = {_size_text(response, video_spread(responses))}, think = "{think_s:.3f}s", '
            f'gap = "{asked_s / max(requested - 1, 1):.3f}s" }} # {number} turns'
        )
    if row[f"pauses_{row['direction']}_s"] >= min_pauses_s:
        _, starts = _starts(intervals)
        if 1 < len(starts) <= _MIN_PAUSES:
            off_s = float(row[f"pauses_{row['direction']}_s"]) / (len(starts) - 1)
            on_s = (float(row["download_s"]) - off_s * (len(starts) - 1)) / len(starts)
            return (
                f'workload = {{ kind = "on-off", on = "{on_s:.3f}s", off = "{off_s:.3f}s", '
                f"jitter = 0 }} # {len(starts)} times"
            )
        if len(starts) > _MIN_PAUSES:
            # Pieces, not frames: a capture shows no deadline.
            period_s = float(starts.iloc[-1] - starts.iloc[0]) / (len(starts) - 1)
            sent = intervals.loc[intervals["t_s"] < starts.iloc[-1], "bytes"].sum()
            size = int(sent) // (len(starts) - 1)
            return (
                f'workload = {{ kind = "chunked", piece = "{size}B", period = "{period_s:.3f}s" }} '
                f"# {len(starts)} times"
            )
    if row["ending"] in ("closed", "half-closed"):
        size = row[f"bytes_{row['direction']}"]
        return f'workload = {{ kind = "bulk", bytes = "{size}B" }} # all of the connection'
    return ""


def _think_s(row: Mapping[Hashable, Any], responses: pd.DataFrame) -> float:
    """Returns the median time of a server until its answer, s; 0 if that is too short to show.

    Beside a client, waits below an RTT are no turns. A full segment passes later than a short one.
    """
    if row["direction"] != "down" or responses.empty:
        return 0.0
    mbps = np.nanmin([row["near_train_mbps"], row["far_train_mbps"], math.inf])
    wait_s = float(responses["server_s"].median()) - 8e-6 * float(row["segment_max"]) / mbps
    return wait_s if wait_s >= _MIN_THINK_RTTS * float(row["rtt_min_ms"]) / 1e3 else 0.0


def _chunked(request: float, piece: float, period_s: float, number: int) -> str:
    """Returns the application that asks for pieces at regular times, of sizes in bytes."""
    return (
        f'workload = {{ kind = "chunked", request = "{round(request)}B", piece = "{round(piece)}B", '
        f'period = "{period_s:.3f}s" }} # {number} times'
    )


def _starts(intervals: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Returns the times of intervals with data, and those of them that follow a pause, s."""
    times = intervals.loc[intervals["bytes"] > 0, "t_s"].sort_values()
    return times, times[times.diff().fillna(math.inf) > _MIN_PAUSE_INTERVALS * INTERVAL_S]


def _regular_s(intervals: pd.DataFrame, responses: pd.DataFrame, number: int) -> float | None:
    """Returns the period of requests at regular times, s; None where each follows the answer before.

    Long answers leave short waits then, and the times between requests differ less than the waits do.
    """
    whole = responses[responses["requested_s"].notna() & responses["end_s"].notna()]
    if len(whole) >= _MIN_SHOWN_SHARE * number:
        starts, before = whole["requested_s"], whole["end_s"].shift()
    else:
        times, starts = _starts(intervals)
        before = times.shift()[starts.index]
    if len(starts) < max(_MIN_REGULAR, _MIN_SHOWN_SHARE * number):
        return None
    periods, waits = ((starts - each).iloc[1:].to_numpy(float) for each in (starts.shift(), before))
    answers = periods - waits
    if answers.std() < INTERVAL_S or periods.std() > waits.std():
        return None
    is_regular = np.corrcoef(answers, waits)[0, 1] < _MAX_CORRELATION
    return float(periods.mean()) if is_regular else None
