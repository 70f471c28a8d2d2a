"""Captured transfers that share a path: joint intervals and losses, their flows and servers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from celltcp.pcap.analysis import connection_rows
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, Evidence
from celltcp.pcap.diagnosis.messages import messages_of
from celltcp.pcap.diagnosis.requests import one_request, waiting_requests
from celltcp.pcap.diagnosis.trains import link_rate
from celltcp.pcap.estimation.endpoint_settings import HEADERS_RATIO, Ends, flow_text
from celltcp.pcap.shared_queue import longest_rtt_ms, start_s
from celltcp.pcap.transfers import (
    MIN_TRANSFER_BYTES,
    client_of,
    hosts_of,
    is_slower,
    overlaps,
    payload_of,
)
from celltcp.pcap.units.page_loads import page_flow, page_loads
from celltcp.scenarios.quantity_texts import time_text

if TYPE_CHECKING:
    from celltcp.pcap.analysis import CaptureAnalyses

#: Minimum difference of the lowest RTTs of two hosts that have one, ms and as a share of the lower one.
_MIN_RTT_DIFFERENCE_MS, _MIN_RTT_DIFFERENCE = 5.0, 0.1
#: Minimum number of responses of an application beside a transfer, whatever its payload; maximum number
#: of connections that are named.
_MIN_RESPONSES, _MAX_NAMED = 5, 5
#: Columns of intervals that add up over transfers, and those of delays, ms.
_SUMS = ("bytes", "retransmitted_bytes", "acked_bytes", "in_flight_max")
_DELAYS = ("rtt_mean_ms", "rtt_min_ms", "rtt_max_ms", "near_rtt_mean_ms")
#: Rate of the link of a server with a longer RTT, which is no bottleneck, Mbit/s.
_SERVER_MBPS = 10_000


def joint_intervals(
    analyses: CaptureAnalyses, rows: Sequence[Mapping[Hashable, Any]], origin_ns: int
) -> pd.DataFrame:
    """Returns the intervals of the data of connections, as if one had sent all, at times of the origin.

    Delays are those of the transfer that has most in an interval, above the lowest RTT of the first.
    """
    row, parts = rows[0], []
    for each in rows:
        up = int(each["direction"] == "up")
        part = connection_rows(analyses.intervals, each, up).copy()
        shift = round(start_s(each, origin_ns) / INTERVAL_S)
        part["t_s"] = (part["t_s"] / INTERVAL_S).round().add(shift) * INTERVAL_S
        for side, names in (("far", _DELAYS[:3]), ("near", _DELAYS[3:])):
            part[list(names)] += float(row[f"{side}_rtt_min_ms"]) - float(each[f"{side}_rtt_min_ms"])
        # Without a delay, a transfer shows no queue.
        part["_weight"] = (part["bytes"] + part["acked_bytes"]).where(part["rtt_mean_ms"].notna(), -1)
        parts.append(part)
    joint = pd.concat(parts).sort_values("_weight", kind="stable")
    groups = joint.groupby(joint["t_s"].round(1), sort=True)
    is_last = ~joint["t_s"].round(1).duplicated(keep="last")
    result = joint[is_last].set_index(joint["t_s"][is_last].round(1))[list(_DELAYS)].sort_index()
    result[list(_SUMS)] = groups[list(_SUMS)].sum()
    result["is_limited"] = groups["is_limited"].min()
    return result.reset_index()


def joint_losses(
    analyses: CaptureAnalyses, rows: Sequence[Mapping[Hashable, Any]], origin_ns: int
) -> pd.DataFrame:
    """Returns the losses of connections, with RTTs of the path of the first, at times of the origin."""
    row, parts = rows[0], []
    for each in rows:
        part = connection_rows(analyses.losses, each, int(each["direction"] == "up")).copy()
        part["t_s"] += start_s(each, origin_ns)
        is_before = (part["is_upstream"] == 1) | (each["place"] == "receiver")
        far, near = (
            float(row[name]) - float(each[name]) for name in ("far_rtt_min_ms", "near_rtt_min_ms")
        )
        part["rtt_ms"] += is_before * near + ~is_before * far
        parts.append(part)
    return pd.concat(parts)


def server_of(row: Mapping[Hashable, Any], rtt_ms: float, lowest_ms: float) -> tuple[str, str]:
    """Returns the node of a server and its link as TOML, which is empty at the lowest RTT."""
    if rtt_ms - lowest_ms < max(_MIN_RTT_DIFFERENCE_MS, _MIN_RTT_DIFFERENCE * lowest_ms):
        return "server", ""
    node = f"server-{row['connection']}"
    return node, (
        f'\n[[links]]\nname = "{node}"\nfrom = "{node}"\nto = "server"\n'
        f'rate = "{_SERVER_MBPS}Mbit/s"\ndelay = "{(rtt_ms - lowest_ms) / 2:.3f}ms"\n'
    )


def lowest_rtt_ms(row: Mapping[Hashable, Any]) -> float:
    """Returns the lowest RTT of a connection over both sides of its capture, ms."""
    return float(np.nansum([row["far_rtt_min_ms"], row["near_rtt_min_ms"]]))


def queue_shares_ms(row: Mapping[Hashable, Any], other: Mapping[Hashable, Any]) -> tuple[float, float]:
    """Returns the waits in the long queue of a transfer, and in that of its ACKs, ms.

    Of the transfers in both directions, one has its receiver at the capture: timestamps show how late
    its data come there. The longest wait is about twice the median, as a queue fills and empties.
    """
    waited_ms = max(longest_rtt_ms(row) - lowest_rtt_ms(row), 0.0)
    near = row if row["place"] == "receiver" else other
    longest_ms = 2 * float(near[f"late_{near['direction']}_p50_ms"])
    if math.isnan(longest_ms) or near["place"] != "receiver":
        longest_ms = waited_ms / 2
    near_ms = min(longest_ms, waited_ms)
    far_ms = waited_ms - near_ms
    return (near_ms, far_ms) if near is row else (far_ms, near_ms)


def applications_beside(
    analyses: CaptureAnalyses, row: Mapping[Hashable, Any], others: Sequence[Mapping[Hashable, Any]]
) -> list[dict[Hashable, Any]]:
    """Returns the calls and streams of the client of a transfer in its direction, beside other ones.

    They may carry little: their times depend on the queue that the transfer fills.
    """
    known = {int(each["connection"]) for each in (row, *others)}
    units = analyses.units[analyses.units["file"] == row["file"]]
    calls = units.loc[units["unit"] == "response", "connection"].value_counts()
    return [
        each
        for each in analyses.connections.to_dict("records")
        if each["file"] == row["file"] and each["connection"] not in known
        if client_of(each) == client_of(row) and each["direction"] == row["direction"]
        if calls.get(each["connection"], 0) >= _MIN_RESPONSES or messages_of(each) is not None
        if lowest_rtt_ms(each) > 0 and (overlaps(each, row) or overlaps(row, each))
    ]


def left_out_text(
    connections: pd.DataFrame, row: Mapping[Hashable, Any], others: Sequence[Mapping[Hashable, Any]]
) -> str:
    """Returns the transfers that are no flows of the scenario of another one, as text.

    These are those beside it, and those of the same hosts before and after it.
    """
    known = {int(each["connection"]) for each in (row, *others)}
    transfers = [
        each
        for each in connections.to_dict("records")
        if each["file"] == row["file"] and each["connection"] not in known
        if payload_of(each) >= MIN_TRANSFER_BYTES
    ]
    beside = [each for each in transfers if overlaps(each, row) or overlaps(row, each)]
    apart = [each for each in transfers if each not in beside and hosts_of(each) == hosts_of(row)]
    texts = [
        f"{_numbers_text(rows)} {place}{_slower_text(rows, row)}"
        for rows, place in ((beside, "beside it"), (apart, "before or after it"))
        if rows
    ]
    return f"{', and '.join(texts)} (--connection NUMBER)" if texts else ""


def _slower_text(rows: Sequence[Mapping[Hashable, Any]], row: Mapping[Hashable, Any]) -> str:
    """Returns which transfers are slower than another one, as text; empty without any."""
    slower = [each for each in rows if is_slower(each, row)]
    if not slower:
        return ""
    numbers_text = "" if len(slower) == len(rows) else f"{_numbers_text(slower)} "
    longest_s = max(float(each["download_s"]) for each in slower)
    times_text = f"up to {time_text(longest_s)}, rather than {time_text(row['download_s'])}"
    return f", {numbers_text}slower ({times_text})"


def _numbers_text(rows: Sequence[Mapping[Hashable, Any]]) -> str:
    """Returns the numbers of connections as text, without those after the first few."""
    numbers = ", ".join(str(each["connection"]) for each in rows[:_MAX_NAMED])
    more = f" and {len(rows) - _MAX_NAMED} more" if len(rows) > _MAX_NAMED else ""
    return f"connection{'s' if len(rows) > 1 else ''} {numbers}{more}"


def flows_beside(
    analyses: CaptureAnalyses,
    row: Mapping[Hashable, Any],
    others: Sequence[dict[Hashable, Any]],
    origin_ns: int,
) -> tuple[str, str]:
    """Returns the flows of transfers beside another one, and the links of their servers, as TOML."""
    same = [each for each in (row, *others) if each["direction"] == row["direction"]]
    rtt_ms = min(lowest_rtt_ms(each) for each in same)
    flows, links = "", ""
    for other in others:
        up = int(other["direction"] == "up")
        both = connection_rows(analyses.intervals, other)
        evidence = Evidence(other, connection_rows(analyses.losses, other, up), both)
        node, link = server_of(other, lowest_rtt_ms(other), rtt_ms)
        name = f"connection-{other['connection']}"
        # The server of a transfer the other way may have opened it.
        is_back = hosts_of(other)[0] == hosts_of(row)[1] and client_of(other) != client_of(row)
        server, client = ("phone", node) if is_back else (node, "phone")
        ends = Ends(name, server, client, start_s(other, origin_ns), has_guessed_cca=True)
        flows += flow_text(
            other,
            connection_rows(analyses.intervals, other, up),
            one_request(other) or waiting_requests(evidence),
            connection_rows(analyses.units, other),
            ends,
        )
        links += link
    return flows, links


def pages_beside(
    analyses: CaptureAnalyses, row: Mapping[Hashable, Any], origin_ns: int
) -> tuple[str, str, list[dict[Hashable, Any]]]:
    """Returns flow and downlink of the pages of a phone beside its upload as TOML, and connections.

    All are empty without page loads, and for a capture away from the phone.
    """
    loads = page_loads(analyses.units, analyses.connections)
    loads = loads[(loads["file"] == row["file"]) & (loads["client"] == client_of(row))]
    if loads.empty or row["direction"] != "up" or row["place"] != "sender":
        return "", "", []
    rows = [
        each
        for each in analyses.connections.to_dict("records")
        if each["file"] == row["file"] and each["direction"] == "down"
        if client_of(each) == client_of(row)
    ]
    starts_s = {each["connection"]: int(each["start_ns"]) / 1e9 for each in rows}
    units = analyses.units
    units = units[(units["file"] == row["file"]) & (units["unit"] == "response")]
    responses = units[units["connection"].isin(list(starts_s))]
    responses = responses.assign(
        started_s=responses["start_s"] + responses["connection"].map(starts_s).astype(float)
    )
    first_s = float(loads["start_s"].iloc[0]) - origin_ns / 1e9
    rates = [rate.mbps for each in rows if (rate := link_rate(each)) is not None]
    link = (
        f'down.rate = "{HEADERS_RATIO * max(rates):.3f}Mbit/s" # by the gaps of the pages\n'
        if rates
        else ""
    )
    return page_flow(loads, responses, max(first_s, 0.0)), link, rows


def reverse_link(
    analyses: CaptureAnalyses, row: Mapping[Hashable, Any], other: Mapping[Hashable, Any]
) -> str:
    """Returns rate and buffer of the direction of the ACKs as TOML: what a transfer there shows."""
    carried = connection_rows(analyses.intervals, other, int(other["direction"] == "up"))["acked_bytes"]
    # ACKs that waited come at once.
    means = carried.rolling(round(1 / INTERVAL_S), min_periods=1).mean()
    mbps = HEADERS_RATIO * 8e-6 * float(means.quantile(0.9)) / INTERVAL_S
    link, buffer = ("up", "uplink_buffer") if row["direction"] == "down" else ("down", "buffer")
    size = round(max(125 * mbps * max(queue_shares_ms(row, other)[1], lowest_rtt_ms(row)), 3_000))
    return (
        f'{buffer} = "{size}B" # at least: ACKs waited\n'
        f'{link}.rate = "{mbps:.3f}Mbit/s" # at least: by connection {other["connection"]}\n'
    )
