"""Digest of the radio's log: counts per run that tables ask for. The log itself is not kept."""

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

#: Upper limits (exclusive) of MCS and CQI.
_SCHEMES, _CQIS = 32, 16


@dataclass(frozen=True)
class Digest:
    """Counts of the downlink of one run."""

    tti_s: float
    #: TTIs by MCS, and those of them that were wasted.
    ttis: NDArray[np.int64]
    wasted: NDArray[np.int64]
    #: First transmissions by MCS and by that of the first, second and third one after.
    pairs: NDArray[np.int64]
    #: TTIs by CQI, and the mean distance from one report to the next that differs in time.
    cqi: NDArray[np.int64]
    cqi_change: float
    #: The radio second by second.
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
    pairs = np.zeros((MCS_LAGS, _SCHEMES, _SCHEMES), np.int64)
    for step in range(1, MCS_LAGS + 1):
        np.add.at(pairs[step - 1], (first[:-step], first[step:]), 1)
    cqi = ttis["cqi"].to_numpy(np.int64)
    # A TTI can have several blocks; the CQI is that of the TTI.
    each = cqi[np.flatnonzero(np.diff(ttis["t_ns"].to_numpy(), prepend=-1))]
    return Digest(
        tti_s,
        np.bincount(mcs, minlength=_SCHEMES),
        np.bincount(mcs[wasted], minlength=_SCHEMES),
        pairs,
        np.bincount(each[each > 0], minlength=_CQIS),
        float(np.abs(np.diff(each)).mean()) if len(each) > 1 else 0.0,
        by_second,
    )
