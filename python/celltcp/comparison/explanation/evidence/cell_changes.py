"""Handovers and radio link failures of a phone, with their times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

#: Kind of event at which a phone leaves a cell, with the kind at which it is in the next one.
_ENDS = {"handover-begins": "handover", "radio-link-failure": "radio-link-recovered"}
#: Kinds of events from which `changes_of` reads.
CHANGE_KINDS = (*_ENDS, *_ENDS.values())
#: Time after the first data of the next cell in which losses by the change are still seen, s.
_MARGIN_S = 0.2
#: Wait for data after a change from which on texts mention it, s; shorter ones are within slots.
MIN_WAIT_S = 0.3


class CellChange(NamedTuple):
    """A handover, or a radio link failure and its recovery."""

    run: int
    start_s: float
    #: Time at which the phone is in the next cell, s; infinite if it never is.
    end_s: float
    is_failure: bool
    #: Cells of a handover, such as `from cell 3 to cell 4`, or the reason of a failure.
    detail: str
    #: How a failed link recovered, `re-established` or `connected anew`; else empty.
    recovery: str
    #: Time from `end_s` until data of the flow arrives in a later slot, s; NaN if none does.
    wait_s: float

    @property
    def text(self) -> str:
        """Kind of the change, with its detail."""
        return f"radio link failure ({self.detail})" if self.is_failure else f"handover {self.detail}"

    def overlaps(self, run: float, start_s: float, end_s: float) -> bool:
        """Returns whether the change overlaps an interval of a run."""
        return self.run == run and self.start_s <= end_s and start_s <= self.end_s

    def may_lose(self, run: float, t_s: float) -> bool:
        """Returns whether a loss on the radio at a time of a run may be due to the change.

        Such a loss is seen when later data arrives in the next cell.
        """
        wait_s = 0.0 if math.isnan(self.wait_s) else self.wait_s
        return self.overlaps(run, t_s - wait_s - _MARGIN_S, t_s)


def changes_of(events: pd.DataFrame, wait_after: Callable[[int, float], float]) -> list[CellChange]:
    """Returns the changes of cells in a table `events`, sorted by run and time.

    Connections of the same phone have the same changes, which are returned once.

    Args:
        events: events of the connections of a flow.
        wait_after: returns the time from an instant of a run, s, until data arrives in a later slot, s.
    """
    changes = set()
    for begin_kind, end_kind in _ENDS.items():
        is_failure = begin_kind == "radio-link-failure"
        ends = events[events["kind"] == end_kind].sort_values("t_ns")
        begins = events[events["kind"] == begin_kind]
        for run, flow, t_ns, detail in begins[["run", "flow", "t_ns", "detail"]].itertuples(
            index=False, name=None
        ):
            later = ends[(ends["run"] == run) & (ends["flow"] == flow) & (ends["t_ns"] >= t_ns)]
            end = None if later.empty else later.iloc[0]
            end_s = math.inf if end is None else end["t_ns"] / 1e9
            changes.add(
                CellChange(
                    int(run),
                    t_ns / 1e9,
                    end_s,
                    is_failure,
                    detail.partition(": ")[2] if is_failure else detail,
                    end["detail"].partition(", ")[2] if is_failure and end is not None else "",
                    wait_after(int(run), end_s),
                )
            )
    return sorted(changes)


def losing_change(
    changes: Iterable[CellChange], run: float, lost_s: float, end_s: float
) -> CellChange | None:
    """Returns the change that lost the data of a loss recovery on the radio; None without one.

    A failure before the end of the recovery loses more than the handover that may precede it.

    Args:
        changes: changes of cells.
        run: number of the run.
        lost_s: time of the first loss on the radio, s.
        end_s: end of the recovery, s.
    """
    losing = [
        change
        for change in changes
        if change.may_lose(run, lost_s)
        or (change.is_failure and change.run == run and lost_s <= change.start_s <= end_s)
    ]
    return max(losing, key=lambda change: change.is_failure, default=None)
