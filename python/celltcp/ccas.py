"""The catalogue of congestion controls, and lists of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from celltcp._core import CelltcpError, describe_cca, lineups, native_ccas

#: In a list: all that there are.
ALL = "all"

#: In a list: those of the scenario itself.
OWN = "own"


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


def catalogue() -> list[CcaEntry]:
    """All congestion controls, family by family."""
    return [describe_cca(name) for name in native_ccas()]


def chosen(given: str | Iterable[str], there: Sequence[str], own: str = OWN) -> list[str]:
    """Returns the congestion controls that a list names, each once.

    Args:
        given: names with their parameters (`"cubic:hystart=off"`), several flows at a time joined by a
            plus sign (`"cubic+bbr"`), as a list or in one text with commas; `"all"` stands for each of
            `there` in turn, also among several flows (`"cubic+all"`; `"all+all"` is each with itself).
        there: the congestion controls that there are.
        own: what `"own"` stands for, that of the scenario itself.

    Raises:
        CelltcpError: if a name or a parameter is unknown, a value is not allowed, or nothing is named.
    """
    text = given if isinstance(given, str) else ",".join(given)
    text = ",".join(own if piece.strip() == OWN else piece for piece in text.split(","))
    pieces = [each for piece in text.split(",") for each in _meant(piece, there)]
    named = list(dict.fromkeys(lineups(",".join(pieces))))
    if not named:
        raise CelltcpError("cca: give one congestion control at least")
    return named


def through(ccas: Sequence[str], middleboxes: str | Iterable[str]) -> list[str]:
    """Returns each congestion control through each middlebox; unchanged without any.

    Args:
        ccas: congestion controls or line-ups.
        middleboxes: kinds with their parameters (`"es:reserve=4"`), chains joined by an at sign
            (`"split:at=node-1@es"`), or `"none"`, as a list or in one text with commas.

    Raises:
        CelltcpError: if a middlebox is not known, or a congestion control has one already.
    """
    boxes: list[str] = []
    pieces = middleboxes.split(",") if isinstance(middleboxes, str) else list(middleboxes)
    for piece in (each.strip() for each in pieces):
        if boxes and "=" in piece and ":" not in piece.partition("=")[0]:
            boxes[-1] += f",{piece}"
        elif piece:
            boxes.append(piece)
    if not boxes:
        return list(ccas)
    for cca in ccas:
        if "@" in cca:
            raise CelltcpError(
                f"middlebox: {cca!r} names a middlebox already; leave it out there, or --middlebox"
            )
    return list(
        dict.fromkeys(each for box in boxes for cca in ccas for each in lineups(f"{cca}@{box}"))
    )


def middlebox_of(lineup: str, own: Sequence[str] = ()) -> str:
    """Returns the middleboxes of a line-up, joined by at signs, or `"none"`.

    Args:
        lineup: text of a line-up.
        own: middleboxes of the scenario, which a line-up that names none passes.
    """
    _, sign, named = lineup.partition("@")
    return named if sign else "@".join(own) or "none"


def _meant(piece: str, there: Sequence[str]) -> list[str]:
    """The line-ups that a piece with `"all"` in it stands for."""
    lineup, sign, boxes = piece.partition("@")
    flows = [flow.strip() for flow in lineup.split("+")]
    if ALL not in flows:
        return [piece]
    return ["+".join(name if flow == ALL else flow for flow in flows) + sign + boxes for name in there]
