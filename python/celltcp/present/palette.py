"""Palette: a colour, a line style and a marker for each congestion control, the same in all pictures.

The hue stands for the family, lightness and line style for its members. The hues are those of Okabe and
Ito, which colour-blind readers can tell apart; markers and line styles distinguish what shades do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from colorsys import hsv_to_rgb
from itertools import count
from typing import Any

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

_MARKERS = ("o", "^", "v", "s", "P", "D", "X", "*")
_LINES: tuple[Any, ...] = (
    *("-", "--", ":", "-."),
    *((0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (4, 1, 1, 1, 1, 1))),
)
_PLACES = {cca: place for family in _FAMILIES for place, cca in enumerate(family)}

#: Colours of CCAs that have none of their own: Tol's muted scheme without the colours of families.
_SPARE_COLOURS = ("#AA4499", "#332288", "#882255", "#999933", "#CC6677", "#777777", "#661100")
#: Distance of further hues: the golden ratio leaves them far apart.
_GOLDEN = 0.618


def colours(ccas: Iterable[str]) -> dict[str, str]:
    """Returns a colour for each congestion control or line-up of a picture, no two alike.

    Each has the colour of `colour` unless one before it has that.
    """
    result: dict[str, str] = {}
    for cca in dict.fromkeys(ccas):
        own = COLOURS.get(cca)
        taken = {*result.values(), *COLOURS.values()}
        result[cca] = own or next(each for each in _spare(cca) if each not in taken)
    return result


def colour(cca: str) -> str:
    """Returns the colour of a congestion control that is alone in a picture."""
    return colours([cca])[cca]


def marker(cca: str) -> str:
    """Returns the marker of a congestion control."""
    return _MARKERS[_place(cca)]


def line(cca: str) -> Any:
    """Returns the line style of a congestion control."""
    return _LINES[_place(cca)]


def _place(cca: str) -> int:
    """Returns the place of a congestion control in its family; others have one by their text."""
    place = _PLACES.get(cca)
    return sum(cca.encode()) % len(_MARKERS) if place is None else place


def _spare(cca: str) -> Iterator[str]:
    """Returns colours for one that has none of its own, in its own order."""
    own = COLOURS.get(parse_mix(cca).single or "")
    if own:
        # One with other parameters is near to that with the usual ones.
        for share in (0.45, 0.25, 0.6):
            red, green, blue = (1 - (1 - part) * (1 - share) for part in to_rgb(own))
            yield to_hex((red, green, blue))
    first = sum(cca.encode()) % len(_SPARE_COLOURS)
    yield from _SPARE_COLOURS[first:] + _SPARE_COLOURS[:first]
    for number in count():
        yield to_hex(hsv_to_rgb(number * _GOLDEN % 1, 0.6, 0.8))
