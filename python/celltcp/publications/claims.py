"""Claims: what a publication says of a quantity in words, as a relation that can be checked.

Forms: `> 0.95`, `<= 2` (a bound), `3..8` (a range), `> reno`, `< 0.5 * reno` (relative to another
CCA), `about reno` (within 10 %), each also of another place (`> reno @ static/mid-cell`, or
`> @ static/mid-cell` for the same CCA there); `best`, `not best`, `worst` and `tied` (several are as
good as the best) among the CCAs of the place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from celltcp._core import CelltcpError
from celltcp.results.statistics import best_and_ties, estimate
from celltcp.scenarios.ccas import select_ccas

#: Claims about the order of all CCAs.
_ORDERS = ("best", "not best", "worst", "tied")

#: Tolerance of "about", relative to the reference.
_ABOUT = 0.1

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_RELATION = re.compile(
    r"(?P<sign><=|>=|<|>|about)\s*"
    rf"(?:(?P<factor>{_NUMBER}(?:e-?[0-9]+)?)\s*(?:\*\s*|$|(?=@)))?"
    r"(?P<cca>[a-z][^@]*?)?\s*(?:@\s*(?P<place>.+))?"
)
_RANGE_PATTERN = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")

#: Values of a CCA at a place; None for those of the row itself.
Values = Callable[[str | None, str | None], Sequence[float]]


@dataclass(frozen=True)
class Claim:
    """A claim: a relation in the notation of tables."""

    text: str
    sign: str
    factor: float = 1.0
    cca: str | None = None
    place: str | None = None
    #: Bounds of a range.
    low: float = -math.inf
    high: float = math.inf

    @property
    def refers(self) -> bool:
        """Whether the relation is to other values, rather than to a number."""
        return self.cca is not None or self.place is not None

    def holds(
        self, cca: str, mine: Sequence[float], others: Mapping[str, Sequence[float]], of: Values
    ) -> bool | None:
        """Returns whether the claim holds for the values of `cca`; None if they are unknown.

        Args:
            cca: the CCA of the row.
            mine: its values, one per run.
            others: those of all CCAs at the place.
            of: the values of a CCA at a place.
        """
        mean = estimate(mine).mean
        if math.isnan(mean):
            return None
        if self.sign in _ORDERS:
            return self._order(cca, others)
        if self.sign == "range":
            return self.low <= mean <= self.high
        bound = self.factor
        if self.refers:
            bound *= estimate(of(self.cca, self.place)).mean
        if math.isnan(bound):
            return None
        if self.sign == "about":
            return abs(mean - bound) <= _ABOUT * abs(bound)
        return {"<": mean < bound, "<=": mean <= bound, ">": mean > bound, ">=": mean >= bound}[
            self.sign
        ]

    def _order(self, cca: str, others: Mapping[str, Sequence[float]]) -> bool | None:
        if len(others) < 2:
            return None
        if self.sign == "worst":
            return cca in best_and_ties(
                {name: [-value for value in values] for name, values in others.items()}
            )
        best = best_and_ties(others)
        if self.sign == "tied":
            return len(best) > 1
        return (cca in best) == (self.sign == "best")


def claim(text: str, place: str) -> Claim:
    """Parses a claim.

    Raises:
        CelltcpError: says where the text is, and what is allowed.
    """
    if text in _ORDERS:
        return Claim(text, text)
    if match := _RANGE_PATTERN.fullmatch(text):
        low, high = float(match[1]), float(match[2])
        if low > high:
            raise CelltcpError(f"{place}: claim: {text!r} ends before it begins; allowed: such as 3..8")
        return Claim(text, "range", low=low, high=high)
    match = _RELATION.fullmatch(text)
    if match is None or not any(match[part] for part in ("factor", "cca", "place")):
        raise CelltcpError(
            f"{place}: claim: {text!r}: allowed: {', '.join(_ORDERS)}, a range such as 3..8, or a "
            "relation such as > 0.95, < 0.5 * reno, about cubic @ static/mid-cell"
        )
    try:
        cca = select_ccas(match["cca"], ())[0] if match["cca"] else None
    except CelltcpError as error:
        raise CelltcpError(f"{place}: claim: {text!r}: {error}") from None
    return Claim(text, match["sign"], float(match["factor"] or 1.0), cca, match["place"])
