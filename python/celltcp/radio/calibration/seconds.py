"""Seconds: the radio second by second, as phones log it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from celltcp.comparison.comparison import Comparison
from celltcp.radio.opportunities import MODULATIONS, downlink_ttis

#: Columns that count blocks.
COUNTS = ("blocks", "failed", "first_decoded", "again_1", "again_2", "again_3", *MODULATIONS.values())


def seconds(comparison: Comparison) -> pd.DataFrame:
    """Returns a row per run and second of the phone's downlink.

    Columns `cca`, `run`, `second`; `sinr_db`, the mean in dB; and counts of transport blocks: `blocks`;
    `failed`, not decoded after this attempt; `first_decoded`, at the first attempt; `again_1` to
    `again_3`, sent for the second to fourth or a later time; and one per modulation.
    """
    ttis = downlink_ttis(comparison, whole=True)
    sent = ttis["attempt"] > 0
    counted = pd.DataFrame(
        {
            "cca": ttis["cca"].astype(str),
            "run": ttis["run"],
            "second": (ttis["t_ns"] // 1_000_000_000).astype(np.int64),
            "sinr_db": ttis["sinr_db"],
            "blocks": sent,
            "failed": sent & (ttis["decoded"] == 0),
            "first_decoded": (ttis["attempt"] == 1) & (ttis["decoded"] == 1),
            "again_1": ttis["attempt"] == 2,
            "again_2": ttis["attempt"] == 3,
            "again_3": ttis["attempt"] > 3,
            **{name: sent & (ttis["modulation"] == name) for name in MODULATIONS.values()},
        }
    )
    how = {"sinr_db": "mean", **dict.fromkeys(COUNTS, "sum")}
    rows: pd.DataFrame = counted.groupby(["cca", "run", "second"], as_index=False).agg(how)
    return rows


def shares(rows: pd.DataFrame) -> pd.Series:
    """Returns the counts of these seconds as shares of their blocks; `bler` is that of failures."""
    total = rows[list(COUNTS)].sum()
    part: pd.Series = total / total["blocks"] if total["blocks"] else total * np.nan
    part["bler"] = part["failed"]
    return part
