"""Methods `plot` of comparisons, runs and sweeps: each draws data frames as a matplotlib figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec

from celltcp._core import CelltcpError
from celltcp.campaign.provenance import engine_text
from celltcp.comparison.applications.units_of_work import (
    UNITS,
    units_of,
    units_of_applications,
    without_connections,
)
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.load_results import comparison_of
from celltcp.comparison.plots.distribution import column_of, draw_ecdf, drawn_metric
from celltcp.comparison.plots.grids import draw_ecdf_grid, draw_spiders, draw_window_grid
from celltcp.comparison.plots.legs import draw_legs
from celltcp.comparison.plots.series import (
    ONE_WAY,
    RTT,
    draw_comparison_series,
    draw_flows,
    draw_run_series,
    draw_run_units,
    draw_units,
    headroom,
    label_rates,
)
from celltcp.comparison.plots.smoothing import window_of
from celltcp.comparison.plots.startup import draw_startup, draw_startup_windows
from celltcp.comparison.plots.sweep import draw_sweep
from celltcp.comparison.plots.tradeoff import draw_throughput_delay
from celltcp.comparison.plots.video_sessions import draw_sessions
from celltcp.comparison.single_run import SingleRun
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.comparison.tables import flow_cca, flow_label, has_rows_of_flows
from celltcp.present.style import figure, footnote, legend_beside, titled
from celltcp.results.tables import frame
from celltcp.scenarios.cca_mix import count_text, labels

#: Maximum number of panels of competing flows side by side.
_MAX_PER_ROW = 3
#: Maximum number of congestion controls whose series are legible in one panel.
_MAX_SERIES = 6
#: Minimum share of a further connection in all delivered bytes for its goodput to be drawn.
_MIN_CONNECTION_SHARE = 0.05


class ComparisonPlots:
    """Plots of a comparison; each is a matplotlib figure."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def __call__(self) -> Figure:
        """Draws the overview."""
        return self.overview()

    def throughput_delay(self) -> Figure:
        """Draws goodput against the 95th percentile of the one-way delay; best is the upper left."""
        picture = figure(5.5, 4.4)
        self._throughput_delay(picture.add_subplot())
        return self._finish(picture)

    def ecdf(self, metric: str = "goodput") -> Figure:
        """Draws the distribution of a metric.

        Args:
            metric: `goodput`, `rtt`, `owd`, `pm_balanced` or `pm_delay` over slots of the flow under
                test, or of another one: `"rtt:flow-2"`; `response`, `page_load`, `frame_delay`, `fetch`
                or `completion` over the units of work of all flows, or of one: `"response:game"`. For a
                ranking metric its values are drawn: `"response"` for `"response_p95_s"`.

        Raises:
            CelltcpError: if there is no such metric or flow, or no flow has such units.
        """
        metric = drawn_metric(metric)
        picture = figure(5.5, 4.4)
        self._ecdf(picture.add_subplot(), metric)
        return self._finish(picture, metric)

    def ecdf_grid(self) -> Figure:
        """Draws the distributions of goodput, RTT and one-way delay."""
        return draw_ecdf_grid([self._comparison])

    def window(self) -> Figure:
        """Draws congestion window, bottleneck queue and RTT over time."""
        return draw_window_grid([self._comparison])

    def spider(self) -> Figure:
        """Draws the means of all metrics on axes that end at the largest mean."""
        return draw_spiders([self._comparison])

    def units(self, metric: str | None = None, seed: int | None = None) -> Figure:
        """Draws the units of work of a run over time, a point where each ended.

        Args:
            metric: as for `ecdf`, such as `"response:game"`; unless given, there is a panel for each
                flow and kind.
            seed: of the run; the first unless given.
        """
        if metric is None:
            return self._all_units(seed)
        metric = drawn_metric(metric)
        name, _, flow = metric.partition(":")
        column_of(name)
        picture = figure(7, 3.6)
        units = units_of(self._comparison.units, name, flow)
        draw_units(picture.add_subplot(), units, self._comparison.ccas, name, seed)
        return self._finish(picture, metric)

    def _all_units(self, seed: int | None) -> Figure:
        """Draws a panel for each flow and kind of units of work."""
        comparison = self._comparison
        kinds = list(without_connections(comparison.units).groupby(["flow", "unit"], sort=False))
        if len(kinds) < 2:
            # Draws a single kind; without any, raises an error.
            unit = kinds[0][0][1] if kinds else next(iter(UNITS))
            return self.units(str(unit), seed)
        picture = figure(7, 0.6 + 2.4 * len(kinds))
        panels = picture.subplots(len(kinds), 1, sharex=True)
        for axes, ((flow, unit), units) in zip(panels, kinds, strict=True):
            draw_units(axes, units, comparison.ccas, str(unit), seed)
            axes.set_title(str(flow), loc="left", fontsize=9)
        for axes in panels[:-1]:
            axes.set_xlabel("")
        return self._finish(picture, subject="")

    def time_series(self, seed: int | None = None, *, raw: bool = False) -> Figure:
        """Draws goodput and RTT over time; the one-way delay where a middlebox splits connections.

        Where flows compete, each congestion control or mix has panels with all of them.

        Args:
            seed: of the run; the first unless given.
            raw: whether to draw the goodput of each slot, and not means over a second or a round trip.
        """
        if has_rows_of_flows([self._comparison]):
            ccas = self._comparison.ccas
            across = min(len(ccas), _MAX_PER_ROW)
            picture = figure(7 if across == 1 else 4.6 * across, 4.5 * math.ceil(len(ccas) / across))
            self._flow_series(picture, picture.add_gridspec(1, 1)[0], ccas, seed, raw=raw)
            self._finish(picture, has_legend=False)
            titled(picture, f"{self._comparison.results.about['name']}: flows that share the path")
            return picture
        picture = figure(7, 4.5)
        upper, lower = picture.subplots(2, 1, sharex=True)
        self._time_series(upper, lower, seed, self._comparison.ccas, raw=raw)
        return self._finish(picture)

    def startup(self, seconds: float = 5.0) -> Figure:
        """Draws bytes delivered in the first seconds, mean over the runs, and congestion windows."""
        comparison = self._comparison
        picture = figure(5.5, 6)
        delivered, windows = picture.subplots(2, 1, sharex=True)
        self._startup(delivered, seconds)
        delivered.set_xlabel("")
        draw_startup_windows(
            windows,
            comparison.tested_slots,
            comparison.tested_flows,
            comparison.runs,
            comparison.ccas,
            slot_s=float(comparison.results.about["slot_s"]),
            seconds=seconds,
        )
        return self._finish(picture)

    def legs(self, seed: int | None = None) -> Figure:
        """Draws both sides of split hosts in a run of the first CCA whose path has one."""
        comparison = self._comparison
        split = comparison.runs[comparison.runs["run"].isin(comparison.legs["run"].unique())]
        runs = split if seed is None else split[split["seed"] == seed]
        if runs.empty:
            raise CelltcpError(f"seed: no run with seed {seed} has a connection that was split")
        run = runs.iloc[0]
        flows, slots, legs = (
            table[table["run"] == run["run"]]
            for table in (comparison.tested_flows, comparison.slots, comparison.legs)
        )
        return _legs(comparison.results.about, f"{run['cca']}, seed {run['seed']}", flows, slots, legs)

    def video(self, seed: int | None = None) -> Figure:
        """Draws the video sessions of all CCAs in the run with `seed` (the first unless given)."""
        comparison = self._comparison
        seed = int(comparison.runs["seed"].min()) if seed is None else seed
        picture = figure(7, 5.2)
        axes = list(picture.subplots(3, 1, sharex=True, height_ratios=[1.2, 1, 1.2]))
        about = comparison.results.about
        titled(picture, f"{about['name']}: video, seed {seed}")
        warnings = (f"! {warning}" for warning in comparison.warnings)
        footnote(picture, [engine_text(about), *warnings])
        events = frame(comparison.results.tables["events"])
        runs = comparison.runs[comparison.runs["seed"] == seed]
        draw_sessions(axes, comparison.tested_slots, events, runs, comparison.ccas)
        legend_beside(picture, comparison.ccas)
        return picture

    def overview(self) -> Figure:
        """Draws the main plots on one sheet, with the units of work of the first application first."""
        comparison = self._comparison
        units = units_of_applications(comparison)
        goodput = [partial(self._ecdf, metric="goodput")] if comparison.is_competing else []
        panels: list[Callable[[Axes], None]] = [
            *([partial(self._units_ecdf, metric=units[0])] if units else []),
            self._throughput_delay,
            *goodput,
            partial(self._startup, seconds=5.0),
        ]
        picture = figure(11 if len(panels) < 4 else 14, 8)
        grid = picture.add_gridspec(3, len(panels), height_ratios=[1.25, 1, 1])
        for index, draw in enumerate(panels):
            draw(picture.add_subplot(grid[0, index]))
        if has_rows_of_flows([comparison]):
            self._flow_series(picture, grid[1:, :], comparison.ccas[:_MAX_PER_ROW], None)
            notes = [f"over time the first {_MAX_PER_ROW}; show --plot time-series draws all"]
            return self._finish(picture, notes=notes if len(comparison.ccas) > _MAX_PER_ROW else ())
        upper = picture.add_subplot(grid[1, :])
        lower = picture.add_subplot(grid[2, :], sharex=upper)
        shown = leading_ccas(comparison)
        self._time_series(upper, lower, None, shown)
        if len(shown) < len(comparison.ccas):
            note = "the leaders; show --plot time-series --cca LIST draws others"
            upper.set_title(note, loc="right", fontsize=8, color="#555555")
        return self._finish(picture)

    def _finish(
        self,
        picture: Figure,
        metric: str = "",
        subject: str | None = None,
        *,
        has_legend: bool = True,
        notes: Sequence[str] = (),
    ) -> Figure:
        """Adds legend, title, engine, notes and warnings to a picture, which may be of one metric.

        The title has the flows of the metric, or else `subject`, by default the flow under test.
        """
        about = self._comparison.results.about
        if has_legend:
            legend_beside(picture, self._comparison.ccas)
        name, _, flow = metric.partition(":")
        subject = self._comparison.subject if subject is None else subject
        if name in UNITS:
            subject = ", ".join(units_of(self._comparison.units, name, flow)["flow"].unique())
        elif flow and flow != self._comparison.tested.name:
            subject = flow
        subject_text = f", {subject}" if subject else ""
        titled(picture, f"{about['name']}{subject_text}: {_runs_text(about, self._comparison.ccas)}")
        warnings = (f"! {warning}" for warning in self._comparison.warnings)
        footnote(picture, [engine_text(about), *notes, *warnings])
        return picture

    def _throughput_delay(self, axes: Axes) -> None:
        draw_throughput_delay(axes, self._comparison.runs, self._comparison.ccas)

    def _ecdf(self, axes: Axes, metric: str) -> None:
        name, _, flow = metric.partition(":")
        comparison = self._comparison
        if name in UNITS:
            table = units_of(comparison.units, name, flow)
        else:
            table = comparison.slots_of(flow) if flow else comparison.tested_slots
        draw_ecdf(axes, table, comparison.ccas, name)

    def _units_ecdf(self, axes: Axes, metric: str) -> None:
        """Draws the distribution of units of work with the name of their flow."""
        self._ecdf(axes, metric)
        if flow := metric.partition(":")[2]:
            axes.set_xlabel(f"{flow}: {axes.get_xlabel()}")

    def _time_series(
        self, upper: Axes, lower: Axes, seed: int | None, ccas: list[str], *, raw: bool = False
    ) -> None:
        comparison = self._comparison
        slots = comparison.tested_slots
        slot_s = float(comparison.results.about["slot_s"])
        window = None if raw else window_of(slots, slot_s)
        delay = ONE_WAY if comparison.split_ccas else RTT
        draw_comparison_series(
            *(upper, lower, comparison.runs, slots, comparison.ccas, seed, slot_s),
            window=window,
            shown=ccas,
            delay=delay,
        )

    def _flow_series(
        self,
        picture: Figure,
        place: SubplotSpec,
        ccas: Sequence[str],
        seed: int | None,
        *,
        raw: bool = False,
    ) -> None:
        """Draws the competing flows over time in the runs of a seed, two panels for each mix."""
        comparison = self._comparison
        seed = int(comparison.runs["seed"].min()) if seed is None else seed
        slot_s = float(comparison.results.about["slot_s"])
        window = None if raw else window_of(comparison.tested_slots, slot_s)
        slots = {flow: comparison.slots_of(flow.name) for flow in comparison.competing_flows}
        names = labels(comparison.ccas)
        across = min(len(ccas), _MAX_PER_ROW)
        down = math.ceil(len(ccas) / across)
        grid = place.subgridspec(2 * down, across)
        # The first pair of panels, whose scales all others share.
        first_upper, first_lower = None, None
        largest, uppers = 0.0, []
        for index, cca in enumerate(ccas):
            row, column = divmod(index, across)
            upper = picture.add_subplot(grid[2 * row, column], sharey=first_upper)
            lower = picture.add_subplot(grid[2 * row + 1, column], sharex=upper, sharey=first_lower)
            runs = comparison.runs[(comparison.runs["cca"] == cca) & (comparison.runs["seed"] == seed)]
            shown = {
                flow_label(comparison, flow, cca): (
                    flow_cca(comparison, flow, cca),
                    flow_slots[flow_slots["run"].isin(runs["run"])],
                )
                for flow, flow_slots in slots.items()
            }
            largest = max(largest, draw_flows(upper, lower, shown, slot_s, window, across, ccas))
            lower.set_title(f"{names[cca]}, seed {seed}", loc="left", fontsize=9)
            first_upper, first_lower = first_upper or upper, first_lower or lower
            uppers.append(upper)
            # Shared axes have the same limits.
            upper.set_ylim(0, headroom(largest))
        for upper in uppers:
            label_rates(upper, largest, window)

    def _startup(self, axes: Axes, seconds: float) -> None:
        comparison = self._comparison
        slot_s = float(comparison.results.about["slot_s"])
        draw_startup(
            axes,
            comparison.tested_slots,
            comparison.tested_flows,
            comparison.ccas,
            slot_s=slot_s,
            seconds=seconds,
        )


def leading_ccas(comparison: Comparison) -> list[str]:
    """Returns the CCAs whose series are legible in one panel: all, or of many those that lead."""
    ccas = comparison.ccas
    if len(ccas) <= _MAX_SERIES:
        return ccas
    leaders = [cca for verdict in comparison.verdicts.values() for cca in verdict.ranked[:2]]
    chosen = list(dict.fromkeys([*leaders, *ccas]))[:_MAX_SERIES]
    return [cca for cca in ccas if cca in chosen]


def tables_of_connection(
    single: SingleRun,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame | None]:
    """Returns slots, samples and decisions of `SingleRun.connection`; None for no decisions."""
    number = single.connection["flow"]
    slots, samples = (table[table["flow"] == number] for table in (single.slots, single.samples))
    if "decisions" not in single.results.tables:
        return slots, samples, None
    return slots, samples, single.decisions[single.decisions["flow"] == number]


def is_paced(single: SingleRun) -> bool:
    """Returns whether pacing ever kept the connection from sending, or that is unknown."""
    limits = single.results.tables["limits"].to_pandas()
    own = limits.loc[limits["flow"] == single.connection["flow"], "pacing_s"]
    return bool(own.isna().any() or (own > 0).any() or own.empty)


def further_connections(single: SingleRun) -> dict[str, pd.DataFrame]:
    """Returns the slots of further connections for the plots of a run, by label, the largest first.

    They have the same receiver as `SingleRun.connection`, and at least `_MIN_CONNECTION_SHARE` of all
    delivered bytes.
    """
    shown = single.connection
    flows = single.flows
    selected = flows[
        (flows["flow"] != shown["flow"])
        & (flows["ue"] == shown["ue"])
        & (flows["bytes"] >= _MIN_CONNECTION_SHARE * flows["bytes"].sum())
    ].sort_values("bytes", ascending=False)
    return {
        f"{row['name']} ({labels([str(row['cca'])])[str(row['cca'])]})": single.slots[
            single.slots["flow"] == row["flow"]
        ]
        for _, row in selected.iterrows()
    }


def _finished_units(single: SingleRun) -> dict[str, pd.DataFrame]:
    """Returns the finished units of work of a run, by kind; kinds with one unit are left out."""
    units = without_connections(comparison_of(single).units).dropna(subset="duration_s")
    return {str(unit): group for unit, group in units.groupby("unit", sort=False) if len(group) > 1}


class RunPlots:
    """Plots of one run; each is a matplotlib figure."""

    def __init__(self, single: SingleRun) -> None:
        self._single = single

    def __call__(self) -> Figure:
        """Draws the time series."""
        return self.time_series()

    def time_series(self, *, raw: bool = False) -> Figure:
        """Draws rates over the shaded capacity, RTT, window, queue, data in flight and modes.

        Below are the durations of responses, pages or frames of flows with an application.

        Args:
            raw: whether to draw the goodput of each slot, and not means over a second.
        """
        single = self._single
        units = _finished_units(single)
        flows = list(dict.fromkeys(flow for table in units.values() for flow in table["flow"]))
        heights = [*[1.0] * 3, *[0.7] * len(units)]
        picture = figure(8, 2.33 * sum(heights))
        axes = picture.subplots(len(heights), 1, sharex=True, height_ratios=heights)
        cca = str(single.connection["cca"])
        slots, samples, decisions = tables_of_connection(single)
        window = None if raw else window_of(slots, float(single.results.about["slot_s"]))
        others = further_connections(single)
        paced = is_paced(single)
        draw_run_series(list(axes[:3]), cca, slots, samples, decisions, window, others, is_paced=paced)
        for panel, (unit, table) in zip(axes[3:], units.items(), strict=True):
            draw_run_units(panel, table, unit, flows)
        axes[2].set_xlabel("")
        axes[-1].set_xlabel("time, s")
        about = single.results.about
        subject = f", {single.subject}" if single.subject else ""
        titled(picture, f"{about['name']}: {labels([cca])[cca]}, seed {about['seed']}{subject}")
        footnote(picture, [engine_text(about), *(f"! {warning}" for warning in single.warnings)])
        return picture

    def video(self) -> Figure:
        """Draws the video session."""
        return ComparisonPlots(Comparison(self._single.results)).video()

    def legs(self) -> Figure:
        """Draws both sides of split hosts."""
        single = self._single
        about = single.results.about
        (cca,) = labels([str(single.connection["cca"])]).values()
        subtitle = f"{cca}, seed {about['seed']}"
        tested = Comparison(single.results).tested_flows
        return _legs(about, subtitle, tested, single.slots, single.legs)


def _legs(
    about: Mapping[str, Any],
    subtitle: str,
    flows: pd.DataFrame,
    slots: pd.DataFrame,
    legs: pd.DataFrame,
) -> Figure:
    """Draws the legs of the first of these connections of a run that a host split."""
    downstream = legs[(legs["towards"] != "server") & legs["flow"].isin(flows["flow"])]
    if downstream.empty:
        raise CelltcpError(
            "plot: no connection of the flow under test was split towards a phone; legs has nothing to "
            "draw"
        )
    number = int(downstream["flow"].min())
    picture = figure(7, 6.5)
    panels = list(picture.subplots(3, 1, sharex=True))
    draw_legs(panels, slots[slots["flow"] == number], downstream[downstream["flow"] == number])
    connection = f", connection {number}" if slots["flow"].nunique() > 1 else ""
    titled(picture, f"{about['name']}: {subtitle}{connection}")
    footnote(picture, [engine_text(about)])
    return picture


def _runs_text(about: Mapping[str, Any], ccas: Sequence[str]) -> str:
    """Returns the number of runs, with the congestion control if there is a single one."""
    whose = labels(ccas)[ccas[0]] if len(ccas) == 1 else "each CCA"
    return f"{count_text(about['runs'], 'run')} of {whose}"


def plot_sweep(sweep: Sweep, by: Sequence[str] = ()) -> Figure:
    """Draws metrics against the values; `by` are chosen ones, as in `Comparison.best_by`."""
    picture = draw_sweep(sweep, by)
    comparisons = list(sweep.points.values())
    about = comparisons[0].results.about
    names = dict.fromkeys(str(comparison.results.about["name"]) for comparison in comparisons)
    titled(picture, f"{', '.join(names)}: {_runs_text(about, sweep.ccas)}")
    footnote(picture, [engine_text(about), *(f"! {warning}" for warning in sweep.warnings)])
    return picture
