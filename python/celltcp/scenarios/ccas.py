"""The catalogue of congestion controls, and lists of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, TypedDict

from celltcp._core import (
    CelltcpError,
    describe_cca,
    lineups,
    middlebox_kinds,
    mixes_with_middleboxes,
    native_ccas,
)
from celltcp.scenarios.cca_mix import parse_mix

#: Word for the scenario's own line-up in lists of CCAs.
OWN = "own"

#: Word for no middlebox in lists of middleboxes.
NONE = "none"

#: Allowed words in lists of middleboxes: all kinds, and none.
MIDDLEBOXES = (NONE, *middlebox_kinds())

#: Congestion controls that are compared by default.
DEFAULT_CCAS = ("cubic", "bbr", "reno")
#: Alternative to a CCA that lacks a parameter, after the name of the one that has it. Textbooks give
#: Reno a threshold.
_INSTEAD = {"initial_ssthresh": " (bic:initial_ssthresh=N,low_window=100000 grows as reno does)"}

#: Default of Linux, the reference of comparisons.
DEFAULT_CCA = "cubic"

#: Source of each CCA that a user has added, or digest of its library, by its name.
_SOURCES: dict[str, str] = {}


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
    given: str | Iterable[str], available: Sequence[str], own: str | None = None
) -> list[str]:
    """Returns the congestion controls that a list names, each once.

    Args:
        given: names with their parameters (`"cubic:hystart=off"`), several flows at a time joined by a
            plus sign (`"cubic+bbr"`), as a list or in one text with commas; `"all"` stands for each of
            `available` in turn, also among several flows (`"cubic+all"`; `"all+all"` is each with
            itself).
        available: the congestion controls that `"all"` stands for.
        own: the line-up that `"own"` stands for, that of the scenario itself.

    Raises:
        CelltcpError: if a name or a parameter is unknown, a value is not allowed, or nothing is named.
    """
    text = given if isinstance(given, str) else ",".join(given)
    try:
        named = lineups(text, list(available), own)
    except CelltcpError as error:
        if owners := _owners_in(str(error)):
            raise CelltcpError(f"{error}; it is one of {' and '.join(owners)}") from None
        raise
    if not named:
        raise CelltcpError("cca: give one congestion control at least")
    return named


def _owners_in(error: str) -> list[str]:
    """Returns the CCAs that have the parameter that another one lacks; none if its name is near."""
    match = re.search(r'has no parameters?(?:, but)? "(\w+)"', error)
    if match is None or "did you mean" in error:
        return []
    return [
        f"{entry['name']}{_INSTEAD.get(match[1], '')}"
        for entry in catalogue()
        if any(parameter["name"] == match[1] for parameter in entry["parameters"])
    ]


def with_middleboxes(ccas: Sequence[str], middleboxes: str | Iterable[str]) -> list[str]:
    """Returns each congestion control through each middlebox; unchanged without any.

    Args:
        ccas: congestion controls or line-ups.
        middleboxes: kinds with their parameters (`"es:reserve=4"`), chains joined by an at sign
            (`"split:at=node-1@es"`), or `"none"`, as a list or in one text with commas.

    Raises:
        CelltcpError: if a middlebox is not known, or a congestion control has one already.
    """
    text = middleboxes if isinstance(middleboxes, str) else ",".join(middleboxes)
    return mixes_with_middleboxes(list(ccas), text)


def middlebox_of(lineup: str, own: Sequence[str] = ()) -> str:
    """Returns the middleboxes of a line-up, joined by at signs, or `"none"`.

    Args:
        lineup: text of a line-up.
        own: middleboxes of the scenario, which a line-up that names none passes.
    """
    return parse_mix(lineup).middleboxes or "@".join(own) or NONE


def note_sources(sources: Mapping[str, str]) -> None:
    """Registers the sources of a user's CCAs by name; runs with another source have another key."""
    _SOURCES.update(sources)


def source_digests(ccas: Iterable[str]) -> str:
    """Returns a digest of the sources of those that a user has added, after a dash; "" without any."""
    texts = [_SOURCES[name] for name in sorted(set(ccas)) if name in _SOURCES]
    return f"-{hashlib.sha256(''.join(texts).encode()).hexdigest()[:16]}" if texts else ""
