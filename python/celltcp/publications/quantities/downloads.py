"""Quantities of downloads one after another on a drive, and of the seconds of its radio (li2017)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity
from celltcp.radio.calibration.seconds import block_shares

#: Minimum of the deviation's part of the RTO (Linux TCP_RTO_MIN), ms.
_RTO_MIN_MS = 200.0

#: Share of the largest window that ends the ramp of a download.
_RAMP = 0.9

#: Payload of a packet of 1428 bytes, kB.
_SEGMENT_KB = 1.376


def _within(values: pd.Series, entry: Published) -> pd.Series:
    low, high = entry.zone or (-math.inf, math.inf)
    return (values >= low) & (values < high)


def _downloads(measured: Measured, entry: Published) -> list[pd.DataFrame]:
    """Returns the downloads of each run, except the last one if the end of the run cuts it off."""
    result = []
    for flows, digest in zip(measured.flows_of(entry), measured.digests_of(entry), strict=True):
        is_cut = flows["completion_s"].isna() & (flows["flow"] == flows["flow"].max())
        selected = flows[~is_cut].copy()
        ratios = digest.seconds.set_index("second")["sinr_db"]
        lengths = selected["completion_s"].fillna(0.0)
        selected["sinr_db"] = [
            float(ratios.loc[math.floor(start) : math.floor(start + length)].mean())
            for start, length in zip(selected["start_s"], lengths, strict=True)
        ]
        handovers = measured.handovers
        selected["handovers"] = [
            handovers.get((run, flow), 0)
            for run, flow in zip(selected["run"], selected["flow"], strict=True)
        ]
        result.append(selected)
    return result


def _completed(measured: Measured, entry: Published, by: str = "sinr_db") -> list[pd.DataFrame]:
    """Returns the complete downloads of each run in the entry's zone."""
    completed = [download[download["completion_s"].notna()] for download in _downloads(measured, entry)]
    return [each[_within(each[by], entry)] for each in completed] if entry.zone else completed


def _per_run(
    measure: Callable[[pd.DataFrame], float], column: str | None = None, by: str = "sinr_db"
) -> Quantity:
    def spread(measured: Measured, entry: Published) -> list[float]:
        return [float(x) for each in _completed(measured, entry, by) for x in each[column].dropna()]

    return Quantity(
        lambda measured, entry: [measure(each) for each in _completed(measured, entry, by)],
        spread if column else None,
        log=True,
    )


def _mean(column: str, by: str = "sinr_db") -> Quantity:
    return _per_run(lambda flows: float(flows[column].mean()), column, by)


def _each(column: str) -> Quantity:
    """A column of all downloads of all runs."""

    def values(measured: Measured, entry: Published) -> list[float]:
        return [float(x) for each in _completed(measured, entry) for x in each[column].dropna()]

    return Quantity(values, values, log=True)


def _pooled(measure: Callable[[pd.DataFrame], float], *, failed: bool = False) -> Quantity:
    """A measure of all downloads of all runs together: one value."""

    def values(measured: Measured, entry: Published) -> list[float]:
        return [
            measure(pd.concat(_downloads(measured, entry) if failed else _completed(measured, entry)))
        ]

    return Quantity(values, log=True)


def _share(numerator: str) -> Quantity:
    """A column's share of the segments of a download; the spread is over downloads."""

    def spread(measured: Measured, entry: Published) -> list[float]:
        return [
            float(x)
            for each in _completed(measured, entry)
            for x in (each[numerator] / each["segments"]).dropna()
        ]

    return Quantity(
        lambda measured, entry: [
            float((each[numerator] / each["segments"]).mean()) for each in _completed(measured, entry)
        ],
        spread,
        log=True,
    )


def _per_download(measure: Callable[[pd.DataFrame], float]) -> Quantity:
    """A measure of the slots of each download: its mean per run, and its spread over downloads."""

    def each_run(measured: Measured, entry: Published) -> list[list[float]]:
        result = []
        for completed in _completed(measured, entry):
            slots = measured.all_slots.merge(completed[["run", "flow"]], on=["run", "flow"])
            result.append([measure(group) for _, group in slots.groupby(["run", "flow"])])
        return result

    return Quantity(
        lambda measured, entry: [
            math.fsum(each) / len(each) if each else math.nan for each in each_run(measured, entry)
        ],
        lambda measured, entry: [
            x for each in each_run(measured, entry) for x in each if not math.isnan(x)
        ],
        log=True,
    )


def _mean_rto_ms(slots: pd.DataFrame) -> float:
    """Returns the mean RTO in ms by RFC 6298, with the RTTs of slots as samples."""
    smoothed, deviation, result = math.nan, 0.0, []
    for rtt in slots["rtt_mean_ms"].dropna():
        if math.isnan(smoothed):
            smoothed, deviation = rtt, rtt / 2
        else:
            deviation += (abs(rtt - smoothed) - deviation) / 4
            smoothed += (rtt - smoothed) / 8
        result.append(smoothed + max(_RTO_MIN_MS, 4 * deviation))
    return math.fsum(result) / len(result) if result else math.nan


def _ramp_s(slots: pd.DataFrame) -> float:
    """Returns the seconds until the window reaches most of its maximum."""
    opened = np.flatnonzero(slots["cwnd"].to_numpy() >= _RAMP * slots["cwnd"].max())
    return float(slots["t_s"].iloc[opened[0]] - slots["t_s"].iloc[0])


def _of_blocks(column: str) -> Quantity:
    """Share of the blocks, in seconds whose mean SINR is in the zone; one value over all runs."""

    def values(measured: Measured, entry: Published) -> list[float]:
        result = pd.concat([digest.seconds for digest in measured.digests_of(entry)])
        return [float(block_shares(result[_within(result["sinr_db"], entry)])[column])]

    return Quantity(values, log=True)


def _seconds_share(measured: Measured, entry: Published) -> list[float]:
    return [
        float(_within(digest.seconds["sinr_db"], entry).mean()) for digest in measured.digests_of(entry)
    ]


#: Quantities of downloads and of the seconds of a drive.
OF_DOWNLOADS: dict[str, Quantity] = {
    # Of each download, so that the interval is that of the mean over downloads.
    "download_rate": _each("goodput_mbps"),
    "download_rate_sd": _pooled(lambda flows: float(flows["goodput_mbps"].std())),
    "download_rate_median": _pooled(lambda flows: float(flows["goodput_mbps"].median())),
    "download_rate_by_handovers": _mean("goodput_mbps", "handovers"),
    "download_rtt": _mean("rtt_mean_ms"),
    "download_rto": _per_download(_mean_rto_ms),
    "download_inflight": _per_download(lambda slots: float(slots["inflight"].mean()) * _SEGMENT_KB),
    "download_ramp": _per_download(_ramp_s),
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
