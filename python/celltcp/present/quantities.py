"""Quantities as texts in sentences."""

from __future__ import annotations


def size_text(count: float) -> str:
    """Returns a size in bytes with three digits and its unit, such as `1.87 MB`."""
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{three_digits(count / factor)} {unit}"
    return f"{count:.0f} B"


def rate_text(mbps: float) -> str:
    """Returns a rate with its unit, in kbit/s below 0.1 Mbit/s."""
    return f"{1e3 * mbps:.1f} kbit/s" if 0 < mbps < 0.1 else f"{mbps:.2f} Mbit/s"


def time_text(time_s: float) -> str:
    """Returns a time as text with three digits, in s, or in ms if it is short."""
    seconds = three_digits(time_s)
    return f"{seconds} s" if time_s >= 0.9995 else f"{three_digits(1e3 * time_s)} ms"


def three_digits(value: float) -> str:
    """Returns a number with three significant digits, without an exponent if it is large."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}".replace(",", " ")
