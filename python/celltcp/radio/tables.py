"""Views of radio scenarios for `celltcp show`: tables and pictures by position, MCS and phase."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from celltcp._core import CelltcpError
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.plots.bars import draw_bars
from celltcp.comparison.plots.position import draw_positions
from celltcp.present.section import Column, Table, mean_text, number_columns
from celltcp.present.style import figure
from celltcp.present.terminal import Terminal
from celltcp.radio.opportunities import mcs_ranges, mcs_statistics, wasted_opportunities
from celltcp.radio.phases import by_phase
from celltcp.radio.position import by_position
from celltcp.scenarios.cca_mix import labels as cca_labels

#: Headings of the metrics, with the number of decimals of their values.
_HEADINGS = {
    "goodput": ("goodput, Mbit/s", 2),
    "rtt": ("RTT, ms", 1),
    "owd": ("one-way delay, ms", 1),
    "pm_balanced": ("PM, balanced", 3),
    "pm_delay": ("PM, delay", 3),
}


def view_positions(results: Sequence[Comparison], metric: str) -> Figure:
    """Prints a metric by position for two results, forward and backward movement, and draws it."""
    if len(results) != 2:
        raise CelltcpError("--by-position needs two results: forward movement, then backward movement")
    forward, backward = results
    values = by_position(forward, backward, metric)
    heading, digits = _HEADINGS[metric]
    names = [str(comparison.results.about["name"]) for comparison in results]
    ccas = [cca for cca in forward.ccas if cca in backward.ccas]
    if not ccas:
        raise CelltcpError(f"{names[0]} and {names[1]} have no congestion control in common")
    labels = cca_labels(ccas)
    headings = [heading for cca in ccas for heading in (f"{labels[cca]}\nforward", "\nbackward")]
    rows = []
    for sinr_db in sorted(values["sinr_db"].unique(), reverse=True):
        at_sinr = values[values["sinr_db"] == sinr_db]
        cells = [
            mean_text(
                at_sinr.loc[(at_sinr["cca"] == cca) & (at_sinr["movement"] == movement), "value"],
                digits,
            )
            for cca in ccas
            for movement in ("forward", "backward")
        ]
        rows.append((f"{sinr_db:.1f}", *cells))
    title = (
        f"{heading}, by mean SINR of the place: {names[0]} against {names[1]}, mean and 95 % "
        f"interval over {forward.results.about['runs']} and {backward.results.about['runs']} runs"
    )
    Terminal().print_table(Table(number_columns("SINR, dB", *headings), tuple(rows), title))
    return draw_positions(values[values["cca"].isin(ccas)], metric, f"{names[0]} and {names[1]}")


def view_mcs(results: Sequence[Comparison]) -> Figure:
    """Prints and draws wasted transmission opportunities by modulation; prints MCS statistics."""
    picture = figure(6.5, 3.2 * len(results))
    panels = picture.subplots(len(results), 1, squeeze=False, sharey=True)[:, 0]
    console = Terminal()
    for comparison, axes in zip(results, panels, strict=True):
        about = comparison.results.about
        wasted = wasted_opportunities(comparison)
        labels = {
            modulation: f"{modulation}\nMCS {first}-{last}"
            for modulation, (first, last) in mcs_ranges(str(about["scenario"])).items()
        }
        labels["all"] = "all"
        console.print_table(_wasted_table(comparison, wasted, labels))
        console.print_table(_mcs_table(comparison))
        draw_bars(axes, wasted, "modulation", list(labels), "wasted_per_s")
        axes.set_xticks(range(len(labels)), list(labels.values()))
        axes.set_ylabel("wasted opportunities\nper second with such schemes")
        axes.set_title(str(about["name"]))
        axes.legend()
    return picture


def _wasted_table(comparison: Comparison, wasted: pd.DataFrame, labels: Mapping[str, str]) -> Table:
    about = comparison.results.about
    title = (
        f"{about['name']}: wasted transmission opportunities per second with such schemes (share "
        f"of all TTIs), mean and 95 % interval over {about['runs']} runs"
    )
    rows = []
    names = cca_labels(comparison.ccas)
    for cca in comparison.ccas:
        selected = wasted[wasted["cca"] == cca]
        cells = []
        for modulation in labels:
            part = selected[selected["modulation"] == modulation]
            if part.empty:
                cells.append("-")
                continue
            share = f"\n({100 * part['share'].mean():.0f} %)" if modulation != "all" else ""
            cells.append(mean_text(part["wasted_per_s"], 1) + share)
        rows.append((names[cca], *cells))
    return Table((Column("CCA"), *number_columns(*labels.values())), tuple(rows), title)


def _mcs_table(comparison: Comparison) -> Table:
    statistics = mcs_statistics(comparison)
    rows = []
    names = cca_labels(comparison.ccas)
    for cca in comparison.ccas:
        selected = statistics[statistics["cca"] == cca]
        cells = (mean_text(selected[column], 2) for column in ("mean", "sd", "change"))
        rows.append((names[cca], *cells))
    headings = ("mean", "standard deviation", "change from one to the next")
    title = f"{comparison.results.about['name']}: MCS of first transmissions"
    return Table((Column("CCA"), *number_columns(*headings)), tuple(rows), title)


def view_phases(
    results: Sequence[Comparison],
    metric: str,
    published_of: Callable[[str], Mapping[tuple[str, str], float]],
    source: str,
) -> Figure:
    """Prints and draws a metric by phase, next to published goodput if there is some.

    Args:
        results: comparisons, one per scenario.
        metric: a key of `_HEADINGS`.
        published_of: returns the published goodput of a scenario by phase and CCA, Mbit/s.
        source: publication of these values.
    """
    heading, digits = _HEADINGS[metric]
    picture = figure(6.5, 3.2 * len(results))
    panels = picture.subplots(len(results), 1, squeeze=False)[:, 0]
    console = Terminal()
    has_published = False
    for comparison, axes in zip(results, panels, strict=True):
        about = comparison.results.about
        values = by_phase(comparison, metric)
        published = published_of(str(about["name"])) if metric == "goodput" else {}
        phases = [phase for phase in values["phase"].cat.categories if (values["phase"] == phase).any()]
        published_note = "; in brackets what was published" if published else ""
        has_published |= bool(published)
        rows = []
        names = cca_labels(comparison.ccas)
        for cca in comparison.ccas:
            selected = values[values["cca"] == cca]
            cells = []
            for phase in phases:
                published_mbps = published.get((str(phase), cca))
                text = mean_text(selected.loc[selected["phase"] == phase, "value"], digits)
                cells.append(
                    text if published_mbps is None else f"{text} [{published_mbps:.{digits}f}]"
                )
            rows.append((names[cca], *cells))
        columns = (Column("CCA"), *number_columns(*map(str, phases)))
        title = (
            f"{about['name']}: {heading} by phase, mean and 95 % interval over "
            f"{about['runs']} runs{published_note}"
        )
        console.print_table(Table(columns, tuple(rows), title))
        draw_bars(axes, values, "phase", phases, published=published)
        axes.set_ylabel(heading)
        axes.set_title(str(about["name"]))
        axes.legend(ncols=3)
    if has_published:
        console.print(f"published: {source}")
    return picture
