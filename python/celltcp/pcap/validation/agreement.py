"""Agreement of the analysis with tshark and tcptrace on the captures of a folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from celltcp._core import CelltcpError, available_threads
from celltcp.pcap import analyse
from celltcp.pcap.outcome import AgreementOutcome, CaptureCounts, ToolAgreement
from celltcp.pcap.validation.external_tools import external_counts

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
    """Compares the counts of the analysis with those of the tools; captures without TCP are skipped."""
    captures: list[CaptureCounts] = []
    threads = ThreadPoolExecutor(available_threads())
    try:
        counts_of_tools = threads.map(partial(external_counts, has_totals=True), files)
        for index, (file, others) in enumerate(zip(files, counts_of_tools, strict=True)):
            if progress:
                progress(index / len(files))
            own = _own_counts(file)
            if own["segments"] or any(any(counts.values()) for counts in others.values()):
                captures.append({"file": str(file), "counts": own, "others": others})
    finally:
        threads.shutdown(cancel_futures=True)
    return {"tools": _agreements(captures), "captures": captures}


def _own_counts(file: Path) -> dict[str, int]:
    analyses = analyse(file)
    rows = analyses.connections
    sums = {
        name: int(rows[f"{name}_up"].sum() + rows[f"{name}_down"].sum())
        for name in QUANTITIES
        if f"{name}_up" in rows
    }
    segments = int(analyses.summaries[0]["segments"])
    # The columns `segments_up` and `segments_down` count segments with payload only.
    return {**sums, "connections": len(rows), "segments": segments}


def _agreements(captures: Sequence[CaptureCounts]) -> list[ToolAgreement]:
    """Returns the number of captures with equal counts, and the sums, for each tool and quantity."""
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
