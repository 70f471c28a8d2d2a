"""Packing: columns of numbers as short texts, which the script of a report unpacks.

A column becomes whole numbers, then the differences of neighbours, then planes of bytes (all low bytes,
then all higher ones), which zlib compresses well. Base64 makes a text of it.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Whole number that stands for a missing value.
_MISSING = 65535
#: Highest whole number of a value.
_MOST = 65534
#: Steps over the whole width of places.
_STEPS = 2**26
#: Share of a step within which places are taken for equally far apart.
_NEAR = 1e-3


def pack_values(values: NDArray[np.float64]) -> dict[str, Any]:
    """Returns values in 65535 steps from the lowest to the highest; integers are exact within that."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    step = (high - low) / _MOST or 1.0
    if high - low <= _MOST and bool((known == np.round(known)).all()):
        step = 1.0
    steps = np.full(len(values), _MISSING, np.int64)
    there = np.isfinite(values)
    steps[there] = np.round((values[there] - low) / step)
    return {"low": low, "step": step, "count": len(values), "data": _packed(steps, 2)}


def pack_places(places: NDArray[np.float64]) -> dict[str, Any]:
    """Returns places that rise: first, step and count where they are equally far apart."""
    count = len(places)
    first, last = (float(places[0]), float(places[-1])) if count else (0.0, 0.0)
    if count < 2:
        return {"low": first, "step": 1.0, "count": count}
    step = (last - first) / (count - 1)
    even = first + step * np.arange(count)
    if bool((np.abs(places - even) <= _NEAR * step).all()):
        return {"low": first, "step": step, "count": count}
    step = (last - first) / _STEPS
    steps = np.round((places - first) / step).astype(np.int64)
    return {"low": first, "step": step, "count": count, "data": _packed(steps, 4)}


def _packed(steps: NDArray[np.int64], width: int) -> str:
    """Returns differences of whole numbers, modulo their width in bytes, as a text."""
    changes = np.diff(steps, prepend=0) % (1 << 8 * width)
    planes = changes.astype(f"<u{width}").view(np.uint8).reshape(-1, width).T
    return base64.b64encode(zlib.compress(planes.tobytes(), 6)).decode("ascii")
