"""How plots look: one colour and one marker per congestion control, everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
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
_SPARE_COLOURS = ("#CC79A7", "#E69F00", "#56B4E9", "#000000")
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


def colour(cca: str) -> str:
    """The colour of a congestion control."""
    return COLOURS.get(cca) or _SPARE_COLOURS[sum(cca.encode()) % len(_SPARE_COLOURS)]


def short(lineup: str) -> str:
    """What legends call a congestion control: a selected one by its policy and what that is for."""
    return "+".join(_short(cca) for cca in lineup.split("+"))


def _short(cca: str) -> str:
    name, _, words = cca.partition(":")
    if name != "auto":
        return cca
    settings = dict(word.split("=", 1) for word in words.split(",") if word)
    named = [settings.pop(key) for key in ("policy", "requirement", "cca") if key in settings]
    rest = [f"{key}={value}" for key, value in settings.items()]
    return " ".join([name, *named, *rest])


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
