"""Sentences in the description of a scenario that was estimated from a capture: bounds and limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit

#: Beginning of the description of a scenario of a captured path.
OF_CAPTURE = "The path of connection "
#: Text that marks a sentence about a lower bound.
LOWER_BOUND = "is a lower bound"
#: Start of the sentences about a capacity that a capture does not have, or has by gaps alone.
_CAPACITY_BOUND = f"Its capacity {LOWER_BOUND}"
CAPACITY_BY_GAPS = "Its capacity is by the gaps"
#: Start of the sentence about a loss rate of few losses.
FEW_LOSSES = "Its loss rate is of "
#: Start of the sentence about losses that are too few to distinguish a policer from random loss.
MAYBE_POLICED = "Its losses may be of a policer"
#: Text of the sentence about a buffer whose overflow a capture does not have.
UNSEEN_OVERFLOW = "no overflow was seen"

#: Advice in the sentence about a path on which a simulation differs from the capture.
OTHER_THAN_CAPTURED = "do not compare CCAs on this path"

#: Text of the sentence about blackouts whose ends a capture shows only by time-outs, and text before
#: CCAs of which each is best for a need with some of these ends.
UNKNOWN_ENDS = "as time-outs double"
BEST_BY_ENDS = "whether "
#: Maximum difference of a sum of blackouts from a bound in that sentence, which has a decimal place, s.
_MAX_BOUND_DIFFERENCE_S = 0.06

#: Texts of which each marks a sentence about a doubt.
DOUBTS = (LOWER_BOUND, CAPACITY_BY_GAPS, FEW_LOSSES, MAYBE_POLICED, OTHER_THAN_CAPTURED, UNKNOWN_ENDS)

#: Sentence about a receive window that stands for the limit of a sender in a capture.
SENDER_LIMIT = "Its receive window stands for the limit of the sender: its send buffer or application."


def is_of_capture(scenario: Mapping[str, Any]) -> bool:
    """Returns whether the path of a scenario was estimated from a capture."""
    return str(scenario.get("description", "")).startswith(OF_CAPTURE)


def has_sender_limit(scenario: Mapping[str, Any]) -> bool:
    """Returns whether the receive window of a scenario stands for the limit of a captured sender."""
    return SENDER_LIMIT in str(scenario.get("description", ""))


def has_capacity_bound(scenario: Mapping[str, Any]) -> bool:
    """Returns whether the capacity of a scenario is a lower bound, so that no window has a target."""
    is_bound = _CAPACITY_BOUND in str(scenario.get("description", ""))
    return is_bound and not _is_capacity_given(scenario)


def _is_capacity_given(scenario: Mapping[str, Any]) -> bool:
    """Returns whether the link of a captured transfer has a rate in place of its trace."""
    path = scenario.get("path", {})
    is_upload = any(flow.get("to") == "server" for flow in scenario.get("flows", ()))
    link = path.get("up" if is_upload else "down", {})
    return isinstance(link, str) or "rate" in link


def differs_from_capture(scenario: Mapping[str, Any]) -> bool:
    """Returns whether a simulation on the path of a scenario differs from its capture."""
    return any(OTHER_THAN_CAPTURED in text for text in doubtful_sentences(scenario))


def doubtful_sentences(scenario: Mapping[str, Any]) -> list[str]:
    """Returns the sentences about lower bounds, without full stops, of a scenario parsed as TOML.

    Beside them are those about blackouts whose ends are unknown, and about a path on which a simulation
    differs from the capture.
    """
    sentences = re.split(r"(?<=\.)\s+", str(scenario.get("description", "")))
    bounds = [sentence.rstrip(". ") for sentence in sentences if _is_doubt(sentence)]
    is_given = _is_capacity_given(scenario)
    return [
        text
        for text in bounds
        if not (is_given and _is_about_capacity(text)) and not _are_ends_given(text, scenario)
    ]


def has_open_ends(scenario: Mapping[str, Any]) -> bool:
    """Returns whether a capture leaves open when the blackouts of a scenario ended."""
    return any(UNKNOWN_ENDS in text for text in doubtful_sentences(scenario))


def best_by_ends(scenario: Mapping[str, Any]) -> dict[str, list[str]]:
    """Returns, by need, the CCAs of which each is best with some end of the blackouts of a capture."""
    return {
        need: names.split(" or ")
        for text in doubtful_sentences(scenario)
        if UNKNOWN_ENDS in text
        for names, need in re.findall(rf"{BEST_BY_ENDS}(\S+(?: or \S+)+) is best for (\w+)", text)
    }


def _are_ends_given(sentence: str, scenario: Mapping[str, Any]) -> bool:
    """Returns whether the blackouts of a scenario are the shortest or longest ones of a sentence."""
    bounds = re.search(rf"take ([\d.]+) to ([\d.]+) s, {UNKNOWN_ENDS}", sentence)
    blackouts = scenario.get("path", {}).get("blackouts", ())
    total_s = sum(in_unit(each["duration"], "s") or 0.0 for each in blackouts)
    return bounds is not None and any(
        abs(total_s - float(bound)) <= _MAX_BOUND_DIFFERENCE_S for bound in bounds.groups()
    )


def _is_doubt(sentence: str) -> bool:
    return any(text in sentence for text in DOUBTS)


def _is_about_capacity(sentence: str) -> bool:
    return sentence.startswith((_CAPACITY_BOUND, CAPACITY_BY_GAPS)) or OTHER_THAN_CAPTURED in sentence
