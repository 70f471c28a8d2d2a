"""Causes: known reasons for cases outside their bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from celltcp.fidelity.data import read_table

#: Text of reports for an unknown cause.
UNKNOWN = "The cause of these differences is unknown."


@dataclass(frozen=True)
class Cause:
    """Cause of a difference in the cases that match; patterns are like those of file names."""

    scenario: str
    cca: str
    text: str


def known_causes() -> list[Cause]:
    """Returns the causes that come with celltcp."""
    return [Cause(**entry) for entry in read_table("causes").get("cause", [])]


def cause_of(case: str, cca: str, causes: Sequence[Cause]) -> str:
    """Returns the text of the first cause that matches, or that of an unknown cause."""
    for cause in causes:
        if fnmatchcase(case, cause.scenario) and fnmatchcase(cca, cause.cca):
            return cause.text
    return UNKNOWN
