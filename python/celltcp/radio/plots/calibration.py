"""Pictures of the radio's calibration: the drive on a motorway, CQI under fading, and phone logs."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from celltcp.present.style import figure
from celltcp.radio.calibration.fading import Reports
from celltcp.radio.calibration.highway import Highway
from celltcp.radio.calibration.phone_logs import PhoneLogs
from celltcp.radio.opportunities import MODULATIONS

#: Colours of the modulations.
_SHADES = ("#0072B2", "#56B4E9", "#E69F00", "#D55E00")


def draw_highway(highway: Highway) -> Figure:
    """Draws modulations, BLER with HARQ attempts, and RTT of short exchanges by SINR."""
    picture = figure(10, 3.6)
    modulations, errors, delays = picture.subplots(1, 3)
    table = highway.by_sinr
    positions = np.arange(len(table))
    bottom = np.zeros(len(table))
    for name, shade in zip(MODULATIONS.values(), _SHADES, strict=True):
        share = 100 * table[name].fillna(0).to_numpy(dtype=float)
        if share.any():
            modulations.bar(positions, share, 0.8, bottom=bottom, color=shade, label=name)
        bottom += share
    modulations.set_ylabel("share of blocks, %")
    errors.plot(positions, 100 * table["bler"], "o-", color="#D55E00", label="BLER")
    decoded = 100 * table["first_decoded"]
    errors.plot(positions, decoded, "s-", color="#0072B2", label="decoded at first")
    errors.plot(positions, 100 * table["again_1"], "^-", color="#009E73", label="2nd attempts")
    errors.set_ylabel("share of blocks, %")
    errors.set_ylim(0, 102)
    delays.plot(positions, table["rtt_ms"], "o-", color="#0072B2", label="short exchanges")
    delays.set_ylabel("mean RTT, ms")
    delays.set_ylim(0, 1.1 * table["rtt_ms"].max())
    for axes in (modulations, errors, delays):
        axes.set_xticks(positions, table["range"], rotation=45, ha="right")
        axes.set_xlim(-0.6, len(table) - 0.4)
        axes.set_xlabel("mean SINR of the second, dB")
    modulations.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
    errors.legend(loc="center")
    return picture


def draw_reports(reports_by_model: list[Reports]) -> Figure:
    """Draws the cumulative distribution of the CQI under each fading model."""
    picture = figure(5, 3.6)
    axes = picture.add_subplot()
    for reports, shade in zip(reports_by_model, ("#0072B2", "#009E73", "#D55E00"), strict=True):
        counts = np.bincount(reports.cqi, minlength=16)
        axes.step(
            np.arange(16),
            np.cumsum(counts) / len(reports.cqi),
            where="post",
            color=shade,
            label=reports.model,
        )
    axes.set_xlabel("CQI at a mean SINR of 20 dB")
    axes.set_ylabel("share of reports")
    axes.set_ylim(0, 1)
    axes.legend()
    return picture


def draw_phone_logs(phone_logs: PhoneLogs) -> Figure:
    """Draws the CQI by SNR: median and quartiles of phones, and the CQI of the simulated UE."""
    picture = figure(6, 3.8)
    axes = picture.add_subplot()
    table = phone_logs.by_snr
    axes.fill_between(
        table["sinr_db"],
        table["low"],
        table["high"],
        color="#D55E00",
        alpha=0.2,
        lw=0,
        label="quartiles",
    )
    axes.plot(table["sinr_db"], table["median"], color="#D55E00", lw=1.5, label="median of phones")
    axes.step(table["sinr_db"], table["simulated"], where="mid", color="#0072B2", lw=1.5, label="ours")
    axes.set_xlabel("SNR, dB")
    axes.set_ylabel("CQI")
    axes.set_ylim(0, 15.5)
    axes.legend()
    return picture
