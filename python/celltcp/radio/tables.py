"""Tables and pictures of `celltcp show` for a radio scenario: by position, by MCS and by phase."""

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
from celltcp.radio.opportunities import scheme_ranges, scheme_statistics, wasted
from celltcp.radio.phases import by_phase
from celltcp.radio.position import by_position
from celltcp.scenarios.cca_mix import labels as cca_labels

#: Names of the metrics in headings, with the digits of their values.
_HEADINGS = {
    "goodput": ("goodput, Mbit/s", 2),
    "rtt": ("RTT, ms", 1),
    "owd": ("one-way delay, ms", 1),
    "pm_balanced": ("PM, balanced", 3),
    "pm_delay": ("PM, delay", 3),
}


def view_positions(results: Sequence[Comparison], metric: str) -> Figure:
    """Prints and draws forward and backward movement side by side."""
    if len(results) != 2:
        raise CelltcpError("--by-position needs two results: forward movement, then backward movement")
    forward, backward = results
    values = by_position(forward, backward, metric)
    heading, digits = _HEADINGS[metric]
    names = [str(each.results.about["name"]) for each in results]
    ccas = [cca for cca in forward.ccas if cca in backward.ccas]
    if not ccas:
        raise CelltcpError(f"{names[0]} and {names[1]} have no congestion control in common")
    labels = cca_labels(ccas)
    headings = [each for cca in ccas for each in (f"{labels[cca]}\nforward", "\nbackward")]
    rows = []
    for place in sorted(values["sinr_db"].unique(), reverse=True):
        at_place = values[values["sinr_db"] == place]
        cells = [
            mean_text(
                at_place.loc[(at_place["cca"] == cca) & (at_place["movement"] == movement), "value"],
                digits,
            )
            for cca in ccas
            for movement in ("forward", "backward")
        ]
        rows.append((f"{place:.1f}", *cells))
    title = (
        f"{heading}, by mean SINR of the place: {names[0]} against {names[1]}, mean and 95 % "
        f"interval over {forward.results.about['runs']} and {backward.results.about['runs']} runs"
    )
    Terminal().print_table(Table(number_columns("SINR, dB", *headings), tuple(rows), title))
    common = values[values["cca"].isin(ccas)]
    return draw_positions(common, metric, f"{names[0]} and {names[1]}")


def view_schemes(results: Sequence[Comparison]) -> Figure:
    """Prints and draws wasted transmission opportunities by modulation, and the MCS used."""
    picture = figure(6.5, 3.2 * len(results))
    panels = picture.subplots(len(results), 1, squeeze=False, sharey=True)[:, 0]
    console = Terminal()
    for each, axes in zip(results, panels, strict=True):
        schemes = wasted(each)
        name = str(each.results.about["name"])
        labels = {
            modulation: f"{modulation}\nMCS {first}-{last}"
            for modulation, (first, last) in scheme_ranges(str(each.results.about["scenario"])).items()
        }
        labels["all"] = "all"
        console.print_table(_wasted_table(each, schemes, labels))
        console.print_table(_scheme_table(each, scheme_statistics(each)))
        draw_bars(axes, schemes, "modulation", list(labels), "wasted_per_s")
        axes.set_xticks(range(len(labels)), list(labels.values()))
        axes.set_ylabel("wasted opportunities\nper second with such schemes")
        axes.set_title(name)
        axes.legend()
    return picture


def _wasted_table(each: Comparison, schemes: pd.DataFrame, labels: dict[str, str]) -> Table:
    about = each.results.about
    title = (
        f"{about['name']}: wasted transmission opportunities per second with such schemes (share "
        f"of all TTIs), mean and 95 % interval over {about['runs']} runs"
    )
    rows = []
    names = cca_labels(each.ccas)
    for cca in each.ccas:
        selected = schemes[schemes["cca"] == cca]
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


def _scheme_table(each: Comparison, schemes: pd.DataFrame) -> Table:
    rows = []
    names = cca_labels(each.ccas)
    for cca in each.ccas:
        selected = schemes[schemes["cca"] == cca]
        figures = (mean_text(selected[column], 2) for column in ("mean", "sd", "change"))
        rows.append((names[cca], *figures))
    headings = ("mean", "standard deviation", "change from one to the next")
    title = f"{each.results.about['name']}: MCS of first transmissions"
    return Table((Column("CCA"), *number_columns(*headings)), tuple(rows), title)


def view_phases(
    results: Sequence[Comparison],
    metric: str,
    published_of: Callable[[str], Mapping[tuple[str, str], float]],
    source: str,
) -> Figure:
    """Prints and draws a metric by phase, with published values where there are some.

    Args:
        results: comparisons, one a scenario.
        metric: a key of `_HEADINGS`.
        published_of: published goodput of a scenario by phase and CCA, Mbit/s.
        source: where these values were published.
    """
    heading, digits = _HEADINGS[metric]
    picture = figure(6.5, 3.2 * len(results))
    panels = picture.subplots(len(results), 1, squeeze=False)[:, 0]
    console = Terminal()
    has_published = False
    for each, axes in zip(results, panels, strict=True):
        about = each.results.about
        by_cca = by_phase(each, metric)
        published = published_of(str(about["name"])) if metric == "goodput" else {}
        phases = [phase for phase in by_cca["phase"].cat.categories if (by_cca["phase"] == phase).any()]
        published_note = "; in brackets what was published" if published else ""
        has_published |= bool(published)
        rows = []
        names = cca_labels(each.ccas)
        for cca in each.ccas:
            selected = by_cca[by_cca["cca"] == cca]
            cells = []
            for phase in phases:
                figure_of_cca = published.get((str(phase), cca))
                text = mean_text(selected.loc[selected["phase"] == phase, "value"], digits)
                cells.append(text if figure_of_cca is None else f"{text} [{figure_of_cca:.{digits}f}]")
            rows.append((names[cca], *cells))
        columns = (Column("CCA"), *number_columns(*map(str, phases)))
        title = (
            f"{about['name']}: {heading} by phase, mean and 95 % interval over "
            f"{about['runs']} runs{published_note}"
        )
        console.print_table(Table(columns, tuple(rows), title))
        draw_bars(axes, by_cca, "phase", phases, published=published)
        axes.set_ylabel(heading)
        axes.set_title(str(about["name"]))
        axes.legend(ncols=3)
    if has_published:
        console.print(f"published: {source}")
    return picture
