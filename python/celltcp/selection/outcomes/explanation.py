"""JSON types of celltcp select explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, NotRequired, TypedDict

from celltcp._core import selection_features
from celltcp.results.json_fields import (
    Cca,
    Cell,
    Columns,
    FlowNumber,
    Number,
    RunNumber,
    ScenarioName,
    Seed,
    sentence,
)
from celltcp.selection.outcomes.rows import Cause


def _decision_columns() -> Mapping[str, object]:
    features = {
        name: NotRequired[Annotated[Number, sentence(meaning)]]
        for name, meaning in selection_features()
    }
    return {
        "t_s": Annotated[Number, "Time since the start of the run, s."],
        "from_cca": Annotated[str, "Congestion control before."],
        "to_cca": Annotated[str, "Congestion control after."],
        "cause": Cause,
        "reason": Annotated[str, "Why."],
        "verdict": str,
        **features,
    }


#: Row of a decision, with the features that it had.
DecisionRow = Annotated[dict[str, Cell], Columns(_decision_columns)]


class AgreementRow(TypedDict):
    """Agreement of the estimates of one quantity with the truth."""

    quantity: str
    truth: str
    slots: Number
    of: Number
    right: Number
    bias: Number
    error: Number


class ExplanationOutcome(TypedDict):
    """Explanation of a connection."""

    scenario: ScenarioName
    cca: Cca
    run: RunNumber
    seed: Seed
    flow: FlowNumber
    flow_name: str
    flow_cca: str
    flows_selected: Sequence[Number]
    decisions: list[DecisionRow]
    agreements: list[AgreementRow]
    time_under_s: dict[str, Number]


class ExplanationsOutcome(TypedDict):
    """Outcome of celltcp select explain."""

    runs: list[ExplanationOutcome]
