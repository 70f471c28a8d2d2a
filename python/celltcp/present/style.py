"""Style of plots: sizes, fonts, legends, footnotes, and files."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import combinations, cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.textpath import TextPath
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import ArrayLike, NDArray

from celltcp._core import CelltcpError
from celltcp.present.palette import colours, lines, markers
from celltcp.present.picture_files import JPEG_COMMENT, latex_for, picture_ending
from celltcp.results.publishing import listed_file
from celltcp.scenarios.cca_mix import labels

#: Colour of the capacity.
CAPACITY = "#D9D9D9"
#: Maximum number of points of a series; a longer one is drawn as means in a band of minima and maxima.
_MAX_POINTS = 1000
#: Number of intervals in such a band.
_BINS = 300

#: Largest value below which an axis has thousandths of its unit, as rates in sentences.
_MIN_VALUE = 0.1

#: Metadata that leaves out the date, by ending: the same results give the same bytes.
_NO_DATE: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}

_SETTINGS: dict[str, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}
#: Settings for files: text stays text in SVG and TrueType in PDF, to be searched and edited.
_FONTS: dict[Any, Any] = {
    "svg.hashsalt": "celltcp",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}

#: Hatches of bars: strokes, and pairs of them.
_STROKES = ("///", "\\\\\\", "...", "---", "|||", "ooo", "***")
_HATCHES = ("", *_STROKES, *(one + other for one, other in combinations(_STROKES, 2)))

#: Lengths of dashes and gaps of matplotlib's named line styles.
_DASHES: dict[str, tuple[float, ...]] = {
    "-": (),
    "--": (3.7, 1.6),
    ":": (1.0, 1.65),
    "-.": (6.4, 1.6, 1.0, 1.6),
}

#: Maximum number of congestion controls whose intervals are legible in one panel.
MAX_BANDS = 8

#: Size, title and style that `styled` sets.
_REQUESTED: dict[str, Any] = {"size": None, "title": None, "paper": False}

#: Style for publications: no title and no footnote, which are for the caption, and hatches.
PAPER = "paper"
_PAPER: dict[str, Any] = {
    "axes.linewidth": 0.6,
    "axes.titlesize": 8,
    "font.family": "serif",
    "font.size": 8,
    "hatch.linewidth": 0.5,
    "legend.fontsize": 7,
    "lines.linewidth": 1.0,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}
#: Widths of one column and of both columns of a page of IEEE and ACM, inches.
_COLUMN_INCHES, _PAGE_INCHES = 3.5, 7.16
#: Minimum width of a picture that goes across both columns, inches.
_MIN_PAGE_PICTURE_INCHES = 8.0


class Picture(Figure):
    """A figure that shows itself in a notebook, and whose files keep text as text."""

    #: Size that it has without another one that was asked for, inches.
    usual_size: tuple[float, float] | None = None

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """Writes the figure as matplotlib does, but with labels wrapped at the length of their axes."""
        with mpl.rc_context(_FONTS), self.laid_out():
            super().savefig(*args, **kwargs)

    @contextmanager
    def laid_out(self) -> Iterator[None]:
        """Places the axes and wraps their labels once, for all files that are written meanwhile.

        Raises:
            CelltcpError: if the size that was asked for has no room for the axes beside their labels.
        """
        engine = self.get_layout_engine()
        if engine is None:
            yield
            return
        with warnings.catch_warnings():
            if self.usual_size is not None:
                warnings.filterwarnings("error", ".*axes sizes collapsed to zero")
            try:
                # A draw without rendering would take longer than the layout alone.
                engine.execute(self)
                if self._wrap_labels():
                    engine.execute(self)
            except UserWarning as error:
                asked, usual = (
                    "x".join(f"{inches:.3g}" for inches in size)
                    for size in (self.get_size_inches(), self.usual_size or ())
                )
                raise CelltcpError(
                    f"size: {asked} is too small for this picture; without a size it has {usual} inches"
                ) from error
        self.set_layout_engine(None)
        try:
            yield
        finally:
            self.set_layout_engine(engine)

    @contextmanager
    def anchored(self) -> Iterator[None]:
        """Places axes and legends as `laid_out`, also for a page that is larger than the figure."""
        with self.laid_out():
            for legend in self.legends:
                legend.set_bbox_to_anchor((0.0, 0.0, 1.0, 1.0), self.transFigure)
            yield

    def _wrap_labels(self) -> bool:
        """Wraps labels and titles longer than their axes, and returns whether there are any."""
        has_wrapped = False
        for axes in self.axes:
            panel = axes.get_window_extent()
            y_label = axes.yaxis.label
            texts = {axes.get_title(side) for side in ("left", "center", "right")}
            titles = [
                child
                for child in axes.get_children()
                if isinstance(child, Text) and child.get_text() in texts - {""}
            ]
            for label, length, axis_length in (
                *(
                    (text, text.get_window_extent().width, panel.width)
                    for text in (axes.xaxis.label, *titles)
                ),
                (y_label, y_label.get_window_extent().height, panel.height),
            ):
                text = label.get_text()
                # The margins of a panel have room for a little more.
                max_length = 1.15 * axis_length
                if length > max_length and "\n" not in text:
                    has_wrapped = True
                    letters = max(int(len(text) * max_length / length), 8)
                    label.set_text(
                        textwrap.fill(text, letters, break_long_words=False, break_on_hyphens=False)
                    )
        return has_wrapped

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=110)
        return file.getvalue()


@contextmanager
def styled(
    size: str | None = None, style: str | None = None, title: str | None = None
) -> Iterator[None]:
    """Sets size, style and title of the pictures that are drawn meanwhile.

    Args:
        size: width and height in inches, such as `8x5`.
        style: style of matplotlib, or `paper`: the width of a column or of a page, serifs, hatches.
        title: title of the pictures.

    Raises:
        CelltcpError: if size or style are invalid.
    """
    inches = None
    if size is not None:
        parts = size.lower().split("x")
        try:
            width, height = (float(part) for part in parts)
        except ValueError:
            width = height = 0.0
        if not (1 <= width <= 100 and 1 <= height <= 100):
            raise CelltcpError(f"size: invalid {size!r}; allowed: inches from 1 to 100, such as 8x5")
        inches = (width, height)
    is_paper = style == PAPER
    if style is not None and not is_paper:
        from matplotlib import style as styles

        if style not in styles.available and not Path(style).is_file():
            allowed = ", ".join(each for each in styles.available if not each.startswith("_"))
            raise CelltcpError(
                f"style: unknown {style!r}; allowed: a file, or one of {PAPER}, {allowed}"
            )
    before = dict(_REQUESTED)
    _REQUESTED.update(size=inches, title=title, paper=is_paper)
    with mpl.rc_context():
        if style is not None and not is_paper:
            from matplotlib import style as styles

            styles.use(style)
        try:
            yield
        finally:
            _REQUESTED.update(before)


def figure(width: float, height: float) -> Figure:
    """Returns an empty figure of this size in inches, unless `styled` sets another."""
    mpl.rcParams.update(_SETTINGS)  # type: ignore[arg-type]
    size = (width, height)
    if _REQUESTED["paper"]:
        mpl.rcParams.update(_PAPER)  # type: ignore[arg-type]
        # Texts do not shrink with the picture, so that the height shrinks less than the width.
        paper_width = _COLUMN_INCHES if width < _MIN_PAGE_PICTURE_INCHES else _PAGE_INCHES
        size = (paper_width, height * min(1.2 * paper_width / width, 1.0))
    picture = Picture(figsize=_REQUESTED["size"] or size, layout="constrained")
    picture.usual_size = size if _REQUESTED["size"] else None
    if _REQUESTED["title"] is not None:
        picture.suptitle(_REQUESTED["title"])
    return picture


def titled(picture: Figure, title: str) -> None:
    """Sets the title of a picture, unless `styled` sets another."""
    if _REQUESTED["title"] is None and not _REQUESTED["paper"]:
        picture.suptitle(title)


def footnote(picture: Figure, lines: Sequence[str]) -> None:
    """Writes small lines below a picture: its origin, and warnings; not in the style `paper`."""
    if _REQUESTED["paper"]:
        return
    width = int(picture.get_size_inches()[0] * 17)
    text = "\n".join(textwrap.fill(line, width, subsequent_indent="   ") for line in lines)
    picture.supxlabel(text, x=0.01, ha="left", fontsize=7, color="#555555")


def legend_beside(
    picture: Figure,
    ccas: Sequence[str],
    names: Mapping[str, str] | None = None,
    *,
    has_bars: bool = False,
) -> None:
    """Draws one legend for all panels next to them: CCAs, and the capacity if it is drawn.

    Curves of something else, such as values of a field, have their own `names`.
    """
    styles = lines(ccas) if names is None else dict.fromkeys(ccas, "-")
    names = labels(ccas) if names is None else names
    shades, marks = colours(ccas), markers(ccas)
    hatched = hatches(ccas)
    handles: list[Artist] = [
        Patch(
            fc=shades[cca], hatch=hatched[cca], ec="white" if hatched[cca] else None, label=names[cca]
        )
        if has_bars
        else Line2D(
            [], [], color=shades[cca], ls=styles[cca], marker=marks[cca], ms=5, label=names[cca]
        )
        for cca in ccas
    ]
    if any("capacity" in axes.get_legend_handles_labels()[1] for axes in picture.axes):
        handles.append(Patch(color=CAPACITY, label="capacity"))
    if _REQUESTED["paper"]:
        texts = [str(handle.get_label()) for handle in handles]
        size = float(mpl.rcParams["legend.fontsize"])
        columns = _columns(texts, picture.get_size_inches()[0], size)
        picture.legend(handles=handles, loc="outside upper center", ncols=columns)
        return
    picture.legend(handles=handles, loc="outside right upper", fontsize=8, handlelength=3)


def _columns(texts: Sequence[str], width: float, size: float) -> int:
    """Returns the maximum number of columns of a legend; width in inches, font size in points."""
    lengths = [TextPath((0, 0), text, size=size).get_extents().width for text in texts]
    # A column also has a handle and two gaps.
    look = mpl.rcParams
    beside = look["legend.handlelength"] + look["legend.handletextpad"] + look["legend.columnspacing"]
    for columns in range(len(texts), 1, -1):
        widest = sum(float(part.max()) for part in np.array_split(lengths, columns))
        if widest + size * beside * columns <= 72 * width:
            return columns
    return 1


def hatches(ccas: Iterable[str]) -> dict[str, str]:
    """Returns a hatch for the bars of each CCA; empty unless the style is `paper`."""
    unique = list(dict.fromkeys(ccas))
    if not _REQUESTED["paper"]:
        return dict.fromkeys(unique, "")
    return dict(zip(unique, cycle(_HATCHES), strict=False))


def dashes(ccas: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Returns lengths of dashes and gaps of each CCA's line, in line widths; none for a solid line."""
    return {
        cca: _DASHES[style] if isinstance(style, str) else tuple(map(float, style[1]))
        for cca, style in lines(ccas).items()
    }


#: Share of the width of a figure for panels.
_PANELS_SHARE = 0.85


def legend_outside(
    axes: Axes,
    handles: Sequence[Artist] | None = None,
    rows_between: int = 0,
    panels_per_row: int = 1,
) -> None:
    """Draws the legend of a panel above it, so that it covers no curve.

    Args:
        axes: the panel.
        handles: handles of the legend; those of everything with a label unless given.
        rows_between: number of rows of text between the panel and its legend.
        panels_per_row: number of panels side by side.
    """
    handles = list(handles if handles is not None else axes.get_legend_handles_labels()[0])
    if not handles:
        return
    width = axes.get_figure(root=True).get_size_inches()[0]  # type: ignore[union-attr]
    size = min(float(mpl.rcParams["font.size"]), 8.0)
    texts = [str(handle.get_label()) for handle in handles]
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2 + 1.2 * rows_between,
        borderpad=0.1,
        fontsize=size,
        ncols=_columns(texts, _PANELS_SHARE * width / panels_per_row, size),
    )


def draw_series(axes: Axes, times: ArrayLike, values: ArrayLike, **style: Any) -> None:
    """Draws values over time; a long series as means in a band of minima and maxima.

    NaN makes a gap, and a value between two gaps is a dot. A long series is joined by straight lines,
    whatever its `drawstyle`.
    """
    t, y = np.asarray(times, float), np.asarray(values, float)
    if len(t) <= _MAX_POINTS:
        _draw_line(axes, t, y, style)
        return
    edges = np.linspace(t[0], t[-1], _BINS + 1)
    starts = np.searchsorted(t, edges[:-1])
    known = ~np.isnan(y)
    is_filled = len(y) > starts
    starts = starts[is_filled]
    low = np.fmin.reduceat(np.where(known, y, np.inf), starts)
    high = np.fmax.reduceat(np.where(known, y, -np.inf), starts)
    counts = np.add.reduceat(known.astype(float), starts)
    sums = np.add.reduceat(np.where(known, y, 0.0), starts)
    middles = ((edges[:-1] + edges[1:]) / 2)[is_filled]
    mean, low, high = (
        np.where(counts > 0, values, np.nan) for values in (sums / np.maximum(counts, 1), low, high)
    )
    _draw_line(axes, middles, mean, {**style, "drawstyle": "default"})
    axes.fill_between(middles, low, high, color=style.get("color"), alpha=0.18, lw=0)


def _draw_line(
    axes: Axes, t: NDArray[np.float64], y: NDArray[np.float64], style: dict[str, Any]
) -> None:
    """Draws a line, and dots for values between two gaps."""
    axes.plot(t, y, **style)
    known = np.concatenate([[False], ~np.isnan(y), [False]])
    is_single = known[1:-1] & ~known[:-2] & ~known[2:]
    if is_single.any() and len(y) > 1:
        axes.plot(t[is_single], y[is_single], ".", ms=2, color=style.get("color"))


def make_logarithmic(axes: Axes, low: float, high: float, steps: Sequence[int]) -> None:
    """Makes the horizontal axis logarithmic, with numbers at its ticks.

    Args:
        axes: axes of the picture.
        low: lower limit, above zero; the limit of a linear axis may be below zero.
        high: upper limit.
        steps: multiples of powers of ten that have a tick.
    """
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def suit_unit(axis: Axis, largest: float, unit: str, smaller: str) -> str:
    """Shows the values of an axis that are far below 1 in thousandths, and returns their unit.

    Args:
        axis: axis of the picture.
        largest: largest value.
        unit: unit of the values.
        smaller: unit of a thousandth of it.
    """
    if not 0 < largest < _MIN_VALUE:
        return unit
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{1e3 * value:g}"))
    return smaller


def shade_capacity(axes: Axes, times: ArrayLike, capacity: ArrayLike) -> None:
    """Fills the area below the capacity."""
    t, y = np.asarray(times, float), np.asarray(capacity, float)
    if len(t) > _MAX_POINTS:
        step = -(-len(t) // _MAX_POINTS)
        whole = len(t) // step * step
        t, y = t[:whole:step], y[:whole].reshape(-1, step).mean(axis=1)
    axes.fill_between(t, y, step="post", color=CAPACITY, lw=0, label="capacity")


def save_all(picture: Figure, files: Sequence[Path]) -> list[Path]:
    """Writes a picture to several files as `save` does, with a single layout."""
    layout = picture.laid_out() if isinstance(picture, Picture) else nullcontext()
    with mpl.rc_context(_FONTS), layout:
        return [save(picture, file) for file in files]


def save(picture: Figure, file: Path) -> Path:
    """Writes a picture, complete or not at all; its ending decides the format.

    Raises:
        CelltcpError: if the ending is not that of a picture.
    """
    form = picture_ending(file)[1:]
    if form == "pgf":
        mpl.rcParams["pgf.texsystem"] = latex_for(file)
    with listed_file(file) as partial:
        if form == "pgf":
            picture.savefig(partial, dpi=160, format=form)
        elif form == "jpg":
            picture.savefig(partial, dpi=160, format=form, pil_kwargs={"comment": JPEG_COMMENT})
        else:
            # The default title of EPS would be the name of the file.
            with partial.open("wb") as stream:
                picture.savefig(stream, dpi=160, format=form, metadata=_NO_DATE.get(form, {}))
    return file
