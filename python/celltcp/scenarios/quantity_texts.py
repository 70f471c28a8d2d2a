"""Quantities as texts in sentences."""

from __future__ import annotations

import math

#: Delay from which on a text has s, ms, and rate below which it has kbit/s, Mbit/s.
_MIN_LONG_MS, _MIN_MBPS = 1e4, 0.1
#: Decimals of times in s: those of the clock of simulations, below which is rounding.
_CLOCK_DECIMALS = 9


def size_text(count: float) -> str:
    """Returns a size in bytes with three digits and its unit, such as `1.87 MB`."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        # Sizes that would round to 1000 have the next unit.
        if count >= 0.9995 * factor:
            return f"{three_digits(count / factor)} {unit}"
    return f"{count:.0f} B"


def rate_text(mbps: float) -> str:
    """Returns a rate with its unit, in kbit/s below 0.1 Mbit/s."""
    return f"{1e3 * mbps:.1f} kbit/s" if 0 < mbps < _MIN_MBPS else f"{mbps:.2f} Mbit/s"


def time_text(time_s: float) -> str:
    """Returns a time as text with three digits, in s, or in ms if it is short; below 1 ns it is 0."""
    # The sum has no negative zero.
    time_s = round(time_s, _CLOCK_DECIMALS) + 0.0
    seconds = three_digits(time_s)
    return f"{seconds} s" if time_s >= 0.9995 else f"{three_digits(1e3 * time_s)} ms"


def delay_text(time_ms: float, digits: int = 1) -> str:
    """Returns a delay in ms with some decimals, and in s from 10 s on."""
    return f"{time_ms / 1e3:.1f} s" if abs(time_ms) >= _MIN_LONG_MS else f"{time_ms:.{digits}f} ms"


def ms_text(time_ms: float) -> str:
    """Returns a time in ms as `time_text` does, such as `4.46 s` or `79.5 ms`."""
    return time_text(time_ms / 1e3)


def three_digits(value: float) -> str:
    """Returns a number with three significant digits, without an exponent."""
    return digits_text(value, 3)


def digits_text(value: float, digits: int) -> str:
    """Returns a number with some significant digits, without an exponent; large ones have all."""
    if abs(value) >= 10**digits - 0.5 and math.isfinite(value):
        return f"{value:,.0f}".replace(",", " ")
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{float(text):.{decimals}f}"
