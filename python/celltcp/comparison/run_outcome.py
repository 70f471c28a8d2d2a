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
    """Returns the JSON types of the columns of a result table, with run, CCA and connection.

    Args:
        name: of the table.
        texts: columns that hold texts.
    """
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


def _metric_columns() -> Mapping[str, object]:
    metrics = {
        name: NotRequired[Annotated[Number, metric.meaning]] for name, metric in APP_METRICS.items()
    }
    return {"flow": FlowName, **metrics}


#: Metrics of a flow's application.
ApplicationMetrics = Annotated[dict[str, Cell], Columns(_metric_columns)]


def _window_columns() -> Mapping[str, object]:
    means = {metric: Annotated[Number, meaning] for metric, meaning in WINDOWS.items()}
    return {"flow": FlowName, **means}


#: Congestion windows of a flow.
WindowsRow = Annotated[dict[str, Cell], Columns(_window_columns)]


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
