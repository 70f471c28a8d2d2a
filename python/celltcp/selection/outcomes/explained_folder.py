"""JSON types of celltcp explain."""

from __future__ import annotations

from typing import Annotated, TypedDict

from celltcp.comparison.explanation.outcome import ExplainedResults
from celltcp.selection.outcomes.explanation import ExplanationOutcome

_Unfinished = Annotated[str, "Numbers of finished and planned runs; empty if all are finished."]


class ExplainedFolder(ExplainedResults):
    """Outcome of celltcp explain."""

    selection: Annotated[
        list[ExplanationOutcome], "Decisions of selectors, as celltcp select explain has them."
    ]
    unfinished: _Unfinished


class ExplainedFolders(TypedDict):
    """Outcome of celltcp explain on a folder of several comparisons."""

    folders: Annotated[
        dict[str, ExplainedFolder], "Explanation of each comparison, by scenario or value."
    ]
    unfinished: _Unfinished
