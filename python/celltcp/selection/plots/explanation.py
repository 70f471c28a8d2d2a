"""Plot of a connection with a selector: metrics, estimates and switches on one time axis."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from celltcp.campaign.provenance import engine_text
from celltcp.comparison.plots.cca_switches import draw_changes
from celltcp.present.style import figure, footnote, shade_capacity, titled
from celltcp.results.warnings import all_warnings
from celltcp.selection.agreement import CONFIDENT
from celltcp.selection.explanation import Explanation

#: Colours of phases.
_PHASES = {
    "start-up": "#F0E442",
    "sustainer": "#9BD5B9",
    "constrained": "#F2B48C",
    "scaling": "#9CCDEB",
}
#: Colours of measured and of estimated values.
_MEASURED, _ESTIMATED = "#0072B2", "#D55E00"

#: Opacity of estimates with a low confidence.
_LOW_CONFIDENCE_OPACITY = 0.25

#: Upper end of an axis relative to its maximum value, with space for the legend.
_LEGEND_HEADROOM = 1.35

#: Width of a letter in a band, as a share of the axis.
_LETTER_WIDTH = 0.009


def draw_explanation(slots: pd.DataFrame, decisions: pd.DataFrame, slot_s: float, title: str) -> Figure:
    """Draws capacity and goodput, RTT, queue and phases, estimated and true, with switches as lines.

    Args:
        slots: as `celltcp.selection.agreement.estimates_with_truth` returns them.
        decisions: `t_s`, `to_cca` and `cause` of each decision, in order of time.
        slot_s: length of a slot, s.
        title: title of the picture.
    """
    picture = figure(8.5, 6.8)
    rates, delays, queues, phases = picture.subplots(
        4, 1, sharex=True, gridspec_kw={"height_ratios": [3, 2, 2, 1]}
    )
    times = slots["t_s"] + slot_s
    shade_capacity(rates, slots["t_s"], slots["capacity_mbps"])
    rates.plot(times, slots["goodput_mbps"], color=_MEASURED, lw=1, label="goodput")
    _draw_estimate(rates, times, slots, "capacity_mbps_estimated", "capacity")
    rates.set_ylabel("Mbit/s")
    # A retransmission that fills a hole delivers more in a slot than the capacity: a spike to cut off.
    max_mbps = float(slots["capacity_mbps"].max())
    rates.set_ylim(0, _LEGEND_HEADROOM * max_mbps if max_mbps > 0 else None)
    delays.plot(times, slots["rtt_mean_ms"], color=_MEASURED, lw=1, label="RTT")
    delays.plot(times, slots["base_rtt_ms"], color=_ESTIMATED, lw=1, label="base RTT as seen")
    delays.set_ylabel("ms")
    queues.plot(times, slots["queue_packets"], color=_MEASURED, lw=1, label="queue")
    _draw_estimate(queues, times, slots, "queue_segments", "queue")
    queues.set_ylabel("packets")
    for axes in (delays, queues):
        axes.set_ylim(0, _LEGEND_HEADROOM * axes.get_ylim()[1])
    _draw_phases(phases, slots, slot_s)
    phases.set_xlabel("time, s")
    phases.set_xlim(float(slots["t_s"].min()), float(times.max()))
    for axes in (rates, delays, queues):
        axes.legend(ncols=3, loc="upper right")
    low_confidence = f"as seen, confidence below {CONFIDENT:g}"
    handles: list[Artist] = [Patch(color=shade, label=name) for name, shade in _PHASES.items()]
    handles.append(
        Line2D([], [], color=_ESTIMATED, lw=1, alpha=_LOW_CONFIDENCE_OPACITY, label=low_confidence)
    )
    phases.legend(handles=handles, ncols=len(handles), loc="upper center", bbox_to_anchor=(0.5, -0.65))
    draw_changes([rates, delays, queues, phases], decisions)
    titled(picture, title)
    return picture


def _draw_estimate(axes: Axes, times: pd.Series, slots: pd.DataFrame, column: str, name: str) -> None:
    """Draws an estimate over time; transparent if its confidence is low."""
    confident = slots[column].where(slots[f"{name}_confidence"] >= CONFIDENT)
    axes.plot(times, slots[column], color=_ESTIMATED, lw=1, alpha=_LOW_CONFIDENCE_OPACITY)
    axes.plot(times, confident, color=_ESTIMATED, lw=1, label=f"{name} as seen")


def _draw_phases(axes: Axes, slots: pd.DataFrame, slot_s: float) -> None:
    """Draws a band of the estimated phases, and below it one of the true phases if known."""
    columns = [name for name in ("phase", "true_phase") if name in slots]
    duration_s = float(slots["t_s"].max() - slots["t_s"].min()) + slot_s
    for row, column in enumerate(columns):
        values = slots[column].astype(str).to_numpy()
        starts = [0, *(np.flatnonzero(values[1:] != values[:-1]) + 1)]
        ends = [*starts[1:], len(values)]
        for start, end in zip(starts, ends, strict=False):
            start_s = float(slots["t_s"].iloc[start])
            width_s = float(slots["t_s"].iloc[end - 1]) + slot_s - start_s
            name = str(values[start])
            axes.broken_barh([(start_s, width_s)], (row - 0.4, 0.8), color=_PHASES[name], lw=0)
            # Names that do not fit are only in the legend.
            if width_s > _LETTER_WIDTH * len(name) * duration_s:
                axes.text(start_s + width_s / 2, row, name, ha="center", va="center", fontsize=7)
    names = {"phase": "phase as seen", "true_phase": "true phase"}
    axes.set_yticks(range(len(columns)), [names[column] for column in columns])
    axes.set_ylim(len(columns) - 0.5, -0.5)
    axes.grid(visible=False)


def plot_explanation(explained: Explanation) -> Figure:
    """Draws one connection with a selector: capacity, goodput, RTT, queue and phases over time."""
    about = explained.results.about
    slot_s = float(about["slot_s"])
    picture = draw_explanation(explained.slots, explained.decisions, slot_s, explained.title)
    warnings = all_warnings(explained.results)
    footnote(picture, [engine_text(about), *(f"! {warning}" for warning in warnings)])
    return picture
