"""Reliability diagram of an evaluation: realised over expected measures of choices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from celltcp.campaign.provenance import engine_text
from celltcp.present.style import figure, footnote
from celltcp.scenarios.cca_mix import count_text
from celltcp.selection.evaluation import Evaluation
from celltcp.selection.plots.selection import LOOKS


def draw_reliability(bins: pd.DataFrame, policies: list[str], requirements: Sequence[str]) -> Figure:
    """Draws the mean realised measure of each bin over the mean expected one, with 95 % intervals.

    There is a panel per requirement. On the diagonal both are equal. The number at a point is that of
    its decisions. The axes start below the lowest point.

    Args:
        bins: as `celltcp.selection.calibration.reliability_of` returns them.
        policies: policies to draw.
        requirements: requirements in the order of the panels; those without a bin are left out.
    """
    bins = bins[bins["policy"].isin(policies)]
    requirements = [name for name in requirements if (bins["requirement"] == name).any()]
    points = bins[["expected", "realised"]].to_numpy(float)
    low = max(0.0, math.floor(10 * np.nanmin(points, initial=1.0) - 0.5) / 10)
    picture = figure(max(5.0, 3.1 * len(requirements)), 4.0)
    panels = picture.subplots(1, len(requirements), squeeze=False, sharex=True, sharey=True)[0]
    for axes, requirement in zip(panels, requirements, strict=True):
        axes.plot([0, 1], [0, 1], color="black", lw=0.8, label="as expected")
        for policy in policies:
            selected = bins[(bins["requirement"] == requirement) & (bins["policy"] == policy)]
            if selected.empty:
                continue
            colour, marker = LOOKS[policies.index(policy) % len(LOOKS)]
            axes.errorbar(
                selected["expected"],
                selected["realised"],
                yerr=selected["realised_ci95"].fillna(0.0),
                fmt=marker,
                ms=5,
                lw=1,
                color=colour,
                label=policy,
            )
            for x, y, count in zip(
                selected["expected"], selected["realised"], selected["decisions"], strict=True
            ):
                axes.annotate(
                    str(count), (x, y), (5, -9), textcoords="offset points", fontsize=7, color=colour
                )
        axes.set_title(f"for {requirement}", loc="left")
        axes.set_xlabel("expected measure")
        axes.set_xlim(low, 1.02)
        axes.set_ylim(low, 1.02)
        axes.set_box_aspect(1)
    panels[0].set_ylabel("realised measure")
    handles: dict[str, Artist] = {}
    for axes in panels:
        artists, labels = axes.get_legend_handles_labels()
        handles |= zip(labels, artists, strict=True)
    picture.legend(list(handles.values()), list(handles), loc="outside upper right", ncols=len(handles))
    return picture


def plot_reliability(evaluation: Evaluation) -> Figure:
    """Draws the reliability diagram of the evaluated policies."""
    about = evaluation.about
    picture = draw_reliability(evaluation.reliability, list(about["policies"]), about["requirements"])
    note = "numbers: decisions; means over the scenarios with 95 % intervals"
    footnote(picture, [f"{note}; {count_text(about['runs'], 'run')} of each; {engine_text(about)}"])
    return picture
