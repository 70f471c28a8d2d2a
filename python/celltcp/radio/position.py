"""Position: movement away from a base station and towards it, compared at the same places."""

from __future__ import annotations

import numpy as np
import pandas as pd

from celltcp._core import CelltcpError
from celltcp.comparison.comparison import Comparison
from celltcp.radio.slots import mean_of, tested_slots
from celltcp.radio.trajectory import SinrTrajectory

#: Range of SINR that counts as one place, dB.
_STEP_DB = 1.0


def by_position(forward: Comparison, backward: Comparison, metric: str = "goodput") -> pd.DataFrame:
    """Returns a metric by mean SINR, as a measure of the place.

    Columns `movement`, `cca`, `run`, `sinr_db` (the middle of a range of 1 dB), `value`.

    Raises:
        CelltcpError: unless one moves away and the other closer, over the same SINRs.
    """
    ways = [SinrTrajectory.of(comparison.results) for comparison in (forward, backward)]
    for way, comparison, movement in zip(
        ways, (forward, backward), ("forward", "backward"), strict=True
    ):
        if way.movement != movement:
            raise CelltcpError(
                f"{comparison.results.about['name']}: moves {way.movement}; give the forward results "
                "first, then the backward ones"
            )
    ends = [(way.lowest_db, way.highest_db) for way in ways]
    if ends[0] != ends[1]:
        raise CelltcpError(
            f"{backward.results.about['name']}: SINR from {ends[1][0]:g} to {ends[1][1]:g} dB; "
            f"{forward.results.about['name']} has {ends[0][0]:g} to {ends[0][1]:g} dB; allowed are the "
            "same"
        )
    rows = []
    for way, comparison in zip(ways, (forward, backward), strict=True):
        slots = tested_slots(comparison)
        slot_s = float(comparison.results.about["slot_s"])
        sinr = way.at(slots["t_s"] + slot_s / 2)
        ranges = np.floor((sinr - way.lowest_db) / _STEP_DB)
        last = np.ceil((way.highest_db - way.lowest_db) / _STEP_DB) - 1
        slots["sinr_db"] = way.lowest_db + (np.minimum(ranges, last) + 0.5) * _STEP_DB
        rows += [
            {
                "movement": way.movement,
                "cca": cca,
                "run": run,
                "sinr_db": middle,
                "value": mean_of(group, metric, slot_s),
            }
            for (cca, run, middle), group in slots.groupby(["cca", "run", "sinr_db"], observed=True)
        ]
    return pd.DataFrame(rows)
