"""Shares of the path: goodput of each flow and connection while all flows ran."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celltcp.results.columns import (
    connections,
    distinct,
    group_sums,
    numbers,
    places_of,
    rows_of,
    sums_by,
)
from celltcp.results.statistics import Estimate, estimate
from celltcp.results.tables import Results


class Share(NamedTuple):
    """Goodput of a flow of a run over the time in which all flows were active, Mbit/s."""

    run: int
    name: str
    cca: str
    connections: int
    goodput_mbps: float


class MeanShare(NamedTuple):
    """Share of a flow of a line-up in the path, over all runs."""

    lineup: str
    flow: str
    #: Congestion control of the flow.
    cca: str
    #: Maximum of connections of the flow in a run.
    connections: int
    #: Goodput of all connections of the flow together, Mbit/s.
    goodput: Estimate


class Competitor(NamedTuple):
    """Goodput of a connection over the time in which all flows were active, Mbit/s.

    The connections of a flow are one competitor if not all of them lasted for all of that time.
    """

    flow: str
    goodput_mbps: float


class Shared(NamedTuple):
    """Goodput over the time in which all flows of a run were active; none for runs without it."""

    #: Shares of each run and flow.
    flows: list[Share]
    #: Competitors by run.
    competitors: dict[int, list[Competitor]]


class _Span(NamedTuple):
    """The time in which all flows of a run were active, by the times of its first and last slot, s."""

    begin_s: float
    end_s: float

    def slots(self, slot_s: float) -> float:
        """Returns the number of slots, one at least."""
        return max(round((self.end_s - self.begin_s) / slot_s) + 1.0, 1.0)


class _Got(NamedTuple):
    """Sum of the goodputs of the slots of a connection, Mbit/s, and their number."""

    total: float
    slots: int


def shared_path(results: Results) -> Shared:
    """Returns the shares of the path: from the start of the last flow to the end of the first one."""
    flows = results.tables["flows"]
    of_connection = list(rows_of(flows, "run", "name", "cca"))
    slot_s = float(results.about["slot_s"])
    spans, flow_goodputs = _while_all_are_there(
        results, [(run, name) for run, name, _ in of_connection], slot_s
    )
    lengths = {run: span.slots(slot_s) for run, span in spans.items()}
    flow_of = {each: of_connection[each] for each in flow_goodputs}
    goodputs = {each: got.total / lengths[flow_of[each][0]] for each, got in flow_goodputs.items()}
    # Flows with a connection that was not active all of the time.
    partly = {
        flow_of[each] for each, got in flow_goodputs.items() if got.slots < lengths[flow_of[each][0]]
    }
    competitors: dict[int, list[Competitor]] = {}
    for each, flow in flow_of.items():
        if flow not in partly:
            competitors.setdefault(flow[0], []).append(Competitor(flow[1], goodputs[each]))
    together = [each for each, flow in flow_of.items() if flow in partly]
    for (run, name), goodput in sums_by(
        [flow_of[each][:2] for each in together], [goodputs[each] for each in together]
    ).items():
        competitors.setdefault(run, []).append(Competitor(name, goodput))
    counts = Counter(flow_of.values())
    shares = [
        Share(run, name, cca, counts[run, name, cca], goodput)
        for (run, name, cca), goodput in sums_by(
            list(flow_of.values()), list(goodputs.values())
        ).items()
    ]
    return Shared(shares, competitors)


def mean_shares(shares: Iterable[Share], lineups: Mapping[int, str]) -> list[MeanShare]:
    """Returns the mean shares over the runs, of each line-up and flow.

    Args:
        shares: of each run and flow.
        lineups: the line-up of each run; shares of other runs are left out.
    """
    flows: dict[tuple[str, str, str], list[Share]] = {}
    for share in shares:
        if share.run in lineups:
            flows.setdefault((lineups[share.run], share.name, share.cca), []).append(share)
    return [
        MeanShare(
            *(lineup, name, cca),
            max(of_run.connections for of_run in of_runs),
            estimate([of_run.goodput_mbps for of_run in of_runs]),
        )
        for (lineup, name, cca), of_runs in flows.items()
    ]


def _while_all_are_there(
    results: Results, flows: list[tuple[int, str]], slot_s: float
) -> tuple[dict[int, _Span], dict[int, _Got]]:
    """Returns that time of each run, and what each connection got in it, in the order of the slots.

    Args:
        results: of the campaign.
        flows: run and name of the flow of each connection.
        slot_s: length of a slot, s.
    """
    slots = results.tables["slots"]
    place = places_of(connections(slots), connections(results.tables["flows"]))
    known = place >= 0
    place, times, rates = (
        each[known] for each in (place, numbers(slots["t_s"]), numbers(slots["goodput_mbps"]))
    )
    spans = _spans(flows, place, times)
    ends = [spans.get(run, _Span(math.nan, math.nan)) for run, _ in flows]
    begin, end = np.array(ends, np.float64).reshape(-1, 2)[place].T
    # Times of slots are sums of floating-point numbers.
    near = slot_s / 2
    shared = (times > begin - near) & (times < end + near)
    keys, first, group = distinct(place[shared])
    appearance = np.argsort(first)
    group = np.argsort(appearance)[group]
    sums = group_sums(rates[shared], group, len(keys)).tolist()
    counts = np.bincount(group).tolist()
    return spans, {
        each: _Got(*got) for each, *got in zip(keys[appearance].tolist(), sums, counts, strict=True)
    }


def _spans(
    flows: list[tuple[int, str]], place: NDArray[np.intp], times: NDArray[Any]
) -> dict[int, _Span]:
    """Returns the time in which all flows were active, by run.

    Args:
        flows: run and name of the flow of each connection.
        place: that of the connection of each slot.
        times: of the slots, s.
    """
    numbered = {flow: index for index, flow in enumerate(dict.fromkeys(flows))}
    of_slot = np.array([numbered[flow] for flow in flows], np.intp)[place]
    first, last = np.full(len(numbered), math.inf), np.full(len(numbered), -math.inf)
    np.minimum.at(first, of_slot, times)
    np.maximum.at(last, of_slot, times)
    result: dict[int, _Span] = {}
    for (run, _), number in numbered.items():
        if first[number] <= last[number]:
            begin, end = result.get(run, _Span(-math.inf, math.inf))
            result[run] = _Span(max(begin, float(first[number])), min(end, float(last[number])))
    return result
