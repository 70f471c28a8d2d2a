"""JSON types of the outcome of celltcp video: CCAs compared by video metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypedDict

from celltcp.comparison.metrics import VIDEO
from celltcp.comparison.outcome import BestOutcome, SetVerdictRow
from celltcp.results.json_fields import Cca, Cell, Columns, HalfWidth, LeftOut, Number, Version

_Abr = Annotated[str, "ABR algorithm."]


def _columns() -> Mapping[str, object]:
    metrics: dict[str, object] = {}
    for name, metric in VIDEO.items():
        metrics |= {name: Annotated[Number, metric.meaning], f"{name}_ci95": HalfWidth}
    return {
        "scenario": str,
        "abr": _Abr,
        "cca": Cca,
        **metrics,
        "behind": Annotated[Number, "MOS minus that of the best CCA."],
        "behind_ci95": HalfWidth,
    }


#: Row of a scenario, an ABR algorithm and a CCA.
VideoRow = Annotated[dict[str, Cell], Columns(_columns)]


class VideoVerdict(BestOutcome):
    """Best CCA of a scenario and an ABR algorithm."""

    scenario: str
    abr: str


class AdaptationOutcome(BestOutcome):
    """Best ABR algorithm for a CCA on a scenario, by a score."""

    scenario: Annotated[str | None, "Null for the mean over two scenarios."]
    cca: Cca
    metric: str


class VideoOutcome(TypedDict):
    """Outcome of celltcp video."""

    version: Version
    rows: Annotated[list[VideoRow], "A row per scenario, ABR algorithm and CCA."]
    verdicts: list[VideoVerdict]
    adaptation_verdicts: Annotated[
        list[AdaptationOutcome], "Empty if only one ABR algorithm was compared."
    ]
    over_all: Annotated[
        list[SetVerdictRow],
        "Verdicts over three or more scenarios: on the CCA with each ABR algorithm, and on the ABR "
        "algorithm for each CCA.",
    ]
    warnings: list[str]
    left_out: LeftOut
