"""Quantities as texts in sentences."""

from __future__ import annotations


def size_text(count: float) -> str:
    """Returns a size in bytes with three digits and its unit, such as `1.87 MB`."""
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} B"


def rate_text(mbps: float) -> str:
    """Returns a rate with its unit, in kbit/s below 0.1 Mbit/s."""
    return f"{1e3 * mbps:.1f} kbit/s" if 0 < mbps < 0.1 else f"{mbps:.2f} Mbit/s"
