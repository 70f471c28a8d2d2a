"""Columns of numbers as short texts, which the script of a report decodes.

A column is quantised to integers and delta-encoded. The bytes of the differences are then shuffled (all
low bytes, then all higher ones), which zlib compresses better. The result is encoded in Base64.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Integer that encodes a missing value.
_MISSING = 65535
#: Highest integer that a value is quantised to.
_MAX_STEP = 65534
#: Steps from the first to the last x coordinate.
_X_STEPS = 2**26
#: Maximum relative deviation of evenly spaced x coordinates.
_X_TOLERANCE = 1e-3


def pack_values(values: NDArray[np.float64]) -> dict[str, Any]:
    """Returns values quantised to 65535 levels; integers that span fewer levels stay exact."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    step = (high - low) / _MAX_STEP or 1.0
    if high - low <= _MAX_STEP and bool((known == np.round(known)).all()):
        step = 1.0
    steps = np.full(len(values), _MISSING, np.int64)
    finite = np.isfinite(values)
    steps[finite] = np.round((values[finite] - low) / step)
    return {"low": low, "step": step, "count": len(values), "data": _encode(steps, 2)}


def pack_x(x: NDArray[np.float64]) -> dict[str, Any]:
    """Returns ascending x coordinates; those evenly spaced as first value, step and count only."""
    count = len(x)
    first, last = (float(x[0]), float(x[-1])) if count else (0.0, 0.0)
    if count < 2:
        return {"low": first, "step": 1.0, "count": count}
    step = (last - first) / (count - 1)
    even = first + step * np.arange(count)
    if bool((np.abs(x - even) <= _X_TOLERANCE * step).all()):
        return {"low": first, "step": step, "count": count}
    step = (last - first) / _X_STEPS
    steps = np.round((x - first) / step).astype(np.int64)
    return {"low": first, "step": step, "count": count, "data": _encode(steps, 4)}


def _encode(steps: NDArray[np.int64], width: int) -> str:
    """Returns the differences of integers modulo 2^(8 `width`), in `width` bytes each, as text."""
    differences = np.diff(steps, prepend=0) % (1 << 8 * width)
    shuffled = differences.astype(f"<u{width}").view(np.uint8).reshape(-1, width).T
    return base64.b64encode(zlib.compress(shuffled.tobytes(), 6)).decode("ascii")
