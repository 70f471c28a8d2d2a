"""Units of work of applications: each response, page, frame, segment of a video and transfer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from celltcp._core import CelltcpError
from celltcp.results.columns import rows_of, text_array_of
from celltcp.results.tested import FlowUnderTest, flow_name

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.results.tables import Results


class Unit(NamedTuple):
    """Kind of a unit of work."""

    #: Kind of the events that have the times of such units; None for transfers.
    event: str | None
    #: Seconds in the unit of the event.
    seconds: float
    #: Its time in words.
    title: str
    #: Several of them in words.
    noun: str


#: Units by the names of their times.
UNITS = {
    "response": Unit("response_s", 1.0, "response time", "responses"),
    "page_load": Unit("page_load_s", 1.0, "page load time", "pages"),
    "frame_delay": Unit("frame_ms", 1e-3, "frame delay", "frames"),
    "fetch": Unit("fetch_s", 1.0, "time to fetch a segment", "segments"),
    "completion": Unit(None, 1.0, "completion time", "transfers"),
}

_COLUMNS = ["run", "cca", "seed", "flow", "connection", "unit", "start_s", "end_s", "duration_s"]


def units_of(units: pd.DataFrame, unit: str, flow: str) -> pd.DataFrame:
    """Returns the units of a kind, of one flow if it is named.

    Raises:
        CelltcpError: if there are none.
    """
    mine = units[units["unit"] == unit]
    if flow:
        mine = mine[mine["flow"] == flow]
    if mine.empty:
        known = units.groupby(["unit", "flow"]).size().index
        allowed = ", ".join(f"{name}:{of}" for name, of in known) or "none: no flow has units of work"
        given = f"{unit}:{flow}" if flow else unit
        raise CelltcpError(f"metric: {given!r} has no values in these results; allowed: {allowed}")
    return mine


def units_of_work(results: Results) -> pd.DataFrame:
    """Returns a row per unit of work: its flow, start, end and duration, s.

    A transfer without an end in the run has no row, nor has a frame that did not arrive.
    """
    import pandas as pd

    lineups = {
        run: (cca, seed) for run, cca, seed in rows_of(results.tables["runs"], "run", "cca", "seed")
    }
    flows = FlowUnderTest.each(results.about)
    of = {
        (run, number): (flow_name(name, flows), start_s, completion_s)
        for run, number, name, start_s, completion_s in rows_of(
            results.tables["flows"], "run", "flow", "name", "start_s", "completion_s"
        )
    }
    rows = [
        (*(run, *lineups[run], flow, number, "completion"), start_s, start_s + taken_s, taken_s)
        for (run, number), (flow, start_s, taken_s) in of.items()
        if taken_s is not None and not math.isnan(taken_s)
    ]
    names = {unit.event: name for name, unit in UNITS.items() if unit.event}
    if "events" in results.tables:
        events = results.tables["events"]
        wanted = pc.is_in(events["kind"].cast(pa.string()), value_set=text_array_of(sorted(names)))
        for run, number, t_ns, kind, detail in rows_of(
            events.filter(wanted), "run", "flow", "t_ns", "kind", "detail"
        ):
            unit = names[kind]
            taken_s = float(detail) * UNITS[unit].seconds
            end_s = t_ns * 1e-9
            flow = of[run, number][0]
            rows.append((run, *lineups[run], flow, number, unit, end_s - taken_s, end_s, taken_s))
    table = pd.DataFrame(rows, columns=_COLUMNS)
    return table.sort_values(["run", "start_s", "connection"], kind="stable", ignore_index=True)
