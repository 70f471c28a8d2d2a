"""Motorway: a simulated drive among other users, compared with measured downloads (li2017)."""

from __future__ import annotations

import functools
import itertools
import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.run import compare
from celltcp.radio.calibration.seconds import block_shares, radio_seconds
from celltcp.scenarios.ccas import select_ccas

SCENARIO = "highway/traffic"

#: Changes for downloads of 20 MB one after another, 5 to 10 s apart (section III.B).
_DOWNLOADS = ('flows.0.workload={kind="sequence",size="20MB",gap={kind="uniform",min="5s",max="10s"}}',)
#: Changes for an exchange of the size of a ping every second (section III.B), each on a new connection.
_PINGS = ('flows.0.workload={kind="sequence",size="56B",gap="1s",jitter=0}',)

#: Edges of the ranges of the mean SINR of a second, dB.
EDGES = (-math.inf, 0.0, 5.0, 10.0, 15.0, 20.0, 25.0, math.inf)


@dataclass(frozen=True)
class PublishedValue:
    """A published value, or bounds of it, and the simulated one."""

    name: str
    simulated: float
    value: float | None
    min: float | None
    max: float | None

    @property
    def published(self) -> str:
        """The published value or bounds, as text."""
        if self.value is not None:
            return f"{self.value:.3g}"
        if self.min is not None and self.max is not None:
            return f"{self.min:g} to {self.max:g}"
        return f"over {self.min:g}" if self.min is not None else f"under {self.max:g}"

    @property
    def holds(self) -> bool | None:
        """Whether the simulated value is within the published bounds; None if either is missing."""
        if (self.min is None and self.max is None) or math.isnan(self.simulated):
            return None
        low = -math.inf if self.min is None else self.min
        high = math.inf if self.max is None else self.max
        return low <= self.simulated <= high


class Distribution(NamedTuple):
    """Distribution of the throughput of downloads, Mbit/s."""

    mean: float
    sd: float
    median: float


@dataclass(frozen=True)
class Throughput:
    """Throughput of downloads with a CCA; `downloads` is the number of simulated ones."""

    cca: str
    published: Distribution
    simulated: Distribution
    downloads: int


@dataclass(frozen=True)
class Highway:
    """Outcome of the drives."""

    #: Row per range of SINR: `range`, `seconds` (share of all seconds), shares of blocks, `rtt_ms`.
    by_sinr: pd.DataFrame
    values: list[PublishedValue]
    throughputs: list[Throughput]


def drive(
    runs: int,
    seed: int,
    *,
    changes: Sequence[str] = (),
    jobs: int | None = None,
    out: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Highway:
    """Simulates downloads and short exchanges on the drive, and compares them with published ones."""

    def half_progress(start: float) -> Callable[[float], None] | None:
        return (lambda share: progress(start + share / 2)) if progress else None

    on_drive = functools.partial(compare, SCENARIO, runs=runs, seed=seed, jobs=jobs, radio_log=True)
    downloads = on_drive(
        cca=[entry["cca"] for entry in _published()["throughput"]],
        set=[*changes, *_DOWNLOADS],
        out=out / "downloads" if out else None,
        progress=half_progress(0.0),
    )
    pings = on_drive(
        cca="cubic",
        set=[*changes, *_PINGS],
        out=out / "exchanges" if out else None,
        progress=half_progress(0.5),
    )
    return _compare_with_published(downloads, pings)


def _compare_with_published(downloads: Comparison, pings: Comparison) -> Highway:
    seconds = radio_seconds(downloads)
    exchanges = _exchanges(pings)
    finished = _finished_downloads(downloads)
    rows = []
    for low_db, high_db in itertools.pairwise(EDGES):
        selected = _in_range(seconds, low_db, high_db)
        rows.append(
            {
                "range": _range_text(low_db, high_db),
                "seconds": len(selected) / max(len(seconds), 1),
                **block_shares(selected),
                "rtt_ms": _in_range(exchanges, low_db, high_db)["rtt_ms"].mean(),
            }
        )
    published = _published()

    def simulated(metric: str, low_db: float, high_db: float) -> float:
        if metric == "rtt_ms":
            return float(_in_range(exchanges, low_db, high_db)["rtt_ms"].mean())
        if metric == "failed":
            return float(finished["failed"].mean())
        if metric.startswith("handover_"):
            completed = finished[~finished["failed"]]
            return float((completed["handovers"] >= int(metric[-1])).mean())
        return float(block_shares(_in_range(seconds, low_db, high_db))[metric])

    values = [
        PublishedValue(
            entry["name"],
            simulated(entry["metric"], entry.get("from_db", -math.inf), entry.get("to_db", math.inf)),
            entry.get("value"),
            entry.get("least"),
            entry.get("most"),
        )
        for entry in published["figure"]
    ]
    throughputs = [_throughput(entry, finished) for entry in published["throughput"]]
    return Highway(pd.DataFrame(rows), values, throughputs)


def _throughput(published: dict[str, Any], finished: pd.DataFrame) -> Throughput:
    (cca,) = select_ccas(str(published["cca"]), ())
    mbps = finished[(finished["cca"] == cca) & ~finished["failed"]]["goodput_mbps"]
    return Throughput(
        cca,
        Distribution(*(float(published[name]) for name in ("mean_mbps", "sd_mbps", "median_mbps"))),
        Distribution(float(mbps.mean()), float(mbps.std()), float(mbps.median())),
        len(mbps),
    )


def _finished_downloads(comparison: Comparison) -> pd.DataFrame:
    """Returns completed or failed downloads: `cca`, `goodput_mbps`, `handovers`, `failed`.

    Those that the end of the run cut off are left out.
    """
    flows = comparison.flows
    events = comparison.results.tables["events"].to_pandas()
    handovers = events[events["kind"] == "handover"].groupby(["run", "flow"]).size()
    keys = pd.MultiIndex.from_frame(flows[["run", "flow"]])
    flows["handovers"] = handovers.reindex(keys, fill_value=0).to_numpy()
    is_last = flows.groupby("run")["flow"].transform("max") == flows["flow"]
    flows["cca"] = flows["run"].map(comparison.runs.set_index("run")["cca"])
    flows["failed"] = flows["completion_s"].isna()
    return flows[~(flows["failed"] & is_last)]


def _exchanges(comparison: Comparison) -> pd.DataFrame:
    """Returns short exchanges: `sinr_db` of the second in which they started, and `rtt_ms`."""
    flows = comparison.flows
    flows = flows.assign(second=np.floor(flows["start_s"]).astype(np.int64))
    sinr = radio_seconds(comparison)[["run", "second", "sinr_db"]]
    joined = flows.merge(sinr, on=["run", "second"])
    return joined.rename(columns={"rtt_mean_ms": "rtt_ms"})[["sinr_db", "rtt_ms"]].dropna()


def _in_range(rows: pd.DataFrame, low_db: float, high_db: float) -> pd.DataFrame:
    return rows[(rows["sinr_db"] >= low_db) & (rows["sinr_db"] < high_db)]


def _range_text(low: float, high: float) -> str:
    if low == -math.inf:
        return f"below {high:g}"
    return f"from {low:g}" if high == math.inf else f"{low:g} to {high:g}"


def _published() -> dict[str, list[dict[str, Any]]]:
    text = (resources.files("celltcp.publications") / "li2017.toml").read_text("utf-8")
    return tomllib.loads(text)
