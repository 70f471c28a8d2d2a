"""Figures of applications: what their events tell of each run, such as the score of a video."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celltcp.results import Results
from celltcp.results.frames import frame


class Figure(NamedTuple):
    """Figure of an application."""

    #: Heading of its column; the terminal breaks it at line ends.
    heading: str
    digits: int


#: Figures of a video.
VIDEO = {
    "qoe": Figure("QoE\nMOS", 3),
    "startup_s": Figure("start-up\ns", 2),
    "stalls": Figure("stalls", 2),
    "stalled_s": Figure("stalled\ns", 2),
    "bitrate_mbps": Figure("bitrate\nMbit/s", 2),
    "switches": Figure("switches", 1),
}

#: The applications, and the figures that are given for them together, by the kinds of their events.
APPLICATIONS: tuple[dict[str, Figure], ...] = (
    VIDEO,
    {"response_s": Figure("response\ns", 3)},
    {"page_load_s": Figure("page load\ns", 3)},
    {
        "frames": Figure("frames", 0),
        "late_share": Figure("share of\nlate frames", 4),
        "frame_delay_ms": Figure("delay of\nframes ms", 1),
        "frame_delay_max_ms": Figure("highest\ndelay ms", 1),
    },
)

#: All figures, by the kinds of their events.
FIGURES: dict[str, Figure] = {
    kind: figure for application in APPLICATIONS for kind, figure in application.items()
}


def application_figures(
    results: Results, tested: pd.DataFrame, runs: pd.Series
) -> dict[str, NDArray[np.float64]]:
    """Returns the figures of the flow under test, as means of each run.

    `tested` has a row per run and connection of that flow, `runs` the numbers of the runs. Only
    applications that have recorded something are there; NaN where a run has no such figure.
    """
    if "events" not in results.tables:
        # An evaluation keeps none.
        return {}
    events = results.tables["events"].select(["run", "flow", "kind", "detail"])
    found = frame(
        events.filter(pc.is_in(events["kind"].cast(pa.string()), value_set=pa.array(list(FIGURES))))
    )
    if found.empty:
        return {}
    found = found.merge(tested[["run", "flow"]], on=["run", "flow"])
    found["value"] = found["detail"].astype(float)
    means = found.groupby(["kind", "run"], observed=True)["value"].mean()
    known = set(found["kind"])
    return {
        kind: means[kind].reindex(runs).to_numpy(np.float64)
        if kind in known
        else np.full(len(runs), math.nan)
        for application in APPLICATIONS
        if known & set(application)
        for kind in application
    }
