"""Rounding of means to the digits that their intervals support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from celltcp.present.section import INFINITE

if TYPE_CHECKING:
    from celltcp.results.statistics import Estimate


#: Leading digits of an interval below which two are kept.
_TWO_DIGITS_BELOW = 3.55


def rounded(result: Estimate, digits: int) -> tuple[str, str]:
    """Returns a mean, and half the width of its interval with one or two significant digits.

    There are two where the first ones are up to 354 or from 950 on, by the rule of the Particle Data
    Group (Review of Particle Physics, introduction, 5.3): one would be off by a third. The mean has the
    same decimal place (GUM, JCGM 100:2008, 7.2.6), or one more where it would be zero.
    Both are empty without a value.

    Args:
        result: the mean, and its interval if there is one.
        digits: decimals of a mean without an interval; the second text is empty then.
    """
    if math.isnan(result.mean):
        return "", ""
    if math.isinf(result.mean):
        return f"{result.mean:g}", ""
    if not result.ci95:
        return _text(result.mean, digits), ""
    # 0.096 rounds to 0.10, which has two digits, too.
    decimals, has_two = _place(result.ci95)
    # A mean that would round to zero has one more digit, if that is not zero.
    is_lost = not has_two and not round(result.mean, decimals)
    finer = decimals + 1 if is_lost and round(result.mean, decimals + 1) else decimals
    return _text(result.mean, finer), _text(result.ci95, decimals)


def _place(ci95: float) -> tuple[int, bool]:
    """Returns the decimal place to which an interval is rounded, and whether it has two digits then."""
    exponent = math.floor(math.log10(ci95))
    has_two = ci95 < _TWO_DIGITS_BELOW * 10.0**exponent
    return 1 - exponent if has_two else -exponent, has_two


def column_texts(results: Sequence[Estimate], digits: int) -> list[str]:
    """Returns means and half the widths of their intervals, all with the same number of decimals.

    It is that of the widest interval by the rule of `rounded`, or as many as the narrowest interval
    needs not to become zero, but at most the usual one of the metric.

    Args:
        results: the means of a metric.
        digits: usual decimals of the metric.
    """
    halves = [result.ci95 for result in results if result.ci95 and math.isfinite(result.mean)]
    if not halves:
        return [rounded_text(result, digits) for result in results]
    least = -math.floor(math.log10(min(halves)))
    common = min(max(min(_place(half)[0] for half in halves), least), digits)
    return [_common_text(result, common) for result in results]


def _common_text(result: Estimate, decimals: int) -> str:
    """Returns a mean and the half width of its interval with this number of decimals."""
    decimals = max(decimals, 0)
    if not result.ci95 or not math.isfinite(result.mean):
        return rounded_text(result, decimals)
    if decimals <= 0 and _place(result.ci95)[0] < 0:
        # Numbers without decimals have the digits that their own intervals support.
        return rounded_text(result, decimals)
    return f"{_text(result.mean, decimals)} ± {_text(result.ci95, decimals)}"


def rounded_text(result: Estimate, digits: int) -> str:
    """Returns a mean and half the width of its interval as `mean ± half`; `-` without a value."""
    mean, half = rounded(result, digits)
    mean = mean.replace("inf", INFINITE)
    return f"{mean or '-'} ± {half}" if half else mean or "-"


def _text(value: float, decimals: int) -> str:
    # A zero without a minus sign.
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"
