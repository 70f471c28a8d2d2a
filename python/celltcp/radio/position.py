"""Metrics by position: movement away from a base station and towards it, compared at the same SINR."""

from __future__ import annotations

import numpy as np
import pandas as pd

from celltcp._core import CelltcpError
from celltcp.comparison.comparison import Comparison
from celltcp.radio.slots import mean_metric, tested_slots
from celltcp.radio.trajectory import SinrTrajectory

#: Width of the ranges of mean SINR that count as one position, dB.
_BIN_DB = 1.0


def by_position(forward: Comparison, backward: Comparison, metric: str = "goodput") -> pd.DataFrame:
    """Returns a metric of the flow under test by mean SINR, which stands for the position.

    Columns `movement`, `cca`, `run`, `sinr_db` (the middle of a range of 1 dB), `value`.

    Raises:
        CelltcpError: unless one moves away and the other closer, over the same range of SINR.
    """
    sides = {"forward": forward, "backward": backward}
    trajectories = {
        movement: SinrTrajectory.of(comparison.results) for movement, comparison in sides.items()
    }
    for movement, trajectory in trajectories.items():
        if trajectory.movement != movement:
            raise CelltcpError(
                f"{sides[movement].results.about['name']}: moves {trajectory.movement}; give the "
                "forward results first, then the backward ones"
            )
    away, closer = trajectories.values()
    if (away.min_db, away.max_db) != (closer.min_db, closer.max_db):
        raise CelltcpError(
            f"{backward.results.about['name']}: SINR from {closer.min_db:g} to {closer.max_db:g} dB; "
            f"{forward.results.about['name']} has {away.min_db:g} to {away.max_db:g} dB; allowed are "
            "the same"
        )
    last_bin = np.ceil((away.max_db - away.min_db) / _BIN_DB) - 1
    rows = []
    for movement, comparison in sides.items():
        slots = tested_slots(comparison)
        slot_s = float(comparison.results.about["slot_s"])
        sinr_db = trajectories[movement].at(slots["t_s"] + slot_s / 2)
        bins = np.minimum(np.floor((sinr_db - away.min_db) / _BIN_DB), last_bin)
        slots["sinr_db"] = away.min_db + (bins + 0.5) * _BIN_DB
        rows += [
            {
                "movement": movement,
                "cca": cca,
                "run": run,
                "sinr_db": middle_db,
                "value": mean_metric(group, metric, slot_s),
            }
            for (cca, run, middle_db), group in slots.groupby(["cca", "run", "sinr_db"], observed=True)
        ]
    return pd.DataFrame(rows)
