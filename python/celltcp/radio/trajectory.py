"""Trajectory of a UE: its mean SINR over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import CelltcpError, mean_sinr
from celltcp.results.tables import Results

#: Range of mean SINR above its minimum that counts as the constrained phase, dB. At 15 dB/km and 60,
#: 120 and 300 km/h, this phase lasts the 10, 5 and 2 s of atxutegi2018-thesis section 6.3.
CONSTRAINED_DB = 2.5


@dataclass(frozen=True)
class SinrTrajectory:
    """Mean SINR at points in time, interpolated linearly."""

    times_s: tuple[float, ...]
    sinr_db: tuple[float, ...]

    @classmethod
    def of(cls, results: Results) -> SinrTrajectory:
        """Returns the trajectory of the first phone in the scenario of results.

        Raises:
            CelltcpError: if the scenario has no radio, or no SINR of the phone.
        """
        times_s, sinr_db = zip(*mean_sinr(str(results.about["scenario"])), strict=True)
        return cls(times_s, sinr_db)

    def at(self, times_s: pd.Series) -> NDArray[np.float64]:
        """Returns the mean SINR at each time, dB."""
        result: NDArray[np.float64] = np.interp(times_s.to_numpy(), self.times_s, self.sinr_db)
        return result

    def time_s(self, sinr_db: float) -> float:
        """Returns the time at which a monotonic mean SINR has this value, s."""
        by_sinr = np.array(sorted(zip(self.sinr_db, self.times_s, strict=True)))
        return float(np.interp(sinr_db, by_sinr[:, 0], by_sinr[:, 1]))

    @cached_property
    def movement(self) -> str:
        """Movement: `"forward"` if the mean SINR falls, `"backward"` if it rises.

        Raises:
            CelltcpError: if it is constant or not monotonic.
        """
        steps = np.diff(self.sinr_db)
        if len(steps) and np.all(steps <= 0) and np.any(steps < 0):
            return "forward"
        if len(steps) and np.all(steps >= 0) and np.any(steps > 0):
            return "backward"
        raise CelltcpError(
            "radio.ues: the mean SINR of the phone neither only falls nor only rises, which this needs"
        )

    @property
    def min_db(self) -> float:
        """Minimum of the mean SINR, dB."""
        return min(self.sinr_db)

    @property
    def max_db(self) -> float:
        """Maximum of the mean SINR, dB."""
        return max(self.sinr_db)
