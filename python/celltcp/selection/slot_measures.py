"""Measures of slots after a choice: the parts of PM, the share of the capacity, and requirements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celltcp._core import requirement_measure

#: Time over which the outcome is measured, s.
HORIZON_S = 10.0
#: Columns of slots from which outcomes are measured.
MEASURED_COLUMNS = ("a", "b", "c", "capacity_mbps", "goodput_mbps", "rtt_mean_ms")
#: Columns of slots that the measures of requirements need.
_REQUIRED = ("goodput_mbps", "rtt_mean_ms", "a", "b", "c")

#: Parts A, B and C of PM, the use of the capacity, and the measures of requirements.
Parts = tuple[float, ...]

#: Columns of one run by their names.
Columns = Mapping[str, NDArray[Any]]


def measured_parts(slots: Columns, requirements: Sequence[str] = ()) -> Parts:
    """Returns the measures of slots.

    They are the means of A, B and C, the share of the capacity that was delivered, and the means of the
    measures of these requirements.
    """
    capacity = float(slots["capacity_mbps"].sum())
    use = min(1.0, float(slots["goodput_mbps"].sum()) / capacity) if capacity > 0 else 0.0
    required = (_required(slots, requirement) for requirement in requirements)
    return _mean(slots["a"]), _mean(slots["b"]), _mean(slots["c"]), use, *required


def _required(slots: Columns, requirement: str) -> float:
    columns = {name: pa.array(slots[name], pa.float64()) for name in _REQUIRED}
    batch = pa.RecordBatch.from_pydict(columns)
    return _mean(requirement_measure(batch, requirement).to_numpy())


def _mean(values: NDArray[Any]) -> float:
    """Returns the mean of the values that are not NaN; zero without one."""
    known = ~np.isnan(values)
    count = int(known.sum())
    return float(np.where(known, values, 0.0).sum() / count) if count else 0.0


def of_first_flow(slots: pa.Table) -> pa.Table:
    """Returns the slots of the flow that is measured, the first one.

    Their capacity has what other flows took: a flow that leaves the path to others uses little of it.
    """
    is_first = slots["flow"].to_numpy() == 0
    first, others = slots.filter(pa.array(is_first)), slots.filter(pa.array(~is_first))
    if not others.num_rows:
        return first
    taken = others.select(["run", "t_s", "goodput_mbps"]).to_pandas().groupby(["run", "t_s"]).sum()
    mine = first.select(["run", "t_s", "capacity_mbps"]).to_pandas()
    beside = mine.join(taken, on=["run", "t_s"])["goodput_mbps"].fillna(0.0)
    place = first.column_names.index("capacity_mbps")
    return first.set_column(place, "capacity_mbps", pa.array(mine["capacity_mbps"] + beside))
