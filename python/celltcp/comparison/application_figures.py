"""Figures of applications: times of responses, pages and transfers, late frames, scores of videos."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celltcp.comparison.metrics import APPLICATIONS, TRANSFERS, AppMetric
from celltcp.results.columns import rows_of, text_array_of
from celltcp.results.tables import Results
from celltcp.results.tested import FlowUnderTest

Key = TypeVar("Key", bound=Hashable)
#: Figures by name, a value per run; NaN where a run has none.
Figures = dict[str, NDArray[np.float64]]


def application_figures(
    results: Results, of: Mapping[tuple[int, int], Key], runs: Sequence[int]
) -> dict[Key, Figures]:
    """Returns the figures of applications, by the key of their connections.

    Only applications that have recorded something are there, and transfers that have an end.

    Args:
        results: of the campaign.
        of: key, such as the name of the flow, by run and number of the connection.
        runs: numbers of the runs.
    """
    if "events" not in results.tables:
        # An evaluation keeps none.
        return {}
    values = _event_values(results, of)
    for key, transfers in _transfers(results, of).items():
        values.setdefault(key, {})[_COMPLETION] = transfers
    result: dict[Key, Figures] = {}
    for key, by_kind in values.items():
        figures: Figures = {}
        for application in APPLICATIONS:
            kinds = {name: figure.kind or name for name, figure in application.items()}
            if application is TRANSFERS:
                figures |= _of_transfers(by_kind.get(_COMPLETION), runs)
            elif not by_kind.keys().isdisjoint(kinds.values()):
                for name, figure in application.items():
                    known = by_kind.get(kinds[name], {})
                    figures[name] = _per_run(known, runs, _statistic(figure))
        if figures:
            result[key] = figures
    return result


#: Name of the times of transfers among the kinds of events.
_COMPLETION = "completion"


def _event_values(
    results: Results, of: Mapping[tuple[int, int], Key]
) -> dict[Key, dict[str, dict[int, list[float]]]]:
    """Returns the values that events have, by key, kind and run."""
    wanted = {
        figure.kind or name for application in APPLICATIONS for name, figure in application.items()
    }
    events = results.tables["events"]
    is_wanted = pc.is_in(events["kind"].cast(pa.string()), value_set=text_array_of(sorted(wanted)))
    result: dict[Key, dict[str, dict[int, list[float]]]] = {}
    for run, flow, kind, detail in rows_of(events.filter(is_wanted), "run", "flow", "kind", "detail"):
        if (run, flow) in of:
            of_kind = result.setdefault(of[run, flow], {}).setdefault(kind, {})
            of_kind.setdefault(run, []).append(float(detail))
    return result


def _transfers(
    results: Results, of: Mapping[tuple[int, int], Key]
) -> dict[Key, dict[int, list[float]]]:
    """Returns completion times of flows that have an end, by key and run; NaN for unfinished ones."""
    known = FlowUnderTest.each_with_workload(results.about)
    # Further flows of a line-up are copies of the first.
    _, of_first = known[0]

    def is_finite(name: str) -> bool:
        mine = (workload for flow, workload in known if flow.includes(name))
        return _is_finite(next(mine, of_first))

    result: dict[Key, dict[int, list[float]]] = {}
    flows = rows_of(results.tables["flows"], "run", "flow", "name", "completion_s")
    for run, flow, name, completion_s in flows:
        if (run, flow) in of and is_finite(name):
            time_s = math.nan if completion_s is None else completion_s
            result.setdefault(of[run, flow], {}).setdefault(run, []).append(time_s)
    return result


def _is_finite(workload: Mapping[str, Any]) -> bool:
    """Returns whether the transfers of a workload have an end."""
    kind = workload.get("kind", "bulk")
    return kind == "sequence" or (kind == "bulk" and "bytes" in workload)


def _of_transfers(times: Mapping[int, Sequence[float]] | None, runs: Sequence[int]) -> Figures:
    if times is None:
        return {}
    complete = {run: [each for each in of if not math.isnan(each)] for run, of in times.items()}
    shares = {run: [len(complete[run]) / len(of)] for run, of in times.items()}
    return {
        "completion_s": _per_run(complete, runs, _mean),
        "completion_max_s": _per_run(complete, runs, max),
        "completed_share": _per_run(shares, runs, _mean),
    }


def _per_run(
    values: Mapping[int, Sequence[float]],
    runs: Sequence[int],
    statistic: Callable[[Sequence[float]], float],
) -> NDArray[np.float64]:
    return np.array([statistic(values[run]) if values.get(run) else math.nan for run in runs])


def _statistic(figure: AppMetric) -> Callable[[Sequence[float]], float]:
    if figure.percentile is None:
        return _mean
    percentile = figure.percentile
    return lambda values: _nearest_rank(values, percentile)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _nearest_rank(values: Sequence[float], percentile: int) -> float:
    """Returns a percentile as all tables have it: the smallest value that so many are not above."""
    rank = math.ceil(percentile * len(values) / 100)
    return sorted(values)[max(rank, 1) - 1]
