"""Quantities of downloads one after another on a drive, and of the seconds of its radio (li2017)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity
from celltcp.radio.calibration.seconds import shares

#: Least of the part of the RTO that stands for the deviation (Linux TCP_RTO_MIN), ms.
_RTO_MIN_MS = 200.0

#: Share of the largest window at which the ramp of a download is over.
_RAMP = 0.9

#: Payload of a packet of 1428 bytes, kB.
_SEGMENT_KB = 1.376


def _within(values: pd.Series, figure: Published) -> pd.Series:
    low, high = figure.zone or (-math.inf, math.inf)
    return (values >= low) & (values < high)


def _all(measured: Measured, figure: Published) -> list[pd.DataFrame]:
    """Returns the downloads of each run but the last, which the end of the run cuts off."""
    result = []
    for flows, digest in zip(measured.flows_of(figure), measured.digests_of(figure), strict=True):
        cut = flows["completion_s"].isna() & (flows["flow"] == flows["flow"].max())
        mine = flows[~cut].copy()
        ratios = digest.seconds.set_index("second")["sinr_db"]
        lasting = mine["completion_s"].fillna(0.0)
        mine["sinr_db"] = [
            float(ratios.loc[math.floor(start) : math.floor(start + length)].mean())
            for start, length in zip(mine["start_s"], lasting, strict=True)
        ]
        handovers = measured.handovers
        mine["handovers"] = [
            handovers.get((run, flow), 0) for run, flow in zip(mine["run"], mine["flow"], strict=True)
        ]
        result.append(mine)
    return result


def _ended(measured: Measured, figure: Published, by: str = "sinr_db") -> list[pd.DataFrame]:
    """Returns the ended downloads of each run, those in the zone."""
    ended = [each[each["completion_s"].notna()] for each in _all(measured, figure)]
    return [each[_within(each[by], figure)] for each in ended] if figure.zone else ended


def _of(
    measure: Callable[[pd.DataFrame], float], column: str | None = None, by: str = "sinr_db"
) -> Quantity:
    def spread(measured: Measured, figure: Published) -> list[float]:
        return [float(x) for each in _ended(measured, figure, by) for x in each[column].dropna()]

    return Quantity(
        lambda measured, figure: [measure(each) for each in _ended(measured, figure, by)],
        spread if column else None,
        log=True,
    )


def _mean(column: str, by: str = "sinr_db") -> Quantity:
    return _of(lambda flows: float(flows[column].mean()), column, by)


def _each(column: str) -> Quantity:
    """A column of all downloads of all runs."""

    def values(measured: Measured, figure: Published) -> list[float]:
        return [float(x) for each in _ended(measured, figure) for x in each[column].dropna()]

    return Quantity(values, values, log=True)


def _pooled(measure: Callable[[pd.DataFrame], float], *, failed: bool = False) -> Quantity:
    """A measure of all downloads of all runs together: one value."""

    def values(measured: Measured, figure: Published) -> list[float]:
        return [measure(pd.concat(_all(measured, figure) if failed else _ended(measured, figure)))]

    return Quantity(values, log=True)


def _share(upper: str) -> Quantity:
    """Share of the segments of a download; the spread is over downloads."""

    def spread(measured: Measured, figure: Published) -> list[float]:
        return [
            float(x)
            for each in _ended(measured, figure)
            for x in (each[upper] / each["segments"]).dropna()
        ]

    return Quantity(
        lambda measured, figure: [
            float((each[upper] / each["segments"]).mean()) for each in _ended(measured, figure)
        ],
        spread,
        log=True,
    )


def _per_download(measure: Callable[[pd.DataFrame], float]) -> Quantity:
    """A measure of the slots of each download: its mean per run, and its spread over downloads."""

    def each_run(measured: Measured, figure: Published) -> list[list[float]]:
        result = []
        for ended in _ended(measured, figure):
            slots = measured.all_slots.merge(ended[["run", "flow"]], on=["run", "flow"])
            result.append([measure(mine) for _, mine in slots.groupby(["run", "flow"])])
        return result

    return Quantity(
        lambda measured, figure: [
            math.fsum(each) / len(each) if each else math.nan for each in each_run(measured, figure)
        ],
        lambda measured, figure: [
            x for each in each_run(measured, figure) for x in each if not math.isnan(x)
        ],
        log=True,
    )


def _timeout(slots: pd.DataFrame) -> float:
    """Mean RTO in ms, from the RTT of the slots as RFC 6298 has it from samples."""
    smoothed, deviation, result = math.nan, 0.0, []
    for rtt in slots["rtt_mean_ms"].dropna():
        if math.isnan(smoothed):
            smoothed, deviation = rtt, rtt / 2
        else:
            deviation += (abs(rtt - smoothed) - deviation) / 4
            smoothed += (rtt - smoothed) / 8
        result.append(smoothed + max(_RTO_MIN_MS, 4 * deviation))
    return math.fsum(result) / len(result) if result else math.nan


def _ramp(slots: pd.DataFrame) -> float:
    """Seconds until the window has been most of the largest that it gets."""
    opened = np.flatnonzero(slots["cwnd"].to_numpy() >= _RAMP * slots["cwnd"].max())
    return float(slots["t_s"].iloc[opened[0]] - slots["t_s"].iloc[0])


def _of_blocks(column: str) -> Quantity:
    """Share of the blocks, in seconds whose mean SINR is in the zone; one value over all runs."""

    def values(measured: Measured, figure: Published) -> list[float]:
        result = pd.concat([digest.seconds for digest in measured.digests_of(figure)])
        return [float(shares(result[_within(result["sinr_db"], figure)])[column])]

    return Quantity(values, log=True)


def _seconds_share(measured: Measured, figure: Published) -> list[float]:
    return [
        float(_within(each.seconds["sinr_db"], figure).mean()) for each in measured.digests_of(figure)
    ]


#: Quantities of downloads and of the seconds of a drive.
OF_DOWNLOADS: dict[str, Quantity] = {
    # Of each download, so that the interval is that of the mean over downloads.
    "download_rate": _each("goodput_mbps"),
    "download_rate_sd": _pooled(lambda flows: float(flows["goodput_mbps"].std())),
    "download_rate_median": _pooled(lambda flows: float(flows["goodput_mbps"].median())),
    "download_rate_by_handovers": _mean("goodput_mbps", "handovers"),
    "download_rtt": _mean("rtt_mean_ms"),
    "download_rto": _per_download(_timeout),
    "download_inflight": _per_download(lambda slots: float(slots["inflight"].mean()) * _SEGMENT_KB),
    "download_ramp": _per_download(_ramp),
    "download_retransmissions": _share("retransmissions"),
    "download_dupacks": _share("duplicate_acks"),
    "download_sinr": _mean("sinr_db"),
    "download_failed": _pooled(lambda flows: float(flows["completion_s"].isna().mean()), failed=True),
    "handovers_1": _pooled(lambda flows: float((flows["handovers"] >= 1).mean())),
    "handovers_3": _pooled(lambda flows: float((flows["handovers"] >= 3).mean())),
    "exchange_rtt": _mean("rtt_mean_ms"),
    "seconds": Quantity(_seconds_share, log=True),
    "blocks_qpsk": _of_blocks("QPSK"),
    "blocks_16qam": _of_blocks("16QAM"),
    "blocks_64qam": _of_blocks("64QAM"),
    "bler": _of_blocks("bler"),
    "blocks_first_decoded": _of_blocks("first_decoded"),
    "blocks_again_1": _of_blocks("again_1"),
    "blocks_again_2": _of_blocks("again_2"),
    "blocks_again_3": _of_blocks("again_3"),
}
