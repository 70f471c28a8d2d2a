"""Exports of results to formats of other tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from celltcp.comparison.export.iperf3 import write_iperf3
from celltcp.comparison.export.qlog import write_qlog
from celltcp.comparison.export.tables import write_csv, write_parquet
from celltcp.results.tables import Results

#: Writers by the name of the format; each returns the files that it wrote.
FORMATS: dict[str, Callable[[Results, Path], list[Path]]] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "iperf3-json": write_iperf3,
    "qlog": write_qlog,
}
