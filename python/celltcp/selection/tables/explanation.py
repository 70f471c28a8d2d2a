"""Tables of celltcp select explain: the decisions of a selector, its estimates, and the truth."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from celltcp.present.section import Column, Table, number_columns
from celltcp.selection.agreement import CONFIDENT, Agreement
from celltcp.selection.explanation import MAIN_MEASURES, Explanation

#: Headings of the main measures.
_HEADINGS = {
    "base_rtt": "base\nms",
    "capacity": "capa-\ncity",
    "movement": "move-\nment",
    "queue_ratio": "queue\nratio",
    "retransmitted": "sent\nagain",
}


def decisions_table(explained: Explanation) -> Table:
    """Returns a row per decision: time, CCAs, cause, verdict, and the main measures."""
    rows = tuple(
        (
            f"{row['t_s']:.2f}",
            *(row[name] for name in ("from_cca", "to_cca", "cause", "reason", "verdict")),
            *(_measure(row, name) for name in MAIN_MEASURES),
        )
        for row in explained.decisions.to_dict("records")
    )
    columns = (
        *number_columns("s"),
        *(Column(heading, no_wrap=True) for heading in ("from", "to", "cause")),
        *map(Column, ("why", "verdict")),
        *number_columns(*(_HEADINGS[name] for name in MAIN_MEASURES)),
    )
    title = f"{explained.title}: decisions"
    droppable = ("queue ratio", "sent again", "movement", "from")
    return Table(columns, rows, title, droppable=droppable)


def _measure(row: Mapping[Hashable, Any], name: str) -> str:
    """Returns a measure as text; `-` for one that was unknown."""
    value = float(row.get(name, math.nan))
    return "-" if math.isnan(value) else f"{value:.3g}"


def agreements_table(agreements: Sequence[Agreement]) -> Table:
    """Returns a row per estimate with its deviation from the truth."""
    rows = []
    for agreement in agreements:
        shares = (agreement.accuracy, agreement.error, agreement.bias)
        cells = ["" if share is None else f"{100 * share:.1f}" for share in shares]
        rows.append(
            (
                agreement.quantity,
                agreement.truth,
                f"{agreement.slots} of {agreement.total_slots}",
                *cells,
            )
        )
    numbers = number_columns("slots", "right, %", "median\nerror, %", "median\nbias, %")
    title = (
        "What the estimators saw against what is true; "
        f"numbers with a confidence below {CONFIDENT:g} left out"
    )
    return Table((Column("estimate"), Column("truth"), *numbers), tuple(rows), title)
