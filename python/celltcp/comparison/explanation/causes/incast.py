"""Initial windows that overflow a buffer at once, of one connection or by incast, and remedies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.comparison.explanation.evidence.buffers import arrival_hop, buffer_bytes, buffer_field
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.results.tested import divided_flows
from celltcp.scenarios.initial_window import initial_window
from celltcp.scenarios.packets import PACKET_BYTES
from celltcp.scenarios.quantity_texts import size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Smallest initial window of a remedy, segments: a single segment waits for a delayed ACK.
_MIN_WINDOW = 2
#: Largest buffer of a remedy, as ports of switches have it, bytes.
_MAX_BUFFER = 4e6


class FirstBursts(NamedTuple):
    """First bursts of connections that start together, of which more arrives than fits."""

    connections: int
    #: Initial window of each, segments.
    window: int
    #: Payload of all bursts, and what buffer and path hold of it, bytes.
    size: float
    room: float


def first_bursts(evidence: Evidence) -> FirstBursts | None:
    """Returns the first bursts of transfers that start together; None where buffer and path hold them.

    The link carries some of it while the connections start.
    """
    if evidence.flow_name not in divided_flows(evidence.comparison.results.about):
        return None
    count = int(evidence.value_at(f"flows.{evidence.flow_index}.count") or 1)
    window = _initial_window(evidence)
    size, room = (
        count * window * evidence.mss,
        buffer_bytes(evidence) / evidence.header_factor + evidence.bdp,
    )
    starts_s = evidence.connections.groupby("run")["start_s"]
    spread_s = float((starts_s.max() - starts_s.min()).mean())
    carried = evidence.link_bytes_per_s * spread_s
    return FirstBursts(count, window, size, room) if size - carried > room else None


def first_bursts_text(evidence: Evidence) -> str:
    """Returns a sentence on first bursts that do not fit; empty without them."""
    bursts = first_bursts(evidence)
    if bursts is None:
        return ""
    return (
        f" {bursts.connections} connections start together: their initial windows of {bursts.window} "
        f"segments are {size_text(bursts.size)}, and buffer and path hold {size_text(bursts.room)}."
    )


def are_of_initial_window(evidence: Evidence, overflows: pd.DataFrame) -> pd.Series:
    """Returns for each overflow whether its first drop comes before the first ACK of data can.

    What was sent by then is the initial window alone.
    """
    return overflows["overflow_s"] < overflows["first_data_s"] + evidence.min_rtt_s


def initial_window_text(evidence: Evidence, overflows: pd.DataFrame) -> str:
    """Returns a sentence on initial windows that the buffer does not hold; empty for few of the losses.

    Args:
        evidence: evidence of a flow.
        overflows: recoveries from overflows in slow start.
    """
    own = overflows[are_of_initial_window(evidence, overflows)]
    if evidence.is_split or own.empty or own["overflow"].sum() <= overflows["overflow"].sum() / 2:
        return ""
    window = _initial_window(evidence)
    hop = arrival_hop(evidence)
    at_text = f"arrives at once (at {hop['rate']}, {hop['name']})" if hop else "is sent"
    packets = buffer_bytes(evidence) / PACKET_BYTES
    others_text = "" if packets < window else ", with other data in it"
    each_text = " in each connection" if len(own) > len(evidence.runs) else ""
    return (
        f" The initial window of {window} segments {at_text}, and the buffer holds "
        f"{number_text(packets)}{others_text}: {number_text(own['overflow'].median())} are lost"
        f"{each_text}, the first before an ACK of data."
    )


def synchronized_starts(evidence: Evidence) -> Iterator[Remedy]:
    """Yields an initial window at which all first bursts fit, and a buffer that holds all transfers.

    Nothing where the first bursts of the connections fit into buffer and path. For one that does not,
    the initial window fills the buffer.
    """
    bursts = first_bursts(evidence)
    if bursts is None:
        rows = evidence.recoveries
        rows = rows[(rows["slow_start"] == 1) & (rows["overflow"] > 0)]
        window = max(math.floor(buffer_bytes(evidence) / PACKET_BYTES), _MIN_WINDOW)
        if initial_window_text(evidence, rows) and window < _initial_window(evidence):
            yield Remedy(
                "an initial window that the buffer does not hold", (f"tcp.initial_window={window}",)
            )
        return
    against = f"{bursts.connections} first bursts that overflow the buffer at once"
    fitting = max(math.floor(bursts.room / (bursts.connections * evidence.mss)), _MIN_WINDOW)
    if fitting < bursts.window:
        yield Remedy(against, (f"tcp.initial_window={fitting}",))
    size = evidence.workload.get("bytes", evidence.workload.get("size"))
    size = size.get("value") if isinstance(size, Mapping) else size
    total = in_unit(str(size), "B") if size is not None else None
    if total is not None and bursts.connections * total <= _MAX_BUFFER:
        kilobytes = math.ceil(bursts.connections * total / 1e3)
        yield Remedy(
            f"{against} (a buffer for all of them)",
            (f"{buffer_field(evidence)}={kilobytes}kB",),
            network="buffer of the port at the bottleneck",
        )


def _initial_window(evidence: Evidence) -> int:
    return initial_window(evidence.scenario.get("tcp", {}))
