"""Videos as a part of a report: the best CCA for the viewer of each scenario, scores, sessions."""

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
from celltcp.video.plots.video import draw_scores
from celltcp.video.plots.viewers import (
    QUANTITIES,
    draw_viewers,
    members,
    sessions_of,
    share_of_sessions,
)
from celltcp.video.report.video import adaptations_table, metrics_table, scores_table

_SCORES = (
    "The score is the mean opinion score of ITU-T P.1203, from 1 (bad) to 5 (excellent). Best is the "
    "CCA with the highest mean over the runs of a scenario and an adaptation of the bitrate."
)
_DISTRIBUTIONS = (
    "The share of the sessions of a CCA, with all adaptations, that have at most this value. Of a "
    "single CCA, each adaptation has its own."
)
_SESSIONS = (
    "The run with the first seed: goodput, bitrates of the segments, and what the player has ahead."
)


def viewing_part(videos: VideoComparison) -> Part:
    """Returns the part of a report on videos."""
    about = _about(videos)
    scenarios = list(dict.fromkeys(scenario for scenario, _ in videos.comparisons))
    abrs = list(dict.fromkeys(abr for _, abr in videos.comparisons))
    ccas = ", ".join(labels(videos.ccas).values())
    bests = {scenario: _best(videos, scenario) for scenario in scenarios}
    adaptations = adaptations_table(videos)
    sections = [
        Section("Mean opinion scores", scores_table(videos), text=(_SCORES,)),
        Section("Scores by adaptation", figure=_scores(videos, scenarios, abrs)),
        Section("What the viewers got", replace(metrics_table(videos), title="")),
        *([] if adaptations is None else [Section("Best adaptation", replace(adaptations, title=""))]),
        *_distributions(videos, scenarios),
    ]
    for scenario, abr in bests.items():
        title = f"{short_name(scenario)} with {abr}, over time"
        comparison = videos.comparisons[scenario, abr]
        sections.append(Section(title, figure=_sessions(comparison, title), text=(_SESSIONS,)))
    for scenario, abr in bests.items():
        short, whole = scenario_sections(videos.comparisons[scenario, abr].results.about)
        note = (*short.text, f"This is the scenario with {abr}; the others have another abr.")
        titled = replace(short, title=f"Scenario {short_name(scenario)}", text=note)
        sections += [titled, whole]
    return Part(
        title=f"Video on {', '.join(map(short_name, scenarios))}",
        question=(
            f"With which of {ccas} does the viewer of a video get most on {', '.join(scenarios)}, with "
            f"{', '.join(abrs)}, in {runs_text(about['runs'])} of {about['duration_s']:g} s each?"
        ),
        findings=tuple(_finding(videos, scenario, abr) for scenario, abr in bests.items()),
        sections=(
            *sections,
            *provenance_sections(_shared_origin(about), _command(videos, scenarios, abrs)),
        ),
        warnings=tuple(videos.warnings),
    )


def _about(comparison: VideoComparison) -> dict[str, Any]:
    return next(iter(comparison.comparisons.values())).results.about


def _shared_origin(about: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the origin without the hash of a single scenario."""
    return {key: value for key, value in about.items() if key != "hash"}


def _best(videos: VideoComparison, scenario: str) -> str:
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


def _scores(comparison: VideoComparison, scenarios: list[str], abrs: list[str]) -> Figure:
    """Returns the scores with their intervals, a panel per scenario."""
    names, shades = labels(comparison.ccas), colours(comparison.ccas)
    panels = []
    for scenario in scenarios:
        series = []
        for cca in comparison.ccas:
            estimates = []
            for abr in abrs:
                runs = comparison.comparisons[scenario, abr].runs
                estimates.append(estimate(runs.loc[runs["cca"] == cca, QOE].astype(float).tolist()))
            mean = numbers([each.mean for each in estimates])
            low, high = (
                numbers([ends[at] for ends in (interval_ends(QOE, each) for each in estimates)])
                for at in (0, 1)
            )
            series.append(Series(names[cca], shades[cca], mean, "points", low=low, high=high, size=9))
        panels.append(Panel(short_name(scenario), "MOS", tuple(series), 2, top=5.0, bottom=1.0))
    chart = Chart(np.arange(len(abrs), dtype=float), "adaptation", "", tuple(panels), names=tuple(abrs))
    draw = functools.partial(draw_scores, comparison)
    return Figure(draw, "Mean opinion scores by adaptation of the bitrate and CCA", chart)


def _distributions(comparison: VideoComparison, scenarios: list[str]) -> Iterator[Section]:
    """Returns the distributions over sessions: a section per quantity, a panel per scenario."""
    groups = members(comparison)
    names, shades, dash = labels(groups), colours(groups), dashes(groups)
    viewed = {scenario: sessions_of(comparison, scenario) for scenario in scenarios}
    for quantity in QUANTITIES:
        known = np.concatenate([numbers(each[quantity.column].dropna()) for each in viewed.values()])
        if not len(known):
            continue
        # A step needs a point just before each value and one at it.
        grid = np.unique(np.concatenate([known, np.nextafter(known, -np.inf)]))
        panels = []
        for scenario, sessions in viewed.items():
            series = tuple(
                Series(
                    names[member],
                    shades[member],
                    share_of_sessions(sessions, member, quantity.column, grid),
                    dash=dash[member],
                )
                for member in groups
            )
            panels.append(Panel(short_name(scenario), "share", series, 2, top=1.0, bottom=0.0))
        title = f"Distribution of the {quantity.name}"
        chart = Chart(grid, quantity.label, quantity.unit, tuple(panels))
        draw = functools.partial(draw_viewers, comparison, (quantity,))
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
    for number, cca in zip(runs["run"], runs["cca"].astype(str), strict=True):
        rows_of_cca = slots[slots["run"] == number]
        session_events = events[events["run"] == number]
        if not panels["goodput"]:
            values = _in_slots(times, slot_s, rows_of_cca["t_s"], rows_of_cca["capacity_mbps"])
            panels["goodput"].append(Series("capacity", CAPACITY, values, look="area"))
        goodput = rows_of_cca.set_index("t_s")["goodput_mbps"]
        # A second evens out the pauses between segments.
        smooth = goodput.rolling(max(1, round(1.0 / slot_s)), min_periods=1).mean()
        rows = {
            "goodput": _in_slots(times, slot_s, smooth.index, smooth),
            "segments": _level(times, session_events[session_events["kind"] == "segment_mbps"]),
            "buffer": _level(times, session_events[session_events["kind"] == "buffer_s"]),
        }
        for name, values in rows.items():
            panels[name].append(Series(names[cca], shades[cca], values, dash=dash[cca]))
    units = {"goodput": "Mbit/s", "segments": "Mbit/s", "buffer": "s"}
    return Chart(
        times,
        "time",
        "s",
        tuple(Panel(name, units[name], tuple(series), 2) for name, series in panels.items()),
        digits=1,
    ).thinned()


def _in_slots(times: Numbers, slot_s: float, at: Any, values: Any) -> Numbers:
    """Returns values of slots on the grid of all slots."""
    result = np.full(len(times), np.nan)
    places = np.round(numbers(at) / slot_s).astype(int)
    is_in_run = places < len(times)
    result[places[is_in_run]] = numbers(values)[is_in_run]
    return result


def _level(times: Numbers, events: pd.DataFrame) -> Numbers:
    """Returns the value of the last event at each time."""
    return forward_fill(times, numbers(events["t_ns"]) * 1e-9, numbers(events["detail"].astype(float)))


def _command(comparison: VideoComparison, scenarios: list[str], abrs: list[str]) -> str:
    """Returns the command that reproduces the results."""
    about = _about(comparison)
    ladder = tomllib.loads(about["scenario"])["flows"][0]["workload"]["ladder"]
    length = f"{about['duration_s']:g}s"
    origins = {name: comparison.comparisons[name, abrs[0]].results.about for name in scenarios}
    words = [
        "celltcp",
        "video",
        *(_scenario_argument(origins[name], abrs[0], ladder, length) for name in scenarios),
    ]
    words += ["--abr", ",".join(abrs), "--cca", ",".join(about["cca"]), "--duration", length]
    words += ["--ladder", ladder, "--runs", str(about["runs"]), "--seed", str(about["seed"])]
    return shlex.join([*words, *engine_options(str(about["engine"])), "--out", "results"])


def _scenario_argument(about: Mapping[str, Any], abr: str, ladder: str, length: str) -> str:
    """Returns the name of a scenario if it has this origin, otherwise the file of the report."""
    name = str(about["name"])
    try:
        (source,) = expand_videos(name, abr, ladder, RunSettings(duration=length))[abr].sources
    except (CelltcpError, ValueError):
        return file_name(about)
    return name if source.scenario.hash == about["hash"] else file_name(about)
