"""Results in the formats that other tools read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from celltcp.export.iperf3 import write_iperf3
from celltcp.export.qlog import write_qlog
from celltcp.export.tables import write_csv, write_parquet
from celltcp.results import Results

#: Writers by the name of the format; each answers the files that it wrote.
FORMATS: dict[str, Callable[[Results, Path], list[Path]]] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "iperf3-json": write_iperf3,
    "qlog": write_qlog,
}
