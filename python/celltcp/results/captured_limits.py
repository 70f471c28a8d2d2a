"""Reasons by which no congestion control is best on the path of a capture."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

from celltcp.results.warnings.lower_bounds import unseen_overflows
from celltcp.scenarios.lower_bounds import (
    BEST_BY_ENDS,
    OTHER_THAN_CAPTURED,
    UNSEEN_OVERFLOW,
    best_by_ends,
    differs_from_capture,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from celltcp.results.statistics import Verdict
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
#: Reason for which runs do not decide.
OPEN_ENDS = "the capture leaves open when its blackouts ended"
OPEN_BUFFER = "the capture leaves open how long a queue the buffer holds, which overflows here"
#: Needs for which the length of the queue counts.
_NEEDS_OF_QUEUE = ("delay", "balanced")
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


def with_open_bounds(verdicts: Mapping[str, Verdict], results: Results) -> dict[str, Verdict]:
    """Returns verdicts, undecided where another CCA may be best with other bounds of a captured path.

    These are ends of blackouts, and buffers: one that overflows under the leader, but did not in the
    capture, may hold a longer queue.
    """
    text, compared = results.about["scenario"], results.about["cca"]
    best = best_by_ends(tomllib.loads(text)) if BEST_BY_ENDS in text else {}
    overflows = unseen_overflows(results, tomllib.loads(text)) if UNSEEN_OVERFLOW in text else {}
    given = dict(verdicts)
    for need, verdict in verdicts.items():
        given[need] = _with_others(verdict, best.get(need, []), compared, OPEN_ENDS)
        if need in _NEEDS_OF_QUEUE and verdict.leader in overflows:
            given[need] = _with_others(given[need], compared, compared, OPEN_BUFFER)
    return given


def _with_others(verdict: Verdict, best: list[str], compared: list[str], doubt: str) -> Verdict:
    # More runs do not decide about those that they leave undecided.
    decided = set(verdict.ranked) - set(verdict.undecided)
    others = [cca for cca in best if cca in compared and cca not in decided]
    if verdict.leader is None or verdict.contradicted_by or not others:
        return verdict
    return replace(
        verdict,
        undecided=tuple(dict.fromkeys((*verdict.undecided, *others))),
        doubt=doubt,
        runs_needed=None,
        is_next_step=False,
        are_all_tied=False,
        runs_ahead=None,
        cost=None,
    )
