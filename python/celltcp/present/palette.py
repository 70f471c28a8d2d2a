"""Palette: a colour, a line style and a marker for each congestion control, the same in all pictures.

The hue stands for the family, lightness and line style for its members. The hues are those of Okabe and
Ito, which colour-blind readers can tell apart. In a picture no two of up to twelve have the same marker
or line style, so that they differ in grey print, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from colorsys import hsv_to_rgb
from itertools import count, islice
from typing import Any, TypeVar

from matplotlib.colors import to_hex, to_rgb

from celltcp.scenarios.cca_mix import parse_mix

#: Colours by family: blue for loss, green for delay, yellow for both, red for models, and others.
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
#: Number of styles among which a congestion control without a family gets one.
_OWN_STYLES = 8
_Style = TypeVar("_Style")
#: Index of each congestion control in its family, which is that of its marker and line style.
_INDICES = {cca: index for family in _FAMILIES for index, cca in enumerate(family)}

#: Colours of CCAs without a family: Tol's muted scheme without the colours of families.
_SPARE_COLOURS = ("#AA4499", "#332288", "#882255", "#999933", "#CC6677", "#777777", "#661100")
#: Number of colours that are examined, and minimum difference of two in red, green or blue.
_CANDIDATES, _MIN_DIFFERENCE = 30, 0.3
#: Distance of further hues: the golden ratio keeps them apart.
_GOLDEN_RATIO = 0.618


def colours(ccas: Iterable[str]) -> dict[str, str]:
    """Returns a colour for each congestion control or line-up of a picture, no two alike.

    Each has the colour that it would have alone, unless another one has that or a similar one.
    """
    names = list(dict.fromkeys(ccas))
    result = {cca: COLOURS[cca] for cca in names if cca in COLOURS}
    for cca in names:
        if cca not in result:
            result[cca] = _free_colour(cca, result.values())
    return {cca: result[cca] for cca in names}


def _free_colour(cca: str, used: Collection[str]) -> str:
    """Returns a colour for a CCA without one: far from those in use, if possible."""
    taken = {*used, *COLOURS.values()}
    free = [each for each in islice(_spare_colours(cca), _CANDIDATES + len(taken)) if each not in taken]
    return next((each for each in free if all(_is_far(each, other) for other in used)), free[0])


def _is_far(first: str, second: str) -> bool:
    """Returns whether two colours differ much in at least one component."""
    pairs = zip(to_rgb(first), to_rgb(second), strict=True)
    return max(abs(one - other) for one, other in pairs) > _MIN_DIFFERENCE


def colour(cca: str) -> str:
    """Returns the colour of a congestion control that is alone in a picture."""
    return colours([cca])[cca]


def markers(ccas: Iterable[str]) -> dict[str, str]:
    """Returns a marker for each congestion control or line-up of a picture, no two of twelve alike."""
    return _distinct(ccas, _MARKERS)


def lines(ccas: Iterable[str]) -> dict[str, Any]:
    """Returns a line style for each congestion control of a picture, no two of twelve alike.

    A single one has a solid line.
    """
    unique = list(dict.fromkeys(ccas))
    return _distinct(unique, _LINES) if len(unique) > 1 else dict.fromkeys(unique, "-")


def _distinct(ccas: Iterable[str], styles: Sequence[_Style]) -> dict[str, _Style]:
    """Returns a style for each: its own unless that is in use, else one of the least used."""
    unique = list(dict.fromkeys(ccas))
    indices: dict[str, int] = {}
    for cca in unique:
        # A CCA without a family has an own style by its text.
        own = _INDICES.get(cca, sum(cca.encode()) % _OWN_STYLES)
        if own not in indices.values():
            indices[cca] = own
    counts = Counter(indices.values())
    for cca in unique:
        if cca not in indices:
            indices[cca] = min(range(len(styles)), key=lambda index: (counts[index], index))
            counts[indices[cca]] += 1
    return {cca: styles[indices[cca]] for cca in unique}


def _spare_colours(cca: str) -> Iterator[str]:
    """Yields colours for a CCA that has none, in an order of its own."""
    own = COLOURS.get(parse_mix(cca).single_cca or "")
    if own:
        # A variant of a CCA gets a similar colour, if that is free.
        red, green, blue = (1 - (1 - part) * 0.55 for part in to_rgb(own))
        yield to_hex((red, green, blue))
    first = sum(cca.encode()) % len(_SPARE_COLOURS)
    yield from _SPARE_COLOURS[first:] + _SPARE_COLOURS[:first]
    for number in count():
        yield to_hex(hsv_to_rgb(number * _GOLDEN_RATIO % 1, 0.6, 0.8))
