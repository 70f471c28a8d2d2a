"""Rounding of means to the digits that their intervals support."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.present.section import INFINITE, estimate_text

if TYPE_CHECKING:
    from celltcp.results.statistics import Estimate


def rounded(estimate: Estimate, digits: int, significant: int = 1) -> tuple[str, str]:
    """Returns a mean, and half the width of its interval with one significant digit, or two.

    The mean has the same decimal place (GUM, JCGM 100:2008, 7.2.6), or one more if it would be zero.
    Both texts are empty without a value.

    Args:
        estimate: the mean, and its interval if there is one.
        digits: decimals of a mean without an interval; the second text is then empty.
        significant: number of significant digits of the interval.
    """
    if math.isnan(estimate.mean):
        return "", ""
    if math.isinf(estimate.mean):
        return f"{estimate.mean:g}", ""
    if not estimate.ci95:
        return _text(estimate.mean, digits), ""
    # 0.096 rounds to 0.1, which is a decade above.
    half = float(f"{estimate.ci95:.{significant - 1}e}")
    decimals = significant - 1 - math.floor(math.log10(half))
    is_zero = not round(estimate.mean, decimals)
    mean_decimals = decimals + 1 if is_zero and round(estimate.mean, decimals + 1) else decimals
    return _text(estimate.mean, mean_decimals), _text(estimate.ci95, decimals)


def rounded_text(estimate: Estimate, digits: int) -> str:
    """Returns a mean and half the width of its interval as `mean ± half`; `-` without a value.

    Lower bounds and intervals with ends have their texts in other tables.
    """
    if estimate.is_bound or estimate.ends is not None:
        return estimate_text(estimate, digits)
    mean, half = rounded(estimate, digits)
    mean = mean.replace("inf", INFINITE)
    return f"{mean or '-'} ± {half}" if half else mean or "-"


def _text(value: float, decimals: int) -> str:
    # A zero without a minus sign.
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"
