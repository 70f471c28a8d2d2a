"""Ground truth: the true values of what selectors estimate, from scenario and results."""

from __future__ import annotations

import math
import tomllib

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import CelltcpError, in_unit
from celltcp.radio.phases import phases_at
from celltcp.radio.trajectory import SinrTrajectory
from celltcp.results.tables import Results

#: Classes of the speed, km/h.
SPEEDS_KMH = (60.0, 120.0, 300.0)

#: RTT of the wired part between the classes low (18 ms) and 4g (68 ms): their geometric mean.
LATENCY_BOUNDARY_MS = (18.0 * 68.0) ** 0.5

#: Window over which the change of the mean SINR gives the movement, s; a slot.
_MOVEMENT_WINDOW_S = 0.1


class GroundTruth:
    """True values in the scenario of results; None if the scenario does not determine them."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._scenario = tomllib.loads(str(results.about["scenario"]))
        try:
            self._trajectory: SinrTrajectory | None = SinrTrajectory.of(results)
        except CelltcpError:
            self._trajectory = None

    @property
    def movement(self) -> str | None:
        """Movement over the whole run; without a mean SINR, `static` if the capacity is constant."""
        if self._trajectory is None:
            capacity = self._results.tables["slots"]["capacity_mbps"].to_numpy()
            return "static" if float(capacity.std()) <= 1e-6 * float(capacity.mean()) else None
        if len(set(self._trajectory.sinr_db)) == 1:
            return "static"
        try:
            return self._trajectory.movement
        except CelltcpError:
            return None

    def movements(self, times_s: pd.Series) -> NDArray[np.str_] | None:
        """Returns the movement at each time, which may change; None without a mean SINR."""
        if self._trajectory is None:
            return None
        change = self._trajectory.at(times_s + _MOVEMENT_WINDOW_S / 2) - self._trajectory.at(
            times_s - _MOVEMENT_WINDOW_S / 2
        )
        result: NDArray[np.str_] = np.select(
            [change < -1e-9, change > 1e-9], ["forward", "backward"], "static"
        )
        return result

    def phases(self, times_s: pd.Series, starts_s: pd.Series | float) -> NDArray[np.str_] | None:
        """Returns the phase at each time of a flow that starts at `starts_s`.

        None unless the mean SINR is monotonic.
        """
        if self._trajectory is None:
            return None
        try:
            return phases_at(self._trajectory, times_s, starts_s)
        except CelltcpError:
            return None

    @property
    def speed(self) -> str | None:
        """Class of the speed, by that of the fading; None unless the phone moves."""
        kmh = in_unit(self._radio("fading", "speed"), "km/h")
        if self.movement in ("static", None) or kmh is None:
            return None
        nearest = min(SPEEDS_KMH, key=lambda speed: abs(math.log(speed / kmh)))
        return f"{nearest:.0f}"

    @property
    def latency(self) -> str | None:
        """Class of the RTT of the wired part."""
        rtt_ms = in_unit(self._scenario.get("path", {}).get("rtt"), "ms")
        if rtt_ms is None:
            return None
        return "low" if rtt_ms < LATENCY_BOUNDARY_MS else "4g"

    @property
    def buffer(self) -> float | None:
        """Size of the bottleneck's buffer, packets."""
        path = self._scenario.get("path", {})
        buffer = path.get("buffer") if self._trajectory is None else self._radio("rlc", "buffer")
        return in_unit(buffer, "packets")

    def _radio(self, section: str, field: str) -> object:
        return self._scenario.get("radio", {}).get(section, {}).get(field)
