"""Panel: one set of axes of a picture of a publication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from celltcp.plots.palette import colours

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from celltcp.papers.outcome import Outcome, Row

#: Names of quantities on axes, where they are not those of tables in other letters.
_NAMES = {
    "rtt": "RTT",
    "rtt_max": "largest RTT",
    "rtt_increment": "RTT increment",
    "rtt_increment_max": "largest RTT increment",
    "rtt_long": "RTT of the long flow",
    "rtt_competing": "RTT of those beside it",
    "owd": "one-way delay",
    "cwnd": "window",
    "duplicate_acks": "duplicate ACKs",
    "duplicate_acks_each": "duplicate ACKs",
    "duplicate_acks_of_each": "duplicate ACKs",
    "completion_long": "completion of the long flow",
    "completion_competing": "completion of those beside it",
    "completion_short": "completion of short flows",
    "completion_total": "completion of all",
    "mcs_stays_1": "same MCS, next",
    "mcs_stays_2": "same MCS, second after",
    "mcs_stays_3": "same MCS, third after",
    "pm_balanced": "PM, balanced",
    "pm_delay": "PM, delay",
    "mcs_mean": "MCS",
    "mcs_sd": "deviation of the MCS",
    "cqi_mean": "CQI",
    "cqi_sd": "deviation of the CQI",
    "cqi_change": "change of the CQI",
    "wasted": "wasted opportunities",
}


@dataclass(frozen=True)
class Panel:
    """Function that draws one set of axes, and their projection."""

    draw: Callable[[Axes], None]
    projection: str | None = None
    #: Height in inches; None for that of the form.
    height: float | None = None


def shades_of(rows: Sequence[Row]) -> dict[str, str]:
    """Returns the colours of the CCAs of some rows."""
    return colours(row.theirs.cca for row in rows)


def name_of(quantity: str) -> str:
    """Returns the name of a quantity on an axis."""
    return _NAMES.get(quantity, quantity.replace("_", " "))


def axis_of(row: Row) -> str:
    """Returns the label of an axis: the quantity of a row and its unit."""
    name = name_of(row.theirs.quantity)
    return f"{name}, {row.theirs.unit}" if row.theirs.unit else name


def by_scenario(found: Outcome) -> list[tuple[str, str, list[Row]]]:
    """Returns the rows of each place and quantity once per CCA, whatever the part of the way."""
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for row in found.rows:
        rows.setdefault((row.theirs.scenario, row.theirs.quantity), {}).setdefault(row.theirs.cca, row)
    return [(scenario, quantity, list(mine.values())) for (scenario, quantity), mine in rows.items()]
