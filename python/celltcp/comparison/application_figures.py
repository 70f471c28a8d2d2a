"""Figures of applications: what their events tell of each run, such as the score of a video."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celltcp.comparison.metrics import APP_METRICS, APPLICATIONS
from celltcp.results.columns import means_by, rows_of, text_array_of
from celltcp.results.tables import Results


def application_figures(
    results: Results, tested: Collection[tuple[int, int]], runs: Sequence[int]
) -> dict[str, NDArray[np.float64]]:
    """Returns the figures of the flow under test, as means of each run.

    Only applications that have recorded something are there; NaN where a run has no such figure.

    Args:
        results: of the campaign.
        tested: run and number of each connection of that flow.
        runs: numbers of the runs.
    """
    if "events" not in results.tables:
        # An evaluation keeps none.
        return {}
    events = results.tables["events"]
    kinds = pc.is_in(events["kind"].cast(pa.string()), value_set=text_array_of(list(APP_METRICS)))
    result = rows_of(events.filter(kinds), "run", "flow", "kind", "detail")
    mine = [(kind, run, float(detail)) for run, flow, kind, detail in result if (run, flow) in tested]
    keys = [(kind, run) for kind, run, _ in mine]
    means = means_by(keys, [value for *_, value in mine], sorted(set(keys)))
    known = {kind for kind, _ in means}
    return {
        kind: np.array([means.get((kind, run), math.nan) for run in runs])
        for application in APPLICATIONS
        if not known.isdisjoint(application)
        for kind in application
    }
