"""Shares of the path: goodput of each flow and connection while all flows ran."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celltcp._core import in_unit, jain
from celltcp.results.columns import (
    connection_keys,
    distinct,
    group_sums,
    indices_of,
    numbers,
    rows_of,
    sums_by,
)
from celltcp.results.statistics import Estimate, estimate
from celltcp.results.tables import Results
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.narrow_hop import narrow_link
from celltcp.scenarios.sides import SERVER

if TYPE_CHECKING:
    import pandas as pd


class Share(NamedTuple):
    """Goodput of a flow in a run over the time in which all flows were active."""

    run: int
    flow: str
    cca: str
    connections: int
    #: Goodput of all connections of the flow together, Mbit/s.
    goodput_mbps: float
    #: Goodputs of its connections, Mbit/s; empty unless several ran all of the time.
    of_connections: tuple[float, ...]
    #: Whether it sends to the server, and the index in `links` of its bottleneck; None for the path's.
    capacity: tuple[bool, int | None]


class MeanShare(NamedTuple):
    """Share of a flow of a mix in the path, over all runs."""

    mix: str
    flow: str
    #: Congestion control of the flow.
    cca: str
    #: Maximum number of connections of the flow in a run.
    connections: int
    #: Goodput of all connections of the flow together, Mbit/s.
    goodput: Estimate
    #: Lowest and highest goodput of a connection in any run, Mbit/s; NaN unless several ran all of it.
    lowest_mbps: float
    highest_mbps: float
    #: Whether it sends to the server, and the index in `links` of its bottleneck; None for the path's.
    capacity: tuple[bool, int | None]


class Competitor(NamedTuple):
    """Goodput of a connection over the time in which all flows were active.

    The connections of a flow are one competitor if one of them was not active for all of that time.
    Those of equal transfers of the only flow, all on their way at once, have that of their own time.
    """

    flow: str
    goodput_mbps: float
    #: Whether it sends to the server; each direction has a capacity of its own.
    is_upload: bool
    #: Index in `links` of its bottleneck; None for that of the path.
    link: int | None


class PathShares(NamedTuple):
    """Shares of the path; runs in which never all flows were active at once are left out."""

    shares: list[Share]
    #: Competitors by run.
    competitors: dict[int, list[Competitor]]
    #: Names of the flows that pause between their transfers.
    pausing_flows: set[str]
    #: Index in `links` of the bottleneck by flow; None for that of the path.
    links: Mapping[str, int | None]

    def jains_indices(self, left_out: Collection[str] = ()) -> dict[int, float]:
        """Returns Jain's index of the competitors of each run, without these flows."""
        return {
            run: lowest_jains_index(each for each in competitors if each.flow not in left_out)
            for run, competitors in self.competitors.items()
        }


class _Flow(NamedTuple):
    """Flow of a connection."""

    run: int
    name: str
    cca: str
    is_upload: bool


class _Span(NamedTuple):
    """Time in which all flows of a run were active: start times of its first and last slot, s."""

    first_s: float
    last_s: float

    def slots(self, slot_s: float) -> float:
        """Returns the number of slots, at least one."""
        return max(round((self.last_s - self.first_s) / slot_s) + 1.0, 1.0)


class _SlotSum(NamedTuple):
    """Sum of the goodputs of the slots of a connection, Mbit/s, and the number of slots."""

    total: float
    slots: int


def path_shares(results: Results) -> PathShares:
    """Returns the shares of the path from the start of the last flow to the end of the first one."""
    flows = [
        _Flow(run, name, cca, receiver == SERVER)
        for run, name, cca, receiver in rows_of(results.tables["flows"], "run", "name", "cca", "ue")
    ]
    slot_s = float(results.about["slot_s"])
    spans, slot_sums = _shared_slots(results, flows, slot_s)
    lengths = {run: span.slots(slot_s) for run, span in spans.items()}
    goodputs = {index: each.total / lengths[flows[index].run] for index, each in slot_sums.items()}
    # Flows with a connection that was not active all of the time.
    partial_flows = {
        flows[index] for index, each in slot_sums.items() if each.slots < lengths[flows[index].run]
    }
    competitors: dict[int, list[Competitor]] = {}
    links = bottleneck_links(results.about, {flow.name for flow in flows})
    simultaneous = _simultaneous_transfers(results, flows)
    whole = [
        (flows[index], simultaneous.get(index, goodput))
        for index, goodput in goodputs.items()
        if flows[index] not in partial_flows or index in simultaneous
    ]
    summed = [
        index for index in goodputs if flows[index] in partial_flows and index not in simultaneous
    ]
    sums = sums_by([flows[index] for index in summed], [goodputs[index] for index in summed])
    for flow, goodput in (*whole, *sums.items()):
        competitor = Competitor(flow.name, goodput, flow.is_upload, links[flow.name])
        competitors.setdefault(flow.run, []).append(competitor)
    sharing = [flows[index] for index in goodputs]
    counts = Counter(sharing)
    totals = sums_by(sharing, list(goodputs.values()))
    parallel: dict[_Flow, list[float]] = {}
    for flow, goodput in whole:
        if counts[flow] > 1:
            parallel.setdefault(flow, []).append(goodput)
    return PathShares(
        [
            Share(
                *(flow.run, flow.name, flow.cca, counts[flow], total),
                tuple(parallel.get(flow, ())),
                (flow.is_upload, links[flow.name]),
            )
            for flow, total in totals.items()
        ],
        competitors,
        _pausing_flows(results.about, {flow.name for flow in sharing}),
        links,
    )


def _simultaneous_transfers(results: Results, flows: Sequence[_Flow]) -> dict[int, float]:
    """Returns the goodputs of equal transfers that were all on their way at once, Mbit/s.

    They are those of runs with no other flow, by the index of the connection in `flows`: size by time
    until complete, of cut ones what arrived by the time until the end of the run.
    """
    equal_flows = [
        flow
        for flow, workload in FlowUnderTest.each_with_workload(results.about)
        if workload.get("kind") == "bulk" and workload.get("bytes")
    ]
    by_run: dict[int, list[int]] = {}
    for index, flow in enumerate(flows):
        by_run.setdefault(flow.run, []).append(index)
    table = results.tables["flows"]
    starts, times, sizes = (numbers(table[name]) for name in ("start_s", "completion_s", "bytes"))
    durations = dict(rows_of(results.tables["runs"], "run", "duration_s"))
    goodputs: dict[int, float] = {}
    for run, indices in by_run.items():
        is_alone = len({flows[index].name for index in indices}) == 1 < len(indices)
        if not is_alone or not any(each.includes(flows[indices[0]].name) for each in equal_flows):
            continue
        own_starts = starts[indices]
        own_times = np.where(np.isnan(times[indices]), durations[run] - own_starts, times[indices])
        if own_starts.max() < (own_starts + own_times).min():
            rates = sizes[indices] * 8 / 1e6 / own_times
            goodputs.update(zip(indices, rates.tolist(), strict=True))
    return goodputs


def lowest_jains_index(competitors: Iterable[Competitor]) -> float:
    """Returns Jain's index of the competitors of a direction, the lowest one of all; NaN without two.

    Rates of opposite directions, and those behind different links, have nothing to share, as each has a
    capacity of its own.
    """
    by_capacity: dict[tuple[bool, int | None], list[float]] = {}
    for competitor in competitors:
        key = competitor.is_upload, competitor.link
        by_capacity.setdefault(key, []).append(competitor.goodput_mbps)
    return min((jain(each) for each in by_capacity.values() if len(each) > 1), default=math.nan)


def bottleneck_links(about: Mapping[str, Any], names: Iterable[str]) -> dict[str, int | None]:
    """Returns the index in `links` of the bottleneck of each flow; None for that of the path."""
    scenario = tomllib.loads(about["scenario"])
    flows = zip(scenario.get("flows") or [{}], FlowUnderTest.each(about), strict=True)
    links = [(flow, narrow_link(scenario, section)) for section, flow in flows]
    return {name: next((link for flow, link in links if flow.includes(name)), None) for name in names}


def _pausing_flows(about: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    """Returns the names of those flows of results that pause, such as a video with a full buffer.

    Bulk transfers do not, nor sequences of transfers without a gap.
    """
    flows = [
        flow
        for flow, workload in FlowUnderTest.each_with_workload(about)
        if not (workload.get("kind", "bulk") == "bulk" or _has_no_gap(workload))
    ]
    return {name for name in names if any(flow.includes(name) for flow in flows)}


def _has_no_gap(workload: Mapping[str, Any]) -> bool:
    # Any distribution but the constant zero has pauses.
    gap = workload.get("gap")
    value = gap.get("value") if isinstance(gap, Mapping) else gap
    return workload["kind"] == "sequence" and in_unit(value, "s") == 0


def mean_shares(shares: Iterable[Share], mixes: Mapping[int, str]) -> list[MeanShare]:
    """Returns the mean shares over the runs, of each mix and flow.

    `mixes` has the mix of each run; shares of other runs are left out.
    """
    groups: dict[tuple[str, str, str], list[Share]] = {}
    for share in shares:
        if share.run in mixes:
            groups.setdefault((mixes[share.run], share.flow, share.cca), []).append(share)
    return [
        MeanShare(
            *(mix, flow, cca),
            max(share.connections for share in group),
            estimate([share.goodput_mbps for share in group]),
            min(of_connections, default=math.nan),
            max(of_connections, default=math.nan),
            group[0].capacity,
        )
        for (mix, flow, cca), group in groups.items()
        for of_connections in [[goodput for share in group for goodput in share.of_connections]]
    ]


def shares_frame(shares: Iterable[MeanShare]) -> pd.DataFrame:
    """Returns a row per mix and flow with its CCA, connections and goodput, Mbit/s.

    The goodput is the sum over the connections: the mean over the runs, and the half width of the 95 %
    interval, NaN without spread. The lowest and the highest of a connection are those of all runs, NaN
    unless several ran all of the time.
    """
    import pandas as pd

    columns = "cca flow flow_cca connections goodput_mbps goodput_mbps_ci95 lowest_mbps highest_mbps"
    rows = [(*each[:4], each.goodput.mean, each.goodput.half_width, *each[5:7]) for each in shares]
    return pd.DataFrame(rows, columns=columns.split())


def _shared_slots(
    results: Results, flows: Sequence[_Flow], slot_s: float
) -> tuple[dict[int, _Span], dict[int, _SlotSum]]:
    """Returns the time in which all flows were active, by run, and the sums of slots in that time.

    The sums are by the index of the connection in `flows`, in the order of the slots.
    """
    slots = results.tables["slots"]
    index = indices_of(connection_keys(slots), connection_keys(results.tables["flows"]))
    is_known = index >= 0
    index, times, rates = (
        column[is_known] for column in (index, numbers(slots["t_s"]), numbers(slots["goodput_mbps"]))
    )
    spans = _spans(flows, index, times)
    ends = [spans.get(flow.run, _Span(math.nan, math.nan)) for flow in flows]
    first, last = np.array(ends, np.float64).reshape(-1, 2)[index].T
    # Times of slots are sums of floating-point numbers.
    tolerance = slot_s / 2
    is_shared = (times > first - tolerance) & (times < last + tolerance)
    keys, first_places, group = distinct(index[is_shared])
    appearance = np.argsort(first_places)
    group = np.argsort(appearance)[group]
    sums = group_sums(rates[is_shared], group, len(keys)).tolist()
    counts = np.bincount(group).tolist()
    slot_sums = map(_SlotSum, sums, counts)
    return spans, dict(zip(keys[appearance].tolist(), slot_sums, strict=True))


def _spans(flows: Sequence[_Flow], index: NDArray[np.intp], times: NDArray[Any]) -> dict[int, _Span]:
    """Returns the time in which all flows were active, by run.

    `index` is that of the connection of each slot in `flows`; `times` are the start times of slots, s.
    """
    names = [(flow.run, flow.name) for flow in flows]
    numbered = {name: number for number, name in enumerate(dict.fromkeys(names))}
    slot_flows = np.array([numbered[name] for name in names], np.intp)[index]
    first, last = np.full(len(numbered), math.inf), np.full(len(numbered), -math.inf)
    np.minimum.at(first, slot_flows, times)
    np.maximum.at(last, slot_flows, times)
    spans: dict[int, _Span] = {}
    for (run, _), number in numbered.items():
        if first[number] <= last[number]:
            span = spans.get(run, _Span(-math.inf, math.inf))
            spans[run] = _Span(
                max(span.first_s, float(first[number])), min(span.last_s, float(last[number]))
            )
    return spans
