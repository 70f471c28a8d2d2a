"""Phone logs: SNR and CQI as phones log them, compared with our thresholds."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from celltcp._core import CelltcpError, link_adaptation, phone_log

#: The logs are of LTE and of 5G with an LTE anchor, whose SNR and CQI may belong to either.
NETWORK = "LTE"

#: Minimum time with an SNR for its row, s.
MIN_SECONDS = 10


@dataclass(frozen=True)
class PhoneLogs:
    """CQI by SNR in the logs of a folder."""

    #: `sinr_db` (to the nearest dB), `seconds`, `low`, `median`, `high` (quartiles) and `mean` of the
    #: CQI, and `ours`, that of a flat channel.
    by_snr: pd.DataFrame
    files: int


def read_folder(folder: Path, scenario: str) -> PhoneLogs:
    """Reads all logs (`.csv`) of `folder`, to compare them with the thresholds of a scenario's carrier.

    Args:
        folder: the folder of the logs.
        scenario: as complete TOML.

    Raises:
        CelltcpError: if there is no log, or nothing in it that was on LTE.
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
    result.insert(6, "ours", [bisect.bisect_right(thresholds, snr) for snr in result["sinr_db"]])
    return PhoneLogs(result, len(files))


def median_distance(logs: PhoneLogs) -> float:
    """Our CQI minus the median of the phones, averaged over the seconds."""
    table = logs.by_snr
    return float(np.average(table["ours"] - table["median"], weights=table["seconds"]))
