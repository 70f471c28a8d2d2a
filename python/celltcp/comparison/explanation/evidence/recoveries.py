"""Loss recoveries of a flow, from the table `recoveries`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from celltcp.results.tables import frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from celltcp.results.tables import Results

#: Reasons of drops in the table `recoveries`.
_DROPS = ("overflow", "aqm", "policer", "random", "radio")
#: Columns of the table `recoveries` with the time of the first drop for each reason.
_FIRST_DROPS = tuple(f"{reason}_s" for reason in _DROPS)
#: Columns that are derived from others of the table.
_DERIVED = ("drops", "length_s", "earliest_s", "latest_s")


def recoveries_of(results: Results, connections: pd.DataFrame) -> pd.DataFrame:
    """Returns the recoveries of connections; no row without that table.

    `drops` are those for any reason. `earliest_s` is the first drop or the start, `latest_s` the end.
    It is infinite for a recovery without an end, whose `length_s` is the time to the connection's.
    """
    names = ["t_s", "end_s", "dropped_s", "slow_start", "segments", "loss_probes", "timeouts"]
    if "recoveries" not in results.tables:
        timeout_names = ["timeout_s", "silence_s", "unreported_bytes", "undone"]
        columns = ["run", "flow", "first_data_s", *names, *_DROPS, *_FIRST_DROPS, *timeout_names]
        return pd.DataFrame({name: [] for name in [*columns, *_DERIVED]}, dtype=float)
    keys = connections[["run", "flow", "first_data_s", "duration_s"]]
    rows = frame(results.tables["recoveries"]).merge(keys, on=["run", "flow"])
    if "loss_probes" not in rows:
        rows = rows.assign(loss_probes=0)
    rows = rows.assign(**{name: np.nan for name in _FIRST_DROPS if name not in rows})
    ends = rows["end_s"].fillna(rows["first_data_s"] + rows["duration_s"])
    length = (ends - rows["t_s"]).clip(lower=0.0)
    return rows.assign(
        drops=rows[[*_DROPS]].sum(axis=1),
        length_s=length,
        earliest_s=rows[["dropped_s", "t_s"]].min(axis=1),
        latest_s=rows["end_s"].fillna(np.inf),
    )


def of_connection(rows: pd.DataFrame, run: float, connection: float) -> pd.DataFrame:
    """Returns the rows of a connection of a run."""
    own: pd.DataFrame = rows[(rows["run"] == run) & (rows["flow"] == connection)]
    return own


def overflows_of(drops: Iterable[tuple[float, float, float]], rtt_s: float) -> list[set[float]]:
    """Returns whose segments each overflow dropped; drops within an RTT are of one overflow.

    Args:
        drops: run, time in s, and what lost segments, such as the number of a connection.
        rtt_s: RTT, s.
    """
    overflows: list[set[float]] = []
    last = (-1.0, 0.0)
    for run, t_s, owner in sorted(drops):
        if run != last[0] or t_s - last[1] > rtt_s:
            overflows.append(set())
            last = (run, t_s)
        overflows[-1].add(owner)
    return overflows
