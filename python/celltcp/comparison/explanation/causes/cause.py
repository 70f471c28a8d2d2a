"""Cause: a reason for the metrics of a congestion control, with the values that show it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from celltcp.scenarios.quantity_texts import three_digits

#: Ratio from which on two decimals are enough, and that from which on a size is several products.
_MIN_TWO_DECIMALS, _MIN_PRODUCTS = 0.1, 1.005


class Cause(NamedTuple):
    """A reason for the metrics of a congestion control."""

    #: One of the names in `kinds.KINDS`.
    name: str
    #: Sentence with the metrics that show it.
    text: str
    #: Share of the time or of the capacity that the cause took, from 0 to 1; causes are sorted by it.
    weight: float
    #: Number of cases by reason, for causes with several reasons.
    reasons: Mapping[str, int] = MappingProxyType({})
    #: Whether the table of limits has all that its sentence says.
    is_in_table: bool = False


def percent_text(share: float) -> str:
    """Returns a share as text in per cent."""
    value = 100 * share
    if 0 < value < 0.095:
        return f"{value:.1g} %"
    return f"{value:.1f} %" if value < 9.95 else f"{value:.0f} %"


def number_text(count: float) -> str:
    """Returns a count as text, with a space before each group of three digits."""
    return f"{round(count):,}".replace(",", " ")


def bdps_text(ratio: float) -> str:
    """Returns a size in bandwidth-delay products as text, `2.05 bandwidth-delay products` or a part."""
    number = f"{ratio:.2f}" if ratio >= _MIN_TWO_DECIMALS else three_digits(ratio)
    is_part = ratio < _MIN_PRODUCTS
    return (
        f"{number} of the bandwidth-delay product" if is_part else f"{number} bandwidth-delay products"
    )


def times_text(count: int) -> str:
    """Returns how often something happened as text: once, twice or a number of times."""
    return {1: "once", 2: "twice"}.get(count, f"{number_text(count)} times")
