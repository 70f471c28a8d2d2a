"""Marks of a selector's choices on a time axis."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from celltcp.present.palette import colours

#: Minimum distance of names of switches in a row, as a share of the axis.
_MIN_NAME_DISTANCE = 0.055
NAME_ROWS = 3


def draw_changes(panels: list[Axes], decisions: pd.DataFrame) -> None:
    """Draws lines through all panels, with the names of the new CCAs above them.

    Args:
        panels: with their limits set, the uppermost first.
        decisions: `t_s`, `to_cca` and `cause` of each choice, in order of time.
    """
    top = panels[0]
    first, last = top.get_xlim()
    ends = [-np.inf] * NAME_ROWS
    shades = colours(decisions["to_cca"])
    # Equal choices before and after the handshake count as one.
    is_repeated = (decisions["cause"] == "establishment") & (
        decisions["to_cca"] == decisions["to_cca"].shift()
    )
    for row in decisions[~is_repeated].to_dict("records"):
        at = max(row["t_s"], first)
        place = (at - first) / (last - first)
        level = next(
            (n for n in range(NAME_ROWS) if place - ends[n] > _MIN_NAME_DISTANCE), int(np.argmin(ends))
        )
        ends[level] = place + 0.008 * len(row["to_cca"])
        style = "--" if row["cause"] == "return" else "-"
        for axes in panels:
            axes.axvline(at, color="black", lw=0.8, ls=style, alpha=0.7)
        top.annotate(
            row["to_cca"],
            (at, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(1, 2 + 9 * level),
            textcoords="offset points",
            fontsize=8,
            color=shades[row["to_cca"]],
            annotation_clip=False,
        )
