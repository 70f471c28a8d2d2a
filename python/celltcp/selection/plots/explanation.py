"""Picture of one connection with a selector: outcome, estimates and decisions on one time axis."""

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

#: Light colours of phases, whose names are in the picture, too.
_PHASES = {
    "start-up": "#F0E442",
    "sustainer": "#9BD5B9",
    "constrained": "#F2B48C",
    "scaling": "#9CCDEB",
}
_GOODPUT, _SEEN = "#0072B2", "#D55E00"

#: Opacity of estimates with a low confidence.
_LOW_CONFIDENCE_OPACITY = 0.25

#: Upper end of an axis over its highest value: above that is the legend.
_LEGEND_HEADROOM = 1.35

#: Width of a letter in a band, as a share of the axis.
_LETTER = 0.009


def draw_explanation(slots: pd.DataFrame, decisions: pd.DataFrame, slot_s: float, title: str) -> Figure:
    """Draws capacity and goodput, RTT, queue and phases, estimated and true, with switches as lines.

    Args:
        slots: outcome, estimates and truth, from `celltcp.selection.agreement.estimates_with_truth`.
        decisions: `t_s`, `to_cca` and `cause` of each choice, in order of time.
        slot_s: length of a slot, s.
        title: of the picture.
    """
    picture = figure(8.5, 6.8)
    rates, delays, queues, phases = picture.subplots(
        4, 1, sharex=True, gridspec_kw={"height_ratios": [3, 2, 2, 1]}
    )
    times = slots["t_s"] + slot_s
    shade_capacity(rates, slots["t_s"], slots["capacity_mbps"])
    rates.plot(times, slots["goodput_mbps"], color=_GOODPUT, lw=1, label="goodput")
    _draw_seen(rates, times, slots, "capacity_mbps_seen", "capacity")
    rates.set_ylabel("Mbit/s")
    # A filled hole delivers more in one slot than the link carries: such spikes are cut off.
    most = float(slots["capacity_mbps"].max())
    rates.set_ylim(0, _LEGEND_HEADROOM * most if most > 0 else None)
    delays.plot(times, slots["rtt_mean_ms"], color=_GOODPUT, lw=1, label="RTT")
    delays.plot(times, slots["base_rtt_ms"], color=_SEEN, lw=1, label="base RTT as seen")
    delays.set_ylabel("ms")
    queues.plot(times, slots["queue_packets"], color=_GOODPUT, lw=1, label="queue")
    _draw_seen(queues, times, slots, "queue_segments", "queue")
    queues.set_ylabel("packets")
    for axes in (delays, queues):
        axes.set_ylim(0, _LEGEND_HEADROOM * axes.get_ylim()[1])
    _draw_phases(phases, slots, slot_s)
    phases.set_xlabel("time, s")
    phases.set_xlim(float(slots["t_s"].min()), float(times.max()))
    for axes in (rates, delays, queues):
        axes.legend(ncols=3, loc="upper right")
    doubtful = f"as seen, confidence below {CONFIDENT:g}"
    handles: list[Artist] = [Patch(color=shade, label=name) for name, shade in _PHASES.items()]
    handles.append(Line2D([], [], color=_SEEN, lw=1, alpha=_LOW_CONFIDENCE_OPACITY, label=doubtful))
    phases.legend(handles=handles, ncols=len(handles), loc="upper center", bbox_to_anchor=(0.5, -0.65))
    draw_changes([rates, delays, queues, phases], decisions)
    titled(picture, title)
    return picture


def _draw_seen(axes: Axes, times: pd.Series, slots: pd.DataFrame, column: str, name: str) -> None:
    """Draws an estimate over time; transparent where its confidence is low."""
    sure = slots[column].where(slots[f"{name}_confidence"] >= CONFIDENT)
    axes.plot(times, slots[column], color=_SEEN, lw=1, alpha=_LOW_CONFIDENCE_OPACITY)
    axes.plot(times, sure, color=_SEEN, lw=1, label=f"{name} as seen")


def _draw_phases(axes: Axes, slots: pd.DataFrame, slot_s: float) -> None:
    """Draws a band of the estimated phases, and below it one of the true phases if known."""
    columns = [name for name in ("phase", "true_phase") if name in slots]
    length = float(slots["t_s"].max() - slots["t_s"].min()) + slot_s
    for row, column in enumerate(columns):
        values = slots[column].astype(str).to_numpy()
        starts = [0, *(np.flatnonzero(values[1:] != values[:-1]) + 1)]
        ends = [*starts[1:], len(values)]
        for start, end in zip(starts, ends, strict=False):
            begin = float(slots["t_s"].iloc[start])
            width = float(slots["t_s"].iloc[end - 1]) + slot_s - begin
            name = str(values[start])
            axes.broken_barh([(begin, width)], (row - 0.4, 0.8), color=_PHASES[name], lw=0)
            # Names that have no room are in the legend.
            if width > _LETTER * len(name) * length:
                axes.text(begin + width / 2, row, name, ha="center", va="center", fontsize=7)
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
