"""Frames that are too large for their deadline: the link needs longer for them alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.applications.frame_kinds import deciding_kinds
from celltcp.scenarios.quantity_texts import size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from celltcp.comparison.explanation.evidence.evidence import Evidence


def oversized_text(evidence: Evidence) -> str:
    """Returns a sentence on frames that no CCA brings over the link in time; empty without any."""
    oversized = min(_oversized(evidence), default=None)
    if oversized is None:
        return ""
    transfer_s, size, _ = oversized
    return (
        f" Frames of {size_text(size)} take {transfer_s:.2g} s on this link alone: no CCA and no "
        "setting of a host keeps their deadline."
    )


def oversized_frames(evidence: Evidence, units: pd.DataFrame) -> set[object]:
    """Returns the indexes of the frames that are too large: as many as were due, the longest ones."""
    kinds = list(_oversized(evidence))
    if not kinds:
        return set()
    transfer_s = min(kind[0] for kind in kinds)
    run_s = evidence.duration_s / max(len(evidence.runs), 1)
    due = sum(math.ceil(run_s / interval_s) for *_, interval_s in kinds)
    long = units[units["duration_s"] >= transfer_s].sort_values("duration_s", ascending=False)
    return {index for _, rows in long.groupby("run") for index in rows.index[:due]}


def _oversized(evidence: Evidence) -> Iterator[tuple[float, float, float]]:
    """Yields transfer time, s, size, bytes, and interval, s, of each kind that is too large."""
    workload, rates_mbps = evidence.workload, evidence.link_rates_1s_mbps
    if workload.get("kind") != "frames" or not len(rates_mbps):
        return
    fastest = float(rates_mbps.max()) * 1e6 / 8
    deciding = deciding_kinds(workload)
    for number, kind in enumerate((workload, *workload.get("beside", ()))):
        if deciding and number not in deciding:
            continue
        size, interval_s = (
            in_unit(str(kind[field].get("value") or "") or None, unit)
            for field, unit in (("size", "B"), ("interval", "s"))
        )
        deadline_s = in_unit(kind.get("deadline", workload.get("deadline")), "s")
        if deadline_s is None or not (size and interval_s and fastest > 0):
            continue
        if size / fastest > deadline_s:
            yield size / fastest, size, interval_s
