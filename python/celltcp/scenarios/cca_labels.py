"""Labels: short names of selectors in tables, legends and messages. Data keep the full text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from celltcp._core import auto_parameters
from celltcp.scenarios.cca_mix import FlowCca, parse_mix

#: Parameters of `auto` unless given.
_DEFAULTS = {name: default for name, _, default in auto_parameters()}


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
