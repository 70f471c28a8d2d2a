"""Measures of the slots after a choice: the parts of PM, the capacity use, and requirements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celltcp._core import requirement_measure

#: Time over which the outcome of a choice is measured, s.
HORIZON_S = 10.0
#: Columns of slots from which outcomes are measured.
MEASURED_COLUMNS = ("a", "b", "c", "capacity_mbps", "goodput_mbps", "rtt_mean_ms")
#: Columns of slots that `requirement_measure` needs.
_REQUIREMENT_COLUMNS = ("goodput_mbps", "rtt_mean_ms", "a", "b", "c")

#: Parts A, B and C of PM, the capacity use, and the measures of requirements.
Parts = tuple[float, ...]

#: Columns of slots of one run, by their names.
Columns = Mapping[str, NDArray[Any]]


def measured_parts(slots: Columns, requirements: Sequence[str] = ()) -> Parts:
    """Returns the means of A, B and C, the delivered share of the capacity, and requirements' means."""
    capacity = float(slots["capacity_mbps"].sum())
    use = min(1.0, float(slots["goodput_mbps"].sum()) / capacity) if capacity > 0 else 0.0
    columns = {name: pa.array(slots[name], pa.float64()) for name in _REQUIREMENT_COLUMNS}
    batch = pa.RecordBatch.from_pydict(columns)
    measures = (requirement_measure(batch, requirement).to_numpy() for requirement in requirements)
    return _mean(slots["a"]), _mean(slots["b"]), _mean(slots["c"]), use, *map(_mean, measures)


def _mean(values: NDArray[Any]) -> float:
    """Returns the mean of the values that are not NaN; zero without one."""
    is_known = ~np.isnan(values)
    count = int(is_known.sum())
    return float(np.where(is_known, values, 0.0).sum() / count) if count else 0.0


def first_flow_slots(slots: pa.Table) -> pa.Table:
    """Returns the slots of the first flow, with the goodput of other flows added to their capacity.

    So a flow that leaves the path to others has a low capacity use.
    """
    is_first = slots["flow"].to_numpy() == 0
    first, others = slots.filter(pa.array(is_first)), slots.filter(pa.array(~is_first))
    if not others.num_rows:
        return first
    keys = ["run", "t_s"]
    others_mbps = others.select([*keys, "goodput_mbps"]).to_pandas().groupby(keys).sum()
    rows = first.select([*keys, "capacity_mbps"]).to_pandas().join(others_mbps, on=keys)
    capacity = rows["capacity_mbps"] + rows["goodput_mbps"].fillna(0.0)
    index = first.column_names.index("capacity_mbps")
    return first.set_column(index, "capacity_mbps", pa.array(capacity))
