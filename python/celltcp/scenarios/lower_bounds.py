"""Lower bounds of capacity and buffer, as the description of a scenario states them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: Words that mark a sentence about lower bounds in a description.
LOWER_BOUND = "is a lower bound"


def bounds_in(scenario: Mapping[str, Any]) -> list[str]:
    """Returns the sentences of a scenario's description about lower bounds, without their full stops.

    Args:
        scenario: as its file has it.
    """
    sentences = re.split(r"(?<=\.)\s+", str(scenario.get("description", "")))
    return [sentence.rstrip(". ") for sentence in sentences if LOWER_BOUND in sentence]
