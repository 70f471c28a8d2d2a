"""JSON in the form of `iperf3 --json`, one file per run."""

from __future__ import annotations

import json
import math
from itertools import groupby
from pathlib import Path
from typing import Any

from celltcp.comparison.export.run_files import files_of_runs
from celltcp.files.atomic_write import write_text
from celltcp.files.replacing import FileKind
from celltcp.results.rows import rows, spans
from celltcp.results.tables import Results

Row = dict[str, Any]

_KIND = FileKind("JSON of celltcp in the form of iperf3", (b"{",), b'"version": "celltcp')

#: MSS that converts windows to bytes: of an MTU of 1500 bytes with timestamps.
_MSS = 1448


def write_iperf3(results: Results, folder: Path) -> list[Path]:
    """Writes a file per run with the slots as intervals; `snd_cwnd` is in bytes, `rtt` in us."""
    flows, slots = results.tables["flows"], results.tables["slots"]
    flows_of, slots_of = spans(flows["run"].to_numpy()), spans(slots["run"].to_numpy())
    length = float(results.about["slot_s"])
    files = []
    for run, file in files_of_runs(results, folder, ".json", _KIND):
        run_flows = rows(flows, flows_of.get(run["run"]))
        run_slots = sorted(rows(slots, slots_of.get(run["run"])), key=_start)
        document = {
            "start": {
                "version": f"celltcp {run['version']}",
                "system_info": f"{run['engine']} engine",
                "test_start": {
                    "protocol": "TCP",
                    "num_streams": len(run_flows),
                    "duration": run["duration_s"],
                    "congestion": run["cca"],
                },
                "celltcp": {"scenario": run["scenario"], "seed": run["seed"]},
            },
            "intervals": [
                _interval(start, length, list(group)) for start, group in groupby(run_slots, _start)
            ],
            "end": _end(run_flows),
        }
        files.append(write_text(file, json.dumps(document, indent=1) + "\n"))
    return files


def _start(slot: Row) -> float:
    return float(slot["t_s"])


def _micros(milliseconds: float) -> int | None:
    return None if math.isnan(milliseconds) else round(milliseconds * 1e3)


def _traffic(start: float, seconds: float, size: int, bits_per_second: float) -> Row:
    return {
        "start": start,
        "end": start + seconds,
        "seconds": seconds,
        "bytes": size,
        "bits_per_second": bits_per_second,
    }


def _interval(start: float, length: float, slots: list[Row]) -> Row:
    sizes = [slot["delivered_bytes"] for slot in slots]
    rates = [size * 8 / length for size in sizes]
    streams = [
        {
            "socket": slot["flow"],
            **_traffic(start, length, size, rate),
            "retransmits": slot["retransmissions"],
            "snd_cwnd": slot["cwnd"] * _MSS,
            "rtt": _micros(slot["rtt_mean_ms"]),
            "omitted": False,
        }
        for slot, size, rate in zip(slots, sizes, rates, strict=True)
    ]
    total = {
        **_traffic(start, length, sum(sizes), sum(rates)),
        "retransmits": sum(slot["retransmissions"] for slot in slots),
        "omitted": False,
    }
    return {"streams": streams, "sum": total}


def _end(flows: list[Row]) -> Row:
    streams = [
        {
            "sender": {
                "socket": flow["flow"],
                **_traffic(0, flow["duration_s"], flow["bytes"], flow["goodput_mbps"] * 1e6),
                "retransmits": flow["retransmissions"],
                "mean_rtt": _micros(flow["rtt_mean_ms"]),
            }
        }
        for flow in flows
    ]
    seconds = max(flow["duration_s"] for flow in flows)
    size = sum(flow["bytes"] for flow in flows)
    total = _traffic(0, seconds, size, size * 8 / seconds if seconds else 0.0)
    retransmits = sum(flow["retransmissions"] for flow in flows)
    return {
        "streams": streams,
        "sum_sent": {**total, "retransmits": retransmits},
        "sum_received": total,
    }
