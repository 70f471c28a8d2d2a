"""Plots of results: methods that draw the data frames of a comparison or a run."""

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
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.load_results import comparison_of
from celltcp.comparison.parameter_sweep import Sweep
from celltcp.comparison.plots.distribution import column_of, draw_ecdf, drawn_metric
from celltcp.comparison.plots.grids import draw_ecdf_grid, draw_spiders, draw_window_grid
from celltcp.comparison.plots.legs import draw_legs
from celltcp.comparison.plots.series import (
    ONE_WAY,
    RTT,
    draw_comparison_series,
    draw_flows,
    draw_run_series,
    draw_units,
    draw_units_beside,
    headroom,
)
from celltcp.comparison.plots.smoothing import window_of
from celltcp.comparison.plots.startup import draw_startup
from celltcp.comparison.plots.sweep import draw_sweep
from celltcp.comparison.plots.tradeoff import draw_throughput_delay
from celltcp.comparison.plots.video_sessions import draw_sessions, sessions_picture
from celltcp.comparison.single_run import SingleRun
from celltcp.comparison.tables import flow_cca, flow_label, has_rows_of_flows
from celltcp.comparison.units_of_work import (
    UNITS,
    units_of,
    units_of_applications,
    without_connections,
)
from celltcp.present.style import figure, footnote, legend_beside, titled
from celltcp.results.tables import frame
from celltcp.scenarios.cca_mix import count_text, labels

#: Maximum of panels of competing flows side by side.
_MAX_PER_ROW = 3
#: Maximum of congestion controls whose series are legible in one panel.
_MAX_SERIES = 6
#: Minimum share of all delivered bytes for another connection to be drawn.
_MIN_CONNECTION_SHARE = 0.05


class ComparisonPlots:
    """Plots of a comparison; each is a matplotlib figure."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def __call__(self) -> Figure:
        """Draws the overview."""
        return self.overview()

    def throughput_delay(self) -> Figure:
        """Draws goodput against the 95th percentile of the one-way delay; the upper left is best."""
        picture = figure(5.5, 4.4)
        self._throughput_delay(picture.add_subplot())
        return self._finished(picture)

    def ecdf(self, metric: str = "goodput") -> Figure:
        """Draws the distribution of a metric.

        Args:
            metric: `goodput`, `rtt`, `owd`, `pm_balanced` or `pm_delay` over slots of the flow under
                test, or of another one: `"rtt:flow-2"`; `response`, `page_load`, `frame_delay`, `fetch`
                or `completion` over the units of work of all flows, or of one: `"response:game"`. A
                metric stands for its values: `"response_p95_s"` for `"response"`.

        Raises:
            CelltcpError: if there is no such metric or flow, or no flow has such units.
        """
        metric = drawn_metric(metric)
        picture = figure(5.5, 4.4)
        self._ecdf(picture.add_subplot(), metric)
        return self._finished(picture, metric)

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
        each = self._comparison
        draw_units(picture.add_subplot(), units_of(each.units, name, flow), each.ccas, name, seed)
        return self._finished(picture, metric)

    def _all_units(self, seed: int | None) -> Figure:
        """Draws the units of each flow and kind in a panel of its own."""
        each = self._comparison
        kinds = list(without_connections(each.units).groupby(["flow", "unit"], sort=False))
        if len(kinds) < 2:
            # A single kind, or the error that there is none.
            unit = kinds[0][0][1] if kinds else next(iter(UNITS))
            return self.units(str(unit), seed)
        picture = figure(7, 0.6 + 2.4 * len(kinds))
        panels = picture.subplots(len(kinds), 1, sharex=True)
        for axes, ((flow, unit), mine) in zip(panels, kinds, strict=True):
            draw_units(axes, mine, each.ccas, str(unit), seed)
            axes.set_title(str(flow), loc="left", fontsize=9)
        for axes in panels[:-1]:
            axes.set_xlabel("")
        return self._finished(picture, subject="")

    def time_series(self, seed: int | None = None, *, raw: bool = False) -> Figure:
        """Draws goodput and RTT over time; the one-way delay where a middlebox splits connections.

        Where flows compete, each congestion control or line-up has panels with all of them.

        Args:
            seed: of the run; the first unless given.
            raw: whether to draw the goodput of each slot, and not means over a second or a round trip.
        """
        if has_rows_of_flows([self._comparison]):
            ccas = self._comparison.ccas
            across = min(len(ccas), _MAX_PER_ROW)
            picture = figure(7 if across == 1 else 4.6 * across, 4.5 * math.ceil(len(ccas) / across))
            self._flow_series(picture, picture.add_gridspec(1, 1)[0], ccas, seed, raw=raw)
            self._finished(picture, has_legend=False)
            titled(picture, f"{self._comparison.results.about['name']}: flows that share the path")
            return picture
        picture = figure(7, 4.5)
        upper, lower = picture.subplots(2, 1, sharex=True)
        self._time_series(upper, lower, seed, self._comparison.ccas, raw=raw)
        return self._finished(picture)

    def startup(self, seconds: float = 5.0) -> Figure:
        """Draws the bytes delivered by time t, mean over the runs."""
        picture = figure(5.5, 4.4)
        self._startup(picture.add_subplot(), seconds)
        return self._finished(picture)

    def legs(self, seed: int | None = None) -> Figure:
        """Draws both sides of split hosts in a run of the first line-up that passes one."""
        each = self._comparison
        numbers = each.legs["run"].unique()
        split = each.runs[each.runs["run"].isin(numbers)]
        run = split if seed is None else split[split["seed"] == seed]
        if run.empty:
            raise CelltcpError(f"seed: no run with seed {seed} has a connection that was split")
        number, cca = int(run["run"].iloc[0]), str(run["cca"].iloc[0])
        flows, slots, legs = (
            table[table["run"] == number] for table in (each.tested_flows, each.slots, each.legs)
        )
        return _legs(each.results.about, f"{cca}, seed {int(run['seed'].iloc[0])}", flows, slots, legs)

    def video(self, seed: int | None = None) -> Figure:
        """Draws the video sessions of all CCAs in the run with `seed` (the first unless given)."""
        each = self._comparison
        seed = int(each.runs["seed"].min()) if seed is None else seed
        title = f"{each.results.about['name']}: video, seed {seed}"
        picture, axes = sessions_picture(each.results.about, title, each.warnings, each.ccas)
        of_seed = each.runs[each.runs["seed"] == seed]
        draw_sessions(axes, each.tested_slots, frame(each.results.tables["events"]), of_seed, each.ccas)
        return picture

    def overview(self) -> Figure:
        """Draws all plots on one sheet, first the units of work of the first application."""
        each = self._comparison
        units = units_of_applications(each)
        goodput = [partial(self._ecdf, metric="goodput")] if each.is_competing else []
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
        if has_rows_of_flows([each]):
            self._flow_series(picture, grid[1:, :], each.ccas[:_MAX_PER_ROW], None)
            few = [f"over time the first {_MAX_PER_ROW}; show --plot time-series draws all"]
            return self._finished(picture, notes=few if len(each.ccas) > _MAX_PER_ROW else ())
        upper = picture.add_subplot(grid[1, :])
        lower = picture.add_subplot(grid[2, :], sharex=upper)
        shown = leading_ccas(self._comparison)
        self._time_series(upper, lower, None, shown)
        if len(shown) < len(self._comparison.ccas):
            more = "the leaders; show --plot time-series --cca LIST draws others"
            upper.set_title(more, loc="right", fontsize=8, color="#555555")
        return self._finished(picture)

    def _finished(
        self,
        picture: Figure,
        metric: str = "",
        subject: str | None = None,
        *,
        has_legend: bool = True,
        notes: Sequence[str] = (),
    ) -> Figure:
        """Adds legend, title, origin, notes and warnings; the title names flows of units of work."""
        about = self._comparison.results.about
        if has_legend:
            legend_beside(picture, self._comparison.ccas)
        name, _, flow = metric.partition(":")
        subject = self._comparison.subject if subject is None else subject
        if name in UNITS:
            subject = ", ".join(units_of(self._comparison.units, name, flow)["flow"].unique())
        elif flow and flow != self._comparison.tested.name:
            subject = flow
        of = f", {subject}" if subject else ""
        titled(picture, f"{about['name']}{of}: {_runs(about)} of each CCA")
        warnings = (f"! {warning}" for warning in self._comparison.warnings)
        footnote(picture, [engine_text(about), *notes, *warnings])
        return picture

    def _throughput_delay(self, axes: Axes) -> None:
        draw_throughput_delay(axes, self._comparison.runs, self._comparison.ccas)

    def _ecdf(self, axes: Axes, metric: str) -> None:
        name, _, flow = metric.partition(":")
        each = self._comparison
        if name in UNITS:
            values = units_of(each.units, name, flow)
        else:
            values = each.slots_of(flow) if flow else each.tested_slots
        draw_ecdf(axes, values, each.ccas, name)

    def _units_ecdf(self, axes: Axes, metric: str) -> None:
        """Draws the distribution of units of work with the name of their flow."""
        self._ecdf(axes, metric)
        if flow := metric.partition(":")[2]:
            axes.set_xlabel(f"{flow}: {axes.get_xlabel()}")

    def _time_series(
        self, upper: Axes, lower: Axes, seed: int | None, ccas: list[str], *, raw: bool = False
    ) -> None:
        each = self._comparison
        slots = each.tested_slots
        slot_s = float(each.results.about["slot_s"])
        window = None if raw else window_of(slots, slot_s)
        delay = ONE_WAY if each.split_ccas else RTT
        draw_comparison_series(
            *(upper, lower, each.runs, slots, each.ccas, seed, slot_s, window, ccas, delay)
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
        """Draws the competing flows of a run over time, a pair of panels for each CCA or line-up."""
        each = self._comparison
        seed = int(each.runs["seed"].min()) if seed is None else seed
        slot_s = float(each.results.about["slot_s"])
        window = None if raw else window_of(each.tested_slots, slot_s)
        slots = {flow: each.slots_of(flow.name) for flow in each.competing_flows}
        names = labels(each.ccas)
        across = min(len(ccas), _MAX_PER_ROW)
        down = math.ceil(len(ccas) / across)
        grid = place.subgridspec(2 * down, across)
        top: list[Axes] = []
        bottom: list[Axes] = []
        most = 0.0
        for index, cca in enumerate(ccas):
            row, column = divmod(index, across)
            upper = picture.add_subplot(grid[2 * row, column], sharey=top[0] if top else None)
            lower = picture.add_subplot(
                grid[2 * row + 1, column], sharex=upper, sharey=bottom[0] if bottom else None
            )
            runs = each.runs[(each.runs["cca"] == cca) & (each.runs["seed"] == seed)]
            shown = {
                flow_label(each, flow, cca): (
                    flow_cca(each, flow, cca),
                    mine[mine["run"].isin(runs["run"])],
                )
                for flow, mine in slots.items()
            }
            most = max(most, draw_flows(upper, lower, shown, slot_s, window, across))
            lower.set_title(f"{names[cca]}, seed {seed}", loc="left", fontsize=9)
            top.append(upper)
            bottom.append(lower)
        top[0].set_ylim(0, headroom(most))

    def _startup(self, axes: Axes, seconds: float) -> None:
        each = self._comparison
        slot_s = float(each.results.about["slot_s"])
        draw_startup(
            axes, each.tested_slots, each.tested_flows, each.ccas, slot_s=slot_s, seconds=seconds
        )


def leading_ccas(comparison: Comparison) -> list[str]:
    """Returns the congestion controls whose series are legible together: all, or those that lead."""
    ccas = comparison.ccas
    if len(ccas) <= _MAX_SERIES:
        return ccas
    ranked = [name for verdict in comparison.verdicts.values() for name in verdict.ranked[:2]]
    chosen = list(dict.fromkeys([*ranked, *ccas]))[:_MAX_SERIES]
    return [cca for cca in ccas if cca in chosen]


def tables_of_connection(
    single: SingleRun,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame | None]:
    """Returns slots, samples and decisions of the connection that pictures of a run show."""
    number = single.connection["flow"]
    slots, samples = (each[each["flow"] == number] for each in (single.slots, single.samples))
    if "decisions" not in single.results.tables:
        return slots, samples, None
    decisions = single.decisions
    return slots, samples, decisions[decisions["flow"] == number]


def connections_beside(single: SingleRun) -> dict[str, pd.DataFrame]:
    """Returns the slots of further connections for the pictures of a run, by flow and CCA.

    They are those of the same direction that got 5 % of what all got, the largest first.
    """
    shown = single.connection
    flows = single.flows
    beside = flows[
        (flows["flow"] != shown["flow"])
        & (flows["ue"] == shown["ue"])
        & (flows["bytes"] >= _MIN_CONNECTION_SHARE * flows["bytes"].sum())
    ].sort_values("bytes", ascending=False)
    return {
        f"{row['name']} ({labels([str(row['cca'])])[str(row['cca'])]})": single.slots[
            single.slots["flow"] == row["flow"]
        ]
        for _, row in beside.iterrows()
    }


def units_beside(single: SingleRun) -> dict[str, pd.DataFrame]:
    """Returns the units of work of all flows of a run that have ended, by their kind."""
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

        Flows with an application have the times of their responses, pages or frames below.

        Args:
            raw: each slot's goodput, as it is, instead of means over a second.
        """
        single = self._single
        units = units_beside(single)
        flows = list(dict.fromkeys(flow for mine in units.values() for flow in mine["flow"]))
        heights = [*[1.0] * 3, *[0.7] * len(units)]
        picture = figure(8, 2.33 * sum(heights))
        axes = picture.subplots(len(heights), 1, sharex=True, height_ratios=heights)
        cca = str(single.connection["cca"])
        slots, samples, decisions = tables_of_connection(single)
        window = None if raw else window_of(slots, float(single.results.about["slot_s"]))
        beside = connections_beside(single)
        draw_run_series(list(axes[:3]), cca, slots, samples, decisions, window, beside)
        for panel, (unit, mine) in zip(axes[3:], units.items(), strict=True):
            draw_units_beside(panel, mine, unit, flows)
        axes[2].set_xlabel("")
        axes[-1].set_xlabel("time, s")
        about = single.results.about
        subject = f", {single.subject}" if single.subject else ""
        titled(picture, f"{about['name']}: {labels([cca])[cca]}, seed {about['seed']}{subject}")
        warnings = single.warnings
        footnote(picture, [engine_text(about), *(f"! {warning}" for warning in warnings)])
        return picture

    def video(self) -> Figure:
        """Draws the video session."""
        return ComparisonPlots(Comparison(self._single.results)).video()

    def legs(self) -> Figure:
        """Draws both sides of split hosts."""
        single = self._single
        about = single.results.about
        cca = labels([str(single.connection["cca"])])
        subtitle = f"{', '.join(cca.values())}, seed {about['seed']}"
        tested = Comparison(single.results).tested_flows
        return _legs(about, subtitle, tested, single.slots, single.legs)


def _legs(
    about: Mapping[str, Any],
    subtitle: str,
    flows: pd.DataFrame,
    slots: pd.DataFrame,
    legs: pd.DataFrame,
) -> Figure:
    """Draws the legs of the first connection of the flow under test that was split in a run."""
    forth = legs[(legs["towards"] != "server") & legs["flow"].isin(flows["flow"])]
    if forth.empty:
        raise CelltcpError(
            "plot: no connection of the flow under test was split towards a phone; legs has nothing to "
            "draw"
        )
    number = int(forth["flow"].min())
    picture = figure(7, 6.5)
    panels = list(picture.subplots(3, 1, sharex=True))
    draw_legs(panels, slots[slots["flow"] == number], forth[forth["flow"] == number])
    shown = f", connection {number}" if slots["flow"].nunique() > 1 else ""
    titled(picture, f"{about['name']}: {subtitle}{shown}")
    footnote(picture, [engine_text(about)])
    return picture


def _runs(about: Mapping[str, Any]) -> str:
    return count_text(about["runs"], "run")


def plot_sweep(sweep: Sweep, by: Sequence[str] = ()) -> Figure:
    """Draws the metric of each flow against the values.

    Args:
        sweep: the sweep.
        by: chosen metrics, as those of `Comparison.best_by`, in place of the usual ones.
    """
    picture = draw_sweep(sweep, by)
    each = list(sweep.points.values())
    about = each[0].results.about
    names = dict.fromkeys(str(comparison.results.about["name"]) for comparison in each)
    titled(picture, f"{', '.join(names)}: {_runs(about)} of each CCA")
    every = [warning for comparison in each for warning in comparison.warnings]
    warnings = dict.fromkeys([*([sweep.unfinished] if sweep.unfinished else []), *every])
    footnote(picture, [engine_text(about), *(f"! {warning}" for warning in warnings)])
    return picture
