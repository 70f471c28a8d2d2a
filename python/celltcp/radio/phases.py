"""Metrics by phase of the movement through a cell (atxutegi2018-thesis section 6.3)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.comparison.comparison import Comparison
from celltcp.radio.slots import mean_metric, tested_slots
from celltcp.radio.trajectory import CONSTRAINED_DB, SinrTrajectory

#: Length of the start-up phase of a flow, s.
START_UP_S = 2.0

#: Phases of each movement, in the order of time.
PHASES = {
    "forward": ("start-up", "sustainer", "constrained"),
    "backward": ("start-up", "constrained", "scaling"),
}


def phases_at(
    trajectory: SinrTrajectory, times_s: pd.Series, starts_s: pd.Series | float
) -> NDArray[np.str_]:
    """Returns the phase at each time of a flow that starts at `starts_s`.

    The start-up is the first two seconds of the flow. The constrained phase is where the mean SINR is
    within 2.5 dB of its minimum. Other times are the sustainer if the phone moves away (forward), and
    the scaling if it comes closer (backward).

    Raises:
        CelltcpError: if the mean SINR is not monotonic.
    """
    other = "sustainer" if trajectory.movement == "forward" else "scaling"
    constrained_db = trajectory.min_db + CONSTRAINED_DB
    result: NDArray[np.str_] = np.select(
        [times_s - starts_s < START_UP_S, trajectory.at(times_s) < constrained_db],
        ["start-up", "constrained"],
        other,
    )
    return result


def by_phase(comparison: Comparison, metric: str = "goodput") -> pd.DataFrame:
    """Returns a metric of the flow under test per CCA, run and phase.

    Columns `cca`, `run`, `phase`, `value`. Phases are those of `phases_at`, without those that have no
    slots.

    Raises:
        CelltcpError: if the scenario has no mean SINR, or it is not monotonic.
    """
    trajectory = SinrTrajectory.of(comparison.results)
    slots = tested_slots(comparison)
    starts_s = slots.groupby("run")["t_s"].transform("min")
    slot_s = float(comparison.results.about["slot_s"])
    categories = pd.CategoricalDtype(list(PHASES[trajectory.movement]), ordered=True)
    phases = phases_at(trajectory, slots["t_s"] + slot_s / 2, starts_s)
    slots["phase"] = pd.Categorical(phases, dtype=categories)
    result = pd.DataFrame(
        {"cca": cca, "run": run, "phase": phase, "value": mean_metric(group, metric, slot_s)}
        for (cca, run, phase), group in slots.groupby(["cca", "run", "phase"], observed=True)
    )
    return result.astype({"phase": categories})
