"""JSON types of a single run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NotRequired

from celltcp._core import result_tables
from celltcp.campaign.origin_fields import Origin
from celltcp.comparison.metrics import APP_METRICS, WINDOWS
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
    """Returns the types of the columns of a table, with those that a run adds."""
    (table,) = (result_table for result_table in result_tables() if result_table.name == name)
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


def _metrics() -> Mapping[str, object]:
    return {
        "flow": FlowName,
        **{
            name: NotRequired[Annotated[Number, app_metric.meaning]]
            for name, app_metric in APP_METRICS.items()
        },
    }


#: Metrics of the application of a flow.
ApplicationMetrics = Annotated[dict[str, Cell], Columns(_metrics)]


def _windows() -> Mapping[str, object]:
    return {
        "flow": FlowName,
        **{name: Annotated[Number, meaning] for name, meaning in WINDOWS.items()},
    }


#: Congestion windows of a flow.
WindowsRow = Annotated[dict[str, Cell], Columns(_windows)]


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
