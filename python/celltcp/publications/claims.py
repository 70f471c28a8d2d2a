"""Claims: statements of a publication about a quantity, as relations that can be checked.

Forms: `> 0.95`, `<= 2` (a bound), `3..8` (a range), `> reno`, `< 0.5 * reno` (relative to another
CCA), `about reno` (within 10 %), each also under another condition (`> reno @ static/mid-cell`, or
`> @ static/mid-cell` for the same CCA there); `best`, `not best`, `worst` and `tied` (several are as
good as the best) among the CCAs of the condition. The best has the highest mean of the quantity, the
worst the lowest, of a delay too.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from celltcp._core import CelltcpError
from celltcp.results.statistics import best_and_ties, estimate
from celltcp.scenarios.ccas import select_ccas

#: Comparison of a mean with a bound, by its sign.
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

#: Claims about the order of all CCAs.
_ORDERS = ("best", "not best", "worst", "tied")

#: Tolerance of `about`, relative to the reference.
_ABOUT_TOLERANCE = 0.1

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_RELATION = re.compile(
    r"(?P<sign><=|>=|<|>|about)\s*"
    rf"(?:(?P<factor>{_NUMBER}(?:e-?[0-9]+)?)\s*(?:\*\s*|$|(?=@)))?"
    r"(?P<cca>[a-z][^@]*?)?\s*(?:@\s*(?P<condition>.+))?"
)
_RANGE_PATTERN = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")

#: Returns the values of a CCA under a condition; None stands for those of the row itself.
GetValues = Callable[[str | None, str | None], Sequence[float]]


@dataclass(frozen=True)
class Claim:
    """A claim that was parsed; the module lists its forms."""

    #: The claim as it is written in the table.
    text: str
    #: A sign of `_COMPARISONS`, `about`, `range`, or one of `_ORDERS`.
    relation: str
    #: Bound, or factor of the values to which the claim is relative.
    factor: float = 1.0
    cca: str | None = None
    condition: str | None = None
    #: Bounds of a range.
    low: float = -math.inf
    high: float = math.inf

    @property
    def is_relative(self) -> bool:
        """Whether the relation is to other values, rather than to a number."""
        return self.cca is not None or self.condition is not None

    def holds(
        self,
        cca: str,
        values: Sequence[float],
        all_values: Mapping[str, Sequence[float]],
        get: GetValues,
    ) -> bool | None:
        """Returns whether the claim holds for the values of `cca`; None if they are unknown.

        Args:
            cca: the CCA of the row.
            values: its values, one per run.
            all_values: values of all CCAs of the condition.
            get: returns the values of a CCA under a condition.
        """
        mean = estimate(values).mean
        if math.isnan(mean):
            return None
        if self.relation in _ORDERS:
            return self._order_holds(cca, all_values)
        if self.relation == "range":
            return self.low <= mean <= self.high
        bound = self.factor
        if self.is_relative:
            bound *= estimate(get(self.cca, self.condition)).mean
        if math.isnan(bound):
            return None
        if self.relation == "about":
            return abs(mean - bound) <= _ABOUT_TOLERANCE * abs(bound)
        return bool(_COMPARISONS[self.relation](mean, bound))

    def _order_holds(self, cca: str, all_values: Mapping[str, Sequence[float]]) -> bool | None:
        if len(all_values) < 2:
            return None
        if self.relation == "worst":
            negated = {name: [-value for value in values] for name, values in all_values.items()}
            return cca in best_and_ties(negated)
        best = best_and_ties(all_values)
        if self.relation == "tied":
            return len(best) > 1
        return (cca in best) == (self.relation == "best")


def claim(text: str, location: str) -> Claim:
    """Parses a claim at a location (file and line).

    Raises:
        CelltcpError: names the file, the line, and what is allowed.
    """
    if text in _ORDERS:
        return Claim(text, text)
    if match := _RANGE_PATTERN.fullmatch(text):
        low, high = float(match[1]), float(match[2])
        if low > high:
            raise CelltcpError(
                f"{location}: claim: {text!r} ends before it begins; allowed: such as 3..8"
            )
        return Claim(text, "range", low=low, high=high)
    match = _RELATION.fullmatch(text)
    if match is None or not any(match[part] for part in ("factor", "cca", "condition")):
        raise CelltcpError(
            f"{location}: claim: {text!r}: allowed: {', '.join(_ORDERS)}, a range such as 3..8, or a "
            "relation such as > 0.95, < 0.5 * reno, about cubic @ static/mid-cell"
        )
    try:
        cca = select_ccas(match["cca"], ())[0] if match["cca"] else None
    except CelltcpError as error:
        raise CelltcpError(f"{location}: claim: {text!r}: {error}") from None
    return Claim(text, match["sign"], float(match["factor"] or 1.0), cca, match["condition"])
