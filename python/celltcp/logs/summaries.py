"""Parts of the summary of how a log was read: facts, and doubts that its rates are a capacity."""

from __future__ import annotations

from typing import NamedTuple

#: Separator of the parts.
SEPARATOR = "; "
#: Starts of the parts that doubt the capacity.
NO_CAPACITY, LIKE_DEMAND = "no capacity: ", "looks like a demand rather than a capacity: "


class SummaryParts(NamedTuple):
    """Facts and doubts of a summary."""

    facts: list[str]
    #: Reasons why the rates may be no capacity, which users get as warnings.
    doubts: list[str]


def parts_of(summary: str) -> SummaryParts:
    """Returns the parts of a summary, between its separators."""
    parts = SummaryParts([], [])
    for text in summary.split(SEPARATOR):
        is_doubt = text.startswith((NO_CAPACITY, LIKE_DEMAND))
        (parts.doubts if is_doubt else parts.facts).append(text)
    return parts
