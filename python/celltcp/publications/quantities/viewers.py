"""Quantities of viewers: score, waiting and bitrate of a video."""

from __future__ import annotations

import math

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity


def _of_runs(column: str) -> Quantity:
    """A figure that comparisons have per run; NaN where no video was played."""

    def values(here: Measured, asked: Published) -> list[float]:
        runs = here.runs_of(asked)
        return [float(each) for each in runs.get(column, [math.nan] * len(runs))]

    return Quantity(values)


#: Quantities of viewers.
OF_VIEWERS: dict[str, Quantity] = {
    "qoe": _of_runs("qoe"),
    "startup": _of_runs("startup_s"),
    "stalled": _of_runs("stalled_s"),
    "bitrate": _of_runs("bitrate_mbps"),
}
