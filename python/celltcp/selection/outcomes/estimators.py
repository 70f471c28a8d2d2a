"""JSON types of celltcp select estimators."""

from __future__ import annotations

from typing import Annotated, TypedDict

from celltcp.results.json_fields import FirstSeed, LeftOut, Runs
from celltcp.selection.outcomes.rows import Rows


class AccuracyOrigin(TypedDict):
    """Origin of the accuracy of estimators."""

    scenarios: list[str]
    left_out: LeftOut
    cca: list[str]
    runs: Runs
    seed: FirstSeed


class AccuracyOutcome(AccuracyOrigin):
    """Outcome of celltcp select estimators."""

    overall: Annotated[Rows, "Shares that were right, by family and CCA."]
    by_confidence: Annotated[Rows, "Shares that were right, by confidence."]
    table: Annotated[Rows, "All answers with the truth."]
