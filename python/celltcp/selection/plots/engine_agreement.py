"""Plot of the agreement of engines: difference of each CCA to the best, under both."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from celltcp._core import KERNEL, NATIVE
from celltcp.campaign.engines import ENGINES
from celltcp.present.palette import colours, markers
from celltcp.present.style import figure, legend_beside
from celltcp.scenarios.cca_mix import labels


def differences_by_cca(standings: pd.DataFrame, requirement: str) -> pd.DataFrame:
    """Returns the difference of CCAs to the best of each engine, in %, from rows of `means_of`.

    Columns: `scenario`, `cca`, `native` and `kernel`. Rows with an undefined difference are left out.
    """
    selected = standings[standings["requirement"] == requirement]
    table = selected.pivot_table(
        index=["scenario", "cca"], columns="engine", values="to_best", sort=False
    )
    return table.reindex(columns=list(ENGINES)).dropna().reset_index()


def draw_standings(standings: pd.DataFrame, requirements: Sequence[str]) -> Figure:
    """Draws the differences to the best, native over kernel, a panel per requirement.

    On the diagonal both engines agree.
    """
    ccas = list(dict.fromkeys(standings["cca"]))
    names, shades, marks = labels(ccas), colours(ccas), markers(ccas)
    picture = figure(1.6 + 2.6 * len(requirements), 3.4)
    panels = picture.subplots(1, len(requirements), squeeze=False)[0]
    for axes, requirement in zip(panels, requirements, strict=True):
        differences = differences_by_cca(standings, requirement)
        low = float(differences[list(ENGINES)].min().min()) if len(differences) else -1.0
        axes.plot([low, 0], [low, 0], color="#999999", lw=0.8, zorder=1)
        for cca in ccas:
            selected = differences[differences["cca"] == cca]
            look = {"ms": 4, "ls": "none", "color": shades[cca], "label": names[cca]}
            axes.plot(selected[KERNEL], selected[NATIVE], marks[cca], **look)
        axes.set_title(f"for {requirement}", loc="left")
        axes.set_xlabel("kernel: % to its best")
    panels[0].set_ylabel("native: % to its best")
    legend_beside(picture, ccas)
    return picture
