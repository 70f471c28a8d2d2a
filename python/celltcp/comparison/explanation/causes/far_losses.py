"""Rules about packets that the direction of the ACKs loses: requests, and those of handshakes."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from celltcp._core import in_unit
from celltcp.comparison.applications.units_of_work import UNITS, without_connections
from celltcp.comparison.explanation.causes.cause import Cause, number_text, percent_text
from celltcp.comparison.explanation.evidence.least_time import transfer_bytes
from celltcp.comparison.explanation.evidence.outages import Outage
from celltcp.results.tables import frame
from celltcp.scenarios.initial_window import initial_window
from celltcp.scenarios.quantity_texts import delay_text, time_text

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.results.tables import Results

#: Kinds of packets in the table `far_losses`.
DATA, HANDSHAKE = "data", "handshake"
#: Minimum number of lost requests, and minimum share of the units of work, at which they are a cause.
_MIN_REQUESTS, _MIN_REQUEST_SHARE = 2, 5e-4
#: Minimum share of the time of connections that a repeated handshake takes to be a cause.
_MIN_HANDSHAKE_SHARE = 0.02
#: Minimum share of the median time of transfers that handshakes take to be a cause, and minimum number.
_MIN_OPENING_SHARE, _MIN_TRANSFERS = 0.3, 3
#: Initial RTO, s.
_INITIAL_RTO_S = 1
#: Cause of drops in an outage.
_OUTAGE = "outage"
#: Words for the causes of drops.
_WORDS = {
    _OUTAGE: "an outage of the link",
    "overflow": "a full queue",
    "aqm": "a queue discipline",
    "policer": "a policer",
    "loss": "random loss",
    "radio": "the radio",
    "mtu": "the MTU",
}


def far_losses_of(results: Results, connections: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of some connections in the table `far_losses`; none without that table."""
    table = results.tables.get("far_losses")
    if table is None:
        return pd.DataFrame(columns=["run", "flow", "t_s", "kind", "cause"])
    return frame(table).merge(connections[["run", "flow"]], on=["run", "flow"])


def lost_requests(evidence: Evidence) -> Cause | None:
    """Packets with requests were lost on their way, and the other end repeated them.

    There are at least {_MIN_REQUESTS} of them, and {_MIN_REQUEST_SHARE:.2%} of the units of work. Those
    of an outage that loses all packets are its losses.
    """
    rows = _with_outages(evidence)
    rows = rows[(rows["kind"] == DATA) & (rows["cause"] != _OUTAGE)]
    if evidence.units is None or len(rows) < _MIN_REQUESTS:
        return None
    # The connections of pages are units of work, too.
    units = without_connections(evidence.units)
    share = len(rows) / max(len(units), 1)
    if units.empty or share < _MIN_REQUEST_SHARE:
        return None
    cause_text, count_text = _causes_text(rows), evidence.mean_count_text(len(rows))
    noun = "packet with a request" if count_text == "1" else "packets with requests"
    return Cause(
        "lost_requests",
        f"{cause_text[:1].upper()}{cause_text[1:]}{evidence.ack_link_text} took "
        f"{count_text} {noun}{evidence.per_run_text}, of "
        f"{evidence.mean_count_text(len(units))} "
        f"{UNITS[str(units['unit'].iloc[0])].noun}: the other end repeated them after a loss "
        "probe or a time-out.",
        min(share, 1.0),
    )


def lost_handshake(evidence: Evidence) -> Cause | None:
    """The handshake of a connection lost a SYN or SYN-ACK, which a time-out of a second repeats.

    The waits for the first data take at least {_MIN_HANDSHAKE_SHARE:.0%} of the time of connections.
    """
    rows = _with_outages(evidence)
    rows = rows[rows["kind"] == HANDSHAKE]
    connections = evidence.connections
    keys = set(rows[["run", "flow"]].itertuples(index=False, name=None))
    of_all = connections[["run", "flow"]].itertuples(index=False, name=None)
    is_lost = np.array([each in keys for each in of_all], bool)
    lost, others = connections[is_lost], connections[~is_lost]
    waits_s = lost["first_data_s"] - lost["start_s"]
    total_s = (connections["first_data_s"] - connections["start_s"] + connections["duration_s"]).sum()
    if not len(lost) or not waits_s.sum() >= _MIN_HANDSHAKE_SHARE * total_s:
        return None
    return Cause(
        "lost_handshake",
        f"{number_text(len(lost))} of {number_text(len(connections))} connections "
        f"({percent_text(len(lost) / len(connections))}) lost a SYN or SYN-ACK to "
        f"{_causes_text(rows)}{_first_bytes_text(lost, others)}."
        f"{_first_windows_text(evidence, lost)}{_needless_syns_text(others)}",
        min(float(waits_s.sum() / total_s), 1.0),
    )


def handshakes(evidence: Evidence) -> Cause | None:
    """Each transfer opened a connection, whose handshake took a large part of its time.

    Its median is at least {_MIN_OPENING_SHARE:.0%} of that of the times of transfers.
    """
    connections = evidence.connections.dropna(subset=["completion_s"])
    size = transfer_bytes(evidence.workload)
    if evidence.workload.get("kind") != "sequence" or not size or len(connections) < _MIN_TRANSFERS:
        return None
    # Losses and outages make a few of them long, on a connection that is open as well.
    took_s = connections["completion_s"].median()
    handshake_s = (connections["first_data_s"] - connections["start_s"]).median()
    starts_s = connections.sort_values("start_s").groupby("run")["start_s"]
    kept, time_name = f'kind = "frames", size = "{size:.0f}B"', "frame delays"
    kept += f', interval = "{float(starts_s.diff().mean()):.3g}s", deadline = "{took_s:.3g}s"'
    if evidence.scenario["flows"][evidence.flow_index].get("opens", "to") == "to":
        # The request takes half a round trip, on a connection that is open as well.
        handshake_s -= evidence.min_rtt_s / 2
        gap_s = (starts_s.shift(-1) - connections["start_s"] - connections["completion_s"]).mean()
        kept = f'kind = "request-response", request = "100B", response = "{size:.0f}B"'
        kept, time_name = f'{kept}, gap = "{gap_s:.3g}s"', "response times"
    if not handshake_s >= _MIN_OPENING_SHARE * took_s:
        return None
    field = f"flows.{evidence.flow_index}.workload"
    return Cause(
        "handshakes",
        f"Each of {number_text(len(connections))} transfers opened a connection of its own: its "
        f"handshake took {time_text(handshake_s)}, {percent_text(handshake_s / took_s)} of "
        f"their time of {time_text(took_s)} (medians). A connection that the program keeps open saves "
        f"it: --set '{field}={{ {kept} }}' has such ones, by its {time_name}.",
        float(handshake_s / took_s),
    )


def _first_bytes_text(lost: pd.DataFrame, others: pd.DataFrame) -> str:
    """Returns when the first byte came, with a lost handshake and without, as text."""
    lost_s, other_s = (each["first_byte_s"].mean() for each in (lost, others))
    if math.isnan(lost_s):
        return ", and no byte arrived"
    beside = "" if math.isnan(other_s) else f" instead of {time_text(other_s)}"
    return f", and their first byte came {time_text(lost_s)}{beside} after the request on average"


def _first_windows_text(evidence: Evidence, lost: pd.DataFrame) -> str:
    """Returns a sentence on connections that a repeated SYN or SYN-ACK left a window of one segment."""
    slots = evidence.connection_slots.merge(lost[["run", "flow"]], on=["run", "flow"])
    firsts = slots.sort_values("t_s").groupby(["run", "flow"])["cwnd"].first().rename("first_cwnd")
    small = lost.merge(firsts[firsts == 1], on=["run", "flow"])
    is_whole = 0 < transfer_bytes(evidence.workload) <= evidence.mss
    if small.empty or is_whole or initial_window(evidence.scenario.get("tcp", {})) == 1:
        return ""
    took_s = small["completion_s"].median()
    took_text = "" if math.isnan(took_s) else f"; {time_text(took_s)} until complete (median)"
    return (
        f" {number_text(len(small))} of them began with a window of 1 segment, as a SYN or SYN-ACK had "
        f"been sent again (RFC 5681, 3.1), and each doubling of it takes a round trip{took_text}."
    )


def _needless_syns_text(others: pd.DataFrame) -> str:
    """Returns a sentence on handshakes that the RTT alone made time out; empty without any."""
    rtt_ms, count = others["rtt_min_ms"].min(), int((others["handshake_timeouts"] > 0).sum())
    # Small packets of a handshake may be faster; if most do not time out, the RTT is no reason.
    if not count or 2 * count <= len(others) or not rtt_ms > 1e3 * _INITIAL_RTO_S:
        return ""
    who = f"{number_text(count)} of the {number_text(len(others))} others"
    if count == len(others):
        who = "All others"
    return (
        f" {who} sent theirs again as well, needlessly: the RTT, at least {delay_text(rtt_ms)}, is "
        f"above the initial RTO of {_INITIAL_RTO_S} s (RFC 6298)."
    )


def _with_outages(evidence: Evidence) -> pd.DataFrame:
    """Returns the lost packets, with the outages that lose all packets as the cause of theirs.

    A SYN-ACK is lost in those of the direction of the data. The first SYN to a split host may be lost
    before its connection has a row of outages: then it is in a blackout of the scenario.
    """
    rows = evidence.far_losses
    losing = [*(gap for gap in evidence.ack_outages if gap.loses_all), *evidence.blackouts]
    path = evidence.scenario.get("path", {})
    for blackout in itertools.chain(
        *(each.get("blackouts") or () for each in (path, *path.get("wired", ())))
    ):
        start_s, length_s = (in_unit(blackout[each], "s") or 0.0 for each in ("at", "duration"))
        losing += [Outage(run, start_s, start_s + length_s, True) for run in evidence.runs]
    times = zip(rows["run"], rows["t_s"], strict=True)
    in_outage = [any(gap.overlaps(run, t_s, t_s) for gap in losing) for run, t_s in times]
    return rows.assign(cause=rows["cause"].mask(np.array(in_outage, bool), _OUTAGE))


def _causes_text(rows: pd.DataFrame) -> str:
    """Returns what dropped packets as text, the most frequent cause first."""
    return " and ".join(
        _WORDS.get(str(cause), str(cause)) for cause in rows["cause"].value_counts().index
    )
