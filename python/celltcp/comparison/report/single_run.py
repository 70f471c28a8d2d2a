"""Single run as a part of a report: its connections, and their state at every ACK."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from celltcp.comparison.plots.accessors import further_connections, is_paced, tables_of_connection
from celltcp.comparison.plots.series import draw_comparison_series, draw_run_series
from celltcp.comparison.plots.smoothing import window_of
from celltcp.comparison.report.pictures import top_of
from celltcp.comparison.report.provenance import command_of, provenance_sections
from celltcp.comparison.single_run import SingleRun
from celltcp.comparison.tables import limits_sections
from celltcp.present.chart import Chart, Panel, Series, numbers
from celltcp.present.palette import colour
from celltcp.present.scenario_text import scenario_sections
from celltcp.present.section import Column, Figure, Finding, Part, Section, Table, value_text
from celltcp.present.style import CAPACITY, figure
from celltcp.scenarios.cca_mix import labels

#: Columns of the table of connections: name, heading, digits.
_COLUMNS = (
    ("goodput_mbps", "goodput Mbit/s", 2),
    ("rtt_mean_ms", "mean RTT ms", 1),
    ("rtt_p95_ms", "p95 RTT ms", 1),
    ("rtt_min_ms", "least RTT ms", 1),
    ("retransmissions", "retransmissions", 0),
    ("timeouts", "time-outs", 0),
    ("pm_balanced", "PM balanced", 3),
    ("pm_delay", "PM delay", 3),
)
#: Value of an unset ssthresh.
_NO_THRESHOLD = 2**31 - 1
_GREY, _OLIVE = "#999999", "#999933"


def single_part(single_run: SingleRun) -> Part:
    """Returns the part of a report on one run."""
    about = single_run.results.about
    flows = single_run.flows
    names = labels(flows["cca"].unique())
    rows = tuple(
        (
            str(flow["name"]),
            names[flow["cca"]],
            *(value_text(flow[name], digits) for name, _, digits in _COLUMNS),
        )
        for flow in flows.to_dict("records")
    )
    columns = (
        *(Column("flow"), Column("CCA")),
        *(Column(heading, is_number=True) for _, heading, _ in _COLUMNS),
    )
    table = Table(columns, rows, cca_of_cell={name: cca for cca, name in names.items()})
    cca = str(about["cca"][0])
    return Part(
        title=f"{about['name']}: {cca}, seed {about['seed']}",
        question=(
            f"What does {cca} do on {about['name']} in one run of {about['duration_s']:g} s with seed "
            f"{about['seed']}?"
        ),
        findings=_findings(single_run),
        sections=(
            Section("Connections", table),
            *limits_sections(single_run.results),
            *_pictures(single_run),
            *_decisions(single_run),
            *scenario_sections(about),
            *provenance_sections(about, command_of("run", about)),
        ),
        warnings=tuple(single_run.warnings),
    )


def _findings(single_run: SingleRun) -> tuple[Finding, ...]:
    if not len(single_run.flows):
        return ()
    flow = single_run.connection
    cca = str(flow["cca"])
    name = labels([cca])[cca]
    note = "one run is not conclusive: celltcp compare ranks the CCAs"
    subject = f", {single_run.subject}" if single_run.subject else ""
    return (
        Finding(
            "Goodput",
            f"{flow['goodput_mbps']:.2f} Mbit/s",
            f"of {name}{subject}",
            note,
            "undecided",
            colour(cca),
        ),
        Finding(
            "RTT",
            f"{value_text(flow['rtt_mean_ms'], 0)} ms on average",
            f"95th percentile {value_text(flow['rtt_p95_ms'], 0)} ms, least "
            f"{value_text(flow['rtt_min_ms'], 0)} ms",
            state="undecided",
        ),
        Finding(
            "Losses",
            f"{flow['retransmissions']:.0f} segments sent again",
            f"{flow['timeouts']:.0f} times after a timeout",
            state="undecided",
        ),
    )


def _pictures(single_run: SingleRun) -> list[Section]:
    if not len(single_run.samples) or not len(single_run.slots):
        return []
    cca = str(single_run.connection["cca"])
    slots, samples, decisions = tables_of_connection(single_run)
    slot_s = float(single_run.results.about["slot_s"])
    subject_text = f" of {single_run.subject}" if single_run.subject else ""
    paced = is_paced(single_run)

    def draw() -> Picture:
        picture = figure(8.5, 7)
        axes = list(picture.subplots(3, 1, sharex=True))
        window = window_of(slots, slot_s)
        others = further_connections(single_run)
        draw_run_series(axes, cca, slots, samples, decisions, window, others, is_paced=paced)
        return picture

    def draw_slots() -> Picture:
        picture = figure(8.5, 4.6)
        upper, lower = picture.subplots(2, 1, sharex=True)
        runs = single_run.connection.to_frame().T.assign(seed=single_run.results.about["seed"], cca=cca)
        draw_comparison_series(upper, lower, runs, slots, [cca], None, slot_s)
        lower.set_xlabel("time, s")
        return picture

    ack_figure = Figure(
        draw, "Rates, RTT and windows over time", _ack_chart(samples, cca, is_paced=paced)
    )
    slot_figure = Figure(draw_slots, "Goodput and RTT per slot", _slot_chart(slots, cca))
    return [
        Section(f"Every ACK{subject_text}", figure=ack_figure),
        Section(f"Slots of {slot_s:g} s{subject_text}", figure=slot_figure),
    ]


def _ack_chart(samples: pd.DataFrame, cca: str, *, is_paced: bool) -> Chart:
    """Returns the state of a connection at every ACK."""
    times = numbers(samples["t_ns"]) * 1e-9
    threshold = numbers(samples["ssthresh"])
    known = np.where(threshold < _NO_THRESHOLD, threshold, np.nan)
    shade = colour(cca)
    rate = Series("pacing rate", shade, numbers(samples["pacing_rate_bps"]) * 1e-6)
    delay = Series("smoothed RTT", shade, numbers(samples["srtt_us"]) * 1e-3)
    windows = (
        Series("cwnd", shade, numbers(samples["cwnd"]), holds=True),
        Series("in flight", _GREY, numbers(samples["inflight"]), holds=True),
        Series("ssthresh", _OLIVE, known, dash=(2, 2), holds=True),
    )
    panels = (
        *([Panel("pacing rate", "Mbit/s", (rate,), 2)] if is_paced else []),
        Panel("smoothed RTT", "ms", (delay,), 1),
        Panel("windows", "segments", windows, 0, top=top_of(windows[0].values)),
    )
    return Chart(times, "time", "s", panels, digits=4, group="time").thinned()


def _slot_chart(slots: pd.DataFrame, cca: str) -> Chart:
    """Returns the slots of a connection."""
    shade = colour(cca)
    capacity = numbers(slots["capacity_mbps"])
    rates = (
        Series("capacity", CAPACITY, capacity, look="area"),
        Series("goodput", shade, numbers(slots["goodput_mbps"])),
    )
    panels = (
        Panel("rates", "Mbit/s", rates, 2, top=top_of(capacity)),
        Panel("RTT on the path", "ms", (Series("RTT", shade, numbers(slots["rtt_mean_ms"])),), 1),
        Panel(
            "bottleneck queue",
            "packets",
            (Series("queue", _OLIVE, numbers(slots["queue_packets"])),),
            0,
        ),
    )
    return Chart(numbers(slots["t_s"]), "time", "s", panels, digits=2, group="time").thinned()


def _decisions(single_run: SingleRun) -> list[Section]:
    """Returns the decisions of selectors; none without a selector."""
    if "decisions" not in single_run.results.tables:
        return []
    headings = ("from", "to", "cause", "why")
    names = ("from_cca", "to_cca", "cause", "reason")
    rows = tuple(
        (f"{decision['t_ns'] * 1e-9:.2f}", *(str(decision[name]) for name in names))
        for decision in single_run.decisions.to_dict("records")
    )
    table = Table((Column("time, s", is_number=True), *map(Column, headings)), rows)
    return [Section("Decisions", table)]
