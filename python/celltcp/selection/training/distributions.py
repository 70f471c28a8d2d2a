"""Distributions that families of random networks draw from."""

from __future__ import annotations

import numpy as np


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draws from a log-uniform distribution."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))
