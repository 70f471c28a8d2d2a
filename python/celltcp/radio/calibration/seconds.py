"""Radio log aggregated by second, as phones log."""

from __future__ import annotations

import numpy as np
import pandas as pd

from celltcp.comparison.comparison import Comparison
from celltcp.radio.opportunities import MODULATIONS, downlink_ttis

#: Columns that count transport blocks.
COUNTS = ("blocks", "failed", "first_decoded", "again_1", "again_2", "again_3", *MODULATIONS.values())


def radio_seconds(comparison: Comparison) -> pd.DataFrame:
    """Returns a row per run and second of the first phone's downlink.

    Columns are `cca`, `run`, `second`, `sinr_db` (the mean), and counts of transmissions of transport
    blocks: `blocks` (all), `failed` (not decoded), `first_decoded` (decoded at the first attempt),
    `again_1` and `again_2` (second and third attempts), `again_3` (later ones), and one per modulation.
    """
    ttis = downlink_ttis(comparison, is_whole_run=True)
    is_sent = ttis["attempt"] > 0
    columns = pd.DataFrame(
        {
            "cca": ttis["cca"].astype(str),
            "run": ttis["run"],
            "second": (ttis["t_ns"] // 1_000_000_000).astype(np.int64),
            "sinr_db": ttis["sinr_db"],
            "blocks": is_sent,
            "failed": is_sent & (ttis["decoded"] == 0),
            "first_decoded": (ttis["attempt"] == 1) & (ttis["decoded"] == 1),
            "again_1": ttis["attempt"] == 2,
            "again_2": ttis["attempt"] == 3,
            "again_3": ttis["attempt"] > 3,
            **{name: is_sent & (ttis["modulation"] == name) for name in MODULATIONS.values()},
        }
    )
    statistics = {"sinr_db": "mean", **dict.fromkeys(COUNTS, "sum")}
    rows: pd.DataFrame = columns.groupby(["cca", "run", "second"], as_index=False).agg(statistics)
    return rows


def block_shares(seconds: pd.DataFrame) -> pd.Series:
    """Returns the counts of seconds as shares of all blocks; `bler` equals `failed`."""
    totals = seconds[list(COUNTS)].sum()
    shares: pd.Series = totals / totals["blocks"] if totals["blocks"] else totals * np.nan
    shares["bler"] = shares["failed"]
    return shares
