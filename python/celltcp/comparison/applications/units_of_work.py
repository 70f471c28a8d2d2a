"""Units of work of applications: each response, page, frame, segment of a video and transfer."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from celltcp._core import CelltcpError
from celltcp.comparison.applications.frame_kinds import (
    KIND_EVENTS,
    other_kinds,
    select_frames,
    selected_kinds,
)
from celltcp.comparison.applications.transfers import flows_by_connection, transfers_of
from celltcp.comparison.metric_names import plotted_metric
from celltcp.comparison.metrics import AGES, FRAME
from celltcp.results.columns import rows_of, text_array_of

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.comparison import Comparison
    from celltcp.results.tables import Results


class Unit(NamedTuple):
    """Kind of units of work."""

    #: Kind of the events with the durations of such units; None for transfers.
    event: str | None
    #: Time unit of the durations in these events, s.
    seconds: float
    #: Text that names the duration of a unit.
    title: str
    #: Plural of the name of a unit.
    noun: str
    #: Text for unfinished units; empty if there are none.
    unfinished: str = ""


#: Kinds of units by the names of their durations.
UNITS = {
    "response": Unit("response_s", 1.0, "response time", "responses", "requests without a response"),
    "page_load": Unit("page_load_s", 1.0, "page load time", "pages", "pages never complete"),
    "frame_delay": Unit(FRAME, 1e-3, "frame delay", "frames", "frames not arrived at the end"),
    "fetch": Unit("fetch_s", 1.0, "time to fetch a segment", "segments"),
    "completion": Unit(None, 1.0, "completion time", "transfers", "transfers never complete"),
}

#: Names of durations by the kinds of events.
_NAMES = {unit.event: name for name, unit in UNITS.items() if unit.event}
#: Names of durations by the kinds of events of unfinished units.
_UNFINISHED_KINDS = {AGES[kind]: name for kind, name in _NAMES.items() if kind in AGES}

#: Row of the table of units, with the columns `_COLUMNS`.
_Row = tuple[int, str, int, str, int, str, float, float, float]
#: Kinds of the events of units of work.
_EVENT_KINDS = frozenset((*_NAMES, *_UNFINISHED_KINDS))

_COLUMNS = ["run", "cca", "seed", "flow", "connection", "unit", "start_s", "end_s", "duration_s"]


def units_of(units: pd.DataFrame, unit: str, flow: str) -> pd.DataFrame:
    """Returns the units of a kind, of one flow if it is named.

    Raises:
        CelltcpError: if there are none.
    """
    selected = units[units["unit"] == unit]
    if flow:
        selected = selected[selected["flow"] == flow]
    if selected.empty:
        pairs = units.groupby(["unit", "flow"]).size().index
        allowed = (
            ", ".join(f"{name}:{flow_name}" for name, flow_name in pairs)
            or "none: no flow has units of work"
        )
        given = f"{unit}:{flow}" if flow else unit
        raise CelltcpError(f"metric: {given!r} has no values in these results; allowed: {allowed}")
    return selected


def without_connections(units: pd.DataFrame) -> pd.DataFrame:
    """Returns the units without the transfers of flows that have other units as well."""
    is_other = units["unit"] != "completion"
    return units[is_other | ~units["flow"].isin(units.loc[is_other, "flow"].unique())]


def units_of_applications(comparison: Comparison) -> list[str]:
    """Returns the units of work by which applications rank, as METRIC or METRIC:FLOW."""
    # A ranking by the share of late frames, or of complete transfers, is plotted by their durations.
    plotted = {"late_share": "frame_delay", "completed_share": "completion"}
    several = len(comparison.applications) > 1 or comparison.subject
    names = []
    for application in comparison.applications:
        metric = application.ranking.metric
        name = plotted_metric(plotted.get(metric, metric), UNITS)
        units = comparison.units
        selected = units[(units["unit"] == name) & (units["flow"] == application.flow)]
        if selected["duration_s"].notna().any():
            names.append(f"{name}:{application.flow}" if several else name)
    return names


def other_frames(results: Results, flow: str) -> pd.DataFrame:
    """Returns a row per frame of a flow that is of another kind than those which decide."""
    workloads = dict(flows_by_connection(results).values())
    kinds = other_kinds(workloads.get(flow, {}))
    units = units_of_work(results, {flow: kinds})
    is_other = (units["flow"] == flow) & bool(kinds) & (units["unit"] == _NAMES[FRAME])
    return units[is_other]


def units_of_work(results: Results, kinds: Mapping[str, Collection[int]] | None = None) -> pd.DataFrame:
    """Returns a row per unit of work: its flow, start, end and duration, s.

    `kinds` are the numbers of the kinds of frames to include, by flow; by default those that decide.

    Unfinished units have NaN as end and duration. A response, page or transfer that the end of the run
    cut, but that might have been as fast as others, has no row, nor has a frame before its deadline.
    """
    import pandas as pd

    keys_of_runs = {
        run: (cca, seed) for run, cca, seed in rows_of(results.tables["runs"], "run", "cca", "seed")
    }
    flows = flows_by_connection(results)
    columns = ("run", "flow", "name", "start_s", "completion_s")
    table = list(rows_of(results.tables["flows"], *columns))
    keys = {(run, number): (*keys_of_runs[run], flows[name][0]) for run, number, name, *_ in table}

    def row(run: int, number: int, unit: str, start_s: float, *end_and_duration_s: float) -> _Row:
        end_s, duration_s = end_and_duration_s or (math.nan, math.nan)
        return (run, *keys[run, number], number, unit, start_s, end_s, duration_s)

    rows = [
        row(run, number, "completion", start_s, start_s + completion_s, completion_s)
        for run, number, _, start_s, completion_s in table
        if completion_s is not None and not math.isnan(completion_s)
    ]
    rows += [
        row(transfer.run, transfer.connection, "completion", transfer.start_s)
        for transfer in transfers_of(results, flows)
        if math.isnan(transfer.completion_s)
    ]
    by_key = {(run, number): flows[name] for run, number, name, *_ in table}
    for run, number, t_ns, kind, detail in select_frames(
        _events(results), selected_kinds(by_key, kinds)
    ):
        if kind not in _EVENT_KINDS:
            continue
        unit = _UNFINISHED_KINDS.get(kind) or _NAMES[kind]
        end_s, duration_s = t_ns * 1e-9, float(detail) * UNITS[unit].seconds
        ends = () if kind in _UNFINISHED_KINDS else (end_s, duration_s)
        rows.append(row(run, number, unit, end_s - duration_s, *ends))
    units = pd.DataFrame(rows, columns=_COLUMNS)
    return units.sort_values(["run", "start_s", "connection"], kind="stable", ignore_index=True)


def _events(results: Results) -> Iterator[tuple[Any, ...]]:
    """Returns run, connection, time, kind and value of the events of units."""
    if "events" not in results.tables:
        return iter(())
    events = results.tables["events"]
    event_kinds = text_array_of(sorted((*_EVENT_KINDS, *KIND_EVENTS)))
    selected = events.filter(pc.is_in(events["kind"].cast(pa.string()), value_set=event_kinds))
    return iter(rows_of(selected, "run", "flow", "t_ns", "kind", "detail"))
