"""Quantities of viewers: score, waiting and bitrate of a video."""

from __future__ import annotations

from celltcp.publications.quantities.quantity import Quantity, of_runs

#: Quantities of viewers.
OF_VIEWERS: dict[str, Quantity] = {
    "qoe": of_runs("qoe"),
    "startup": of_runs("startup_s"),
    "stalled": of_runs("stalled_s"),
    "bitrate": of_runs("bitrate_mbps"),
}
