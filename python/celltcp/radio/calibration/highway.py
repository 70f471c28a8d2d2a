"""Motorway: a drive among other users compared with measured downloads (li2017)."""

from __future__ import annotations

import functools
import itertools
import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.run import compare
from celltcp.radio.calibration.seconds import seconds, shares
from celltcp.scenarios.ccas import select_ccas

SCENARIO = "highway/traffic"

#: Downloads of 20 MB one after another, 5 to 10 s apart (section III.B).
_DOWNLOADS = ('flows.0.workload={kind="sequence",size="20MB",gap={kind="uniform",min="5s",max="10s"}}',)
#: An exchange of the size of a ping every second (section III.B), on a connection of its own.
_PINGS = ('flows.0.workload={kind="sequence",size="56B",gap="1s",jitter=0}',)

#: Edges of ranges of the mean SINR of a second, dB.
EDGES = (-math.inf, 0.0, 5.0, 10.0, 15.0, 20.0, 25.0, math.inf)


@dataclass(frozen=True)
class PublishedValue:
    """A published value and ours."""

    name: str
    ours: float
    value: float | None
    least: float | None
    most: float | None

    @property
    def published(self) -> str:
        """The published value or bounds, in words."""
        if self.value is not None:
            return f"{self.value:.3g}"
        if self.least is not None and self.most is not None:
            return f"{self.least:g} to {self.most:g}"
        return f"over {self.least:g}" if self.least is not None else f"under {self.most:g}"

    @property
    def holds(self) -> bool | None:
        """Whether our value lies within the published bounds; None if there are none."""
        if (self.least is None and self.most is None) or math.isnan(self.ours):
            return None
        return (self.least is None or self.ours >= self.least) and (
            self.most is None or self.ours <= self.most
        )


@dataclass(frozen=True)
class Throughput:
    """Throughput of downloads in Mbit/s: mean, standard deviation and median, published and ours."""

    cca: str
    published: tuple[float, float, float]
    ours: tuple[float, float, float]
    downloads: int


@dataclass(frozen=True)
class Highway:
    """Outcome of the drives: rows by SINR, published and simulated values, throughputs."""

    #: By range of SINR: `range`, `seconds` (share of), shares of blocks, `rtt_ms`.
    by_sinr: pd.DataFrame
    figures: list[PublishedValue]
    throughputs: list[Throughput]


def drive(
    runs: int,
    seed: int,
    *,
    scenario: str = SCENARIO,
    changes: Sequence[str] = (),
    jobs: int | None = None,
    out: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Highway:
    """Runs downloads of BBR and CUBIC, and short exchanges, on the drive; then compares."""

    def half(begin: float) -> Callable[[float], None] | None:
        return (lambda share: progress(begin + share / 2)) if progress else None

    on_drive = functools.partial(compare, scenario, runs=runs, seed=seed, jobs=jobs, radio_log=True)
    downloads = on_drive(
        cca=[each["cca"] for each in _published()["throughput"]],
        set=[*changes, *_DOWNLOADS],
        out=out / "downloads" if out else None,
        progress=half(0.0),
    )
    pings = on_drive(
        cca="cubic",
        set=[*changes, *_PINGS],
        out=out / "exchanges" if out else None,
        progress=half(0.5),
    )
    return judge(downloads, pings)


def judge(downloads: Comparison, pings: Comparison) -> Highway:
    """Returns the published values with those of downloads and of short exchanges."""
    loaded = seconds(downloads)
    exchanges = _exchanges(pings)
    finished = _downloads(downloads)
    rows = []
    for low, high in itertools.pairwise(EDGES):
        part = _within(loaded, low, high)
        rtt = _within(exchanges, low, high)["rtt_ms"].mean()
        share = len(part) / max(len(loaded), 1)
        rows.append({"range": _range(low, high), "seconds": share, **shares(part), "rtt_ms": rtt})
    published = _published()

    def ours(metric: str, low: float, high: float) -> float:
        if metric == "rtt_ms":
            return float(_within(exchanges, low, high)["rtt_ms"].mean())
        if metric == "failed":
            return float(finished["failed"].mean())
        if metric.startswith("handover_"):
            ended = finished[~finished["failed"]]
            return float((ended["handovers"] >= int(metric[-1])).mean())
        return float(shares(_within(loaded, low, high))[metric])

    figures = [
        PublishedValue(
            each["name"],
            ours(each["metric"], each.get("from_db", -math.inf), each.get("to_db", math.inf)),
            each.get("value"),
            each.get("least"),
            each.get("most"),
        )
        for each in published["figure"]
    ]
    throughputs = [_throughput(each, finished) for each in published["throughput"]]
    return Highway(pd.DataFrame(rows), figures, throughputs)


def _throughput(published: dict[str, Any], finished: pd.DataFrame) -> Throughput:
    cca = select_ccas(str(published["cca"]), ())[0]
    selected = finished[(finished["lineup"] == cca) & ~finished["failed"]]["goodput_mbps"]
    published_mbps = tuple(float(published[name]) for name in ("mean_mbps", "sd_mbps", "median_mbps"))
    return Throughput(
        cca,
        (published_mbps[0], published_mbps[1], published_mbps[2]),
        (float(selected.mean()), float(selected.std()), float(selected.median())),
        len(selected),
    )


def _downloads(comparison: Comparison) -> pd.DataFrame:
    """Returns ended or failed downloads: `lineup` (the CCA), `goodput_mbps`, `handovers`, `failed`.

    Those that the end of the run cuts off are left out.
    """
    flows = comparison.flows
    events = comparison.results.tables["events"].to_pandas()
    kinds = events.groupby(["run", "flow", "kind"], observed=True).size()
    handovers = kinds[kinds.index.get_level_values("kind") == "handover"].droplevel("kind")
    keys = pd.MultiIndex.from_frame(flows[["run", "flow"]])
    flows["handovers"] = handovers.reindex(keys, fill_value=0).to_numpy()
    last = flows.groupby("run")["flow"].transform("max") == flows["flow"]
    runs = comparison.runs.set_index("run")["cca"]
    flows["lineup"] = flows["run"].map(runs)
    flows["failed"] = flows["completion_s"].isna()
    return flows[~(flows["failed"] & last)]


def _exchanges(comparison: Comparison) -> pd.DataFrame:
    """Returns short exchanges with the SINR of the second in which they began: `sinr_db`, `rtt_ms`."""
    flows = comparison.flows
    flows["second"] = np.floor(flows["start_s"]).astype(np.int64)
    known = seconds(comparison)[["run", "second", "sinr_db"]]
    joined = flows.merge(known, on=["run", "second"])
    return joined.rename(columns={"rtt_mean_ms": "rtt_ms"})[["sinr_db", "rtt_ms"]].dropna()


def _within(rows: pd.DataFrame, low: float, high: float) -> pd.DataFrame:
    return rows[(rows["sinr_db"] >= low) & (rows["sinr_db"] < high)]


def _range(low: float, high: float) -> str:
    if low == -math.inf:
        return f"below {high:g}"
    return f"from {low:g}" if high == math.inf else f"{low:g} to {high:g}"


def _published() -> dict[str, list[dict[str, Any]]]:
    text = (resources.files("celltcp.publications") / "li2017.toml").read_text("utf-8")
    return tomllib.loads(text)
