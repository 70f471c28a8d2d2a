"""JSON fields that recur in outcomes of selection."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from celltcp.results.json_fields import Build, LeftOut, Overrides, Version

#: Rows whose columns the table next to them describes.
Rows = list[dict[str, object]]

Policies = Annotated[str, "Policies by which auto selects, joined by plus signs; empty without one."]
Cause = Annotated[
    str,
    "Establishment, change, return where a change made it worse, or agent where one outside asked for "
    "it.",
]


class EvaluationOrigin(TypedDict):
    """Origin of the outcomes of `celltcp select evaluate` and `engines`."""

    version: Version
    build: Build
    set: NotRequired[Overrides]
    requirements: list[str]
    left_out: LeftOut
