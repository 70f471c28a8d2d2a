"""Congestion controls or mixes under which runs are the same, as where none of them matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celltcp.results.columns import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from celltcp.results.tables import Results

#: Columns of connections that are equal in identical runs.
_IDENTITY_COLUMNS = (
    *("flow", "bytes", "segments", "retransmissions", "duration_s", "goodput_mbps"),
    *("rtt_mean_ms", "rtt_p95_ms"),
)


def identical_ccas(
    results: Results,
    runs: Sequence[int],
    seeds: Sequence[int],
    indices: Mapping[str, Sequence[int]],
) -> list[list[str]]:
    """Returns groups of congestion controls or mixes under which the runs are the same, seed by seed.

    `indices` are those of the runs of each CCA or mix among `runs` and `seeds`.
    """
    rows: dict[int, list[tuple[Any, ...]]] = {}
    for run, *row in rows_of(results.tables["flows"], "run", *_IDENTITY_COLUMNS):
        rows.setdefault(run, []).append(tuple(map(repr, row)))
    groups: dict[str, list[str]] = {}
    for cca, places in indices.items():
        own_runs = [(seeds[index], rows.get(runs[index])) for index in places]
        groups.setdefault(repr(own_runs), []).append(cca)
    return [group for group in groups.values() if len(group) > 1]
