"""Agreement of the analysis with tshark and tcptrace on the captures of a folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from celltcp._core import CelltcpError, available_threads
from celltcp.pcap import analyse
from celltcp.pcap.external_tools import external_counts
from celltcp.pcap.outcome import AgreementOutcome, CaptureCounts, ToolAgreement

#: Counts of a capture that are compared with those of tools.
QUANTITIES = (
    "connections",
    "segments",
    "retransmissions",
    "out_of_order",
    "duplicate_acks",
    "zero_windows",
    "resets",
)
TOOLS = ("tshark", "tcptrace")


def captures_in(folder: Path) -> list[Path]:
    """Returns the captures in a folder and below it.

    Raises:
        CelltcpError: if there is none, or no tool to compare with.
    """
    endings = (".pcap", ".pcapng", ".cap", ".pcap.gz", ".pcapng.gz")
    files = sorted(file for file in folder.rglob("*") if file.name.endswith(endings))
    if not files:
        raise CelltcpError(f"{folder}: no captures; allowed: files that end with {', '.join(endings)}")
    if not any(map(shutil.which, TOOLS)):
        raise CelltcpError(f"no other tool is installed; needed: {' or '.join(TOOLS)}")
    return files


def measure_agreement(
    files: Sequence[Path], progress: Callable[[float], None] | None = None
) -> AgreementOutcome:
    """Counts what each capture has with each tool; captures without TCP are left out."""
    captures: list[CaptureCounts] = []
    threads = ThreadPoolExecutor(available_threads())
    try:
        counted = threads.map(partial(external_counts, totals=True), files)
        for index, (file, others) in enumerate(zip(files, counted, strict=True)):
            if progress:
                progress(index / len(files))
            own = _own_counts(file)
            if own["segments"] or any(any(counts.values()) for counts in others.values()):
                captures.append({"file": str(file), "counts": own, "others": others})
    finally:
        threads.shutdown(cancel_futures=True)
    return {"tools": _by_quantity(captures), "captures": captures}


def _own_counts(file: Path) -> dict[str, int]:
    analyses = analyse(file)
    rows = analyses.connections
    sums = {
        name: int(rows[f"{name}_up"].sum() + rows[f"{name}_down"].sum())
        for name in QUANTITIES
        if f"{name}_up" in rows
    }
    segments = int(analyses.summaries[0]["segments"])
    # The columns of this name count segments with payload only.
    return {**sums, "connections": len(rows), "segments": segments}


def _by_quantity(captures: Sequence[CaptureCounts]) -> list[ToolAgreement]:
    """Returns for each tool and quantity in how many captures the counts are equal, and their sums."""
    agreements: list[ToolAgreement] = []
    for tool in TOOLS:
        for quantity in QUANTITIES:
            pairs = [
                (capture["counts"][quantity], capture["others"][tool][quantity])
                for capture in captures
                if quantity in capture["others"].get(tool, {})
            ]
            if pairs:
                agreements.append(
                    {
                        "tool": tool,
                        "quantity": quantity,
                        "captures": len(pairs),
                        "equal": sum(own == theirs for own, theirs in pairs),
                        "own": sum(own for own, _ in pairs),
                        "theirs": sum(theirs for _, theirs in pairs),
                    }
                )
    return agreements
