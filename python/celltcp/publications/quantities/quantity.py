"""Quantity: a measure of runs that published tables can have."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published

#: Optional texts of each quantity: its unit in celltcp (`unit`), and its name on axes (`name`).
TEXTS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("quantities.toml").read_text("utf-8")
)


@dataclass(frozen=True)
class Quantity:
    """A measure with its values per run."""

    #: Returns a value per run, in the order of the seeds.
    values: Callable[[Measured, Published], list[float]]
    #: Returns the values whose distribution a picture shows; None if it shows none.
    distribution: Callable[[Measured, Published], list[float]] | None = None
    #: Whether its runs need the log of the radio (`radio_log`).
    needs_radio_log: bool = False
    #: Column of slots with its values over time.
    column: str | None = None
    #: Returns the CCA that the values of a CCA are relative to; None for absolute values.
    base: Callable[[str], str] | None = None


def of_runs(column: str) -> Quantity:
    """Returns the quantity of a column of runs; NaN where it is missing."""

    def values(measured: Measured, entry: Published) -> list[float]:
        runs = measured.runs_of(entry)
        return [float(value) for value in runs.get(column, [math.nan] * len(runs))]

    return Quantity(values)


def of_flows(
    measure: Callable[[pd.DataFrame], float],
    distribution: Callable[[Measured, Published], list[float]] | None = None,
) -> Quantity:
    """Returns a measure of the connections of each run."""
    return Quantity(
        lambda measured, entry: [measure(flows) for flows in measured.flows_of(entry)], distribution
    )


def sum_of(column: str, factor: float = 1.0) -> Quantity:
    """Returns the sum of a column over the connections of each run."""
    return of_flows(lambda flows: float(flows[column].sum()) * factor)
