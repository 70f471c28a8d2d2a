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

#: MSS by which windows become bytes, as in qlog: of an MTU of 1500 bytes with timestamps.
_MSS = 1448


def write_qlog(results: Results, folder: Path) -> list[Path]:
    """Writes a file per run, from samples or else from slots; windows in bytes, times in ms."""
    samples = results.tables.get("samples")
    sampled = samples is not None and len(samples) > 0
    source = samples if samples is not None and sampled else results.tables["slots"]
    rows_of = spans(source["run"].to_numpy())
    event = _from_sample if sampled else _from_slot
    files = []
    for run, file in files_of_runs(results, folder, ".qlog", _KIND):
        mine = rows(source, rows_of.get(run["run"]))
        document = {
            "qlog_version": "0.3",
            "qlog_format": "JSON",
            "title": f"{run['scenario']}, {run['cca']}, seed {run['seed']}",
            "traces": [
                {
                    "vantage_point": {"name": "server", "type": "server"},
                    "title": f"connection {flow}",
                    "common_fields": {"time_format": "relative", "reference_time": 0},
                    "events": _events([row for row in mine if row["flow"] == flow], event),
                }
                for flow in sorted({row["flow"] for row in mine})
            ],
        }
        files.append(write_text(file, json.dumps(document) + "\n"))
    return files


def _events(rows: list[Row], metrics: Callable[[Row], Row]) -> list[Row]:
    """Returns the metrics of each row, and the states of the congestion control when they change."""
    events = []
    state = ""
    for row in rows:
        event = metrics(row)
        new = row.get("mode", "")
        if new != state:
            data = {"old": state, "new": new} if state else {"new": new}
            events.append(_event(event["time"], data, "congestion_state_updated"))
            state = new
        events.append(event)
    return events


def _event(milliseconds: float, data: Row, name: str = "metrics_updated") -> Row:
    known = {key: value for key, value in data.items() if value is not None and value == value}
    return {"time": milliseconds, "name": f"recovery:{name}", "data": known}


def _from_sample(sample: Row) -> Row:
    ssthresh = sample["ssthresh"]
    return _event(
        sample["t_ns"] / 1e6,
        {
            "congestion_window": sample["cwnd"] * _MSS,
            "bytes_in_flight": sample["inflight"] * _MSS,
            "packets_in_flight": sample["inflight"],
            "smoothed_rtt": sample["srtt_us"] / 1e3,
            "pacing_rate": sample["pacing_rate_bps"],
            "ssthresh": None if ssthresh >= 2**31 - 1 else ssthresh * _MSS,
        },
    )


def _from_slot(slot: Row) -> Row:
    return _event(
        slot["t_s"] * 1e3,
        {
            "congestion_window": slot["cwnd"] * _MSS,
            "bytes_in_flight": slot["inflight"] * _MSS,
            "packets_in_flight": slot["inflight"],
            "smoothed_rtt": slot["rtt_mean_ms"],
        },
    )
