"""Rounding of means to the digits that their intervals support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from celltcp.present.section import INFINITE

if TYPE_CHECKING:
    from celltcp.results.statistics import Estimate


#: Leading digits of an interval below which it keeps two digits.
_TWO_DIGITS_BELOW = 3.55


def rounded(estimate: Estimate, digits: int) -> tuple[str, str]:
    """Returns a mean, and half the width of its interval with one or two significant digits.

    There are two if the interval begins with digits up to 354 or from 950 on, by the rule of the
    Particle Data Group (Review of Particle Physics, introduction, 5.3): one digit would be off by a
    third. The mean has the same decimal place (GUM, JCGM 100:2008, 7.2.6), or one more if it would be
    zero. Both texts are empty without a value.

    Args:
        estimate: the mean, and its interval if there is one.
        digits: decimals of a mean without an interval; the second text is then empty.
    """
    if math.isnan(estimate.mean):
        return "", ""
    if math.isinf(estimate.mean):
        return f"{estimate.mean:g}", ""
    if not estimate.ci95:
        return _text(estimate.mean, digits), ""
    # 0.096 rounds to 0.10, which has two digits, too.
    decimals, has_two = _place(estimate.ci95)
    # A mean that would round to zero has one more digit, if that is not zero.
    is_zero = not has_two and not round(estimate.mean, decimals)
    mean_decimals = decimals + 1 if is_zero and round(estimate.mean, decimals + 1) else decimals
    return _text(estimate.mean, mean_decimals), _text(estimate.ci95, decimals)


def _place(ci95: float) -> tuple[int, bool]:
    """Returns the decimal place to which an interval is rounded, and whether it has two digits then."""
    exponent = math.floor(math.log10(ci95))
    has_two = ci95 < _TWO_DIGITS_BELOW * 10.0**exponent
    return 1 - exponent if has_two else -exponent, has_two


def column_texts(estimates: Sequence[Estimate], digits: int) -> list[str]:
    """Returns means and half the widths of their intervals, all with the same number of decimals.

    The number is that of the widest interval by the rule of `rounded`. It is larger if the narrowest
    interval would be zero, but at most that of the metric.
    """
    widths = [each.ci95 for each in estimates if each.ci95 and math.isfinite(each.mean)]
    if not widths:
        return [rounded_text(estimate, digits) for estimate in estimates]
    min_decimals = -math.floor(math.log10(min(widths)))
    common = min(max(min(_place(width)[0] for width in widths), min_decimals), digits)
    return [_common_text(estimate, common) for estimate in estimates]


def _common_text(estimate: Estimate, decimals: int) -> str:
    """Returns a mean and the half width of its interval with this number of decimals."""
    decimals = max(decimals, 0)
    if not estimate.ci95 or not math.isfinite(estimate.mean):
        return rounded_text(estimate, decimals)
    if decimals <= 0 and _place(estimate.ci95)[0] < 0:
        # Numbers without decimals have the digits that their own intervals support.
        return rounded_text(estimate, decimals)
    return f"{_text(estimate.mean, decimals)} ± {_text(estimate.ci95, decimals)}"


def rounded_text(estimate: Estimate, digits: int) -> str:
    """Returns a mean and half the width of its interval as `mean ± half`; `-` without a value."""
    mean, half = rounded(estimate, digits)
    mean = mean.replace("inf", INFINITE)
    return f"{mean or '-'} ± {half}" if half else mean or "-"


def _text(value: float, decimals: int) -> str:
    # A zero without a minus sign.
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"
