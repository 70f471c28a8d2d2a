"""JSON types of a single run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from celltcp._core import result_tables
from celltcp.campaign.origin_fields import Origin
from celltcp.comparison.metrics import WINDOWS
from celltcp.comparison.outcome import app_metrics, means
from celltcp.results.json_fields import (
    Cca,
    Cell,
    Columns,
    FlowName,
    FlowNumber,
    Number,
    RunNumber,
    Seed,
    table_columns,
)
from celltcp.results.limit_fields import LimitsRow


def _columns(name: str, *texts: str) -> Mapping[str, object]:
    """Returns the JSON types of the columns of a result table, of which `texts` hold texts."""
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


#: Metrics of a flow's application.
ApplicationMetrics = Annotated[
    dict[str, Cell], Columns(lambda: {"flow": FlowName, **app_metrics(Number)})
]


#: Congestion windows of a flow.
WindowsRow = Annotated[dict[str, Cell], Columns(lambda: {"flow": FlowName, **means(Number, WINDOWS)})]


class RunOutcome(Origin):
    """Outcome of celltcp run."""

    cca: Cca
    seed: Seed
    flows: list[FlowRow]
    applications: Annotated[
        list[ApplicationMetrics], "Flows that have an application, or transfers with an end."
    ]
    windows: Annotated[list[WindowsRow], "Congestion windows of each flow."]
    limits: Annotated[list[LimitsRow], "What limited the flows; none in results of earlier versions."]
    decisions: list[DecisionRow]
    warnings: list[str]
