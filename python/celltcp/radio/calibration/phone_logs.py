"""Phone logs: SNR and CQI that phones log, compared with the CQI of the simulated UE."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from celltcp._core import CelltcpError, link_adaptation, phone_log

#: Network of the lines that are used. In lines of 5G with an LTE anchor, the SNR and the CQI may belong
#: to different networks.
NETWORK = "LTE"

#: Minimum time with an SNR, s; an SNR with less has no row.
MIN_SECONDS = 10


@dataclass(frozen=True)
class PhoneLogs:
    """CQI by SNR in the logs of a folder."""

    #: Row per SNR: `sinr_db` (rounded to 1 dB), `seconds`, quartiles (`low`, `median`, `high`) and
    #: `mean` of the CQI, and `simulated`, the CQI of the simulated UE on a flat channel.
    by_snr: pd.DataFrame
    files: int


def read_folder(folder: Path, scenario: str) -> PhoneLogs:
    """Reads all logs (`.csv`) of a folder, and adds the CQI that a scenario's carrier has at their SNR.

    Args:
        folder: the folder of the logs.
        scenario: a complete scenario, as TOML.

    Raises:
        CelltcpError: if there is no log, or no line with an SNR on LTE.
    """
    if not folder.is_dir():
        raise CelltcpError(f"{folder}: there is no such folder")
    files = sorted(folder.glob("*.csv"))
    if not files:
        raise CelltcpError(f"{folder}: holds no phone log (.csv)")
    rows = [
        (round(snr), cqi)
        for file in files
        for _, network, snr, cqi in phone_log(str(file))
        if network == NETWORK and snr is not None and cqi is not None
    ]
    if not rows:
        raise CelltcpError(f"{folder}: no line with SNR and CQI on {NETWORK}")
    thresholds = link_adaptation(scenario)["cqi_sinr_db"]
    data = pd.DataFrame(rows, columns=["sinr_db", "cqi"])
    grouped = data.groupby("sinr_db")["cqi"]
    result = pd.DataFrame(
        {
            "seconds": grouped.size(),
            "low": grouped.quantile(0.25),
            "median": grouped.median(),
            "high": grouped.quantile(0.75),
            "mean": grouped.mean(),
        }
    ).reset_index()
    result = result[result["seconds"] >= MIN_SECONDS]
    if result.empty:
        raise CelltcpError(f"{folder}: no SNR was there on {NETWORK} for {MIN_SECONDS} s")
    result.insert(6, "simulated", [bisect.bisect_right(thresholds, snr) for snr in result["sinr_db"]])
    return PhoneLogs(result, len(files))


def median_distance(logs: PhoneLogs) -> float:
    """Returns the simulated CQI minus the median of the phones, averaged over the seconds."""
    table = logs.by_snr
    return float(np.average(table["simulated"] - table["median"], weights=table["seconds"]))
