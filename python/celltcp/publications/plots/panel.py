"""Panel: one set of axes of a picture of a publication."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from celltcp.present.palette import colours
from celltcp.publications.agreement import Outcome, Row
from celltcp.publications.quantities.quantity import TEXTS

#: Height of a row of a legend, relative to the range of the lines.
_ROW = 0.12

#: Parameter values that select a Linux kernel.
_KERNEL = re.compile(r"=linux-([0-9.]+)(?=,|$)")


@dataclass(frozen=True)
class Panel:
    """Drawing function of one set of axes, and their projection."""

    draw: Callable[[Axes], None]
    projection: str | None = None
    #: Height in inches; None for that of the form.
    height: float | None = None


def colors_of(rows: Sequence[Row]) -> dict[str, str]:
    """Returns the colours of the CCAs of some rows."""
    return colours(row.published.cca for row in rows)


def name_of(quantity: str) -> str:
    """Returns the name of a quantity on an axis."""
    return TEXTS.get(quantity, {}).get("name", quantity.replace("_", " "))


def cca_name(cca: str) -> str:
    """Returns the name of a CCA in pictures: that of a kernel of Linux in place of its parameters."""
    name, _, parameters = cca.partition(":")
    kernels = set(_KERNEL.findall(parameters))
    all_told = len(kernels) == 1 and not _KERNEL.sub("", parameters).strip(
        "abcdefghijklmnopqrstuvwxyz_,"
    )
    return f"{name} (Linux {kernels.pop()})" if all_told else cca


def number_text(value: float) -> str:
    """Returns a number with three digits, or all before the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def heading(*lines: str) -> str:
    """Returns the title of a panel: its lines that are not empty."""
    return "\n".join(line for line in lines if line)


def axis_of(row: Row) -> str:
    """Returns the label of an axis: the quantity of a row and its unit."""
    name = name_of(row.published.quantity)
    return f"{name}, {row.published.unit}" if row.published.unit else name


def legend_above(axes: Axes) -> None:
    """Adds a legend of two columns above the lines, with the room that it takes."""
    add_room(axes, len(axes.get_legend_handles_labels()[1]), columns=2)
    axes.legend(fontsize="x-small", loc="upper left", ncols=2, borderpad=0.2, columnspacing=1.0)


def add_room(axes: Axes, entries: int, columns: int) -> None:
    """Adds room above the lines for a legend with this number of entries."""
    rows = -(-entries // columns)
    low, high = axes.get_ylim()
    axes.set_ylim(top=high + _ROW * rows * (high - low))


def by_scenario(outcome: Outcome) -> list[tuple[str, str, list[Row]]]:
    """Returns the rows of each place and quantity once per CCA, whatever the part of the way."""
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for row in outcome.rows:
        rows.setdefault((row.published.scenario, row.published.quantity), {}).setdefault(
            row.published.cca, row
        )
    return [
        (scenario, quantity, list(by_cca.values())) for (scenario, quantity), by_cca in rows.items()
    ]
