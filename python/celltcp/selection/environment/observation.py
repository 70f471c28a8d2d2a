"""Observation: the estimates of a selector as a vector of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from celltcp._core import selection_features

#: Vector of an observation.
Vector = NDArray[np.float32]

#: Magnitude at which values without a natural limit are clipped.
LIMIT = 1e6

#: Lowest and highest value of features that are not between 0 and `LIMIT`.
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
    #: Lowest and highest value; others are clipped.
    low: float
    high: float


def observed_features() -> tuple[Observed, ...]:
    """Returns the features in the order of observations."""
    return tuple(
        Observed(name, meaning, *_LIMITS.get(name, (0.0, LIMIT)))
        for name, meaning in selection_features()
    )


class Observer:
    """Writer and reader of observations of a connection that uses one of some CCAs.

    An observation has the shape `(2 * F + C,)` for F features and C CCAs: the value of each feature in
    its unit, or 0 while it is unknown; the confidence of each, from 0 (unknown) to 1; and for each CCA
    1 if it is in use, else 0.
    """

    def __init__(self, ccas: Sequence[str]) -> None:
        """Sets the CCAs in the order of the actions."""
        self.ccas = tuple(ccas)
        self.features = observed_features()
        low = [feature.low for feature in self.features]
        high = [feature.high for feature in self.features]
        flags = len(self.features) + len(self.ccas)
        self._low = np.array(low + [0.0] * flags, np.float32)
        self._high = np.array(high + [1.0] * flags, np.float32)

    @property
    def space(self) -> Space[Vector]:
        """The space of the observations."""
        return cast("Space[Vector]", Box(self._low, self._high, dtype=np.float32))

    def vector(self, known: Sequence[tuple[float, float] | None], cca: str) -> Vector:
        """Returns the observation of these features, each as value and confidence, and this CCA."""
        values = [each[0] if each else 0.0 for each in known]
        confidences = [each[1] if each else 0.0 for each in known]
        flags = [float(each == cca) for each in self.ccas]
        result = np.array(values + confidences + flags, np.float32)
        return np.clip(result, self._low, self._high)

    def named(self, observation: Vector) -> dict[str, float | None]:
        """Returns the value of each feature by its name; None where it is unknown."""
        count = len(self.features)
        pairs = zip(self.features, observation[:count], observation[count:], strict=False)
        return {
            feature.name: float(value) if confidence > 0.0 else None
            for feature, value, confidence in pairs
        }
