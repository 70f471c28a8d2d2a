"""Warning about runs that begin at a few places of a log, so that most of them repeat another one."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from celltcp.results.columns import rows_of
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.results.tables import Results

#: Minimum distance of two places, as a share of the run.
_MIN_DISTANCE = 0.01
#: Maximum number of places with a warning, as a share of the runs.
_MAX_SHARE = 0.5


def few_places(results: Results) -> list[str]:
    """Returns a warning where the pieces of a log, between its pauses, leave runs few places to begin.

    A run that is as long as a piece begins with it. Runs with the same place have the same capacity,
    so that intervals over runs are too narrow for the whole log.
    """
    about = results.about
    offsets = dict(rows_of(results.tables["runs"], "seed", "trace_offset_s"))
    run_s = about["duration_s"]
    places = _places(sorted(offsets.values()), run_s)
    if not 1 < len(places) <= _MAX_SHARE * len(offsets):
        return []
    # The last piece ends with the log, and the others where the next one begins.
    ends = [*places[1:], max(trace["duration_s"] for trace in about["traces"])]
    piece_s = statistics.median(end - place for place, end in zip(places, ends, strict=True))
    shorter_s = three_digits(min(piece_s, run_s) / 2)
    return [
        f"{len(offsets)} runs of {run_s:g} s begin at {len(places)} places of the log only, as its "
        "pieces between pauses are hardly longer; runs with the same place repeat each other, so that "
        "intervals are too narrow for the whole log. Shorter runs (--duration "
        f"{shorter_s}s) begin at more"
    ]


def _places(offsets: Sequence[float], run_s: float) -> list[float]:
    """Returns the first of each group of sorted offsets that hardly differ."""
    places: list[float] = []
    for offset in offsets:
        if not places or offset - places[-1] > _MIN_DISTANCE * run_s:
            places.append(offset)
    return places
