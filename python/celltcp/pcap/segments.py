"""Segments with payload, from a second look at a capture, and the highest rate of their bursts."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from celltcp._core import CaptureAnalysis
from celltcp.pcap.diagnosis.trains import SIDES

#: Maximum number of packets of a connection that are read again.
MAX_PACKETS = 1_000_000
#: Number of records that are read at a time.
_RECORDS = 200_000
#: Time over which the rate of a burst is taken: what a radio link or a driver gathers is shorter, s.
_BURST_S = 0.01


def payload_segments(file: str, connections: Collection[int]) -> pd.DataFrame:
    """Returns the segments with payload of connections of a capture, which can be read again."""
    analysis = CaptureAnalysis(file, segments=True)
    numbers = pa.array(sorted(connections), pa.uint32())
    columns = ["connection", "up", "t_s", "seq", "len"]
    parts, has_more = [], True
    while has_more:
        has_more = analysis.advance(_RECORDS)
        batch = analysis.take_tables()["segments"].select(columns)
        rows = batch.filter(pc.is_in(batch["connection"], numbers)).to_pandas()
        parts.append(rows[rows["len"] > 0])
    return pd.concat(parts, ignore_index=True)


def of_sender(table: pd.DataFrame, row: Mapping[Hashable, Any]) -> pd.DataFrame:
    """Returns the rows of the sender of a connection."""
    is_own = (table["connection"] == row["connection"]) & (table["up"] == (row["direction"] == "up"))
    own: pd.DataFrame = table[is_own]
    return own


def burst_mbps(row: Mapping[Hashable, Any], *, is_readable: bool) -> float:
    """Returns the rate of payload that the path carried for a moment, Mbit/s; 0 if it is not known.

    It is a lower bound of the capacity: that of the slowest trains, even if they are too few for a rate
    of the link, or what arrived at the receiver within 10 ms.
    """
    sides = SIDES.get(str(row["place"]), ())
    trains_mbps = [float(row[f"{side}_train_low_mbps"]) for side in sides]
    if trains_mbps and min(trains_mbps) > 0:
        return min(trains_mbps)
    packets = row["packets_up"] + row["packets_down"]
    if row["place"] != "receiver" or not is_readable or packets > MAX_PACKETS:
        return 0.0
    number = int(row["connection"])
    arrived = of_sender(payload_segments(str(row["file"]), [number]), row).sort_values("t_s")
    times_s, before = arrived["t_s"].to_numpy(float), np.append(0, arrived["len"].cumsum())
    ends = np.searchsorted(times_s, times_s + _BURST_S, "right")
    return float((before[ends] - before[:-1]).max(initial=0.0)) * 8e-6 / _BURST_S
