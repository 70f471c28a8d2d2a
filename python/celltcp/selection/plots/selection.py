"""Plot of an evaluation: gain and regret of policies, case by case."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from celltcp.campaign.provenance import engine_text
from celltcp.present.style import figure, footnote
from celltcp.scenarios.cca_mix import count_text
from celltcp.scenarios.scenario_list import short_name
from celltcp.selection.evaluation import Evaluation

#: Colours and markers of policies, in their order.
LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "v"), ("#E69F00", "D"))

#: Panels: column of the value, column of its interval's half width, label of the axis.
PANELS = (
    ("gain", "gain_ci95", "gain over cubic, %"),
    ("regret", "regret_ci95", "regret to the best in hindsight, %"),
)


def draw_cases(cases: pd.DataFrame, policies: list[str], requirements: Sequence[str]) -> Figure:
    """Draws gain over CUBIC and regret to the best fixed CCA in hindsight, with 95 % intervals.

    There is a row per case and a block per requirement.

    Args:
        cases: as `celltcp.selection.cases.cases_of` returns them.
        policies: policies to draw.
        requirements: requirements in the order of the blocks; those without a case are left out.
    """
    cases = cases[cases["policy"].isin(policies)]
    requirements = [name for name in requirements if (cases["requirement"] == name).any()]
    scenarios = list(dict.fromkeys(cases["scenario"]))
    block_inches = len(scenarios) * (0.14 + 0.06 * len(policies))
    picture = figure(8.5, 1.2 + len(requirements) * (0.6 + block_inches))
    grid = picture.subplots(len(requirements), 2, squeeze=False, sharey=True)
    for panels, requirement in zip(grid, requirements, strict=True):
        selected = cases[cases["requirement"] == requirement]
        for axes, (value, half, _) in zip(panels, PANELS, strict=True):
            _draw(axes, selected, scenarios, policies, value, half)
        panels[0].set_title(f"for {requirement}", loc="left")
    for axes, (_, _, label) in zip(grid[-1], PANELS, strict=True):
        axes.set_xlabel(label)
    grid[0, 0].set_yticks(range(len(scenarios)), [short_name(name) for name in scenarios])
    grid[0, 0].set_ylim(len(scenarios) - 0.5, -0.5)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside right upper")
    return picture


def _draw(
    axes: Axes,
    cases: pd.DataFrame,
    scenarios: list[str],
    policies: list[str],
    value: str,
    half: str,
) -> None:
    axes.axvline(0, color="black", lw=0.8)
    for index, policy in enumerate(policies):
        selected = cases[cases["policy"] == policy]
        colour, marker = LOOKS[index % len(LOOKS)]
        shift = (index - (len(policies) - 1) / 2) * 0.6 / len(policies)
        axes.errorbar(
            selected[value],
            [scenarios.index(name) + shift for name in selected["scenario"]],
            xerr=selected[half].fillna(0.0),
            fmt=marker,
            ms=4,
            lw=1,
            color=colour,
            label=policy,
        )
    axes.grid(axis="y", alpha=0.15)


def plot_evaluation(evaluation: Evaluation) -> Figure:
    """Draws gain over the default and regret to the best in hindsight of the evaluated policies."""
    about = evaluation.about
    picture = draw_cases(evaluation.cases, list(about["policies"]), about["requirements"])
    footnote(picture, [f"{count_text(about['runs'], 'run')} of each; {engine_text(about)}"])
    return picture
