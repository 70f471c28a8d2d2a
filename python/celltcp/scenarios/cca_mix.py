"""Line-ups: the congestion controls of flows that run together, their middleboxes, and their labels.

Results also name congestion controls that this process does not know, so that no name is checked here.
Labels are short names of selectors in tables, legends and messages; data keep the full text.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from celltcp._core import auto_parameters, lineup_parts

#: Name of a selector in place of a congestion control.
AUTO = "auto"

#: Default parameters of `auto`.
_DEFAULTS = {name: default for name, _, default in auto_parameters()}


class FlowCca(NamedTuple):
    """The congestion control of a flow: name and parameters."""

    name: str
    parameters: dict[str, str]
    #: Name and parameters as in the text of the line-up.
    text: str

    @property
    def is_selector(self) -> bool:
        """Whether a policy selects among congestion controls."""
        return self.name == AUTO


class CcaMix(NamedTuple):
    """A line-up in its parts."""

    flows: tuple[FlowCca, ...]
    #: Middleboxes, joined by at signs, or `"none"`; empty for those of the scenario.
    middleboxes: str

    @property
    def selects(self) -> bool:
        """Whether a flow has a selector."""
        return any(flow.is_selector for flow in self.flows)

    @property
    def single(self) -> str | None:
        """Name of the congestion control of a single flow; None for several flows."""
        return self.flows[0].name if len(self.flows) == 1 else None


def is_of_several_flows(mix: str) -> bool:
    """Returns whether the text of a line-up has the congestion controls of several flows."""
    # HyStart++ has plus signs of its own.
    return "+" in mix and ("++" not in mix or _flows_of(mix) > 1)


@functools.cache
def _flows_of(mix: str) -> int:
    return len(parse_mix(mix).flows)


def of_single_flows(mixes: Iterable[str]) -> list[str]:
    """Returns the congestion controls of a single flow among line-ups; only those are compared."""
    return [mix for mix in mixes if not is_of_several_flows(mix)]


def parse_mix(text: str) -> CcaMix:
    """Returns the parts of a line-up, such as `cubic:beta=0.8,hystart=off+bbr@es`."""
    flows, middleboxes = lineup_parts(text)
    ccas = tuple(FlowCca(name, dict(settings), flow) for flow, name, settings in flows)
    return CcaMix(ccas, middleboxes or "")


def flow_cca(text: str) -> FlowCca:
    """Returns the parts of the congestion control of one flow."""
    return parse_mix(text).flows[0]


def labels(ccas: Iterable[str]) -> dict[str, str]:
    """Returns a short name for each congestion control or line-up.

    `auto:policy=rules,requirement=delay` is `auto rules delay`; files go by their names without folder
    and ending. Those that would be called the same keep their full text, as do all others.
    """
    short = {cca: _lineup_label(cca) for cca in ccas}
    taken = list(short.values())
    return {cca: label if taken.count(label) == 1 else cca for cca, label in short.items()}


def counted(number: int, word: str) -> str:
    """Returns a number with its word, as `1 run` or `2 runs`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def first_names(names: Sequence[str], most: int) -> str:
    """Returns names with commas; of more than `most` the first ones, and the number of others."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {counted(len(names) - most, 'other')}"


def _lineup_label(text: str) -> str:
    lineup = parse_mix(text)
    boxes = f"@{lineup.middleboxes}" if lineup.middleboxes else ""
    return "+".join(_label(flow) for flow in lineup.flows) + boxes


def _label(cca: FlowCca) -> str:
    if not cca.is_selector:
        return cca.text
    given = cca.parameters
    settings = {**_DEFAULTS, **given}
    policy = PurePath(settings["policy"]).stem
    words = [cca.name, policy]
    if policy == "fixed":
        words.append(settings["cca"])
    if policy != "fixed" or "requirement" in given:
        words.append(settings["requirement"])
    if settings["hints"] == "on":
        words.append("hints")
    if "flow_size" in given:
        words.append(given["flow_size"])
    if "prefer" in given:
        words.append(f"prefer {given['prefer']}")
    if "memory" in given:
        words.append(f"memory {PurePath(given['memory']).stem}")
    return " ".join(words)
