"""Digest of the radio's log: counts per run for published tables, stored instead of the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import link_adaptation
from celltcp.comparison.comparison import Comparison
from celltcp.radio.calibration.seconds import radio_seconds
from celltcp.radio.opportunities import downlink_ttis

#: Number of following blocks whose MCS is compared with that of a block.
MCS_LAGS = 3

#: Numbers of MCS and CQI indices.
_MCS_COUNT, _CQI_COUNT = 32, 16


@dataclass(frozen=True)
class Digest:
    """Counts of the downlink of one run."""

    tti_s: float
    #: Number of TTIs by MCS.
    ttis: NDArray[np.int64]
    #: Number of wasted TTIs by MCS.
    wasted: NDArray[np.int64]
    #: Number of pairs of first transmissions by lag (1 to `MCS_LAGS`), earlier MCS and later MCS.
    pairs: NDArray[np.int64]
    #: Number of TTIs by CQI.
    cqi: NDArray[np.int64]
    #: Mean absolute change of the CQI from one TTI to the next.
    cqi_change: float
    #: Metrics of the radio by second.
    seconds: pd.DataFrame


def digests(comparison: Comparison) -> dict[int, Digest]:
    """Returns the digest of each run of a comparison with a log of the radio."""
    tti_s = float(link_adaptation(str(comparison.results.about["scenario"]))["tti_s"])
    ttis = downlink_ttis(comparison)
    by_second = radio_seconds(comparison)
    return {
        int(str(run)): _digest(group.sort_values("t_ns"), tti_s, by_second[by_second["run"] == run])
        for run, group in ttis.groupby("run")
    }


def _digest(ttis: pd.DataFrame, tti_s: float, by_second: pd.DataFrame) -> Digest:
    mcs = ttis["mcs"].to_numpy(np.int64)
    wasted = ttis["wasted"].to_numpy(bool)
    first = ttis.loc[ttis["attempt"] == 1, "mcs"].to_numpy(np.int64)
    pairs = np.zeros((MCS_LAGS, _MCS_COUNT, _MCS_COUNT), np.int64)
    for lag in range(1, MCS_LAGS + 1):
        np.add.at(pairs[lag - 1], (first[:-lag], first[lag:]), 1)
    # A TTI can have several blocks, which have the same CQI.
    is_new_tti = np.diff(ttis["t_ns"].to_numpy(), prepend=-1) != 0
    cqi = ttis["cqi"].to_numpy(np.int64)[is_new_tti]
    return Digest(
        tti_s,
        np.bincount(mcs, minlength=_MCS_COUNT),
        np.bincount(mcs[wasted], minlength=_MCS_COUNT),
        pairs,
        np.bincount(cqi[cqi > 0], minlength=_CQI_COUNT),
        float(np.abs(np.diff(cqi)).mean()) if len(cqi) > 1 else 0.0,
        by_second,
    )
