"""Warnings about connections that TCP aborted, which applications do not reopen."""

from __future__ import annotations

import collections
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from celltcp.results.columns import rows_of, text_array_of
from celltcp.results.tested import FlowUnderTest, flow_name
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Kind of the events of connections that an end aborted after its timeout.
TIMED_OUT = "timed_out"


def aborted_connections(results: Results) -> list[str]:
    """Returns a warning for each flow with connections that were aborted without an answer."""
    if "events" not in results.tables:
        return []
    events = results.tables["events"]
    is_end = pc.is_in(events["kind"].cast(pa.string()), value_set=text_array_of([TIMED_OUT]))
    times: dict[tuple[int, int], int] = {}
    # Both ends may give a connection up.
    for run, number, t_ns in rows_of(events.filter(is_end), "run", "flow", "t_ns"):
        times[run, number] = min(t_ns, times.get((run, number), t_ns))
    if not times:
        return []
    lineups, flows = results.lineups, FlowUnderTest.each(results.about)
    every: collections.Counter[tuple[str, str]] = collections.Counter()
    times_by_flow: collections.defaultdict[tuple[str, str], list[int]] = collections.defaultdict(list)
    for run, number, name in rows_of(results.tables["flows"], "run", "flow", "name"):
        key = lineups[run], flow_name(str(name), flows)
        every[key] += 1
        if (run, number) in times:
            times_by_flow[key].append(times[run, number])
    names = labels(lineups.values())
    silence = silence_text(tomllib.loads(results.about["scenario"]))
    return [
        f"{names[cca]}: {len(ends)} of {every[cca, flow]} connections of {flow} "
        f"{'was' if len(ends) == 1 else 'were'} given up, the first at {min(ends) / 1e9:.1f} s, after "
        f"no answer for {silence}; applications open none in their place"
        for (cca, flow), ends in times_by_flow.items()
    ]


def silence_text(scenario: Mapping[str, Any]) -> str:
    """Returns what bounds the silence of the other end in words, with its field."""
    tcp = scenario.get("tcp", {})
    fields = [f"tcp.{each} ({tcp[each]})" for each in ("user_timeout", "keepalive") if each in tcp]
    longest = f", tcp.rto_max ({tcp['rto_max']}) apart at most" if "rto_max" in tcp else ""
    return " or ".join(fields) or f"15 retransmissions{longest}"
