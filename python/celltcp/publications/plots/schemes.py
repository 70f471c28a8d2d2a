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

#: Variable that divides the zones, by quantity; for others the SINR.
_BY_HANDOVERS = "download_rate_by_handovers"
_BY_SCHEME = ("wasted", "mcs_stays_1", "mcs_stays_2", "mcs_stays_3")


def zone_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per place and quantity, with bars of the CCAs by zone.

    Zones that are only there for a claim or a number are left out where they overlap others. A legend
    stands where a CCA is drawn for the first time.
    """
    groups: dict[tuple[str, str], list[Group]] = {}
    for each in outcome.groups:
        groups.setdefault((each.scenario, each.quantity), []).append(each)
    panels, known = [], set[str]()
    for zones in groups.values():
        ccas = {row.published.cca for group in zones for row in group.rows}
        legend = not ccas <= known
        known |= ccas
        panels.append(
            Panel(
                functools.partial(_draw_zones, outcome.table.figure, _without_overlaps(zones), legend)
            )
        )
    return panels


def _without_overlaps(groups: Sequence[Group]) -> list[Group]:
    """Returns the groups without those that only a claim needs and whose zones overlap others."""
    plain = [
        group
        for group in groups
        if any(row.published.claim is None and row.published.value is None for row in group.rows)
    ]
    return [
        group for group in groups if group in plain or not any(_overlap(group, each) for each in plain)
    ]


def _overlap(first: Group, second: Group) -> bool:
    one, other = first.rows[0].published.zone, second.rows[0].published.zone
    if one is None or other is None:
        return True
    return max(one[0], other[0]) < min(one[1], other[1])


def _draw_zones(name: str, groups: Sequence[Group], legend: bool, axes: Axes) -> None:
    shades = colors_of([row for group in groups for row in group.rows])
    width = 0.8 / max(len(shades), 1)
    for index, cca in enumerate(shades):
        rows = [[row for row in group.rows if row.published.cca == cca] for group in groups]
        at = np.arange(len(groups)) + (index - (len(shades) - 1) / 2) * width
        axes.bar(
            at,
            [row[0].ours.mean if row else math.nan for row in rows],
            width,
            yerr=[(row[0].ours.ci95 or 0.0) if row else 0.0 for row in rows],
            color=shades[cca],
            label=cca_name(cca),
            error_kw={"lw": 0.8},
        )
    axes.set_xticks(range(len(groups)), [_zone_text(group) for group in groups], fontsize=8)
    axes.set_xlabel(_zones_of(groups))
    # A few bars are no wider than many.
    spare = max(0.0, 2 - len(groups) * len(shades) / 4)
    axes.set_xlim(-0.5 - spare, len(groups) - 0.5 + spare)
    axes.grid(axis="x", visible=False)
    first = groups[0]
    axes.set_ylabel(axis_of(first.rows[0]))
    means = [row.ours.mean for group in groups for row in group.rows if not math.isnan(row.ours.mean)]
    if means and min(means) >= 0:
        # Intervals of few runs are much longer than the bars.
        top = max(1.6 * max(means), 1e-9)
        is_share = first.unit.startswith("of ") and max(means) <= 1
        axes.set_ylim(0, min(top, 1.05) if is_share else top)
    axes.set_axisbelow(True)
    axes.set_title(heading(first.scenario, name), fontsize=9)
    if legend:
        axes.legend(fontsize="x-small", ncols=2, frameon=True, framealpha=0.8, edgecolor="none")


def _zones_of(groups: Sequence[Group]) -> str:
    """Returns the quantity whose zones the groups have; empty where they have none."""
    rows = [row for group in groups for row in group.rows]
    if all(row.published.zone is None for row in rows):
        return ""
    quantity = rows[0].published.quantity
    if quantity == _BY_HANDOVERS:
        return "handovers during the download"
    return "MCS" if quantity in _BY_SCHEME else "mean SINR, dB"


def _zone_text(group: Group) -> str:
    """Returns the zone of a group: a number of handovers, or the name of the part."""
    figure = group.rows[0].published
    if figure.quantity == _BY_HANDOVERS and figure.zone and figure.zone[1] == figure.zone[0] + 1:
        return f"{figure.zone[0]:g}"
    return group.part or "all"


def transition_panels(outcome: Outcome) -> list[Panel]:
    """Returns a panel per place and step: the MCS of a block and of the first to third one after it."""
    rows: dict[str, Row] = {}
    for row in outcome.rows:
        rows.setdefault(row.published.scenario, row)
    return [
        Panel(functools.partial(_draw_transitions, outcome.table.figure, row, step))
        for row in rows.values()
        for step in range(1, MCS_LAGS + 1)
    ]


def _draw_transitions(name: str, row: Row, step: int, axes: Axes) -> None:
    pairs = np.sum([digest.pairs[step - 1] for digest in row.source.digests_of(row.published)], axis=0)
    totals = pairs.sum(axis=1, keepdims=True)
    shares = np.divide(pairs, totals, out=np.full(pairs.shape, np.nan), where=totals > 0)
    last = int(np.flatnonzero(totals[:, 0])[-1]) + 1 if totals.any() else 1
    picture = axes.imshow(
        shares[:last, :last].T, origin="lower", aspect="auto", cmap="viridis", vmin=0, vmax=1
    )
    axes.figure.colorbar(picture, ax=axes, label="share")
    axes.set_xlabel("MCS of block n")
    axes.set_ylabel(f"MCS of block n+{step}")
    axes.grid(visible=False)
    axes.set_title(heading(row.published.scenario, name), fontsize=9)
