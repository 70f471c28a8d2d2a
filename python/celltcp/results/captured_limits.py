"""Reasons by which no congestion control is best on the path of a capture."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from celltcp.scenarios.lower_bounds import OTHER_THAN_CAPTURED, differs_from_capture

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Line in place of verdicts.
NO_BEST = (
    "no CCA is best here: the limit of the sender in the capture held under each; celltcp pcap analyze "
    "names it"
)
#: Line in place of verdicts and remedies where the path is other than the captured one.
OTHER_PATH = (
    "no CCA is best here, and no setting is advised: a simulation of this path differs from its "
    "capture (the description of the scenario has both); compare on the path itself"
)
#: Minimum share of the time in which the window that stands for the limit is full.
_MIN_SHARE = 0.2


def has_decided(results: Results) -> bool:
    """Returns whether the limit of a captured sender held each flow of its scenario under each CCA."""
    shares = [each.shares["receive_window"] for each in results.flow_limits]
    return bool(shares) and min(shares) >= _MIN_SHARE


def is_other_path(results: Results) -> bool:
    """Returns whether a simulation of the scenario differs from the capture that it is from."""
    text = results.about["scenario"]
    return OTHER_THAN_CAPTURED in text and differs_from_capture(tomllib.loads(text))
