"""Observations: the estimates of a selector as a vector of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from celltcp._core import selection_features

#: An observation.
Vector = NDArray[np.float32]

#: Magnitude at which values without a natural limit are clipped.
LIMIT = 1e6

#: Minimum and maximum of features whose values are not from 0 to `LIMIT`.
_LIMITS = {
    "trend": (-LIMIT, LIMIT),
    "movement": (-1.0, 1.0),
    "use": (0.0, 1.0),
    "retransmitted": (0.0, 1.0),
    "random_loss": (0.0, 1.0),
    "window_limited": (0.0, 1.0),
    "slow_start": (0.0, 1.0),
    "competition": (0.0, 1.0),
    "sinr": (-LIMIT, LIMIT),
}


@dataclass(frozen=True)
class Observed:
    """A feature of observations."""

    name: str
    #: Meaning of the value, with its unit.
    meaning: str
    #: Minimum and maximum; values beyond are clipped.
    low: float
    high: float


class Observer:
    """Encoder and decoder of observations, whose layout `SelectionEnv` describes."""

    def __init__(self, ccas: Sequence[str]) -> None:
        """Sets the CCAs in the order of the actions."""
        self.ccas = tuple(ccas)
        self.features = tuple(
            Observed(name, meaning, *_LIMITS.get(name, (0.0, LIMIT)))
            for name, meaning in selection_features()
        )
        low = [feature.low for feature in self.features]
        high = [feature.high for feature in self.features]
        shares = len(self.features) + len(self.ccas)
        self._low = np.array(low + [0.0] * shares, np.float32)
        self._high = np.array(high + [1.0] * shares, np.float32)

    @property
    def space(self) -> Space[Vector]:
        """The space of the observations."""
        return cast("Space[Vector]", Box(self._low, self._high, dtype=np.float32))

    def vector(self, estimates: Sequence[tuple[float, float] | None], cca: str) -> Vector:
        """Returns the observation for features (value and confidence, None if unknown) and a CCA."""
        values, confidences = zip(*(estimate or (0.0, 0.0) for estimate in estimates), strict=True)
        is_in_use = [float(name == cca) for name in self.ccas]
        result = np.array([*values, *confidences, *is_in_use], np.float32)
        return np.clip(result, self._low, self._high)

    def named(self, observation: Vector) -> dict[str, float | None]:
        """Returns the value of each feature by its name; None where it is unknown."""
        count = len(self.features)
        pairs = zip(self.features, observation[:count], observation[count:], strict=False)
        return {
            feature.name: float(value) if confidence > 0.0 else None
            for feature, value, confidence in pairs
        }
