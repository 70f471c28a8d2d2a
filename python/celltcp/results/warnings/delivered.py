"""Warnings about flows that delivered nothing, with the reason."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from celltcp._core import CelltcpError, in_unit
from celltcp.results.cca_mixes import lineups_of
from celltcp.results.columns import array_of, records, rows_of
from celltcp.results.warnings.coverage import connection_of, lost_connections
from celltcp.scenarios.cca_mix import counted, labels

if TYPE_CHECKING:
    from celltcp.results.tables import Results


def no_delivery(results: Results) -> list[str]:
    """Returns a warning for flows that delivered nothing in some runs, and why.

    Flows whose UE found no cell are left out: `uncovered` tells of them.
    """
    lineups = lineups_of(results)
    flows = results.tables["flows"]
    got = list(rows_of(flows, "run", "name", "bytes"))
    arrived = Counter[tuple[int, str]]()
    for run, name, count in got:
        arrived[run, name] += count or 0
    places = [
        place for place, (run, name, _) in enumerate(got) if run in lineups and not arrived[run, name]
    ]
    if not places:
        return []
    empty = records(flows.take(array_of(np.array(places))))
    lost = lost_connections(results)
    # Runs and reasons of the connections of each flow.
    result: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for row in empty:
        if connection_of(row) not in lost:
            key = lineups[row["run"]], row["name"]
            result.setdefault(key, []).append((row["run"], _reason(row, results.about)))
    runs = Counter(lineups.values())
    told: dict[tuple[str, str, str], list[str]] = {}
    for (lineup, name), mine in result.items():
        times = f"{len({run for run, _ in mine})} of {counted(runs[lineup], 'run')}"
        # The same flow can fail for several reasons; the most frequent one is told.
        reasons = Counter(reason for _, reason in mine)
        reason = min(reasons, key=lambda each: (-reasons[each], each))
        told.setdefault((name, times, reason), []).append(lineup)
    names = labels(runs)
    return [
        f"{', '.join(names[each] for each in lineups)}: {flow} delivered nothing in {times}: {reason}"
        for (flow, times, reason), lineups in told.items()
    ]


def _reason(flow: Mapping[Any, Any], about: Mapping[str, Any]) -> str:
    """Returns why a connection delivered nothing, as far as its counters tell."""
    left_s = about["duration_s"] - flow["start_s"]
    if flow["segments"] > 0:
        result = f"none of the segments that it sent had arrived at the end, {left_s:.3g} s later"
    elif flow.get("handshake_timeouts", 0) > 0:
        result = f"its handshake timed out, and was not complete at the end, {left_s:.3g} s later"
    else:
        result = f"it sent no data from its start until the end, {left_s:.3g} s later"
    rtt = str(tomllib.loads(about["scenario"]).get("path", {}).get("rtt", ""))
    try:
        is_long = (in_unit(rtt, "s") or 0.0) > left_s
    except CelltcpError:
        is_long = False
    return f"{result}; path.rtt ({rtt}) is longer than that" if is_long else result
