"""qlog (draft-ietf-quic-qlog-main-schema): metrics and states of congestion control, a file per run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from celltcp.comparison.export.run_files import files_of_runs
from celltcp.files.atomic_write import write_text
from celltcp.files.replacing import FileKind
from celltcp.results.rows import rows, spans
from celltcp.results.tables import Results

Row = dict[str, Any]

_KIND = FileKind("qlog", (b"{",), b'"qlog_version"')

#: MSS that converts windows to bytes: of an MTU of 1500 bytes with timestamps.
_MSS = 1448


def write_qlog(results: Results, folder: Path) -> list[Path]:
    """Writes a file per run, from samples or else from slots; windows in bytes, times in ms."""
    samples = results.tables.get("samples")
    table, event_of = results.tables["slots"], _slot_event
    if samples is not None and len(samples):
        table, event_of = samples, _sample_event
    rows_of = spans(table["run"].to_numpy())
    files = []
    for run, file in files_of_runs(results, folder, ".qlog", _KIND):
        run_rows = rows(table, rows_of.get(run["run"]))
        document = {
            "qlog_version": "0.3",
            "qlog_format": "JSON",
            "title": f"{run['scenario']}, {run['cca']}, seed {run['seed']}",
            "traces": [
                {
                    "vantage_point": {"name": "server", "type": "server"},
                    "title": f"connection {flow}",
                    "common_fields": {"time_format": "relative", "reference_time": 0},
                    "events": _events([row for row in run_rows if row["flow"] == flow], event_of),
                }
                for flow in sorted({row["flow"] for row in run_rows})
            ],
        }
        files.append(write_text(file, json.dumps(document) + "\n"))
    return files


def _events(rows: list[Row], event_of: Callable[[Row], Row]) -> list[Row]:
    """Returns the event of each row, and an event for each change of the CCA's mode."""
    events = []
    state = ""
    for row in rows:
        event = event_of(row)
        new = row.get("mode", "")
        if new != state:
            data = {"old": state, "new": new} if state else {"new": new}
            events.append(_event(event["time"], data, "congestion_state_updated"))
            state = new
        events.append(event)
    return events


def _event(time_ms: float, data: Row, name: str = "metrics_updated") -> Row:
    """Returns an event without the data that are null or NaN."""
    known = {key: value for key, value in data.items() if value is not None and value == value}
    return {"time": time_ms, "name": f"recovery:{name}", "data": known}


def _sample_event(row: Row) -> Row:
    ssthresh = row["ssthresh"]
    return _event(
        row["t_ns"] / 1e6,
        {
            "congestion_window": row["cwnd"] * _MSS,
            "bytes_in_flight": row["inflight"] * _MSS,
            "packets_in_flight": row["inflight"],
            "smoothed_rtt": row["srtt_us"] / 1e3,
            "pacing_rate": row["pacing_rate_bps"],
            "ssthresh": None if ssthresh >= 2**31 - 1 else ssthresh * _MSS,
        },
    )


def _slot_event(row: Row) -> Row:
    return _event(
        row["t_s"] * 1e3,
        {
            "congestion_window": row["cwnd"] * _MSS,
            "bytes_in_flight": row["inflight"] * _MSS,
            "packets_in_flight": row["inflight"],
            "smoothed_rtt": row["rtt_mean_ms"],
        },
    )
