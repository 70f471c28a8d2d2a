"""Part of a report on a comparison of videos: best CCAs, scores, distributions, sessions."""

from __future__ import annotations

import functools
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from celltcp._core import CelltcpError
from celltcp.campaign.engines import engine_options
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.metrics import interval_ends
from celltcp.comparison.plots.video_sessions import draw_sessions
from celltcp.comparison.report.findings import requirement_finding
from celltcp.comparison.report.provenance import provenance_sections
from celltcp.present.chart import Chart, Numbers, Panel, Series, forward_fill, numbers
from celltcp.present.palette import colours
from celltcp.present.scenario_text import file_name, scenario_sections
from celltcp.present.section import Figure, Finding, Part, Section, runs_text
from celltcp.present.style import CAPACITY, dashes, figure, legend_beside
from celltcp.results.statistics import estimate
from celltcp.results.tables import frame
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.requirements import QOE
from celltcp.scenarios.scenario_list import short_name
from celltcp.video.comparison import VideoComparison, expand_videos
from celltcp.video.plots.video import draw_scores, score_groups
from celltcp.video.plots.viewers import (
    MAX_SCENARIOS,
    QUANTITIES,
    curve_names,
    draw_distributions,
    session_groups,
    share_of_sessions,
)
from celltcp.video.report.video import (
    adaptations_table,
    metrics_table,
    over_all_lines,
    scores_table,
)

_SCORES = (
    "The score is the mean opinion score of ITU-T P.1203, from 1 (bad) to 5 (excellent). Best is the "
    "CCA with the highest mean over the runs of a scenario and an adaptation of the bitrate."
)
_DISTRIBUTIONS = (
    "The share of the sessions of a CCA, with all adaptations, that have at most this value. Of a "
    "single CCA, each adaptation has its own. Over three or more scenarios, it is over their sessions."
)
_SESSIONS = (
    "The run with the first seed: goodput, bitrates of the segments, and what the player has ahead."
)


def video_part(videos: VideoComparison) -> Part:
    """Returns the part of a report on a comparison of videos."""
    about, scenarios, abrs = videos.about, videos.scenarios, videos.adaptations
    ccas = ", ".join(labels(videos.ccas).values())
    best_abrs = {scenario: _best_abr(videos, scenario) for scenario in scenarios}
    adaptations, over_all = adaptations_table(videos), over_all_lines(videos)
    sections = [
        Section("Mean opinion scores", scores_table(videos), text=(_SCORES,)),
        Section("Scores by adaptation", figure=_scores(videos)),
        Section("What the viewers got", replace(metrics_table(videos), title="")),
        *([] if adaptations is None else [Section("Best adaptation", replace(adaptations, title=""))]),
        *([Section("Over all scenarios", text=tuple(over_all))] if over_all else []),
        *_distributions(videos),
    ]
    shown_abrs = dict(list(best_abrs.items())[:MAX_SCENARIOS])
    for scenario, abr in shown_abrs.items():
        title = f"{short_name(scenario)} with {abr}, over time"
        comparison = videos.comparisons[scenario, abr]
        sections.append(Section(title, figure=_sessions(comparison, title), text=(_SESSIONS,)))
    for scenario, abr in shown_abrs.items():
        summary, full = scenario_sections(videos.comparisons[scenario, abr].results.about)
        note = (*summary.text, f"This is the scenario with {abr}; the others have another abr.")
        sections += [replace(summary, title=f"Scenario {short_name(scenario)}", text=note), full]
    # The hash is that of a single scenario.
    origin = {key: value for key, value in about.items() if key != "hash"}
    return Part(
        title=f"Video on {', '.join(map(short_name, scenarios))}",
        question=(
            f"With which of {ccas} does the viewer of a video get most on {', '.join(scenarios)}, with "
            f"{', '.join(abrs)}, in {runs_text(about['runs'])} of {about['duration_s']:g} s each?"
        ),
        findings=tuple(_finding(videos, scenario, abr) for scenario, abr in best_abrs.items()),
        sections=(*sections, *provenance_sections(origin, _command(videos))),
        warnings=tuple(videos.warnings),
    )


def _best_abr(videos: VideoComparison, scenario: str) -> str:
    """Returns the ABR algorithm of a scenario whose leading CCA has the highest mean score."""
    means: dict[str, float] = {}
    for (name, abr), comparison in videos.comparisons.items():
        if name == scenario:
            runs = comparison.runs
            means[abr] = max(
                np.nan_to_num(estimate(runs.loc[runs["cca"] == cca, QOE].tolist()).mean)
                for cca in comparison.ccas
            )
    return max(means, key=lambda abr: means[abr])


def _finding(videos: VideoComparison, scenario: str, abr: str) -> Finding:
    """Returns the finding for the score on a scenario with its best ABR algorithm."""
    comparison = videos.comparisons[scenario, abr]
    finding = requirement_finding(comparison, QOE)
    return replace(finding, question=f"Best on {short_name(scenario)}, with {abr}")


def _scores(videos: VideoComparison) -> Figure:
    """Returns the scores with their intervals, a panel per group of scores."""
    names, shades, abrs = labels(videos.ccas), colours(videos.ccas), videos.adaptations
    panels = []
    for name, scores in score_groups(videos).items():
        series = []
        for cca in videos.ccas:
            of_cca = scores[scores["cca"] == cca]
            estimates = [
                estimate(of_cca.loc[of_cca["abr"] == abr, QOE].astype(float).tolist()) for abr in abrs
            ]
            mean = numbers([score.mean for score in estimates])
            ends = zip(*(interval_ends(QOE, score) for score in estimates), strict=True)
            low, high = (numbers(list(bounds)) for bounds in ends)
            series.append(Series(names[cca], shades[cca], mean, "points", low=low, high=high, size=9))
        panels.append(Panel(short_name(name), "MOS", tuple(series), 2, top=5.0, bottom=1.0))
    chart = Chart(np.arange(len(abrs), dtype=float), "adaptation", "", tuple(panels), names=tuple(abrs))
    draw = functools.partial(draw_scores, videos)
    return Figure(draw, "Mean opinion scores by adaptation of the bitrate and CCA", chart)


def _distributions(videos: VideoComparison) -> Iterator[Section]:
    """Yields the distributions over sessions: a section per quantity, a panel per group of sessions."""
    curves = curve_names(videos)
    names, shades, dash = labels(curves), colours(curves), dashes(curves)
    groups = session_groups(videos)
    for quantity in QUANTITIES:
        values = np.concatenate(
            [numbers(sessions[quantity.column].dropna()) for sessions in groups.values()]
        )
        if not len(values):
            continue
        # A step needs a point at each value and one just before it.
        grid = np.unique(np.concatenate([values, np.nextafter(values, -np.inf)]))
        panels = []
        for name, sessions in groups.items():
            series = tuple(
                Series(
                    names[curve],
                    shades[curve],
                    share_of_sessions(sessions, curve, quantity.column, grid),
                    dash=dash[curve],
                )
                for curve in curves
            )
            panels.append(Panel(short_name(name), "share", series, 2, top=1.0, bottom=0.0))
        title = f"Distribution of the {quantity.name}"
        chart = Chart(grid, quantity.label, quantity.unit, tuple(panels))
        draw = functools.partial(draw_distributions, videos, (quantity,))
        yield Section(title, figure=Figure(draw, title, chart), text=(_DISTRIBUTIONS,))


def _sessions(comparison: Comparison, title: str) -> Figure:
    """Returns goodput, bitrate and buffer over time in the run with the first seed."""
    runs = comparison.runs[comparison.runs["seed"] == comparison.results.about["seed"]]
    slots, events = comparison.tested_slots, frame(comparison.results.tables["events"])

    def draw() -> Picture:
        picture = figure(8.5, 5.2)
        axes = list(picture.subplots(3, 1, sharex=True, height_ratios=[1.2, 1, 1.2]))
        draw_sessions(axes, slots, events, runs, comparison.ccas)
        legend_beside(picture, comparison.ccas)
        return picture

    return Figure(draw, title, _over_time(comparison, runs, slots, events))


def _over_time(
    comparison: Comparison, runs: pd.DataFrame, slots: pd.DataFrame, events: pd.DataFrame
) -> Chart:
    slot_s = float(comparison.results.about["slot_s"])
    times = numbers(np.arange(round(float(comparison.results.about["duration_s"]) / slot_s)) * slot_s)
    names, shades, dash = labels(comparison.ccas), colours(comparison.ccas), dashes(comparison.ccas)
    panels: dict[str, list[Series]] = {"goodput": [], "segments": [], "buffer": []}
    for run, cca in zip(runs["run"], runs["cca"].astype(str), strict=True):
        run_slots = slots[slots["run"] == run]
        run_events = events[events["run"] == run]
        if not panels["goodput"]:
            values = _in_slots(times, slot_s, run_slots["t_s"], run_slots["capacity_mbps"])
            panels["goodput"].append(Series("capacity", CAPACITY, values, look="area"))
        goodput = run_slots.set_index("t_s")["goodput_mbps"]
        # A mean over a second evens out the pauses between segments.
        smooth = goodput.rolling(max(1, round(1.0 / slot_s)), min_periods=1).mean()
        by_panel = {
            "goodput": _in_slots(times, slot_s, smooth.index, smooth),
            "segments": _last_values(times, run_events[run_events["kind"] == "segment_mbps"]),
            "buffer": _last_values(times, run_events[run_events["kind"] == "buffer_s"]),
        }
        for name, values in by_panel.items():
            panels[name].append(Series(names[cca], shades[cca], values, dash=dash[cca]))
    units = {"goodput": "Mbit/s", "segments": "Mbit/s", "buffer": "s"}
    return Chart(
        times,
        "time",
        "s",
        tuple(Panel(name, units[name], tuple(series), 2) for name, series in panels.items()),
        digits=1,
    ).thinned()


def _in_slots(times: Numbers, slot_s: float, slot_times: Any, values: Any) -> Numbers:
    """Returns values of some slots on the grid of all slots; NaN for the others."""
    result = np.full(len(times), np.nan)
    indices = np.round(numbers(slot_times) / slot_s).astype(int)
    is_in_run = indices < len(times)
    result[indices[is_in_run]] = numbers(values)[is_in_run]
    return result


def _last_values(times: Numbers, events: pd.DataFrame) -> Numbers:
    """Returns the value of the last event at each time."""
    return forward_fill(times, numbers(events["t_ns"]) * 1e-9, numbers(events["detail"].astype(float)))


def _command(videos: VideoComparison) -> str:
    """Returns the command that reproduces the results."""
    about, abrs = videos.about, videos.adaptations
    ladder = tomllib.loads(about["scenario"])["flows"][0]["workload"]["ladder"]
    duration = f"{about['duration_s']:g}s"
    origins = [videos.comparisons[name, abrs[0]].results.about for name in videos.scenarios]
    words = [
        "celltcp",
        "video",
        *(_scenario_argument(origin, abrs[0], ladder, duration) for origin in origins),
    ]
    words += ["--abr", ",".join(abrs), "--cca", ",".join(about["cca"]), "--duration", duration]
    words += ["--ladder", ladder, "--runs", str(about["runs"]), "--seed", str(about["seed"])]
    return shlex.join([*words, *engine_options(str(about["engine"])), "--out", "results"])


def _scenario_argument(about: Mapping[str, Any], abr: str, ladder: str, duration: str) -> str:
    """Returns the name of a scenario if it still gives this scenario, else the file in the report."""
    name = str(about["name"])
    try:
        (source,) = expand_videos(name, abr, ladder, RunSettings(duration=duration))[abr].sources
    except (CelltcpError, ValueError):
        return file_name(about)
    return name if source.scenario.hash == about["hash"] else file_name(about)
