"""Tables of celltcp select explain: decisions of a selector, and accuracy of its estimates."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from celltcp.present.section import Column, Table, number_columns
from celltcp.selection.agreement import CONFIDENT, Agreement
from celltcp.selection.explanation import MAIN_FEATURES, Explanation

#: Headings of the features.
_HEADINGS = {
    "base_rtt": "base\nms",
    "capacity": "capa-\ncity",
    "movement": "move-\nment",
    "queue_ratio": "queue\nratio",
    "retransmitted": "sent\nagain",
}


def decisions_table(explained: Explanation) -> Table:
    """Returns a row per decision: time, CCAs, cause, reason, verdict, and the main features."""
    rows = tuple(
        (
            f"{row['t_s']:.2f}",
            *(row[name] for name in ("from_cca", "to_cca", "cause", "reason", "verdict")),
            *(_feature_text(row, name) for name in MAIN_FEATURES),
        )
        for row in explained.decisions.to_dict("records")
    )
    columns = (
        *number_columns("s"),
        *(Column(heading, no_wrap=True) for heading in ("from", "to", "cause")),
        *map(Column, ("why", "verdict")),
        *number_columns(*(_HEADINGS[name] for name in MAIN_FEATURES)),
    )
    title = f"{explained.title}: decisions"
    droppable = ("queue ratio", "sent again", "movement", "from")
    return Table(columns, rows, title, droppable=droppable)


def _feature_text(row: Mapping[Hashable, Any], name: str) -> str:
    """Returns the value of a feature; a dash if it is unknown."""
    value = float(row.get(name, math.nan))
    return "-" if math.isnan(value) else f"{value:.3g}"


def agreements_table(agreements: Sequence[Agreement]) -> Table:
    """Returns a row per quantity with the accuracy or error of its estimates."""
    rows = []
    for agreement in agreements:
        shares = (agreement.accuracy, agreement.error, agreement.bias)
        cells = ("" if share is None else f"{100 * share:.1f}" for share in shares)
        slots = f"{agreement.slots} of {agreement.total_slots}"
        rows.append((agreement.quantity, agreement.truth, slots, *cells))
    numbers = number_columns("slots", "right, %", "median\nerror, %", "median\nbias, %")
    title = (
        "What the estimators saw against what is true; "
        f"numbers with a confidence below {CONFIDENT:g} left out"
    )
    return Table((Column("estimate"), Column("truth"), *numbers), tuple(rows), title)
