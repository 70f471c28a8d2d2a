"""Zeek's conn.log: connections with their bytes, as the demand of the hosts behind a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.recording import Recording

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.source import Source

#: Columns of bytes by direction: the hosts that open connections are behind the link.
_BYTES = {"down": "resp_bytes", "up": "orig_bytes"}
#: Duration of a connection for which Zeek has none, s.
_UNKNOWN_DURATION_S = 1e-3


def recognises(source: Source) -> bool:
    """Returns whether a file is such a log in Zeek's own format."""
    return source.head.startswith("#separator") and "\n#path\tconn" in source.head[:2000]


def read(source: Source, options: ReadOptions, side: Direction) -> Recording:
    """Reads the sum of all connections, each at a constant rate over its duration.

    Raises:
        CelltcpError: if there are none.
    """
    import io

    import pandas as pd

    text = source.text()
    header = next(line for line in text.splitlines() if line.startswith("#fields"))
    frame = pd.read_csv(
        io.StringIO(text),
        sep="\t",
        comment="#",
        names=header.split("\t")[1:],
        na_values=["-", "(empty)"],
    )
    name = _BYTES[options.direction or side]
    used = (
        frame[["ts", "duration", name]]
        .apply(pd.to_numeric, errors="coerce")
        .dropna(subset=["ts", name])
    )
    used = used[used[name] > 0].sort_values("ts")
    if not len(used):
        raise CelltcpError(f"no connection with {name}")
    starts = np.round(used["ts"].to_numpy() * 1e6).astype(np.int64) * 1_000
    lengths = np.round(
        used["duration"].fillna(0).clip(lower=_UNKNOWN_DURATION_S).to_numpy() * 1e6
    ).astype(np.int64)
    ends = starts + lengths * 1_000
    rates = used[name].to_numpy() * 8 / (lengths / 1e6)
    moments = np.concatenate([starts, ends])
    order = np.argsort(moments, kind="stable")
    moments = moments[order]
    sums = np.cumsum(np.concatenate([rates, -rates])[order])
    steps = np.diff(moments)
    is_later = steps > 0
    return Recording(
        f"Zeek's conn.log, {name} of {len(used)} connections",
        "",
        moments[:-1][is_later],
        np.maximum(sums[:-1][is_later], 0.0),
        lengths=steps[is_later],
        has_both=True,
        notes=("a demand: what hosts sent, not what the link could carry",),
    )
