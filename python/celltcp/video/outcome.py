"""Outcome of a comparison of CCAs by video as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypedDict

from celltcp.comparison.metrics import VIDEO
from celltcp.comparison.outcome import BestOutcome
from celltcp.results.json_fields import Cca, Cell, Columns, HalfWidth, LeftOut, Number, Version

_Abr = Annotated[str, "Adaptation of the bitrate."]


def _columns() -> Mapping[str, object]:
    figures: dict[str, object] = {}
    for name, figure in VIDEO.items():
        figures |= {name: Annotated[Number, figure.meaning], f"{name}_ci95": HalfWidth}
    return {
        "scenario": str,
        "abr": _Abr,
        "cca": Cca,
        **figures,
        "behind": Annotated[Number, "Mean opinion score less that of the best one."],
        "behind_ci95": HalfWidth,
    }


#: Row of a scenario, an adaptation and a CCA.
VideoRow = Annotated[dict[str, Cell], Columns(_columns)]


class VideoVerdict(BestOutcome):
    """Best CCA of a scenario and an adaptation."""

    scenario: str
    abr: str


class AdaptationOutcome(BestOutcome):
    """Best adaptation of the bitrate for a CCA on a scenario, by a score."""

    scenario: Annotated[str | None, "Null of the mean over all scenarios."]
    cca: Cca
    metric: str


class VideoOutcome(TypedDict):
    """Outcome of celltcp video."""

    version: Version
    rows: Annotated[list[VideoRow], "A row per scenario, adaptation and CCA."]
    verdicts: list[VideoVerdict]
    adaptation_verdicts: Annotated[list[AdaptationOutcome], "None of a single adaptation."]
    warnings: list[str]
    left_out: LeftOut
