"""Warnings about flows whose UE no cell could reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celltcp.results.columns import records, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from celltcp.results.tables import Results

#: Run, congestion control and number of a connection.
Connection = tuple[int, str, int]


def connection_of(row: Mapping[str, Any]) -> Connection:
    """Returns what identifies the connection that a row is about."""
    return row["run"], row["cca"], row["flow"]


def lost_connections(results: Results) -> dict[Connection, tuple[str, str, int]]:
    """Returns the connections of which nothing arrived because their UE found no cell.

    Of each: name of the flow, UE, and time of the first radio link failure, ns.
    """
    flows = records(results.tables["flows"].select(["run", "cca", "flow", "name", "ue", "bytes"]))
    silent = {connection_of(flow): flow for flow in flows if flow["bytes"] == 0}
    if not silent:
        return {}
    failed: dict[Connection, int] = {}
    recovered = set()
    for event in records(results.tables["events"].select(["run", "cca", "flow", "kind", "t_ns"])):
        key = connection_of(event)
        if event["kind"] == "radio-link-recovered":
            recovered.add(key)
        elif event["kind"] == "radio-link-failure":
            failed[key] = min(event["t_ns"], failed.get(key, event["t_ns"]))
    return {
        key: (flow["name"], flow["ue"], failed[key])
        for key, flow in silent.items()
        if key in failed and key not in recovered
    }


def uncovered(results: Results) -> list[str]:
    """Returns a warning for each flow of which nothing arrived because its UE found no cell."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for (_, cca, _), (name, ue, t_ns) in lost_connections(results).items():
        groups.setdefault((cca, name, ue), []).append(t_ns)
    if not groups:
        return []
    flows = list(rows_of(results.tables["flows"], "cca", "name"))
    return [
        f"{cca}, {name}: no cell reached {ue} in {len(times)} of {flows.count((cca, name))} runs; the "
        f"link failed after {min(times) / 1e9:.1f} s at the earliest, and was not found again"
        for (cca, name, ue), times in groups.items()
    ]
