"""Rule about the time that the link needs for the bytes of a page or response."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.cause import Cause, percent_text
from celltcp.results.statistics import estimate
from celltcp.scenarios.quantity_texts import rate_text, size_text, time_text
from celltcp.scenarios.requests import request_and_response

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence

#: Minimum share of the mean duration that the link needs for the bytes.
_MIN_TRANSFER_SHARE = 0.6
#: Minimum number of responses in a run at which one more, which its end cuts, says little.
_MIN_RESPONSES = 10
#: Kinds of units that the rule checks, with the name of a unit.
_UNIT_NAMES = {"response": "response", "page_load": "page"}


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
