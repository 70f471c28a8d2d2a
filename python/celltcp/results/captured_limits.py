"""Limits of captured senders that decide a comparison, so that no congestion control is best in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Line in place of verdicts.
NO_BEST = (
    "no CCA is best here: the limit of the sender in the capture held under each; celltcp pcap analyze "
    "names it"
)
#: Minimum share of the time in which the window that stands for the limit is full.
_MIN_SHARE = 0.2


def has_decided(results: Results) -> bool:
    """Returns whether the limit of a captured sender held each flow of its scenario under each CCA."""
    shares = [each.shares["receive_window"] for each in results.flow_limits]
    return bool(shares) and min(shares) >= _MIN_SHARE
