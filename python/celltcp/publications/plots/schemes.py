"""Modulation and coding schemes: quantities by zone of MCS or SINR, and MCS changes between blocks."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from celltcp.publications.agreement import Group, Outcome, Row
from celltcp.publications.digest import MCS_LAGS
from celltcp.publications.plots.panel import Panel, axis_of, cca_name, colors_of, heading

#: Quantity whose zones are numbers of handovers.
_BY_HANDOVERS = "download_rate_by_handovers"
#: Quantities whose zones are ranges of MCS; others have ranges of SINR.
_BY_MCS = ("wasted", "mcs_stays_1", "mcs_stays_2", "mcs_stays_3")


def zone_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per condition and quantity, with bars of the CCAs by zone.

    Zones with published values or claims only are left out if they overlap others. A panel in which a
    CCA is drawn for the first time has a legend.
    """
    groups: dict[tuple[str, str], list[Group]] = {}
    for group in outcome.groups:
        groups.setdefault((group.scenario, group.quantity), []).append(group)
    panels, drawn_ccas = [], set[str]()
    for zones in groups.values():
        ccas = {row.published.cca for group in zones for row in group.rows}
        has_legend = not ccas <= drawn_ccas
        drawn_ccas |= ccas
        drawn_zones = _without_overlaps(zones)
        draw = functools.partial(_draw_zones, outcome.table.figure, drawn_zones, has_legend)
        panels.append(Panel(draw))
    return panels


def _without_overlaps(groups: Sequence[Group]) -> list[Group]:
    """Returns the groups without those with values or claims only whose zones overlap others."""
    plain = [
        group
        for group in groups
        if any(row.published.claim is None and row.published.value is None for row in group.rows)
    ]
    return [
        group
        for group in groups
        if group in plain or not any(_overlap(group, other) for other in plain)
    ]


def _overlap(first: Group, second: Group) -> bool:
    zones = (first.rows[0].published.zone, second.rows[0].published.zone)
    lows, highs = zip(*(zone or (-math.inf, math.inf) for zone in zones), strict=True)
    return bool(max(lows) < min(highs))


def _draw_zones(name: str, groups: Sequence[Group], has_legend: bool, axes: Axes) -> None:
    shades = colors_of([row for group in groups for row in group.rows])
    width = 0.8 / max(len(shades), 1)
    for index, cca in enumerate(shades):
        rows = [[row for row in group.rows if row.published.cca == cca] for group in groups]
        axes.bar(
            np.arange(len(groups)) + (index - (len(shades) - 1) / 2) * width,
            [row[0].ours.mean if row else math.nan for row in rows],
            width,
            yerr=[(row[0].ours.ci95 or 0.0) if row else 0.0 for row in rows],
            color=shades[cca],
            label=cca_name(cca),
            error_kw={"lw": 0.8},
        )
    axes.set_xticks(range(len(groups)), [_zone_text(group) for group in groups], fontsize=8)
    axes.set_xlabel(_zone_quantity(groups))
    # Margins keep a few bars from being wider than many.
    margin = max(0.0, 2 - len(groups) * len(shades) / 4)
    axes.set_xlim(-0.5 - margin, len(groups) - 0.5 + margin)
    axes.grid(axis="x", visible=False)
    first = groups[0]
    axes.set_ylabel(axis_of(first.rows[0]))
    means = [row.ours.mean for group in groups for row in group.rows if not math.isnan(row.ours.mean)]
    if means and min(means) >= 0:
        # Intervals of few runs, which are much longer than the bars, are cut.
        top = max(1.6 * max(means), 1e-9)
        is_share = first.unit.startswith("of ") and max(means) <= 1
        axes.set_ylim(0, min(top, 1.05) if is_share else top)
    axes.set_axisbelow(True)
    axes.set_title(heading(first.scenario, name), fontsize=9)
    if has_legend:
        axes.legend(fontsize="x-small", ncols=2, frameon=True, framealpha=0.8, edgecolor="none")


def _zone_quantity(groups: Sequence[Group]) -> str:
    """Returns the quantity that zones are ranges of; empty without zones."""
    rows = [row for group in groups for row in group.rows]
    if all(row.published.zone is None for row in rows):
        return ""
    quantity = rows[0].published.quantity
    if quantity == _BY_HANDOVERS:
        return "handovers during the download"
    return "MCS" if quantity in _BY_MCS else "mean SINR, dB"


def _zone_text(group: Group) -> str:
    """Returns the zone of a group: a number of handovers, or the name of the part."""
    entry = group.rows[0].published
    if entry.quantity == _BY_HANDOVERS and entry.zone:
        low, high = entry.zone
        if high == low + 1:
            return f"{low:g}"
    return group.part or "all"


def transition_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per condition and lag, of the MCS of a block and of the block `lag` later."""
    rows: dict[str, Row] = {}
    for row in outcome.rows:
        rows.setdefault(row.published.scenario, row)
    return [
        Panel(functools.partial(_draw_transitions, outcome.table.figure, row, lag))
        for row in rows.values()
        for lag in range(1, MCS_LAGS + 1)
    ]


def _draw_transitions(name: str, row: Row, lag: int, axes: Axes) -> None:
    pairs = np.sum([digest.pairs[lag - 1] for digest in row.source.digests_of(row.published)], axis=0)
    totals = pairs.sum(axis=1, keepdims=True)
    shares = np.divide(pairs, totals, out=np.full(pairs.shape, np.nan), where=totals > 0)
    mcs_count = int(np.flatnonzero(totals[:, 0])[-1]) + 1 if totals.any() else 1
    image = axes.imshow(
        shares[:mcs_count, :mcs_count].T, origin="lower", aspect="auto", cmap="viridis", vmin=0, vmax=1
    )
    axes.figure.colorbar(image, ax=axes, label="share")
    axes.set_xlabel("MCS of block n")
    axes.set_ylabel(f"MCS of block n+{lag}")
    axes.grid(visible=False)
    axes.set_title(heading(row.published.scenario, name), fontsize=9)
