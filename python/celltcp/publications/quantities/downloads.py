"""Quantities of the successive downloads of a drive, and of the seconds of its radio (li2017)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity
from celltcp.radio.calibration.seconds import block_shares

#: Minimum variance term of the RTO (Linux TCP_RTO_MIN), ms.
_RTO_MIN_MS = 200.0

#: Share of the maximum window that ends the ramp of a download.
_RAMP_SHARE = 0.9

#: Payload of a packet of 1428 bytes, kB.
_SEGMENT_KB = 1.376


def _within(values: pd.Series, entry: Published) -> pd.Series:
    low, high = entry.zone or (-math.inf, math.inf)
    return (values >= low) & (values < high)


def _downloads(measured: Measured, entry: Published) -> list[pd.DataFrame]:
    """Returns the downloads of each run, except the last one if the end of the run cuts it off.

    They have two further columns, `sinr_db` (mean over the download) and `handovers`.
    """
    result = []
    for flows, digest in zip(measured.flows_of(entry), measured.digests_of(entry), strict=True):
        is_cut = flows["completion_s"].isna() & (flows["flow"] == flows["flow"].max())
        selected = flows[~is_cut].copy()
        sinr_db = digest.seconds.set_index("second")["sinr_db"]
        durations_s = selected["completion_s"].fillna(0.0)
        selected["sinr_db"] = [
            float(sinr_db.loc[math.floor(start_s) : math.floor(start_s + duration_s)].mean())
            for start_s, duration_s in zip(selected["start_s"], durations_s, strict=True)
        ]
        handovers = measured.handovers
        selected["handovers"] = [
            handovers.get((run, flow), 0)
            for run, flow in zip(selected["run"], selected["flow"], strict=True)
        ]
        result.append(selected)
    return result


def _completed(measured: Measured, entry: Published, by: str = "sinr_db") -> list[pd.DataFrame]:
    """Returns the complete downloads of each run whose column `by` is in the entry's zone."""
    completed = [flows[flows["completion_s"].notna()] for flows in _downloads(measured, entry)]
    return [flows[_within(flows[by], entry)] for flows in completed] if entry.zone else completed


def _mean(values: Callable[[pd.DataFrame], pd.Series], by: str = "sinr_db") -> Quantity:
    """Returns the mean of a value of downloads per run; a picture shows the distribution."""

    def distribution(measured: Measured, entry: Published) -> list[float]:
        runs = _completed(measured, entry, by)
        return [float(value) for flows in runs for value in values(flows).dropna()]

    return Quantity(
        lambda measured, entry: [
            float(values(flows).mean()) for flows in _completed(measured, entry, by)
        ],
        distribution,
        needs_radio_log=True,
    )


def _column(column: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda flows: flows[column]


def _per_segment(column: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda flows: flows[column] / flows["segments"]


def _pooled(measure: Callable[[pd.DataFrame], float], *, with_failed: bool = False) -> Quantity:
    """Returns a measure of all downloads of all runs together, with failed ones if `with_failed`."""

    def values(measured: Measured, entry: Published) -> list[float]:
        runs = _downloads(measured, entry) if with_failed else _completed(measured, entry)
        return [measure(pd.concat(runs))]

    return Quantity(values, needs_radio_log=True)


def _of_slots(measure: Callable[[pd.DataFrame], float]) -> Quantity:
    """Returns the mean per run of a measure of each download's slots, whose distribution is shown."""

    def by_run(measured: Measured, entry: Published) -> list[list[float]]:
        runs = []
        for completed in _completed(measured, entry):
            slots = measured.all_slots.merge(completed[["run", "flow"]], on=["run", "flow"])
            runs.append([measure(group) for _, group in slots.groupby(["run", "flow"])])
        return runs

    return Quantity(
        lambda measured, entry: [
            math.fsum(values) / len(values) if values else math.nan
            for values in by_run(measured, entry)
        ],
        lambda measured, entry: [
            value for values in by_run(measured, entry) for value in values if not math.isnan(value)
        ],
        needs_radio_log=True,
    )


def _mean_rto_ms(slots: pd.DataFrame) -> float:
    """Returns the mean RTO by RFC 6298, with the RTTs of slots as samples, ms."""
    srtt, rttvar, rtos = math.nan, 0.0, []
    for rtt in slots["rtt_mean_ms"].dropna():
        if math.isnan(srtt):
            srtt, rttvar = rtt, rtt / 2
        else:
            rttvar += (abs(rtt - srtt) - rttvar) / 4
            srtt += (rtt - srtt) / 8
        rtos.append(srtt + max(_RTO_MIN_MS, 4 * rttvar))
    return math.fsum(rtos) / len(rtos) if rtos else math.nan


def _ramp_s(slots: pd.DataFrame) -> float:
    """Returns the time until the window reaches `_RAMP_SHARE` of its maximum, s."""
    first = int(np.argmax(slots["cwnd"].to_numpy() >= _RAMP_SHARE * slots["cwnd"].max()))
    return float(slots["t_s"].iloc[first] - slots["t_s"].iloc[0])


def _of_blocks(column: str) -> Quantity:
    """Returns a share of the blocks of all runs, in seconds whose mean SINR is in the zone."""

    def values(measured: Measured, entry: Published) -> list[float]:
        seconds = pd.concat([digest.seconds for digest in measured.digests_of(entry)])
        return [float(block_shares(seconds[_within(seconds["sinr_db"], entry)])[column])]

    return Quantity(values, needs_radio_log=True)


def _rates(measured: Measured, entry: Published) -> list[float]:
    """Returns the goodput of each download of all runs, Mbit/s."""
    return pd.concat(_completed(measured, entry))["goodput_mbps"].dropna().tolist()


def _seconds_share(measured: Measured, entry: Published) -> list[float]:
    """Returns the share of the seconds of each run whose SINR is in the zone."""
    return [
        float(_within(digest.seconds["sinr_db"], entry).mean()) for digest in measured.digests_of(entry)
    ]


#: Quantities of downloads and of the seconds of a drive.
OF_DOWNLOADS: dict[str, Quantity] = {
    # A value per download, so that the interval is that of the mean over downloads.
    "download_rate": Quantity(_rates, _rates, needs_radio_log=True),
    "download_rate_sd": _pooled(lambda flows: float(flows["goodput_mbps"].std())),
    "download_rate_median": _pooled(lambda flows: float(flows["goodput_mbps"].median())),
    "download_rate_by_handovers": _mean(_column("goodput_mbps"), "handovers"),
    "download_rtt": _mean(_column("rtt_mean_ms")),
    "download_rto": _of_slots(_mean_rto_ms),
    "download_inflight": _of_slots(lambda slots: float(slots["inflight"].mean()) * _SEGMENT_KB),
    "download_ramp": _of_slots(_ramp_s),
    "download_retransmissions": _mean(_per_segment("retransmissions")),
    "download_dupacks": _mean(_per_segment("duplicate_acks")),
    "download_sinr": _mean(_column("sinr_db")),
    "download_failed": _pooled(
        lambda flows: float(flows["completion_s"].isna().mean()), with_failed=True
    ),
    "handovers_1": _pooled(lambda flows: float((flows["handovers"] >= 1).mean())),
    "handovers_3": _pooled(lambda flows: float((flows["handovers"] >= 3).mean())),
    "exchange_rtt": _mean(_column("rtt_mean_ms")),
    "seconds": Quantity(_seconds_share, needs_radio_log=True),
    "blocks_qpsk": _of_blocks("QPSK"),
    "blocks_16qam": _of_blocks("16QAM"),
    "blocks_64qam": _of_blocks("64QAM"),
    "bler": _of_blocks("bler"),
    "blocks_first_decoded": _of_blocks("first_decoded"),
    "blocks_again_1": _of_blocks("again_1"),
    "blocks_again_2": _of_blocks("again_2"),
    "blocks_again_3": _of_blocks("again_3"),
}
