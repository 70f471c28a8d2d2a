"""Panel: one set of axes of a picture of a publication."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from celltcp.present.palette import colours
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.quantities.quantity import TEXTS

#: Height of a row of a legend, as a share of the range of the vertical axis.
_LEGEND_ROW_HEIGHT = 0.12

#: Parameter values that select a Linux kernel.
_KERNEL = re.compile(r"=linux-([0-9.]+)(?=,|$)")


@dataclass(frozen=True)
class Panel:
    """Function that draws one set of axes, and their properties."""

    draw: Callable[[Axes], None]
    #: Projection of matplotlib, such as `"polar"`.
    projection: str | None = None
    #: Height, inches; None for that of the form.
    height: float | None = None


def colors_of(rows: Sequence[Row]) -> dict[str, str]:
    """Returns the colours of the CCAs of some rows."""
    return colours(row.published.cca for row in rows)


def name_of(quantity: str) -> str:
    """Returns the name of a quantity on an axis."""
    return TEXTS.get(quantity, {}).get("name", quantity.replace("_", " "))


def cca_name(cca: str) -> str:
    """Returns the name of a CCA in pictures; a version of Linux replaces parameters that select it."""
    name, _, parameters = cca.partition(":")
    kernels = set(_KERNEL.findall(parameters))
    other_values = _KERNEL.sub("", parameters).strip("abcdefghijklmnopqrstuvwxyz_,")
    is_kernel_version = len(kernels) == 1 and not other_values
    return f"{name} (Linux {kernels.pop()})" if is_kernel_version else cca


def number_text(value: float) -> str:
    """Returns a number with three significant digits; from 1000 on, as a whole number."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def heading(*lines: str) -> str:
    """Returns the title of a panel: its lines that are not empty."""
    return "\n".join(line for line in lines if line)


def axis_of(row: Row) -> str:
    """Returns the label of an axis: the quantity of a row and its unit."""
    name = name_of(row.published.quantity)
    return f"{name}, {row.published.unit}" if row.published.unit else name


def legend_above(axes: Axes) -> None:
    """Adds a legend of two columns above the lines, and extends the axis for it."""
    add_room(axes, len(axes.get_legend_handles_labels()[1]), columns=2)
    axes.legend(fontsize="x-small", loc="upper left", ncols=2, borderpad=0.2, columnspacing=1.0)


def add_room(axes: Axes, entries: int, columns: int) -> None:
    """Extends the vertical axis for a legend with this number of entries and columns."""
    rows = -(-entries // columns)
    low, high = axes.get_ylim()
    axes.set_ylim(top=high + _LEGEND_ROW_HEIGHT * rows * (high - low))


def by_condition(outcome: Outcome) -> list[tuple[str, str, list[Row]]]:
    """Returns condition, quantity and rows, with one row per CCA whatever the part of the run."""
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for row in outcome.rows:
        by_cca = rows.setdefault((row.published.scenario, row.published.quantity), {})
        by_cca.setdefault(row.published.cca, row)
    return [(*key, list(by_cca.values())) for key, by_cca in rows.items()]
