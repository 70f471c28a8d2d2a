"""Split choices: gain and added delay of splits with each pair of CCAs, by condition."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from celltcp.present.palette import colours, markers
from celltcp.publications.agreement import Outcome
from celltcp.publications.plots.panel import Panel
from celltcp.publications.split_choice import MIN_GAIN_PERCENT, Choice, choices

#: Gains with a label on the axis, %.
_TICKS = (-100, -50, -20, -10, 0, 10, 20, 50, 100, 200, 500, 1000)


def choice_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel with the gains and one with the delays."""
    all_choices = choices(outcome)
    return [Panel(functools.partial(_draw, all_choices, quantity)) for quantity in ("gain", "delay")]


def _draw(choices: Sequence[Choice], quantity: str, axes: Axes) -> None:
    names = sorted({option.cca for choice in choices for option in choice.options})
    shades, marks = colours(names), markers(names)
    for index, cca in enumerate(names):
        shift = (index - (len(names) - 1) / 2) * 0.16
        for x, choice in enumerate(choices):
            option = next(option for option in choice.options if option.cca == cca)
            mean = option.gain if quantity == "gain" else option.delay
            axes.errorbar(
                x + shift,
                mean.mean,
                mean.ci95 or math.nan,
                marker=marks[cca],
                color=shades[cca],
                capsize=2,
                ms=5,
                ls="none",
                label=cca if x == 0 else None,
            )
    axes.axhline(0, color="#777777", lw=0.6)
    if quantity == "gain":
        axes.axhline(MIN_GAIN_PERCENT, color="#777777", lw=0.8, ls=":")
        axes.set_yscale("symlog", linthresh=20)
        axes.set_yticks(_TICKS, map(str, _TICKS))
        low, high = axes.dataLim.intervaly
        axes.set_ylim(1.6 * min(low, -10), 1.6 * max(high, 10))
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize="x-small")
    labels = [
        f"{choice.condition.removeprefix('legs/')}\n(alone {choice.unsplit_cca})" for choice in choices
    ]
    axes.set_xticks(range(len(choices)), labels, fontsize=8)
    unit = "gain of goodput, %" if quantity == "gain" else "95 % one-way delay added, ms"
    axes.set_ylabel(unit)
    axes.set_title(f"{unit}, over the best CCA without a split", fontsize=9)
