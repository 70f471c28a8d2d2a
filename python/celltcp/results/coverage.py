"""Warnings about flows whose UE no cell could reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.results import Results

#: Columns that identify a connection.
CONNECTION = ["run", "cca", "flow"]


def lost_connections(results: Results) -> pd.DataFrame:
    """Returns the rows of `flows` of which nothing arrived because their UE found no cell.

    `t_ns` is the time of the first radio link failure.
    """
    flows = results.tables["flows"].to_pandas()
    events = results.tables["events"].to_pandas()
    failures = events[events["kind"] == "radio-link-failure"]
    back = events[events["kind"] == "radio-link-recovered"]
    silent = flows[flows["bytes"] == 0].merge(
        failures.groupby(CONNECTION, as_index=False)["t_ns"].min(), on=CONNECTION
    )
    recovered = silent.merge(
        back[CONNECTION].drop_duplicates(), on=CONNECTION, how="left", indicator=True
    )
    return silent[(recovered["_merge"] == "left_only").to_numpy()]


def uncovered(results: Results) -> list[str]:
    """Returns a warning for each flow of which nothing arrived because its UE found no cell."""
    flows = results.tables["flows"].to_pandas()
    lost = lost_connections(results)
    warnings = []
    for (cca, name, ue), group in lost.groupby(["cca", "name", "ue"], sort=False):
        runs = flows[(flows["cca"] == cca) & (flows["name"] == name)]
        warnings.append(
            f"{cca}, {name}: no cell reached {ue} in {len(group)} of {len(runs)} runs; the link failed "
            f"after {group['t_ns'].min() / 1e9:.1f} s at the earliest, and was not found again"
        )
    return warnings
