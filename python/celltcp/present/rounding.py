"""Rounding of means to the digits that their intervals support."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.present.section import INFINITE

if TYPE_CHECKING:
    from celltcp.results.statistics import Estimate


#: First digits of an interval below which it has two of them.
_MOST_OF_TWO = 3.55


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
    exponent = math.floor(math.log10(result.ci95))
    has_two = result.ci95 < _MOST_OF_TWO * 10.0**exponent
    # 0.096 rounds to 0.10, which has two digits, too.
    place = 1 - exponent if has_two else -exponent
    # A mean that is lost in its interval keeps a digit more, if it is not zero there, too.
    is_lost = not has_two and not round(result.mean, place)
    finer = place + 1 if is_lost and round(result.mean, place + 1) else place
    return _text(result.mean, finer), _text(result.ci95, place)


def rounded_text(result: Estimate, digits: int) -> str:
    """Returns a mean and half the width of its interval as `mean ± half`; `-` without a value."""
    mean, half = rounded(result, digits)
    mean = mean.replace("inf", INFINITE)
    return f"{mean or '-'} ± {half}" if half else mean or "-"


def _text(value: float, place: int) -> str:
    # A zero without a minus sign.
    return f"{round(value, place) + 0.0:.{max(place, 0)}f}"
