"""Overview of logs: the statistics of each file of a folder, and a filter on them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

from celltcp._core import CelltcpError, Trace
from celltcp.files.natural_order import in_natural_order
from celltcp.logs.units import rate_unit, time_unit
from celltcp.scenarios.scenarios import TRACE_ENDINGS


class TraceFigures(TypedDict):
    """Statistics of a trace."""

    #: File.
    file: str
    #: How the file was read.
    read_as: str
    #: Length of one pass, s.
    duration_s: float
    #: Mean rate, Mbit/s.
    mean_mbps: float
    #: Lowest mean of a second, Mbit/s.
    min_mbps: float
    #: Median mean of a second, Mbit/s.
    p50_mbps: float
    #: Highest mean of a second, Mbit/s.
    max_mbps: float
    #: Maximum time without capacity, s.
    longest_gap_s: float


class LeftOut(TypedDict):
    """A file that could not be read."""

    #: File.
    file: str
    #: Error message.
    error: str


class TracesOutcome(TypedDict):
    """Outcome of `celltcp traces info`."""

    #: Traces, those of the filter.
    traces: list[TraceFigures]
    #: Files that could not be read.
    left_out: list[LeftOut]


#: Statistics of a filter, by their names in it.
_STATISTICS = {
    "mean": "mean_mbps",
    "min": "min_mbps",
    "median": "p50_mbps",
    "max": "max_mbps",
    "duration": "duration_s",
    "gap": "longest_gap_s",
}
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_TERM = re.compile(r"\s*(?P<name>\w+)\s*(?P<sign><=|>=|<|>)\s*(?P<number>[\d.]+)\s*(?P<unit>[\w/]*)\s*")

Filter = Callable[[TraceFigures], bool]


def filter_of(text: str | None) -> Filter:
    """Returns the filter of a text such as `mean<6Mbit/s and gap<2s`.

    Raises:
        CelltcpError: if a condition cannot be read.
    """
    terms = []
    for term in re.split(r"\band\b", text) if text else []:
        match = _TERM.fullmatch(term)
        name = _STATISTICS.get(match["name"]) if match else None
        if match is None or name is None:
            raise CelltcpError(
                f"where: {term.strip()!r} is no condition; allowed: {', '.join(_STATISTICS)} with <, "
                "<=, > or >=, such as 'mean<6Mbit/s and gap<2s'"
            )
        scale = _scale(name, match["unit"])
        if scale is None:
            allowed = "a unit of rates, such as Mbit/s" if name.endswith("_mbps") else "s, ms or min"
            raise CelltcpError(
                f"where: {match['unit']!r} is no unit of {match['name']}; allowed: {allowed}"
            )
        terms.append((name, _OPERATORS[match["sign"]], float(match["number"]) * scale))
    return lambda statistics: all(
        compare(float(statistics[name]), value)  # type: ignore[literal-required]
        for name, compare, value in terms
    )


def _scale(name: str, unit: str) -> float | None:
    """Returns the Mbit/s, or the seconds, in a unit; None if it is no unit of the statistic."""
    if name.endswith("_mbps"):
        rate = rate_unit(unit or "Mbit/s")
        return None if rate is None or rate.is_volume else rate.bits / 1e6
    time = time_unit(unit or "s")
    return None if time is None else time.nanos / 1e9


def trace_statistics(file: str, trace: Trace) -> TraceFigures:
    """Returns the statistics of a trace."""
    rates = trace.rate_series(1.0)
    return {
        "file": file,
        "read_as": trace.how,
        "duration_s": trace.duration_s,
        "mean_mbps": trace.mean_mbps,
        "min_mbps": min(rates),
        "p50_mbps": dict(trace.percentiles(1.0)).get(50, trace.mean_mbps),
        "max_mbps": max(rates),
        "longest_gap_s": trace.longest_gap_s,
    }


def files_of(paths: Sequence[str]) -> list[str]:
    """Returns files in their order, with the traces in a folder in place of that, sorted.

    Raises:
        CelltcpError: if a folder has none.
    """
    result = []
    for path in paths:
        if not Path(path).is_dir():
            result.append(path)
            continue
        files = in_natural_order(file for file in Path(path).rglob("*") if file.is_file())
        names = [file for file in files if file.removesuffix(".gz").endswith(TRACE_ENDINGS)]
        if not names:
            endings = ", ".join(TRACE_ENDINGS)
            raise CelltcpError(f"{path}: the folder holds no file that ends in {endings}")
        result += names
    return result
