"""Quantities of selections: the gain of the best CCAs by phase, and the number of cases by gain."""

from __future__ import annotations

import math

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity

#: Quantities by which a selection is made.
CRITERIA = ("goodput", "pm_balanced", "pm_delay")

#: Cases of a tally: bounds of the gain in %; None for those without a switch.
TALLY: dict[str, tuple[float, float] | None] = {
    "cases_unswitched": None,
    "cases_over_5": (5.0, math.inf),
    "cases_up_to_5": (0.0, 5.0),
    "cases_lost": (-math.inf, 0.0),
}


def _unknown(measured: Measured, entry: Published) -> list[float]:
    """Values come with the runs of the selection (`Measured.known`)."""
    return [measured.known.get(entry.quantity, math.nan)]


#: Quantities of selections.
OF_SELECTIONS: dict[str, Quantity] = {
    name: Quantity(_unknown) for name in (*(f"gain_{each}" for each in CRITERIA), *TALLY)
}
