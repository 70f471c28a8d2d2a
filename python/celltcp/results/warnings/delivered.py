"""Warnings about flows that delivered nothing, with the reasons."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp._core import CelltcpError, in_unit
from celltcp.results.columns import records, rows_of
from celltcp.scenarios.cca_mix import count_text, labels
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Columns of connections that show why nothing was delivered; old results lack the last one.
_COLUMNS = ("run", "cca", "flow", "name", "start_s", "segments", "handshake_timeouts")

#: Run, congestion control and number of a connection.
Connection = tuple[int, str, int]


def connection_of(row: Mapping[str, Any]) -> Connection:
    """Returns the identity of the connection of a row."""
    return row["run"], row["cca"], row["flow"]


def lost_connections(results: Results) -> dict[Connection, tuple[str, str, int]]:
    """Returns the connections that delivered nothing because their UE found no cell.

    The values are the name of the flow, the UE, and the time of the first radio link failure, ns.
    """
    flows = records(results.tables["flows"].select(["run", "cca", "flow", "name", "ue", "bytes"]))
    silent = {connection_of(flow): flow for flow in flows if flow["bytes"] == 0}
    if not silent:
        return {}
    failures_ns: dict[Connection, int] = {}
    recovered = set()
    for event in records(results.tables["events"].select(["run", "cca", "flow", "kind", "t_ns"])):
        key = connection_of(event)
        if event["kind"] == "radio-link-recovered":
            recovered.add(key)
        elif event["kind"] == "radio-link-failure":
            failures_ns[key] = min(event["t_ns"], failures_ns.get(key, event["t_ns"]))
    return {
        key: (flow["name"], flow["ue"], failures_ns[key])
        for key, flow in silent.items()
        if key in failures_ns and key not in recovered
    }


def no_coverage(results: Results) -> list[str]:
    """Returns a warning for each flow of which nothing arrived because its UE found no cell."""
    failures_ns: dict[tuple[str, str, str], list[int]] = {}
    for (_, cca, _), (name, ue, t_ns) in lost_connections(results).items():
        failures_ns.setdefault((cca, name, ue), []).append(t_ns)
    if not failures_ns:
        return []
    flows = list(rows_of(results.tables["flows"], "cca", "name"))
    return [
        f"{cca}, {name}: no cell reached {ue} in {len(times_ns)} of {flows.count((cca, name))} runs; "
        f"the link failed after {min(times_ns) / 1e9:.1f} s at the earliest, and was not found again"
        for (cca, name, ue), times_ns in failures_ns.items()
    ]


def no_delivery(results: Results) -> list[str]:
    """Returns a warning for flows that delivered nothing in some runs, and why.

    Flows whose UE found no cell are left out: `no_coverage` names them.
    """
    lineups = results.lineups
    flows = results.tables["flows"]
    delivered = list(rows_of(flows, "run", "name", "bytes"))
    flow_bytes = Counter[tuple[int, str]]()
    for run, name, count in delivered:
        flow_bytes[run, name] += count or 0
    indices = [
        index
        for index, (run, name, _) in enumerate(delivered)
        if run in lineups and not flow_bytes[run, name]
    ]
    if not indices:
        return []
    all_rows = records(flows.select([name for name in _COLUMNS if name in flows.column_names]))
    silent_rows = [all_rows[index] for index in indices]
    lost = lost_connections(results)
    # Runs and reasons of the silent connections of each flow.
    silent: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for row in silent_rows:
        if connection_of(row) not in lost:
            key = lineups[row["run"]], row["name"]
            silent.setdefault(key, []).append((row["run"], _reason(row, results.about)))
    runs = Counter(lineups.values())
    lineups_by_failure: dict[tuple[str, str, str], list[str]] = {}
    for (lineup, name), runs_and_reasons in silent.items():
        times = f"{len({run for run, _ in runs_and_reasons})} of {count_text(runs[lineup], 'run')}"
        # The same flow can fail for several reasons; the warning has the most frequent one.
        reasons = Counter(reason for _, reason in runs_and_reasons)
        reason = min(reasons, key=lambda text: (-reasons[text], text))
        lineups_by_failure.setdefault((name, times, reason), []).append(lineup)
    names = labels(runs)
    return [
        f"{', '.join(names[cca] for cca in ccas)}: {flow} delivered nothing in {times}: {reason}"
        for (flow, times, reason), ccas in lineups_by_failure.items()
    ]


def _reason(flow: Mapping[Any, Any], about: Mapping[str, Any]) -> str:
    """Returns why a connection delivered nothing, by its counters."""
    left_s = about["duration_s"] - flow["start_s"]
    later_text = f"{three_digits(left_s)} s later"
    if flow["segments"] > 0:
        text = f"none of the segments that it sent had arrived at the end, {later_text}"
    elif flow.get("handshake_timeouts", 0) > 0:
        text = f"its handshake timed out, and was not complete at the end, {later_text}"
    else:
        text = f"it sent no data from its start until the end, {later_text}"
    rtt = str(tomllib.loads(about["scenario"]).get("path", {}).get("rtt", ""))
    try:
        is_long = (in_unit(rtt, "s") or 0.0) > left_s
    except CelltcpError:
        is_long = False
    return f"{text}; path.rtt ({rtt}) is longer than that" if is_long else text
