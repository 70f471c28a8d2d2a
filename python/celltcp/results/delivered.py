"""Warnings about flows that delivered nothing, with the reason."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from celltcp._core import CelltcpError, in_unit
from celltcp.labels import counted, labels
from celltcp.results.coverage import CONNECTION, lost_connections

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.results import Results


def without_delivery(results: Results) -> list[str]:
    """Returns a warning for flows that delivered nothing in some runs, and why.

    Flows whose UE found no cell are left out: `uncovered` tells of them.
    """
    flows: pd.DataFrame = results.tables["flows"].to_pandas()
    runs = results.tables["runs"].select(["run", "cca"]).to_pandas()
    flows = flows.merge(runs.rename(columns={"cca": "lineup"}), on="run")
    flows["bytes_of_flow"] = flows.groupby(["run", "name"], observed=True)["bytes"].transform("sum")
    empty = flows[flows["bytes_of_flow"] == 0]
    if empty.empty:
        return []
    lost = lost_connections(results)[CONNECTION].drop_duplicates()
    found = empty.merge(lost, on=CONNECTION, how="left", indicator=True)["_merge"] == "left_only"
    empty = empty[found.to_numpy()]
    empty = empty.assign(reason=[_reason(row, results.about) for row in empty.to_dict("records")])
    told: dict[tuple[str, str, str], list[str]] = {}
    for (lineup, name), mine in empty.groupby(["lineup", "name"], observed=True, sort=False):
        count = counted(int((runs["cca"] == lineup).sum()), "run")
        # The same flow can fail for several reasons; the most frequent one is told.
        reason = str(mine["reason"].mode().iloc[0])
        told.setdefault((str(name), f"{mine['run'].nunique()} of {count}", reason), []).append(
            str(lineup)
        )
    names = labels([str(lineup) for lineup in runs["cca"].unique()])
    return [
        f"{', '.join(names[each] for each in lineups)}: {flow} delivered nothing in {times}: {reason}"
        for (flow, times, reason), lineups in told.items()
    ]


def _reason(flow: Mapping[Any, Any], about: Mapping[str, Any]) -> str:
    """Returns why a connection delivered nothing, as far as its counters tell."""
    left_s = about["duration_s"] - flow["start_s"]
    if flow["segments"] > 0:
        found = f"none of the segments that it sent had arrived at the end, {left_s:.3g} s later"
    elif flow.get("handshake_timeouts", 0) > 0:
        found = f"its handshake timed out, and was not complete at the end, {left_s:.3g} s later"
    else:
        found = f"it sent no data from its start until the end, {left_s:.3g} s later"
    rtt = str(tomllib.loads(about["scenario"]).get("path", {}).get("rtt", ""))
    try:
        is_long = (in_unit(rtt, "s") or 0.0) > left_s
    except CelltcpError:
        is_long = False
    return f"{found}; path.rtt ({rtt}) is longer than that" if is_long else found
