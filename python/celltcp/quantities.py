"""Quantities: numbers in the texts with units that the core prints, such as `20Mbit/s`."""

from __future__ import annotations

import re

#: Units by what they measure, with their sizes.
_UNITS = {
    "rate": {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    "time": {"ns": 1e-9, "us": 1e-6, "\u00b5s": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    "speed": {"km/h": 1.0},
    "packets": {"packets": 1.0},
}
_TEXT = re.compile(r"([0-9.+-]+(?:e[+-]?[0-9]+)?)\s*(\D.*)")


def in_unit(text: object, unit: str) -> float | None:
    """Returns a quantity in a unit; None if the text is of something else.

    Args:
        text: such as `"20Mbit/s"`.
        unit: such as `"Mbit/s"`.
    """
    units = next(units for units in _UNITS.values() if unit in units)
    found = _TEXT.fullmatch(str(text).strip())
    if found is None or found[2] not in units:
        return None
    return float(found[1]) * units[found[2]] / units[unit]
