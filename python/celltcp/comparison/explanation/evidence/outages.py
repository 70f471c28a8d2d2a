"""Outages of a link: from the table `outages`, or from slots without capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.results.tables import frame

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: Minimum share of the time in outages at which they are a cause.
MIN_OUTAGE_SHARE = 0.02


class Outage(NamedTuple):
    """An outage: time of a run in which nothing could pass, whatever was sent."""

    #: Number of the run.
    run: int
    start_s: float
    end_s: float
    #: Whether all packets sent during it, or its longest part, were lost; otherwise they waited.
    loses_all: bool = False

    @property
    def length_s(self) -> float:
        """Length, s."""
        return self.end_s - self.start_s

    def overlaps(self, run: float, start_s: float, end_s: float) -> bool:
        """Returns whether the outage overlaps an interval of a run."""
        return self.run == run and self.start_s <= end_s and start_s <= self.end_s


def outages_of(
    table: pa.Table | None, keys: pd.DataFrame, direction: str, *causes: str
) -> list[Outage]:
    """Returns the outages of a direction, `data` or `ack`; those that overlap are merged.

    Args:
        table: table `outages`; None for results without it.
        keys: `run` and `flow` of the connections of the flow.
        direction: direction of the packets.
        causes: causes in the table, `capacity` or `loss`; default all.
    """
    if table is None:
        return []
    rows = frame(table).merge(keys, on=["run", "flow"])
    rows = rows[rows["direction"] == direction].sort_values(["run", "t_s"])
    rows = rows[rows["cause"].isin(causes)] if causes else rows
    result: list[Outage] = []
    columns = rows[["run", "t_s", "duration_s", "cause"]]
    for run, start_s, duration_s, cause in columns.itertuples(index=False, name=None):
        outage = Outage(int(run), start_s, start_s + duration_s, cause == "loss")
        last = result[-1] if result else None
        if last and last.run == outage.run and outage.start_s <= last.end_s:
            longer = max(last, outage, key=lambda gap: gap.length_s)
            end_s = max(last.end_s, outage.end_s)
            result[-1] = last._replace(end_s=end_s, loses_all=longer.loses_all)
        else:
            result.append(outage)
    return result


def outages_of_slots(slots: pd.DataFrame, slot_s: float) -> list[Outage]:
    """Returns an outage for each group of successive slots.

    Args:
        slots: slots without capacity.
        slot_s: length of a slot, s.
    """
    result: list[Outage] = []
    for run, t_s in slots[["run", "t_s"]].itertuples(index=False, name=None):
        last = result[-1] if result else None
        end_s = t_s + slot_s
        if last and last.run == run and t_s < last.end_s + slot_s / 2:
            result[-1] = last._replace(end_s=end_s)
        else:
            result.append(Outage(int(run), float(t_s), float(end_s)))
    return result
