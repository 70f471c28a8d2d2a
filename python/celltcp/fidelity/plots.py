"""Pictures of fidelity: the native engine compared with the kernel."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from celltcp._core import KERNEL, NATIVE
from celltcp.fidelity.differences import Fidelity, Judgement
from celltcp.present.palette import colour, colours, markers
from celltcp.present.style import CAPACITY, figure

#: Colour of the kernel; the native engine has that of the congestion control.
LINUX = "#000000"
#: Limit of the axes, as a multiple of the widest band; values beyond are drawn at the edge as numbers.
_AXIS_BANDS = 2.5


def draw_trajectories(judgement: Judgement, seed: int) -> Figure:
    """Draws congestion window and RTT of both engines in the run with this seed."""
    picture = figure(8, 4.5)
    windows, delays = picture.subplots(2, 1, sharex=True)
    native, kernel = judgement.trajectories
    for name, run, shade, width in (
        (KERNEL, kernel, LINUX, 1.4),
        (NATIVE, native, colour(judgement.cca), 0.9),
    ):
        windows.plot(run.t_s, run.cwnd, color=shade, lw=width, label=name)
        delays.plot(run.slot_t_s, run.rtt_ms, color=shade, lw=width, label=name)
    windows.set_ylabel("cwnd, segments")
    windows.set_ylim(bottom=0)
    windows.legend(ncols=2, loc="lower right")
    delays.set_ylabel("RTT per slot, ms")
    delays.set_ylim(bottom=0)
    delays.set_xlabel("time, s")
    picture.suptitle(f"{judgement.cca} on {judgement.case}, seed {seed}")
    return picture


def draw_overview(fidelity: Fidelity) -> Figure:
    """Draws the differences of goodput and mean RTT in every case, with the bands."""
    cases = list(dict.fromkeys(judgement.case for judgement in fidelity.judgements))
    ccas = list(dict.fromkeys(judgement.cca for judgement in fidelity.judgements))
    # A row has room for five marks; more marks are closer to each other.
    picture = figure(9, 1.8 + 0.13 * len(cases) * min(len(ccas) + 1, 6))
    left, right = picture.subplots(1, 2, sharey=True)
    for axes, metric, label in (
        (left, "goodput_mbps", "goodput"),
        (right, "rtt_mean_ms", "mean RTT"),
    ):
        _draw_differences(axes, fidelity, metric, cases, ccas)
        axes.set_xlabel(f"{label}: native less kernel, % of the kernel's")
    left.set_yticks(range(len(cases)), cases)
    left.set_ylim(len(cases) - 0.5, -0.5)
    handles, labels = left.get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside right upper")
    return picture


def _draw_differences(
    axes: Axes, fidelity: Fidelity, metric: str, cases: list[str], ccas: list[str]
) -> None:
    """Draws a row per case with a mark and interval per congestion control, on the band in grey."""
    height = 0.9 / len(ccas)
    bands = [judgement.differences[metric].band or 0.0 for judgement in fidelity.judgements]
    edge = _AXIS_BANDS * max(bands)
    labelled: set[str] = set()
    shades, marks = colours(ccas), markers(ccas)
    for judgement in fidelity.judgements:
        difference = judgement.differences[metric]
        cca = judgement.cca
        y = cases.index(judgement.case) + (ccas.index(cca) - (len(ccas) - 1) / 2) * height
        if difference.band is not None:
            label = None if "band" in labelled else "band"
            axes.barh(
                y, 2 * difference.band, height, -difference.band, color=CAPACITY, lw=0, label=label
            )
            labelled.add("band")
        if math.isnan(difference.percent):
            continue
        is_beyond = abs(difference.percent) > edge
        x = math.copysign(edge, difference.percent) if is_beyond else difference.percent
        axes.errorbar(
            x,
            y,
            xerr=None if is_beyond or difference.ci95 is None else difference.ci95,
            color=shades[cca],
            marker=marks[cca],
            ms=4 if len(ccas) < 6 else 2.5,
            lw=1,
            ls="none",
            label=None if cca in labelled else cca,
            clip_on=not is_beyond,
        )
        labelled.add(cca)
        if is_beyond:
            axes.annotate(
                f"{difference.percent:+.0f} %",
                (x, y),
                (-6 if x > 0 else 6, 0),
                textcoords="offset points",
                ha="right" if x > 0 else "left",
                va="center",
                size=7,
            )
    axes.axvline(0, color="#666666", lw=0.8)
    axes.set_xlim(-edge, edge)
    axes.grid(axis="y", visible=False)
