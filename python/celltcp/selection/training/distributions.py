"""Draws that families of random networks share."""

from __future__ import annotations

import numpy as np


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draws uniformly by ratio."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
