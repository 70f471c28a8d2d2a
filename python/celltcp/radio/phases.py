"""Goodput by phase of the way through a cell (atxutegi2018-thesis section 6.3)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.comparison.comparison import Comparison
from celltcp.radio.slots import mean_of, tested_slots
from celltcp.radio.trajectory import CONSTRAINED_DB, SinrTrajectory

#: Length of the start-up, s.
START_UP_S = 2.0

#: Phases by movement, in the order of time.
PHASES = {
    "forward": ("start-up", "sustainer", "constrained"),
    "backward": ("start-up", "constrained", "scaling"),
}


def phases_at(way: SinrTrajectory, times_s: pd.Series, begun_s: pd.Series | float) -> NDArray[np.str_]:
    """Returns the phase at these times, s, of flows that began at these starts.

    The start-up is the first two seconds of the flow. The constrained area is where the mean SINR is
    within 2.5 dB of its lowest. What is left is the sustainer when the phone moves away (forward), the
    scaling when it comes closer (backward).

    Raises:
        CelltcpError: if the mean SINR neither only falls nor only rises.
    """
    other = "sustainer" if way.movement == "forward" else "scaling"
    result: NDArray[np.str_] = np.select(
        [times_s - begun_s < START_UP_S, way.at(times_s) < way.lowest_db + CONSTRAINED_DB],
        ["start-up", "constrained"],
        other,
    )
    return result


def phased_slots(comparison: Comparison) -> pd.DataFrame:
    """Returns the slots of the flow under test with their `phase`.

    Raises:
        CelltcpError: if the mean SINR is not written in the scenario, or neither falls nor rises.
    """
    way = SinrTrajectory.of(comparison.results)
    slots = tested_slots(comparison)
    starts = slots.groupby("run")["t_s"].transform("min")
    slot_s = float(comparison.results.about["slot_s"])
    phases = phases_at(way, slots["t_s"] + slot_s / 2, starts)
    slots["phase"] = pd.Categorical(phases, PHASES[way.movement], ordered=True)
    return slots


def by_phase(comparison: Comparison, metric: str = "goodput") -> pd.DataFrame:
    """Returns a metric per CCA, run and phase: columns `cca`, `run`, `phase`, `value`.

    Phases are those of `phases_at`; those without slots are left out.

    Raises:
        CelltcpError: if the mean SINR is not written in the scenario, or neither falls nor rises.
    """
    slots = phased_slots(comparison)
    slot_s = float(comparison.results.about["slot_s"])
    rows = [
        {"cca": cca, "run": run, "phase": phase, "value": mean_of(group, metric, slot_s)}
        for (cca, run, phase), group in slots.groupby(["cca", "run", "phase"], observed=True)
    ]
    result = pd.DataFrame(rows)
    result["phase"] = pd.Categorical(result["phase"], slots["phase"].cat.categories, ordered=True)
    return result
