"""Page loads in captures: bursts of responses over parallel connections of a client, with silences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.pcap.units.units import PARTS, RESPONSE

#: Name of loads, as `celltcp.comparison.applications.units_of_work` has it.
PAGE_LOAD = "page_load"
#: Minimum number of loads, of responses of each in the median, and of its connections.
_MIN_LOADS, _MIN_RESPONSES, _MIN_CONNECTIONS = 3, 5, 2
#: Minimum silence between loads, s, its minimum ratio to the longest one within a load, and silences
#: within that count as none, s.
_MIN_SILENCE_S, _MIN_RATIO, _NO_SILENCE_S = 0.2, 3.0, 0.02
#: Minimum share of a load that a cause takes.
_MIN_CAUSE_SHARE = 0.25
#: Columns of page loads.
_COLUMNS = [
    *("file", "client", "server", "unit", "start_s", "duration_s", "responses", "connections"),
    *("error_s", "rest_s", "connection", "delayed_by"),
]


def page_loads(units: pd.DataFrame, connections: pd.DataFrame) -> pd.DataFrame:
    """Returns the page loads of each client, with the columns `_COLUMNS`; no row without any.

    There are none unless silences part several bursts of responses clearly. A burst is one if each
    response has its end, and the last one if a silence follows in the capture. The server is the one of
    most responses, and the cause the part that takes most time of the responses which the end waited
    for, one after the other.
    """
    rows = connections[["file", "connection", "client", "server", "start_ns", "direction"]]
    last_s = connections["start_ns"] / 1e9 + connections["duration_s"]
    ends_s = last_s.groupby(connections["file"].astype(str)).max().to_dict()
    responses = units[units["unit"] == RESPONSE].merge(rows, on=["file", "connection"])
    responses = responses[responses["direction"] == "down"]
    if responses.empty:
        return pd.DataFrame(columns=_COLUMNS)
    since_s = responses["start_ns"] / 1e9
    responses = responses.assign(
        client=responses["client"].str.rpartition(":")[0],
        start_s=since_s + responses["start_s"],
        end_s=since_s + responses["end_s"],
    )
    tables = [
        loads.assign(file=str(file), client=str(client), unit=PAGE_LOAD, error_s=0.0, connection=-1)
        for (file, client), own in responses.groupby(["file", "client"], observed=True)
        for loads in _loads(own.sort_values("start_s"), ends_s[str(file)])
    ]
    return pd.concat(tables)[_COLUMNS] if tables else pd.DataFrame(columns=_COLUMNS)


def page_flow(loads: pd.DataFrame, responses: pd.DataFrame, start_s: float) -> str:
    """Returns the flow of the page loads of a client as TOML.

    Args:
        loads: its page loads.
        responses: its responses, with `started_s` since the epoch; a load begins with its document.
        start_s: start of the first load in the scenario, s.
    """
    numbers = np.searchsorted(loads["start_s"], responses["started_s"] + _NO_SILENCE_S) - 1
    own = responses[numbers >= 0].sort_values("started_s").groupby(numbers[numbers >= 0])
    document = float(own["bytes"].first().median())
    objects = round(float(loads["responses"].median())) - 1
    size = float(own["bytes"].apply(lambda sizes: sizes.iloc[1:].mean()).median())
    gaps_s = loads["start_s"] - (loads["start_s"] + loads["duration_s"]).shift()
    think_s, request = float(responses["server_s"].median()), float(responses["request_bytes"].median())
    return (
        f'\n[[flows]]\nname = "pages"\nstart = "{start_s:.2f}s"\n'
        f'workload = {{ kind = "page", document = "{document:.0f}B", objects = {objects}, '
        f'object = "{size:.0f}B", depth = 1, connections = {loads["connections"].median():.0f}, '
        f'request = "{request:.0f}B", think = "{1e3 * think_s:.0f}ms", parse = "0ms", '
        f'gap = "{gaps_s.median():.3f}s" }} # {len(loads)} pages; their levels are not known\n'
    )


def _loads(responses: pd.DataFrame, capture_end_s: float) -> Iterator[pd.DataFrame]:
    """Yields the loads of one client, by the start of its responses; nothing if they are no pages."""
    last_s = responses["end_s"].fillna(responses["start_s"]).cummax()
    silences_s = (responses["start_s"] - last_s.shift()).to_numpy(float)
    shortest_s = _shortest_between(silences_s)
    if shortest_s is None:
        return
    groups = responses.groupby((silences_s >= shortest_s).cumsum())
    loads = groups.agg(start_s=("start_s", "min"), end_s=("end_s", "max"))
    loads["responses"], loads["connections"] = groups.size(), groups["connection"].nunique()
    loads["duration_s"] = loads["end_s"] - loads["start_s"]
    loads["rest_s"] = capture_end_s
    loads["server"] = responses["server"].mode().iloc[0]
    loads["delayed_by"] = [_cause(own.dropna(subset=["end_s"])) for _, own in groups]
    is_whole = groups["end_s"].count() == groups.size()
    loads = loads[is_whole & (loads["end_s"] + shortest_s <= capture_end_s)]
    medians = loads[["responses", "connections"]].median()
    if (
        len(loads) >= _MIN_LOADS
        and medians["responses"] >= _MIN_RESPONSES
        and medians["connections"] >= _MIN_CONNECTIONS
    ):
        yield loads


def _shortest_between(silences_s: NDArray[np.float64]) -> float | None:
    """Returns the shortest silence between loads, by the widest step of all; None if none is wide."""
    ordered = np.sort(silences_s[silences_s > _NO_SILENCE_S])
    ratios = ordered / np.append(_NO_SILENCE_S, ordered[:-1])
    ratios[ordered < _MIN_SILENCE_S] = 0.0
    if not len(ordered) or ratios.max() < _MIN_RATIO:
        return None
    return float(ordered[ratios.argmax()])


def _cause(responses: pd.DataFrame) -> str:
    """Returns the part with most time of the responses for which a load waited; empty without one."""
    by_end = responses.sort_values("end_s")
    waited, start_s = [], np.inf
    while len(by_end := by_end[by_end["end_s"] <= start_s]):
        waited.append(by_end.iloc[-1])
        start_s = waited[-1]["start_s"]
    if not waited:
        return ""
    parts = pd.DataFrame(waited)[list(PARTS)].sum()
    load_s = responses["end_s"].max() - responses["start_s"].min()
    return PARTS[str(parts.idxmax())] if parts.max() >= _MIN_CAUSE_SHARE * load_s else ""
