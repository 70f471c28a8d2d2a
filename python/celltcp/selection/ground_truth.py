"""Ground truth: the values that estimators infer, as the simulator knows them."""

from __future__ import annotations

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

#: RTT of the wired part between the classes low, 18 ms, and 4g, 68 ms: half-way by ratio.
LATENCY_BOUNDARY_MS = (18.0 * 68.0) ** 0.5

#: Window around a time over which the change of the mean SINR shows the movement, s: a slot.
_SLOPE_WINDOW_S = 0.1


class GroundTruth:
    """True values in the scenario of these results; None where the scenario does not give them."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._scenario = tomllib.loads(str(results.about["scenario"]))
        try:
            self._way: SinrTrajectory | None = SinrTrajectory.of(results)
        except CelltcpError:
            self._way = None

    @property
    def movement(self) -> str | None:
        """Movement by the trend of the mean SINR; without a radio, `static` for a steady link."""
        if self._way is None:
            capacity = self._results.tables["slots"]["capacity_mbps"].to_numpy()
            return "static" if float(capacity.std()) <= 1e-6 * float(capacity.mean()) else None
        if len(set(self._way.sinr_db)) == 1:
            return "static"
        try:
            return self._way.movement
        except CelltcpError:
            return None

    def movements(self, times_s: pd.Series) -> NDArray[np.str_] | None:
        """Returns the movement at these times, s, even if it turns; None without a mean SINR."""
        if self._way is None:
            return None
        change = self._way.at(times_s + _SLOPE_WINDOW_S / 2) - self._way.at(
            times_s - _SLOPE_WINDOW_S / 2
        )
        result: NDArray[np.str_] = np.select(
            [change < -1e-9, change > 1e-9], ["forward", "backward"], "static"
        )
        return result

    def phases(self, times_s: pd.Series, begun_s: pd.Series | float) -> NDArray[np.str_] | None:
        """Returns the phase at these times, s, of flows that began then; None if movement turns."""
        if self._way is None:
            return None
        try:
            return phases_at(self._way, times_s, begun_s)
        except CelltcpError:
            return None

    @property
    def speed(self) -> str | None:
        """Class of the speed of the fading, where the phone moves."""
        kmh = in_unit(self._radio("fading", "speed"), "km/h")
        if self.movement in ("static", None) or kmh is None:
            return None
        ratio = np.abs(np.log(np.array(SPEEDS_KMH) / kmh))
        return f"{SPEEDS_KMH[int(ratio.argmin())]:.0f}"

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
        capacity = path.get("buffer") if self._way is None else self._radio("rlc", "buffer")
        return in_unit(capacity, "packets")

    def _radio(self, section: str, field: str) -> object:
        return self._scenario.get("radio", {}).get(section, {}).get(field)
