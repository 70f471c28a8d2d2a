"""Outcome of a single run as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from celltcp._core import result_tables
from celltcp.campaign.origin_fields import Origin
from celltcp.results.json_fields import (
    Cca,
    Cell,
    Columns,
    FlowNumber,
    RunNumber,
    Seed,
    table_columns,
)


def _columns(name: str, *texts: str) -> Mapping[str, object]:
    """Returns the types of the columns of a table, with those that a run adds."""
    (table,) = (each for each in result_tables() if each.name == name)
    return {
        **table_columns(table, dict.fromkeys(texts, str)),
        "run": RunNumber,
        "cca": Cca,
        "flow": FlowNumber,
    }


#: Row of a connection.
FlowRow = Annotated[dict[str, Cell], Columns(lambda: _columns("flows", "name", "ue"))]
#: Row of a decision of a selector.
DecisionRow = Annotated[
    dict[str, Cell],
    Columns(lambda: _columns("decisions", "cause", "from_cca", "to_cca", "reason", "measures")),
]


class RunOutcome(Origin):
    """Outcome of celltcp run."""

    cca: Cca
    seed: Seed
    flows: list[FlowRow]
    decisions: list[DecisionRow]
    warnings: list[str]
