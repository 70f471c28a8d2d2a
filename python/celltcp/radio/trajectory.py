"""Trajectory: the mean SINR of the UE over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import CelltcpError, mean_sinr
from celltcp.results.tables import Results

#: Height of the constrained area above the lowest SINR of a ramp of 15 dB. At 15 dB/km and 60, 120 and
#: 300 km/h, it lasts the 10, 5 and 2 s of atxutegi2018-thesis section 6.3.
CONSTRAINED_DB = 2.5


@dataclass(frozen=True)
class SinrTrajectory:
    """Mean SINR, with straight lines between its points."""

    times_s: tuple[float, ...]
    sinr_db: tuple[float, ...]

    @classmethod
    def of(cls, results: Results) -> SinrTrajectory:
        """Returns the mean SINR of the phone in these results.

        Raises:
            CelltcpError: if the scenario has no radio, or gives no SINR of the phone.
        """
        times, ratios = zip(*mean_sinr(str(results.about["scenario"])), strict=True)
        return cls(times, ratios)

    def at(self, times_s: pd.Series) -> NDArray[np.float64]:
        """Returns the mean SINR in dB at times in s."""
        result: NDArray[np.float64] = np.interp(times_s.to_numpy(), self.times_s, self.sinr_db)
        return result

    def when(self, sinr_db: float) -> float:
        """Returns the time, s, at which a monotonic mean SINR has this value, dB."""
        pairs = sorted(zip(self.sinr_db, self.times_s, strict=True))
        ratios, times = zip(*pairs, strict=True)
        return float(np.interp(sinr_db, ratios, times))

    @cached_property
    def movement(self) -> str:
        """Movement: `"forward"` where quality only falls, `"backward"` where it only rises.

        Raises:
            CelltcpError: if it does neither.
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
    def lowest_db(self) -> float:
        """Mean SINR of the worst place."""
        return min(self.sinr_db)

    @property
    def highest_db(self) -> float:
        """Mean SINR of the best place."""
        return max(self.sinr_db)
