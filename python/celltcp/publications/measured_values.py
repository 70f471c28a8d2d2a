"""Measured values of the quantities in published tables."""

from __future__ import annotations

import math

import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities import QUANTITIES
from celltcp.results.statistics import student_quantile


def measured_values(measured: Measured, entry: Published) -> list[float]:
    """Returns the values of the runs, in the order of the seeds."""
    if entry.quantity in measured.derived:
        return [measured.derived[entry.quantity]]
    return QUANTITIES[entry.quantity].values(measured, entry)


def distribution_values(measured: Measured, entry: Published) -> list[float]:
    """Returns the values whose distribution a picture shows: of slots or of connections."""
    distribution = QUANTITIES[entry.quantity].distribution
    return measured_values(measured, entry) if distribution is None else distribution(measured, entry)


def slot_interval(measured: Measured, entry: Published) -> float | None:
    """Returns the half width of a slot's 95 % interval over the runs, averaged over the slots."""
    column = QUANTITIES[entry.quantity].column
    if column is None:
        return None
    slots = measured.slots_of(entry)
    by_slot = slots[column].groupby((slots["t_s"] / measured.slot_s).round().astype(int))
    deviations = pd.DataFrame({"sd": by_slot.std(), "count": by_slot.count()}).dropna()
    if deviations.empty:
        return None
    half_widths = [
        student_quantile(int(count) - 1) * sd / math.sqrt(count)
        for sd, count in zip(deviations["sd"], deviations["count"], strict=True)
    ]
    return math.fsum(half_widths) / len(half_widths)
