"""Quantities: texts such as `20Mbit/s` as numbers in a common unit."""

from __future__ import annotations

import re
from collections.abc import Sequence

_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*([^\s\d]*)")

_RATES = {"bit/s": 1e-6, "kbit/s": 1e-3, "Mbit/s": 1.0, "Gbit/s": 1e3}
_TIMES = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "min": 60e3}
_SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
_FREQUENCIES = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}

#: Ratio of quantities from which on some are between them.
_MIN_STEP = 1.1

#: Units of the same dimension, with their factors.
_DIMENSIONS = (_RATES, _TIMES, _SIZES, _FREQUENCIES)


def quantities(values: Sequence[str]) -> list[float] | None:
    """Returns the numbers of texts such as `20Mbit/s` in a common unit.

    None if a text is no number with a unit, if dimensions differ, or if two quantities are equal. Units
    that are not known are allowed if all are the same.
    """
    matches = [_QUANTITY.fullmatch(value.strip().replace("_", "")) for value in values]
    parts = [(float(match[1]), match[2]) for match in matches if match is not None]
    if len(parts) < len(values):
        return None
    units = {unit for _, unit in parts}
    factors = next((dimension for dimension in _DIMENSIONS if units <= dimension.keys()), None)
    if factors is None:
        if len(units) > 1:
            return None
        factors = dict.fromkeys(units, 1.0)
    amounts = [amount * factors[unit] for amount, unit in parts]
    return amounts if len(set(amounts)) == len(amounts) else None


def common_unit(values: Sequence[str]) -> str:
    """Returns the unit that all quantities have; empty for other texts, or for several units."""
    matches = [_QUANTITY.fullmatch(value) for value in values]
    units = {match[2] if match else "" for match in matches}
    return units.pop() if len(units) == 1 else ""


def between(low: str, high: str) -> list[str]:
    """Returns two quantities between others, in equal ratios and in the unit of the lower one.

    None are between neighbouring whole numbers or quantities within a tenth of each other, or for texts
    that `quantities` does not know.
    """
    amounts = quantities([low, high])
    match = _QUANTITY.fullmatch(low)
    if amounts is None or match is None or not 0 < _MIN_STEP * amounts[0] <= amounts[1]:
        return []
    is_whole = match[2] not in {unit for dimension in _DIMENSIONS for unit in dimension}
    steps = [float(match[1]) * (amounts[1] / amounts[0]) ** (step / 3) for step in (1, 2)]
    numbers = [f"{step:.0f}" if is_whole else f"{float(f'{step:.3g}'):g}" for step in steps]
    texts = [f"{number}{match[2]}" for number in dict.fromkeys(numbers)]
    return [text for text in texts if quantities([low, text, high])]
