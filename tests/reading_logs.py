"""Logs of known rates, and what they are read as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celltcp.logs.log import Log, read_log

RATES = [12.5, 20.0, 3.25, 40.0, 8.0, 16.25, 30.0, 25.0, 5.0, 10.0]
MEAN = sum(RATES) / len(RATES)


def length_and_mean(log: Log) -> tuple[float, float]:
    """Returns length in s and mean in Mbit/s of a log."""
    length = int(log.lengths.sum())
    return length / 1e9, float(log.lengths @ log.bps.astype(float)) / length / 1e6


def read(folder: Path, text: str | bytes, name: str = "x.csv", **options: Any) -> Log:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_log(file, options, "down")


def table(head: str, *rows: str) -> str:
    return "\n".join((head, *rows)) + "\n"


def check(log: Log, length_s: float, mean_mbps: float) -> None:
    length, mean = length_and_mean(log)
    assert length == pytest.approx(length_s, rel=1e-6)
    assert mean == pytest.approx(mean_mbps, rel=1e-4)
