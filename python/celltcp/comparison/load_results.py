"""Loading of saved results as the objects that were saved: comparison, run, sweep or set."""

from __future__ import annotations

from pathlib import Path

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.single_run import SingleRun
from celltcp.results.tables import read_results


def load(folder: str | Path) -> Comparison | SingleRun:
    """Reads saved results: a comparison, or a run with its samples.

    Raises:
        CelltcpError: names the file that is missing or damaged.
    """
    results = read_results(folder)
    samples = results.tables.get("samples")
    single = len(results.tables["runs"]) == 1 and samples is not None and len(samples) > 0
    return SingleRun(results) if single else Comparison(results)
