"""Style of plots: one colour and one marker per congestion control, in all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from colorsys import hsv_to_rgb
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

#: Okabe and Ito's palette, which colour-blind readers can tell apart.
COLOURS = {
    "cubic": "#0072B2",
    "bbr": "#D55E00",
    "reno": "#009E73",
    "westwood": "#CC79A7",
    "illinois": "#E69F00",
}
MARKERS = {"cubic": "o", "bbr": "s", "reno": "^", "westwood": "v", "illinois": "P"}
#: Of those without a colour of their own: two of that palette, then of Tol's muted one.
_SPARE_COLOURS = (
    "#56B4E9",
    "#000000",
    "#332288",
    "#44AA99",
    "#117733",
    "#999933",
    "#DDCC77",
    "#CC6677",
    "#882255",
    "#AA4499",
)
#: Distance of further hues: the golden ratio leaves them far apart.
_GOLDEN = 0.618
CAPACITY = "#D9D9D9"

_SETTINGS: dict[str, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "svg.hashsalt": "celltcp",
}


def figure(width: float, height: float) -> Figure:
    """An empty figure of that size in inches."""
    mpl.rcParams.update(_SETTINGS)  # type: ignore[arg-type]
    return Figure(figsize=(width, height), layout="constrained")


def footnote(picture: Figure, lines: Sequence[str]) -> None:
    """Writes small lines below a picture: what ran, and what to know before it is believed."""
    width = int(picture.get_size_inches()[0] * 17)
    text = "\n".join(textwrap.fill(line, width, subsequent_indent="   ") for line in lines)
    picture.supxlabel(text, x=0.01, ha="left", fontsize=7, color="#555555")


def colours(ccas: Iterable[str]) -> dict[str, str]:
    """A colour for each congestion control or line-up of a picture, no two alike.

    Each has the colour of `colour` unless one before it has that.
    """
    found: dict[str, str] = {}
    for cca in dict.fromkeys(ccas):
        own = COLOURS.get(cca)
        found[cca] = own or next(each for each in _spare(cca) if each not in found.values())
    return found


def _spare(cca: str) -> Iterator[str]:
    """Colours for one that has none of its own, in its own order."""
    first = sum(cca.encode()) % len(_SPARE_COLOURS)
    yield from _SPARE_COLOURS[first:] + _SPARE_COLOURS[:first]
    for number in count():
        yield to_hex(hsv_to_rgb(number * _GOLDEN % 1, 0.6, 0.8))


def colour(cca: str) -> str:
    """The colour of a congestion control that is alone in a picture."""
    return colours([cca])[cca]


def marker(cca: str) -> str:
    """The marker of a congestion control."""
    return MARKERS.get(cca, "D")


def shade_capacity(axes: Axes, times: ArrayLike, capacity: ArrayLike) -> None:
    """Fills the area below the capacity."""
    axes.fill_between(times, capacity, step="post", color=CAPACITY, lw=0, label="capacity")


def save(picture: Figure, file: Path) -> Path:
    """Writes a picture, whole or not at all; its ending decides the format."""
    partial = file.with_name(f".{file.name}.partial{file.suffix}")
    picture.savefig(partial, dpi=160)
    partial.replace(file)
    return file
