"""Palette: a colour, a line style and a marker for each congestion control, the same in all pictures.

The hue stands for the family, lightness and line style for its members. The hues are those of Okabe and
Ito, which colour-blind readers can tell apart. In a picture no two have the same marker or line style:
they differ in grey print, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from colorsys import hsv_to_rgb
from itertools import count, islice
from typing import Any, TypeVar

from matplotlib.colors import to_hex, to_rgb

from celltcp.scenarios.cca_mix import parse_mix

#: Members of the families: blue for loss, green for delay, yellow for both, red for models.
_FAMILIES: tuple[dict[str, str], ...] = (
    {
        "cubic": "#0072B2",
        "reno": "#56B4E9",
        "westwood": "#00305C",
        "bic": "#7A9CC6",
        "highspeed": "#3D5AA8",
        "htcp": "#00A5CF",
        "hybla": "#A9CCE3",
        "scalable": "#5C6BC0",
    },
    {
        "vegas": "#009E73",
        "copa": "#5FD3A5",
        "ledbat": "#004D38",
        "lp": "#7FB77E",
        "nv": "#2E7D32",
        "cdg": "#A5C65B",
    },
    {"illinois": "#E69F00", "veno": "#9C6B00", "yeah": "#F0C75E"},
    {"bbr": "#D55E00", "bbr3": "#7F2A00"},
    {"dctcp": "#CC79A7"},
    {"sprout": "#000000"},
)
COLOURS = {cca: shade for family in _FAMILIES for cca, shade in family.items()}

_MARKERS = ("o", "^", "v", "s", "P", "D", "X", "*", "<", ">", "p", "h")
_LINES: tuple[Any, ...] = (
    *("-", "--", ":", "-."),
    *((0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (4, 1, 1, 1, 1, 1))),
    *((0, (9, 3)), (0, (2, 2)), (0, (9, 2, 2, 2)), (0, (1, 4))),
)
#: Number of colours that belong to one congestion control each.
_OWN_COLOURS = 8
_Look = TypeVar("_Look")
_PLACES = {cca: index for family in _FAMILIES for index, cca in enumerate(family)}

#: Colours of CCAs that have none of their own: Tol's muted scheme without the colours of families.
_SPARE_COLOURS = ("#AA4499", "#332288", "#882255", "#999933", "#CC6677", "#777777", "#661100")
#: Colours that are examined, and the least difference of two in red, green or blue.
_CANDIDATES, _FAR = 30, 0.3
#: Distance of further hues: the golden ratio leaves them far apart.
_GOLDEN = 0.618


def colours(ccas: Iterable[str]) -> dict[str, str]:
    """Returns a colour for each congestion control or line-up of a picture, no two alike.

    Each has the colour of `colour` unless one before it has that.
    """
    result: dict[str, str] = {}
    for cca in dict.fromkeys(ccas):
        own = COLOURS.get(cca)
        result[cca] = own or _free(cca, result.values())
    return result


def _free(cca: str, chosen: Collection[str]) -> str:
    """Returns a colour for a CCA without one: far from those in use, if possible."""
    taken = {*chosen, *COLOURS.values()}
    free = [each for each in islice(_spare(cca), _CANDIDATES + len(taken)) if each not in taken]
    return next((each for each in free if all(_is_far(each, other) for other in chosen)), free[0])


def _is_far(one: str, other: str) -> bool:
    """Returns whether two colours differ much in at least one component."""
    pairs = zip(to_rgb(one), to_rgb(other), strict=True)
    return max(abs(first - second) for first, second in pairs) > _FAR


def colour(cca: str) -> str:
    """Returns the colour of a congestion control that is alone in a picture."""
    return colours([cca])[cca]


def markers(ccas: Iterable[str]) -> dict[str, str]:
    """Returns a marker for each congestion control or line-up of a picture, no two of twelve alike."""
    return _distinct(ccas, _MARKERS)


def lines(ccas: Iterable[str]) -> dict[str, Any]:
    """Returns a line style for each of a picture, no two of twelve alike."""
    return _distinct(ccas, _LINES)


def _distinct(ccas: Iterable[str], looks: Sequence[_Look]) -> dict[str, _Look]:
    """Returns a style for each: its own unless that is in use, else one of the least used."""
    named = list(dict.fromkeys(ccas))
    places: dict[str, int] = {}
    used: Counter[int] = Counter()
    for cca in named:
        own = _place(cca)
        if own not in places.values():
            places[cca] = own
            used[own] += 1
    for cca in named:
        if cca not in places:
            places[cca] = min(range(len(looks)), key=lambda place: (used[place], place))
            used[places[cca]] += 1
    return {cca: looks[places[cca]] for cca in named}


def _place(cca: str) -> int:
    """Returns the index of a congestion control in its family; others get one from their text."""
    place = _PLACES.get(cca)
    return sum(cca.encode()) % _OWN_COLOURS if place is None else place


def _spare(cca: str) -> Iterator[str]:
    """Returns colours for one that has none of its own, in its own order."""
    own = COLOURS.get(parse_mix(cca).single_cca or "")
    if own:
        # The first variant gets a similar colour; that of a second one would be too similar.
        red, green, blue = (1 - (1 - part) * 0.55 for part in to_rgb(own))
        yield to_hex((red, green, blue))
    first = sum(cca.encode()) % len(_SPARE_COLOURS)
    yield from _SPARE_COLOURS[first:] + _SPARE_COLOURS[:first]
    for number in count():
        yield to_hex(hsv_to_rgb(number * _GOLDEN % 1, 0.6, 0.8))
