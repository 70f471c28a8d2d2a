"""Rule about a window that still grows at the end of a run, after it overflowed the buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.cause import Cause

if TYPE_CHECKING:
    from celltcp.comparison.explanation.evidence import Evidence


def growing_window(evidence: Evidence) -> Cause | None:
    """A run is shorter than the sawtooth of the window, which still grows at its end.

    The bulk flow overflowed the buffer in its start-up alone.
    """
    short = (
        each
        for each in evidence.comparison.short_runs
        if (each.flow, each.cca) == (evidence.flow_name, evidence.cca)
    )
    each = next(short, None)
    return each and Cause(
        "growing_window",
        f"{each.text[0].upper()}{each.text[1:]}: it has not filled the buffer again.",
        evidence.unused_share,
    )
