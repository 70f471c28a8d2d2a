"""Quantities of selections: the gain of the best CCAs by phase, and the number of cases by gain."""

from __future__ import annotations

import math

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity

#: Quantities by which a selection chooses the best CCAs.
CRITERIA = ("goodput", "pm_balanced", "pm_delay")

#: Bounds of the gain of the cases that a quantity counts, %; None for cases without a switch.
TALLY: dict[str, tuple[float, float] | None] = {
    "cases_unswitched": None,
    "cases_over_5": (5.0, math.inf),
    "cases_up_to_5": (0.0, 5.0),
    "cases_lost": (-math.inf, 0.0),
}


def _derived(measured: Measured, entry: Published) -> list[float]:
    """Returns the value that the runner has computed; NaN without one."""
    return [measured.derived.get(entry.quantity, math.nan)]


#: Quantities of selections.
OF_SELECTIONS: dict[str, Quantity] = {
    name: Quantity(_derived) for name in (*(f"gain_{criterion}" for criterion in CRITERIA), *TALLY)
}
