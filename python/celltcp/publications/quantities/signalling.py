"""Quantities of machines in a cell: response times, delays of the uplink, the control channel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity, of_flows

#: Maximum use of an idle control channel.
_MAX_IDLE_USE = 0.01


def _rows_of(measured: Measured, entry: Published, table: str) -> list[pd.DataFrame]:
    """Returns the rows of each run in one of the tables of a scenario with `radio.control_log`."""
    rows = measured.frame(table)
    return [rows[rows["run"] == run] for run in measured.runs_of(entry)["run"]]


def _noted_values(measured: Measured, entry: Published, kind: str) -> list[pd.Series]:
    """Returns the values of a kind that applications recorded in each run, ms."""
    return [
        rows.loc[rows["kind"] == kind, "detail"].astype(float) * 1e3
        for rows in _rows_of(measured, entry, "events")
    ]


def _of_values(
    values: Callable[[Measured, Published], list[pd.Series]], measure: Callable[[pd.Series], float]
) -> Quantity:
    """Returns a measure of values, whose distribution over all runs a picture shows."""

    def spread(measured: Measured, entry: Published) -> list[float]:
        return [float(each) for run in values(measured, entry) for each in run]

    def per_run(measured: Measured, entry: Published) -> list[float]:
        return [float(measure(value)) if len(value) else math.nan for value in values(measured, entry)]

    return Quantity(per_run, spread)


def _application_metric(kind: str, measure: Callable[[pd.Series], float]) -> Quantity:
    return _of_values(lambda measured, entry: _noted_values(measured, entry, kind), measure)


def _delay(measure: Callable[[pd.Series], float]) -> Quantity:
    def values(measured: Measured, entry: Published) -> list[pd.Series]:
        return [rows["delay_ms"] for rows in _rows_of(measured, entry, "uplink")]

    return _of_values(values, measure)


def _sessions(measured: Measured, entry: Published) -> list[pd.DataFrame]:
    """Returns the TTIs of each run from the first session to the end of the last one."""
    ends = []
    for flows in measured.flows_of(entry):
        over = (flows["start_s"] + flows["completion_s"]).max()
        ends.append(math.inf if flows["completion_s"].isna().any() else float(over))
    starts = [float(flows["start_s"].min()) for flows in measured.flows_of(entry)]
    return [
        rows[(rows["t_ns"] >= start * 1e9) & (rows["t_ns"] < end * 1e9)]
        for rows, start, end in zip(_rows_of(measured, entry, "control"), starts, ends, strict=True)
    ]


def _use(measured: Measured, entry: Published) -> list[pd.Series]:
    """Returns the use of the control channel in each TTI, %: all of it if a message found no place."""
    result = []
    for rows in _sessions(measured, entry):
        share = rows["taken"] / rows["elements"].clip(lower=1)
        result.append(100 * share.where(rows["blocked"] == 0, 1.0))
    return result


def _share_of(kind: Callable[[pd.Series], pd.Series]) -> Quantity:
    return Quantity(
        lambda measured, entry: [
            float(100 * kind(use).mean()) if len(use) else math.nan for use in _use(measured, entry)
        ]
    )


def _timeouts(flows: pd.DataFrame) -> float:
    """Time-outs of TCP at both ends, those of handshakes included."""
    return float(np.nansum(flows[["timeouts", "far_timeouts", "handshake_timeouts"]].to_numpy()))


def _per_session(column: str) -> Quantity:
    def values(measured: Measured, entry: Published) -> list[float]:
        ends = [int(flows["completion_s"].notna().sum()) for flows in measured.flows_of(entry)]
        rows = _rows_of(measured, entry, "control")
        return [
            float(row[column].sum() / ended) if ended else math.nan
            for row, ended in zip(rows, ends, strict=True)
        ]

    return Quantity(values)


#: Quantities that need `radio.control_log`, and those of telemetry.
OF_SIGNALLING: dict[str, Quantity] = {
    "up_response": _application_metric("up_s", lambda values: float(values.median())),
    "up_response_p95": _application_metric("up_s", lambda values: float(values.quantile(0.95))),
    "up_response_max": _application_metric("up_s", lambda values: values.max()),
    "down_response": _application_metric("down_s", lambda values: float(values.median())),
    "down_response_p95": _application_metric("down_s", lambda values: float(values.quantile(0.95))),
    "uplink_delay": _delay(lambda values: float(values.median())),
    "uplink_delay_max": _delay(lambda values: values.max()),
    "pdcch_use": _of_values(_use, lambda values: values.mean()),
    "pdcch_idle": _share_of(lambda use: use < 100 * _MAX_IDLE_USE),
    "pdcch_full": _share_of(lambda use: use >= 100),
    "tcp_timeouts": of_flows(_timeouts),
    "reports_each": _per_session("reports"),
    "requests_each": _per_session("requests"),
    "grants_each": _per_session("grants"),
}
