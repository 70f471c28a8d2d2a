"""Marks of the CCAs that a selector chooses, on a time axis."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from celltcp.present.palette import colours

#: Minimum distance of names in a row, as a share of the axis.
_MIN_NAME_DISTANCE = 0.055
#: Number of rows for names.
NAME_ROWS = 3


def draw_changes(panels: list[Axes], decisions: pd.DataFrame) -> None:
    """Draws lines through all panels, with the names of the new CCAs above them.

    Args:
        panels: with their limits set, the uppermost first.
        decisions: `t_s`, `to_cca` and `cause` of each choice, in order of time.
    """
    top = panels[0]
    first, last = top.get_xlim()
    # End of the last name in each row, as a share of the axis.
    ends = [-np.inf] * NAME_ROWS
    shades = colours(decisions["to_cca"])
    # A choice after the handshake that repeats the one before is not drawn.
    is_repeated = (decisions["cause"] == "establishment") & (
        decisions["to_cca"] == decisions["to_cca"].shift()
    )
    for row in decisions[~is_repeated].to_dict("records"):
        t_s = max(row["t_s"], first)
        share = (t_s - first) / (last - first)
        fitting = (level for level in range(NAME_ROWS) if share - ends[level] > _MIN_NAME_DISTANCE)
        level = next(fitting, int(np.argmin(ends)))
        ends[level] = share + 0.008 * len(row["to_cca"])
        style = "--" if row["cause"] == "return" else "-"
        for axes in panels:
            axes.axvline(t_s, color="black", lw=0.8, ls=style, alpha=0.7)
        top.annotate(
            row["to_cca"],
            (t_s, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(1, 2 + 9 * level),
            textcoords="offset points",
            fontsize=8,
            color=shades[row["to_cca"]],
            annotation_clip=False,
        )
