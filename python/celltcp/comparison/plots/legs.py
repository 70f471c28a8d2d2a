"""Plot of legs: data in flight, RTT and buffers on both sides of split hosts."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from celltcp.present.style import draw_series

#: Colours of the server's leg, and of those of split hosts in turn.
_SERVER = "#CC3311"
_HOSTS = ("#0077BB", "#009988", "#EE7733", "#33BBEE")


def draw_legs(axes: Sequence[Axes], slots: pd.DataFrame, downstream: pd.DataFrame) -> None:
    """Draws data in flight and RTT of each leg of a connection, and the buffers of split hosts.

    Args:
        axes: three panels, from top to bottom.
        slots: of the connection, with data in flight and RTT of the server.
        downstream: legs of split hosts towards the receiver of the connection.
    """
    flights, delays, buffers = axes
    server = {"color": _SERVER, "lw": 1.0, "label": "server"}
    draw_series(flights, slots["t_s"], slots["inflight"], **server)
    draw_series(delays, slots["t_s"], slots["rtt_mean_ms"], **server)
    for index, (node, group) in enumerate(downstream.groupby("node", sort=False)):
        look = {"color": _HOSTS[index % len(_HOSTS)], "lw": 1.0, "label": str(node)}
        draw_series(flights, group["t_s"], group["inflight"], **look)
        draw_series(delays, group["t_s"], group["srtt_ms"], **look)
        draw_series(buffers, group["t_s"], group["buffered_bytes"] * 1e-3, **look)
    flights.set_ylabel("in flight, segments")
    delays.set_ylabel("RTT of the leg, ms")
    buffers.set_ylabel("buffered, kB")
    buffers.set_xlabel("time, s")
    columns = 1 + downstream["node"].nunique()
    flights.legend(ncols=columns, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    for axis in axes:
        axis.set_ylim(bottom=0)
