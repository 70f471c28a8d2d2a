"""CCA mixes: the congestion controls of the flows of a run, their middleboxes, and labels for both.

Stored results may name congestion controls that this process lacks, so names are not checked here.
Labels are short names of selectors in tables, legends and messages; data files keep the full text.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from celltcp._core import auto_parameters, lineup_parts

#: Name of a selector in place of a congestion control.
AUTO = "auto"

#: Number of flows in a row with the same congestion control from which on a label counts them.
_MIN_REPEATS = 3

#: Default parameters of `auto`.
_DEFAULTS = {name: default for name, _, default in auto_parameters()}


class FlowCca(NamedTuple):
    """The congestion control of a flow: name and parameters."""

    name: str
    parameters: dict[str, str]
    #: Name and parameters as in the text of the mix.
    text: str

    @property
    def is_selector(self) -> bool:
        """Whether a policy selects among congestion controls."""
        return self.name == AUTO


class CcaMix(NamedTuple):
    """The congestion controls of all flows, and the middleboxes on their path."""

    flows: tuple[FlowCca, ...]
    #: Middleboxes, joined by at signs, or `"none"`; empty for those of the scenario.
    middleboxes: str

    @property
    def has_selector(self) -> bool:
        """Whether a flow has a selector."""
        return any(flow.is_selector for flow in self.flows)

    @property
    def single_cca(self) -> str | None:
        """Name of the congestion control of a single flow; None for several flows."""
        return self.flows[0].name if len(self.flows) == 1 else None


@functools.cache
def has_several_flows(mix: str) -> bool:
    """Returns whether the text of a mix has the congestion controls of several flows."""
    # A plus sign alone is not enough: `slow_start=hystart++` has two.
    return "+" in mix and len(parse_mix(mix).flows) > 1


def with_flow_cca(mix: str, index: int, cca: str) -> str:
    """Returns a mix with another congestion control for one flow; empty without one for that flow."""
    if not has_several_flows(mix):
        return ""
    flows, middleboxes = parse_mix(mix)
    if index >= len(flows):
        return ""
    texts = [cca if each == index else flow.text for each, flow in enumerate(flows)]
    return "+".join(texts) + (f"@{middleboxes}" if middleboxes else "")


def ranked_mixes(mixes: Iterable[str]) -> list[str]:
    """Returns the mixes that rank: those of one flow, or else those with the same CCA in all flows.

    Between flows with different congestion controls, shares are the result.
    """
    names = list(mixes)
    single = [mix for mix in names if not has_several_flows(mix)]
    alike = [mix for mix in names if cca_of_all_flows(mix)]
    return single or (alike if len(alike) > 1 else [])


def cca_of_all_flows(mix: str) -> str:
    """Returns the congestion control that all flows of a mix have; empty if they differ."""
    if not has_several_flows(mix):
        return mix
    flows, middleboxes = parse_mix(mix)
    texts = {flow.text for flow in flows}
    return "@".join(filter(None, (*texts, middleboxes))) if len(texts) == 1 else ""


def parse_mix(text: str) -> CcaMix:
    """Returns the parts of a mix, such as `cubic:beta=0.8,hystart=off+bbr@es`."""
    flows, middleboxes = lineup_parts(text)
    ccas = tuple(FlowCca(name, dict(settings), flow) for flow, name, settings in flows)
    return CcaMix(ccas, middleboxes or "")


def parse_flow_cca(text: str) -> FlowCca:
    """Returns name and parameters of the congestion control of one flow."""
    return parse_mix(text).flows[0]


def labels(ccas: Iterable[str]) -> dict[str, str]:
    """Returns a label for each congestion control or mix.

    The label of `auto:policy=rules,requirement=delay` is `auto rules delay`; a file is named without
    folder and ending, and `bbr x5` stands for `bbr+bbr+bbr+bbr+bbr`. Mixes with the same label keep
    their full text.
    """
    label_of = {cca: _mix_label(cca) for cca in ccas}
    uses = Counter(label_of.values())
    return {cca: label if uses[label] == 1 else cca for cca, label in label_of.items()}


def count_text(number: int, word: str) -> str:
    """Returns a count with its noun, as `1 run` or `2 runs`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def join_names(names: Sequence[str], max_names: int) -> str:
    """Returns names with commas; of more than `max_names` the first ones, and the number of others."""
    if len(names) <= max_names:
        return ", ".join(names)
    return f"{', '.join(names[:max_names])} and {count_text(len(names) - max_names, 'other')}"


def _mix_label(text: str) -> str:
    mix = parse_mix(text)
    middleboxes = f"@{mix.middleboxes}" if mix.middleboxes else ""
    groups = [(label, len([*group])) for label, group in itertools.groupby(map(_flow_label, mix.flows))]
    texts = [
        f"{label} x{count}" if count >= _MIN_REPEATS else "+".join([label] * count)
        for label, count in groups
    ]
    return "+".join(texts) + middleboxes


def _flow_label(cca: FlowCca) -> str:
    if not cca.is_selector:
        return cca.text
    parameters = {**_DEFAULTS, **cca.parameters}
    policy = PurePath(parameters["policy"]).stem
    words = [cca.name, policy]
    if policy == "fixed":
        words.append(parameters["cca"])
    if policy != "fixed" or "requirement" in cca.parameters:
        words.append(parameters["requirement"])
    if parameters["hints"] == "on":
        words.append("hints")
    if "flow_size" in cca.parameters:
        words.append(parameters["flow_size"])
    if "prefer" in cca.parameters:
        words.append(f"prefer {parameters['prefer']}")
    if "memory" in cca.parameters:
        words.append(f"memory {PurePath(parameters['memory']).stem}")
    return " ".join(words)
