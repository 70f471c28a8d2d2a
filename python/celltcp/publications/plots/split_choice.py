"""Choices: gain and added delay of splits with each pair of CCAs, by place."""

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
    known = choices(outcome)
    return [Panel(functools.partial(_draw, known, quantity)) for quantity in ("gain", "delay")]


def _draw(known: Sequence[Choice], quantity: str, axes: Axes) -> None:
    names = sorted({option.cca for choice in known for option in choice.options})
    shades, marks = colours(names), markers(names)
    for index, cca in enumerate(names):
        shift = (index - (len(names) - 1) / 2) * 0.16
        for place, choice in enumerate(known):
            option = next(each for each in choice.options if each.cca == cca)
            value = option.gain if quantity == "gain" else option.delay
            axes.errorbar(
                place + shift,
                value.mean,
                value.ci95 or math.nan,
                marker=marks[cca],
                color=shades[cca],
                capsize=2,
                ms=5,
                ls="none",
                label=cca if place == 0 else None,
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
    names_of = [f"{choice.place.removeprefix('legs/')}\n(alone {choice.plain})" for choice in known]
    axes.set_xticks(range(len(known)), names_of, fontsize=8)
    unit = "gain of goodput, %" if quantity == "gain" else "95 % one-way delay added, ms"
    axes.set_ylabel(unit)
    axes.set_title(f"{unit}, over the best CCA without a split", fontsize=9)
