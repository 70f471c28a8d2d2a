"""Spider plots: an axis per quantity of a condition, which ends at the largest mean."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from celltcp.publications.agreement import Group, Outcome
from celltcp.publications.plots.panel import Panel, cca_name, colors_of, heading, name_of, number_text


def spider_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per condition."""
    scenarios = dict.fromkeys(group.scenario for group in outcome.groups)
    by_condition = [
        [group for group in outcome.groups if group.scenario == scenario] for scenario in scenarios
    ]
    return [
        Panel(functools.partial(_draw, outcome.table.figure, groups, index == 0), "polar")
        for index, groups in enumerate(by_condition)
    ]


def _draw(name: str, groups: Sequence[Group], has_legend: bool, axes: Axes) -> None:
    shades = colors_of(groups[0].rows)
    angles = [2 * math.pi * index / len(groups) for index in range(len(groups))]
    max_means = [max(row.ours.mean for row in group.rows) or 1.0 for group in groups]
    for rows in zip(*(group.rows for group in groups), strict=True):
        shares = [row.ours.mean / max_mean for row, max_mean in zip(rows, max_means, strict=True)]
        cca = rows[0].published.cca
        axes.plot([*angles, angles[0]], [*shares, shares[0]], color=shades[cca], label=cca_name(cca))
    labels = [
        f"{name_of(group.quantity)}\n{number_text(max_mean)} {group.unit}".rstrip()
        for group, max_mean in zip(groups, max_means, strict=True)
    ]
    axes.set_xticks(angles, labels, fontsize=8)
    # Labels are outside the circle, so that they cover no line.
    for angle, label in zip(angles, axes.get_xticklabels(), strict=True):
        side = math.cos(angle)
        label.set_horizontalalignment("left" if side > 0.1 else "right" if side < -0.1 else "center")
    axes.tick_params(axis="x", pad=2)
    axes.set_ylim(0, 1)
    axes.set_yticks([0.5, 1.0], ["", ""])
    axes.set_title(heading(groups[0].scenario, name), fontsize=9)
    if has_legend:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 0.32), fontsize="x-small")
