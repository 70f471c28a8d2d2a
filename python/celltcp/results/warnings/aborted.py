"""Warnings about connections that TCP aborted, which applications do not reopen."""

from __future__ import annotations

import collections
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp.results.after_aborts import TIMED_OUT
from celltcp.results.columns import rows_of
from celltcp.results.tested import FlowUnderTest, flow_name
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.results.tables import Results


def aborted_connections(results: Results) -> list[str]:
    """Returns a warning for each flow with connections that were aborted without an answer."""
    times_ns: dict[tuple[int, int], int] = {}
    for run, number, kind, t_ns in rows_of(results.tables["events"], "run", "flow", "kind", "t_ns"):
        # Both ends may abort a connection.
        if kind == TIMED_OUT:
            times_ns[run, number] = min(t_ns, times_ns.get((run, number), t_ns))
    lineups, flows = results.lineups, FlowUnderTest.each(results.about)
    connections: collections.Counter[tuple[str, str]] = collections.Counter()
    aborts_ns: collections.defaultdict[tuple[str, str], list[int]] = collections.defaultdict(list)
    for run, number, name in rows_of(results.tables["flows"], "run", "flow", "name"):
        key = lineups[run], flow_name(str(name), flows)
        connections[key] += 1
        if (run, number) in times_ns:
            aborts_ns[key].append(times_ns[run, number])
    names = labels(lineups.values())
    silence = silence_text(tomllib.loads(results.about["scenario"]))
    return [
        f"{names[cca]}: {len(aborts)} of {connections[cca, flow]} connections of {flow} "
        f"{'was' if len(aborts) == 1 else 'were'} given up, the first at {min(aborts) / 1e9:.1f} s, "
        f"after no answer for {silence}; applications open none in their place"
        for (cca, flow), aborts in aborts_ns.items()
    ]


def silence_text(scenario: Mapping[str, Any]) -> str:
    """Returns the limit of the other end's silence in words, with its field."""
    tcp = scenario.get("tcp", {})
    fields = [f"tcp.{name} ({tcp[name]})" for name in ("user_timeout", "keepalive") if name in tcp]
    max_interval = f", tcp.rto_max ({tcp['rto_max']}) apart at most" if "rto_max" in tcp else ""
    return " or ".join(fields) or f"15 retransmissions{max_interval}"
