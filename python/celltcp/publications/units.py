"""Units of published values: the unit of each quantity in celltcp, and conversions to it."""

from __future__ import annotations

from celltcp._core import CelltcpError
from celltcp.publications.quantities.quantity import TEXTS

#: Units of each dimension, with their sizes.
_DIMENSIONS: dict[str, dict[str, float]] = {
    "rate": {
        f"{prefix}{unit}": size
        for unit in ("bit/s", "bps")
        for prefix, size in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9))
    },
    "time": {"us": 1e-6, "\u00b5s": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0},
    "size": {
        f"{prefix}B": size
        for prefix, size in (
            *(("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)),
            *(("Ki", 1024.0), ("Mi", 1024.0**2), ("Gi", 1024.0**3)),
        )
    },
}

#: Synonyms of units.
_SYNONYMS = {"packets": "segments"}


def measured_unit(quantity: str, given: str, location: str, *, has_value: bool) -> tuple[str, float]:
    """Returns the unit in which celltcp measures a quantity, and the factor from the published unit.

    The default is celltcp's unit. Shares can be given in %. A quantity without a unit in celltcp can
    have any unit, which tables and axes show.

    Args:
        quantity: name of the quantity.
        given: published unit; may be empty.
        location: file and line, for errors.
        has_value: whether there is a published value; without one, any word is a unit.

    Raises:
        CelltcpError: if a published value has a unit that the quantity cannot have.
    """
    own = TEXTS.get(quantity, {}).get("unit", "")
    if given == "%" and _is_share(own):
        return own, 0.01
    sizes = next((sizes for sizes in _DIMENSIONS.values() if own in sizes), None)
    if sizes is None:
        return _other_unit(quantity, own, given, location, has_value=has_value), 1.0
    if given and given not in sizes:
        if not has_value:
            return given, 1.0
        raise CelltcpError(f"{location}: unit: {given!r}: {quantity} has {', '.join(sizes)}")
    return own, sizes[given or own] / sizes[own]


def _is_share(unit: str) -> bool:
    return unit.startswith("of ")


def _other_unit(quantity: str, own: str, given: str, location: str, *, has_value: bool) -> str:
    """Returns the unit of a quantity that is no rate, time or size in bytes."""
    if not given:
        return own
    if has_value and own and _SYNONYMS.get(given, given) != _SYNONYMS.get(own, own):
        percent = " or %" if _is_share(own) else ""
        raise CelltcpError(f"{location}: unit: {given!r}: {quantity} has {own}{percent}")
    if has_value and any(given in sizes for sizes in _DIMENSIONS.values()):
        raise CelltcpError(
            f"{location}: unit: {given!r}: {quantity} is no rate, time or size; allowed: none"
        )
    return given
