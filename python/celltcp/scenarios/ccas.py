"""Catalogue of congestion controls, and the lists of them that users write."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Annotated, Any, TypedDict

from celltcp._core import (
    CelltcpError,
    describe_cca,
    lineups,
    middlebox_kinds,
    mixes_with_middleboxes,
    native_ccas,
)
from celltcp.scenarios.cca_mix import has_several_flows, parse_mix

#: Word in lists of CCAs for the mix that the scenario itself has.
OWN_MIX = "own"

#: Word for no middlebox in lists of middleboxes.
NONE = "none"

#: Allowed words in lists of middleboxes: `"none"` and all kinds.
MIDDLEBOXES = (NONE, *middlebox_kinds())

#: Congestion controls that are compared by default, and the word for them beside that of the scenario.
DEFAULT_CCAS = ("cubic", "bbr", "reno")
DEFAULT_LIST = "default"
#: Hint for a parameter that the given CCA lacks, appended to the name of a CCA that has it. Textbooks
#: give Reno a threshold.
_HINTS = {"initial_ssthresh": " (bic:initial_ssthresh=N,low_window=100000 grows as reno does)"}

#: Default of Linux; comparisons are relative to it.
DEFAULT_CCA = "cubic"

#: Source of each CCA that a user has added, or digest of its library, by its name.
_SOURCES: dict[str, str] = {}
#: Parameter of a middlebox after a second colon.
_TWO_COLONS = re.compile(r"[^@,:]+:[^@,:]*:[^@,]*")


class CcaParameter(TypedDict):
    """A parameter of a congestion control."""

    name: str
    default: str
    allowed: str
    unit: str
    meaning: str
    source: str


class CcaEntry(TypedDict):
    """Entry of the catalogue: description and parameters of a congestion control."""

    name: str
    title: str
    aliases: list[str]
    family: str
    reference: str
    year: int
    linux: bool
    parameters: list[CcaParameter]


#: All congestion controls.
Catalogue = Annotated[list[CcaEntry], "The catalogue."]


class AutoParameter(TypedDict):
    """A parameter of `auto`."""

    name: str
    meaning: str
    default: str


class AutoEntry(TypedDict):
    """Description of `auto`, which selects congestion controls."""

    name: str
    policies: list[str]
    parameters: list[AutoParameter]


def catalogue() -> Catalogue:
    """All congestion controls, family by family."""
    return [describe_cca(name) for name in native_ccas()]


def select_ccas(
    ccas: str | Iterable[str], available: Sequence[str], own: str | None = None
) -> list[str]:
    """Returns the congestion controls and mixes that a list names, each once.

    Args:
        ccas: a list, or a text with commas. An item is a name with parameters (`"cubic:hystart=off"`),
            or a mix (`"cubic+bbr"`). `"all"` stands for each of `available` in turn, also in a mix:
            `"cubic+all"` pairs CUBIC with each, `"all+all"` each with itself. The text `"default"`
            alone stands for `default_ccas`.
        available: the congestion controls that `"all"` stands for.
        own: the mix that `"own"` stands for, that of the scenario.

    Raises:
        CelltcpError: if a name or a parameter is unknown, a value is not allowed, or nothing is named.
    """
    names = [ccas] if isinstance(ccas, str) else list(ccas)
    for name in names:
        if not isinstance(name, str):
            raise CelltcpError(
                f"cca: {name!r} is of type {type(name).__name__}; allowed: names of congestion controls"
            )
    text = ",".join(names)
    if text == DEFAULT_LIST:
        text = ",".join(default_ccas(own))
    try:
        mixes = lineups(text, list(available), own)
    except CelltcpError as error:
        if owners := _owners_of_parameter(str(error)):
            raise CelltcpError(f"{error}; it is one of {' and '.join(owners)}") from None
        raise
    if not mixes:
        raise CelltcpError("cca: give one congestion control at least")
    return mixes


def default_ccas(own: str | None) -> list[str]:
    """Returns the default congestion controls with that of the first flow of a scenario among them.

    It takes the place of the one with its name, such as `cubic:hystart=off` that of `cubic`, or leads.

    Args:
        own: the mix of the scenario; None without a scenario.
    """
    if own is None:
        return [*DEFAULT_CCAS]
    first = parse_mix(own).flows[0]
    if first.name in DEFAULT_CCAS:
        return [first.text if name == first.name else name for name in DEFAULT_CCAS]
    return [first.text, *DEFAULT_CCAS]


def usual_cca(ccas: Sequence[str], scenario: Mapping[str, Any]) -> str:
    """Returns the congestion control in use before any change: that of the scenario's first flow.

    It is the default, or the first one, where that is not among them.

    Args:
        ccas: congestion controls or mixes that are compared.
        scenario: the scenario, parsed from its file.
    """
    flows = scenario.get("flows") or [{}]
    own = flows[0].get("cca", DEFAULT_CCA)
    own = {"name": own} if isinstance(own, str) else own
    alike = []
    for text in ccas:
        mix = parse_mix(text)
        first = mix.flows[0]
        if first.name == own["name"] and not has_several_flows(text):
            is_other = len(first.parameters) != len(own) - 1
            alike.append((is_other, mix.middleboxes not in ("", "none"), text))
    exact = [text for is_other, _, text in sorted(alike, key=itemgetter(0, 1)) if not is_other]
    return next(iter([*exact, *(each for each in ccas if each == DEFAULT_CCA)]), ccas[0])


def _owners_of_parameter(error: str) -> list[str]:
    """Returns the CCAs that have the parameter of this error; none if the error suggests a spelling."""
    match = re.search(r'has no parameters?(?:, but)? "(\w+)"', error)
    if match is None or "did you mean" in error:
        return []
    return [
        f"{entry['name']}{_HINTS.get(match[1], '')}"
        for entry in catalogue()
        if any(parameter["name"] == match[1] for parameter in entry["parameters"])
    ]


def default_parameters(name: str) -> dict[str, str]:
    """Returns the defaults of the parameters of a congestion control; none if the user wrote it."""
    try:
        parameters = describe_cca(name)["parameters"]
    except CelltcpError:
        return {}
    return {str(parameter["name"]): str(parameter["default"]).lower() for parameter in parameters}


def family_of(name: str) -> str:
    """Returns the family of a congestion control, such as `delay`; empty if the user wrote it."""
    try:
        family = str(describe_cca(name)["family"])
    except CelltcpError:
        return ""
    return "" if family == "user" else family


def with_middleboxes(ccas: Sequence[str], middleboxes: str | Iterable[str]) -> list[str]:
    """Returns each congestion control with each middlebox; the same list without middleboxes.

    Args:
        ccas: congestion controls or mixes.
        middleboxes: a list, or a text with commas. An item is a kind with parameters
            (`"es:reserve=4"`), a chain (`"split:at=node-1@es"`), or `"none"`.

    Raises:
        CelltcpError: if a middlebox is unknown, or a congestion control has one already.
    """
    text = middleboxes if isinstance(middleboxes, str) else ",".join(middleboxes)
    if match := _TWO_COLONS.search(text):
        raise CelltcpError(
            f"middlebox: {match[0]!r} has two colons; allowed: parameters after the first one, with "
            "commas between them, such as split:at=node-1,buffer=8MB"
        )
    return mixes_with_middleboxes(list(ccas), text)


def middlebox_of(mix: str, scenario_middleboxes: Sequence[str] = ()) -> str:
    """Returns the middleboxes of a mix, joined by at signs, or `"none"`.

    Without middleboxes of its own, a mix has those of the scenario.
    """
    return parse_mix(mix).middleboxes or "@".join(scenario_middleboxes) or NONE


def register_sources(sources: Mapping[str, str]) -> None:
    """Stores the sources of a user's CCAs by name; a changed source changes the cache key of runs."""
    _SOURCES.update(sources)


def source_digests(ccas: Iterable[str]) -> str:
    """Returns a dash and one digest of the sources of user-defined CCAs; empty without any."""
    texts = [_SOURCES[name] for name in sorted(set(ccas)) if name in _SOURCES]
    return f"-{hashlib.sha256(''.join(texts).encode()).hexdigest()[:16]}" if texts else ""
