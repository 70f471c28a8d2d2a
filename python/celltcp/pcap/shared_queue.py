"""Transfers between the same hosts, behind whose data the packets of other connections queue."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from celltcp.pcap.diagnosis.causes import Cause, is_headline
from celltcp.pcap.diagnosis.messages import messages_of
from celltcp.pcap.diagnosis.trains import link_rate
from celltcp.pcap.transfers import Transfers, client_of, hosts_of, overlaps, payload_of
from celltcp.scenarios.quantity_texts import ms_text, three_digits

#: Minimum RTTs of a queue: ratio to the lowest one, and ms. A silence of a receiver is as long.
_MIN_QUEUE_RATIO, _MIN_QUEUE_MS = 2.0, 200.0
#: Minimum payload of transfers that share a path, as a share of that of the other; and of one that
#: yields to it: its losses, and maximum share of its time in waits for applications.
_MIN_SHARING_PAYLOAD, _MIN_YIELDING_PAYLOAD = 0.1, 0.01
_MIN_YIELDING_LOSSES, _MAX_WAITED_SHARE = 10, 0.1
#: Minimum ratio of a share to an even one, or its inverse, and of RTTs, for a reason; minimum part of
#: the window by which one keeps more of it at losses.
_MIN_UNEVEN, _MIN_KEPT_MORE = 1.3, 0.15
#: Minimum share of the rate of a link that transfers which fill it have together.
_MIN_FILLED_SHARE = 0.85
#: Minimum rate of a policer of all transfers of a client, as a share of what they carry.
_MIN_POLICED_SHARE = 0.9
#: Causes of transfers that fill a queue, and minimum ratio of their rates to those of others in it.
_FULL, _MIN_FILLING_RATIO = (Cause.FULL_QUEUE, Cause.STANDING_QUEUE), 4
#: Minimum payload over that of the connection that waits.
_MIN_PAYLOAD_RATIO = 10


def queue_filler(transfers: Transfers, row: Mapping[Hashable, Any]) -> dict[Hashable, Any] | None:
    """Returns the largest transfer that fills a long queue between the hosts of a small connection.

    It is None without one.
    """
    hosts = set(hosts_of(row))
    fillers = [
        other
        for other in transfers.others(row)
        if set(hosts_of(other)) == hosts and payload_of(other) >= _MIN_PAYLOAD_RATIO * payload_of(row)
        if longest_rtt_ms(other) >= max(_MIN_QUEUE_RATIO * other["rtt_min_ms"], _MIN_QUEUE_MS)
        if overlaps(other, row)
    ]
    return max(fillers, key=payload_of, default=None)


def sharing_transfers(transfers: Transfers, row: Mapping[Hashable, Any]) -> list[dict[Hashable, Any]]:
    """Returns the transfers that share the path of another one: same hosts, direction and time."""
    beside = transfers_beside(transfers, row)
    return [other for other in beside if hosts_of(other) == hosts_of(row)]


def filling_transfer(
    row: Mapping[Hashable, Any], beside: Sequence[dict[Hashable, Any]]
) -> dict[Hashable, Any] | None:
    """Returns the transfer that fills the queue in which a slower one beside it waits; None without.

    Args:
        row: the slower connection, with its `main_cause`.
        beside: transfers of its client in its direction, with theirs.
    """
    if is_headline(row, *_FULL):
        return None
    rate_mbps = _MIN_FILLING_RATIO * float(row["throughput_mbps"])
    fillers = [
        each for each in beside if is_headline(each, *_FULL) and each["throughput_mbps"] >= rate_mbps
    ]
    return max(fillers, key=payload_of, default=None)


def transfers_beside(transfers: Transfers, row: Mapping[Hashable, Any]) -> list[dict[Hashable, Any]]:
    """Returns the transfers of the client of another one in the same direction, meanwhile.

    The access link of a client carries what all servers send.
    """
    return [
        other
        for other in transfers.in_direction(row)
        if client_of(other) == client_of(row) and may_share(other, row)
    ]


def may_share(other: Mapping[Hashable, Any], row: Mapping[Hashable, Any]) -> bool:
    """Returns whether another transfer is meanwhile, and carries enough to take a part of a path."""
    is_large = payload_of(other) >= _MIN_SHARING_PAYLOAD * payload_of(row)
    return overlaps(other, row) and (is_large or _yields(other, row))


def _yields(other: Mapping[Hashable, Any], row: Mapping[Hashable, Any]) -> bool:
    """Returns whether losses keep another transfer small beside a larger one, and no application."""
    waited_s = sum(other[f"{name}_{way}_s"] for name in ("turns", "pauses") for way in ("up", "down"))
    return bool(
        payload_of(other) >= _MIN_YIELDING_PAYLOAD * payload_of(row)
        and other["losses"] >= _MIN_YIELDING_LOSSES
        and waited_s <= _MAX_WAITED_SHARE * other["duration_s"]
        and messages_of(other) is None
    )


def transfers_sharing(
    transfers: Transfers, row: Mapping[Hashable, Any], policed_mbps: float
) -> list[dict[Hashable, Any]]:
    """Returns the transfers beside another one, unless a policer has a rate for that one alone.

    The share of one transfer in what a policer of all passes is not the rate of that.
    """
    beside = transfers_beside(transfers, row)
    total_mbps = sum(float(each["throughput_mbps"]) for each in (row, *beside))
    return beside if policed_mbps >= _MIN_POLICED_SHARE * total_mbps else []


def start_s(row: Mapping[Hashable, Any], origin_ns: int) -> float:
    """Returns the start of a connection after a time of its capture, s."""
    return (int(row["start_ns"]) - origin_ns) / 1e9


def fill_link(rows: Sequence[Mapping[Hashable, Any]]) -> bool:
    """Returns whether transfers fill the narrowest link together, even without a queue for long."""
    rates_mbps = [rate.high_mbps for row in rows if (rate := link_rate(row)) is not None]
    total_mbps = sum(float(row["throughput_mbps"]) for row in rows)
    return bool(rates_mbps) and total_mbps >= _MIN_FILLED_SHARE * max(rates_mbps)


def link_text(row: Mapping[Any, Any], others: Sequence[Mapping[Any, Any]]) -> str:
    """Returns the rate of the narrowest link of a connection as text, Mbit/s; empty where none shows.

    Others that share it stretch each other's gaps: all have the highest rate that one shows, or what
    they carry together, which losses in a queue of theirs show as a least rate.
    """
    rows = [row, *others]
    rates = [rate for each in rows if (rate := link_rate(each)) is not None]
    if len(rows) == 1:
        return str(rates[0]) if rates else ""
    total_mbps = sum(float(each["throughput_mbps"]) for each in rows)
    if not rates:
        are_queued = all(2 * each["losses_congestion"] > each["losses"] for each in rows)
        return f"≥{three_digits(total_mbps)}" if are_queued else ""
    widest = max(rates, key=lambda rate: rate.high_mbps)
    return three_digits(max(total_mbps, widest.high_mbps)) if fill_link(rows) else str(widest)


def is_uneven(row: Mapping[Hashable, Any], others: Sequence[Mapping[Hashable, Any]]) -> bool:
    """Returns whether a transfer has more or less of what it and others carry than an even share."""
    rates = [float(each["throughput_mbps"]) for each in (row, *others)]
    return not 1 / _MIN_UNEVEN <= rates[0] / sum(rates) * len(rates) <= _MIN_UNEVEN


def share_text(row: Mapping[Hashable, Any], others: Sequence[Mapping[Hashable, Any]]) -> str:
    """Returns the share of a transfer in what it and others carry, and why it is uneven, as text.

    BBR keeps its window at losses, to which CUBIC and Reno yield. Among equal CCAs, a lower RTT gains.
    """
    rates = [float(each["throughput_mbps"]) for each in (row, *others)]
    share = rates[0] / sum(rates)
    text = f", of which it has {100 * share:.0f} %"
    if not is_uneven(row, others):
        return text
    largest = max(others, key=lambda each: float(each["throughput_mbps"]))
    gains, yields = (row, largest) if share * len(rates) > 1 else (largest, row)
    ccas = [str(each["cca"]).split(":")[0] for each in (gains, yields)]
    if ccas[0].startswith("bbr") and ccas[1] in ("cubic", "reno"):
        return f"{text}: BBR keeps its window at losses, to which {ccas[1].upper()} yields"
    if gains["rtt_min_ms"] * _MIN_UNEVEN < yields["rtt_min_ms"]:
        rtts = (ms_text(each["rtt_min_ms"]) for each in (gains, yields))
        return f"{text}: {' and '.join(rtts)} are the lowest RTTs, and a window grows by the RTT"
    kept = [float(each["reduction"]) for each in (gains, yields)]
    if kept[0] > kept[1] + _MIN_KEPT_MORE:
        return (
            f"{text}: after losses the larger one kept {100 * kept[0]:.0f} % of its window, and the "
            f"smaller one {100 * kept[1]:.0f} %"
        )
    return text


def longest_rtt_ms(row: Mapping[Hashable, Any]) -> float:
    """Returns the 95th percentile of the RTTs on the side of a capture where they are longer, ms."""
    rtts_ms = [float(row[f"{side}_rtt_p95_ms"]) for side in ("far", "near")]
    return max((rtt for rtt in rtts_ms if rtt >= 0), default=0.0)
