"""Quantities of scenarios: amounts of the texts of rates, times, sizes and plain numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*([^\s\d]*)")

_RATES = {"bit/s": 1e-6, "kbit/s": 1e-3, "Mbit/s": 1.0, "Gbit/s": 1e3}
_TIMES = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "min": 60e3}
_SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
_FREQUENCIES = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}

#: Units that can be compared, with their factors.
_KINDS = (_RATES, _TIMES, _SIZES, _FREQUENCIES)


def quantities(values: Sequence[str]) -> list[float] | None:
    """Returns the amounts of texts such as `20Mbit/s` in one unit.

    None if one is no amount, if they are of different kinds, or two are the same amount.
    """
    found = [_QUANTITY.fullmatch(value.strip().replace("_", "")) for value in values]
    parts = [(float(each[1]), each[2]) for each in found if each is not None]
    if len(parts) < len(values):
        return None
    units = {unit for _, unit in parts}
    factors = next((kind for kind in _KINDS if units <= kind.keys()), None)
    if factors is None:
        if len(units) > 1:
            return None
        factors = dict.fromkeys(units, 1.0)
    amounts = [amount * factors[unit] for amount, unit in parts]
    return amounts if len(set(amounts)) == len(amounts) else None
