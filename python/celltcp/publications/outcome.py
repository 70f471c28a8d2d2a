"""JSON types of repeated experiments."""

from __future__ import annotations

from typing import Annotated, TypedDict

from celltcp.results.json_fields import Cca, HalfWidth, Number


class FigureRow(TypedDict):
    """Published and simulated value."""

    publication: str
    experiment: str
    figure: str
    scenario: str
    cca: Cca
    quantity: str
    unit: Annotated[str, "Unit of the four values that follow."]
    published: Annotated[Number, "Value of the publication."]
    published_ci95: HalfWidth
    here: Annotated[Number, "Value here."]
    here_ci95: HalfWidth
    runs: Annotated[int, "Number of runs."]
    agrees: Annotated[
        bool | None, "Whether the claim holds, or one value lies in the interval of the other."
    ]
    note: str


#: Outcome of celltcp papers: a row per published value or claim.
PapersOutcome = list[FigureRow]
