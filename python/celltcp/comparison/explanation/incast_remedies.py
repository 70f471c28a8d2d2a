"""Remedies of transfers that start together and overflow a shallow buffer at once (incast)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.explanation.buffers import buffer_bytes, buffer_field
from celltcp.comparison.explanation.remedy import Remedy
from celltcp.results.tested import divided_flows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.comparison.explanation.evidence import Evidence

#: Initial window of Linux, and the smallest one of a remedy: a single segment waits for a delayed ACK.
_USUAL_WINDOW, _MIN_WINDOW = 10, 2


def synchronized_starts(evidence: Evidence) -> Iterator[Remedy]:
    """Yields an initial window at which all first bursts fit, and a buffer that holds all transfers.

    Nothing where the first bursts of the connections fit into buffer and path.
    """
    if evidence.comparison.tested.name not in divided_flows(evidence.comparison.results.about):
        return
    workload, flow = evidence.workload, f"flows.{evidence.flow_index}"
    count = int(evidence.value_at(f"{flow}.count") or 1)
    window = int(evidence.scenario.get("tcp", {}).get("initial_window", _USUAL_WINDOW))
    room = buffer_bytes(evidence) + evidence.bdp
    if count * window * evidence.mss <= room:
        return
    fitting = max(math.floor(room / (count * evidence.mss)), _MIN_WINDOW)
    against = f"{count} first bursts that overflow the buffer at once"
    if fitting < window:
        yield Remedy(against, (f"tcp.initial_window={fitting}",))
    size = workload.get("bytes", workload.get("size"))
    size = size.get("value") if isinstance(size, Mapping) else size
    total = in_unit(str(size), "B") if size is not None else None
    if total is not None:
        kilobytes = math.ceil(count * total / 1e3)
        yield Remedy(
            f"{against} (a buffer for all of them)",
            (f"{buffer_field(evidence)}={kilobytes}kB",),
            network="buffer of the switch port",
        )
