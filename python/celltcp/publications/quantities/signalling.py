"""Quantities of machines in a cell: response times, delays of the uplink, the control channel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity, of_flows

#: Use below which a control channel is idle, %.
_IDLE_USE_PERCENT = 1.0


def _rows_of(measured: Measured, entry: Published, table: str) -> list[pd.DataFrame]:
    """Returns the rows of each run in a table."""
    rows = measured.frame(table)
    return [rows[rows["run"] == run] for run in measured.runs_of(entry)["run"]]


def _recorded_ms(measured: Measured, entry: Published, kind: str) -> list[pd.Series]:
    """Returns the times of a kind that applications recorded in each run, ms."""
    return [
        rows.loc[rows["kind"] == kind, "detail"].astype(float) * 1e3
        for rows in _rows_of(measured, entry, "events")
    ]


def _of_values(
    values: Callable[[Measured, Published], list[pd.Series]], measure: Callable[[pd.Series], float]
) -> Quantity:
    """Returns a measure of the values of each run; a picture shows the distribution over all runs."""

    def distribution(measured: Measured, entry: Published) -> list[float]:
        return [float(value) for run_values in values(measured, entry) for value in run_values]

    def per_run(measured: Measured, entry: Published) -> list[float]:
        return [float(measure(run)) if len(run) else math.nan for run in values(measured, entry)]

    return Quantity(per_run, distribution)


def _application_metric(kind: str, measure: Callable[[pd.Series], float]) -> Quantity:
    return _of_values(lambda measured, entry: _recorded_ms(measured, entry, kind), measure)


def _delay(measure: Callable[[pd.Series], float]) -> Quantity:
    def values(measured: Measured, entry: Published) -> list[pd.Series]:
        return [rows["delay_ms"] for rows in _rows_of(measured, entry, "uplink")]

    return _of_values(values, measure)


def _sessions(measured: Measured, entry: Published) -> list[pd.DataFrame]:
    """Returns the TTIs of each run from the start of the first session to the end of the last one."""
    selected = []
    flows_and_ttis = zip(measured.flows_of(entry), _rows_of(measured, entry, "control"), strict=True)
    for flows, ttis in flows_and_ttis:
        start_s = float(flows["start_s"].min())
        end_s = float((flows["start_s"] + flows["completion_s"]).max())
        end_s = math.inf if flows["completion_s"].isna().any() else end_s
        selected.append(ttis[(ttis["t_ns"] >= start_s * 1e9) & (ttis["t_ns"] < end_s * 1e9)])
    return selected


def _pdcch_use(measured: Measured, entry: Published) -> list[pd.Series]:
    """Returns the use of the PDCCH in each TTI of each run, %; 100 % if a message was blocked."""
    runs = []
    for ttis in _sessions(measured, entry):
        share = ttis["taken"] / ttis["elements"].clip(lower=1)
        runs.append(100 * share.where(ttis["blocked"] == 0, 1.0))
    return runs


def _percent_of_ttis(condition: Callable[[pd.Series], pd.Series]) -> Quantity:
    """Returns the share of TTIs whose use of the PDCCH meets a condition, %."""
    return Quantity(
        lambda measured, entry: [
            float(100 * condition(use).mean()) if len(use) else math.nan
            for use in _pdcch_use(measured, entry)
        ]
    )


def _timeouts(flows: pd.DataFrame) -> float:
    """Returns the time-outs of TCP at both ends, with those of handshakes."""
    return float(np.nansum(flows[["timeouts", "far_timeouts", "handshake_timeouts"]].to_numpy()))


def _per_session(column: str) -> Quantity:
    """Returns the sum of a column of the table `control` per completed session."""

    def values(measured: Measured, entry: Published) -> list[float]:
        sessions = [int(flows["completion_s"].notna().sum()) for flows in measured.flows_of(entry)]
        tables = _rows_of(measured, entry, "control")
        return [
            float(table[column].sum() / count) if count else math.nan
            for table, count in zip(tables, sessions, strict=True)
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
    "pdcch_use": _of_values(_pdcch_use, lambda values: values.mean()),
    "pdcch_idle": _percent_of_ttis(lambda use: use < _IDLE_USE_PERCENT),
    "pdcch_full": _percent_of_ttis(lambda use: use >= 100),
    "tcp_timeouts": of_flows(_timeouts),
    "reports_each": _per_session("reports"),
    "requests_each": _per_session("requests"),
    "grants_each": _per_session("grants"),
}
