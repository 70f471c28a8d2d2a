"""Comparing congestion controls on one scenario."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celltcp._core import CelltcpError, Scenario, jain
from celltcp.attachments import Attachment
from celltcp.campaign import Progress, run_campaigns
from celltcp.ccas import middlebox_of
from celltcp.requirements import (
    REQUIREMENTS,
    Weights,
    metric_of,
    required_in,
    weighted_pm,
    weights_among,
)
from celltcp.results import Results, require_own
from celltcp.results.frames import Recorded, frame, json_rows, json_value, spans
from celltcp.results.limits import all_warnings
from celltcp.results.origin import made_of
from celltcp.results.selectors import used_in
from celltcp.settings import DEFAULT_CCAS, RunSettings
from celltcp.statistics import Verdict, estimate, paired_difference, verdict

#: Metrics that are compared, in the order of the table.
METRICS = (
    "goodput_mbps",
    "rtt_mean_ms",
    "rtt_p95_ms",
    "rtt_min_ms",
    "induced_delay_ms",
    "retransmissions",
    "pm_balanced",
    "pm_delay",
)

#: Columns of connections that runs are summed up from.
_FLOW_COLUMNS = [
    *("run", "flow", "name", "goodput_mbps", "rtt_mean_ms", "rtt_p95_ms", "rtt_min_ms"),
    *("induced_delay_ms", "owd_p95_ms", "retransmissions", "pm_balanced", "pm_delay", "segments"),
]

#: Columns of early acknowledgements, which results of earlier versions do not have.
_EARLY = ("acked_early_bytes", "acked_early_ends")


class Comparison(Recorded):
    """The outcome of a comparison: runs, means with intervals, recommendation, plots."""

    def __init__(self, results: Results, requirements: Iterable[str] = ()) -> None:
        """Takes results, and requirements that matter beside the named ones and those of selectors."""
        super().__init__(results)
        own = required_in(results.about["cca"])
        #: The requirements by which congestion controls are ranked, and the metric of each.
        self.requirements = {
            each: metric_of(each) for each in dict.fromkeys([*REQUIREMENTS, *requirements, *own])
        }
        weights = weights_among(self.requirements)
        #: Metrics that are compared, in the order of the table.
        self.metrics = (*METRICS, *(each.metric for each in weights))
        self.runs = _runs(results, weights)

    @property
    def ccas(self) -> list[str]:
        """The congestion controls, in the order in which they were asked for."""
        return list(self.results.about["cca"])

    def middlebox(self, cca: str) -> str:
        """Returns the middleboxes that a congestion control has passed; `"none"` without any."""
        return middlebox_of(cca, self.results.about.get("middleboxes", ()))

    @property
    def slots(self) -> pd.DataFrame:
        """One row per run, connection and slot."""
        return frame(self.results.tables["slots"])

    @property
    def flows(self) -> pd.DataFrame:
        """One row per run and connection."""
        return frame(self.results.tables["flows"])

    @property
    def summary(self) -> pd.DataFrame:
        """Mean and half width of the 95 % interval (NaN without spread) per metric, a row per CCA."""
        rows: dict[str, dict[tuple[str, str], float]] = {}
        for cca, series in self._series():
            estimates = {metric: estimate(values) for metric, values in series.items()}
            rows[cca] = {
                (metric, part): value
                for metric, e in estimates.items()
                for part, value in (("mean", e.mean), ("ci95", math.nan if e.ci95 is None else e.ci95))
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("cca")

    @property
    def recommendation(self) -> dict[str, list[str]]:
        """For each requirement the best congestion control, followed by those that may be as good.

        `verdicts` tells ties from what the runs leave undecided. One run of a random scenario has no
        best one. Line-ups of several flows compete with each other, and are left out.
        """
        decides = self.decides
        return {
            requirement: list(found.ranked) if decides else []
            for requirement, found in self.verdicts.items()
        }

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """For each requirement who is best, who is as good, and what the runs leave undecided."""
        series = {cca: values for cca, values in self._series() if "+" not in cca}
        random = not self.decides
        return {
            requirement: verdict({cca: values[metric] for cca, values in series.items()}, random=random)
            for requirement, metric in self.requirements.items()
        }

    @property
    def decides(self) -> bool:
        """Whether there are runs enough to name a best one: two, unless nothing is random."""
        return not self.randomness or int(self.results.about["runs"]) > 1

    @property
    def shares(self) -> pd.DataFrame:
        """Shares of the path while all flows run: CCA and mean goodput per line-up and flow.

        In Mbit/s; the half width of the 95 % interval is NaN without spread.
        """
        together = _together(self.results).merge(
            self.runs[["run", "cca"]], on="run", suffixes=("", "_lineup"), validate="many_to_one"
        )
        rows = []
        for (lineup, name, cca), mine in together.groupby(["cca_lineup", "name", "cca"], sort=False):
            found = estimate(mine["goodput_mbps"].tolist())
            rows.append(
                {
                    "cca": lineup,
                    "flow": name,
                    "flow_cca": cca,
                    "goodput_mbps": found.mean,
                    "goodput_mbps_ci95": math.nan if found.ci95 is None else found.ci95,
                }
            )
        return pd.DataFrame(rows)

    def only(self, ccas: Sequence[str]) -> Comparison:
        """Returns the part of the comparison that is about these congestion controls.

        Raises:
            CelltcpError: if one of them was not compared.
        """
        for cca in ccas:
            if cca not in self.ccas:
                name = self.results.about["name"]
                raise CelltcpError(f"cca: {cca!r} is not in {name}; there are {', '.join(self.ccas)}")
        numbers = self.runs.loc[self.runs["cca"].isin(list(ccas)), "run"]
        wanted = pa.array(numbers, pa.uint32())
        tables = {
            name: table.filter(pc.is_in(table["run"], value_set=wanted))
            for name, table in self.results.tables.items()
        }
        return Comparison(Results(tables, {**self.results.about, "cca": list(ccas)}))

    @property
    def several_flows(self) -> bool:
        """Whether connections have shared the path."""
        return bool((self.flows.groupby("run").size() > 1).any())

    @property
    def randomness(self) -> list[str]:
        """The parts of the scenario that are random; empty without one."""
        return list(self.results.about["randomness"])

    #: Plots, `celltcp.plots.ComparisonPlots`: `throughput_delay()`, `ecdf(metric)`, `time_series()`,
    #: `startup()`, `overview()`.
    plot = Attachment()

    def save(self, folder: str | Path) -> Path:
        """Writes the tables as Parquet files into `folder`."""
        return self.results.save(folder)

    def to_json(self) -> dict[str, Any]:
        """Runs, summary, paired differences and recommendation; the same for the same seeds."""
        series = dict(self._series())
        selected = used_in(self.results)
        best = {name: ccas[0] for name, ccas in self.recommendation.items() if ccas}
        return {
            "version": self.results.about["version"],
            "scenario": self.results.about["name"],
            "scenario_hash": self.results.about["hash"],
            **made_of(self.results.about),
            "traces": self.results.about.get("traces", []),
            "randomness": self.randomness,
            "runs": [{**row, "middlebox": self.middlebox(row["cca"])} for row in json_rows(self.runs)],
            "summary": [
                {
                    "cca": cca,
                    "middlebox": self.middlebox(cca),
                    **{metric: _interval(values) for metric, values in metrics.items()},
                }
                for cca, metrics in series.items()
            ],
            "differences": [
                {
                    "requirement": requirement,
                    "best": best[requirement],
                    "other": cca,
                    **_difference(series[best[requirement]][metric], series[cca][metric]),
                }
                for requirement, metric in self.requirements.items()
                if requirement in best
                for cca in series
                if cca != best[requirement] and "+" not in cca
            ],
            "recommendation": self.recommendation,
            "verdicts": {
                requirement: {
                    "best": found.best,
                    "tied": list(found.tied),
                    "undecided": list(found.undecided),
                    "runs_needed": found.runs_needed,
                }
                for requirement, found in self.verdicts.items()
            },
            **({"selection": [each.to_json() for each in selected]} if selected else {}),
            "warnings": self.warnings,
        }

    @property
    def warnings(self) -> list[str]:
        """Warnings about the figures: what else than the CCAs they may come from."""
        found = all_warnings(self.results)
        if not self.decides and len(self.ccas) > 1:
            found.append("one run of a random scenario decides nothing: take 10 runs or more (--runs)")
        return found

    def _series(self) -> list[tuple[str, dict[str, list[float]]]]:
        """Per congestion control the values of each metric, in the order of the seeds."""
        series = []
        for cca in self.ccas:
            mine = self.runs[self.runs["cca"] == cca].sort_values("seed")
            series.append(
                (cca, {metric: mine[metric].astype(float).tolist() for metric in self.metrics})
            )
        return series

    def __repr__(self) -> str:
        about = self.results.about
        ranked = {name: ccas[0] for name, ccas in self.recommendation.items() if ccas}
        best = ", ".join(f"{cca} for {name}" for name, cca in ranked.items())
        runs = f"{about['runs']} {'run' if about['runs'] == 1 else 'runs'} of {', '.join(self.ccas)}"
        return f"<Comparison {about['name']}: {runs}{f'; leading: {best}' if best else ''}>"

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(float_format="{:.3g}".format))


def compare(
    scenario: str | Path | Scenario,
    cca: Sequence[str] | str = DEFAULT_CCAS,
    runs: int = 10,
    seed: int = 1,
    duration: str | None = None,
    jobs: int | None = None,
    *,
    middlebox: Sequence[str] | str = (),
    engine: str = "native",
    kernel: str | None = None,
    uplink: str | Path | None = None,
    set: Mapping[str, object] | Sequence[str] = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    overwrite: bool = False,
    radio_log: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Runs every congestion control over the same channel realisations.

    Args:
        scenario: built-in name, scenario file, link trace, or a loaded scenario.
        cca: names of congestion controls, with parameters (`"cubic:hystart=off"`) or several flows at
            a time (`"cubic+bbr"`); `"all"` for all that the engine has, `"own"` for
            that of the scenario itself.
        middlebox: middleboxes that each congestion control is to pass in turn (`"none,split,es"`);
            those of the scenario unless given.
        runs: runs of each; run i has `seed + i`.
        seed: of the first run.
        duration: length of a run, such as `"60s"`.
        jobs: runs at a time; all cores unless given.
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel, such as `"7.3"`; the newest that is built unless given.
        uplink: link trace of the uplink.
        set: scenario fields to override, such as `{"path.buffer": "2bdp"}`.
        out: folder to keep finished runs in while the campaign goes on, and to save to.
        overwrite: whether other results in that folder may be replaced.
        radio_log: whether to record every TTI of the radio; only for scenarios that have one.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    settings = RunSettings(
        cca=cca,
        middlebox=middlebox,
        runs=runs,
        seed=seed,
        duration=duration,
        jobs=jobs,
        engine=engine,
        kernel=kernel,
        uplink=uplink,
        changes=set,
        radio_log=radio_log,
        out=out,
        overwrite=overwrite,
    )
    return compare_with(scenario, settings, progress)


def compare_with(
    scenario: str | Path | Scenario, settings: RunSettings, progress: Progress | None = None
) -> Comparison:
    """Runs every congestion control over the same channel realisations, as `compare` does."""
    settings.check()
    folder = None if settings.out is None else Path(settings.out)
    if folder is not None:
        require_own(folder, "compare")
    engine = settings.find_engine()
    campaign = settings.plan(settings.load(scenario), engine, folder)
    (results,) = run_campaigns(
        [campaign],
        workers=settings.jobs,
        folder=folder,
        overwrite=settings.overwrite,
        progress=progress,
    )
    return Comparison(results)


def _runs(results: Results, weights: Sequence[Weights]) -> pd.DataFrame:
    """Returns a row per run: the flow under test, which is the first one, and the fairness of all.

    Parallel connections of that flow add up: goodput and retransmissions as sums, RTTs and PM as
    means weighted by segments, the 95th percentile as the largest.
    """
    early = [name for name in _EARLY if name in results.tables["flows"].column_names]
    flows = frame(results.tables["flows"].select([*_FLOW_COLUMNS, *early]))
    for each in weights:
        flows[each.metric] = _pm(results, flows, each)
    runs = frame(results.tables["runs"].select(["run", "cca", "seed", "duration_s"]))
    together = _together(results)
    shares = together["goodput_mbps"].tolist()
    sharing = {run: shares[span] for run, span in spans(together["run"]).items()}
    tested = flows[flows["name"].astype(str) == _first_names(flows)]
    connections = spans(tested["run"])
    rows = [connections[run] for run in runs["run"]]
    columns = {metric: tested[metric].tolist() for metric in [*_FLOW_COLUMNS[3:], *early]}
    segments = tested["segments"].tolist()

    def each_run(metric: str, of: Callable[[list[Any]], Any]) -> list[Any]:
        values = columns[metric]
        return [of(values[span]) for span in rows]

    def weighted(metric: str) -> list[float]:
        values = tested[metric].tolist()
        return [_weighted(values[span], segments[span]) for span in rows]

    return pd.DataFrame(
        {
            "run": runs["run"].to_numpy(np.int64),
            "cca": [str(cca) for cca in runs["cca"]],
            "seed": runs["seed"].to_numpy(np.int64),
            "goodput_mbps": each_run("goodput_mbps", math.fsum),
            "rtt_mean_ms": weighted("rtt_mean_ms"),
            "rtt_p95_ms": each_run("rtt_p95_ms", max),
            "rtt_min_ms": each_run("rtt_min_ms", min),
            "induced_delay_ms": weighted("induced_delay_ms"),
            "owd_p95_ms": each_run("owd_p95_ms", max),
            "retransmissions": each_run("retransmissions", sum),
            "pm_balanced": weighted("pm_balanced"),
            "pm_delay": weighted("pm_delay"),
            **{each.metric: weighted(each.metric) for each in weights},
            **{name: each_run(name, sum) for name in early},
            "fairness": [jain(sharing.get(run, [])) for run in runs["run"]],
            "duration_s": runs["duration_s"],
        }
    )


def _first_names(flows: pd.DataFrame) -> pd.Series:
    """Returns for each connection the name of the first flow of its run."""
    first: pd.Series = flows.groupby("run")["name"].transform("first").astype(str)
    return first


def _pm(results: Results, flows: pd.DataFrame, weights: Weights) -> NDArray[np.float64]:
    """Returns PM with these weights of each connection: the mean over its slots."""
    slots = frame(results.tables["slots"].select(["run", "flow", "a", "b", "c"]))
    means = weighted_pm(slots, weights).groupby([slots["run"], slots["flow"]]).mean()
    keys = pd.MultiIndex.from_frame(flows[["run", "flow"]])
    found: NDArray[np.float64] = means.reindex(keys).to_numpy(np.float64)
    return found


def _together(results: Results) -> pd.DataFrame:
    """Per run and connection its name, CCA, and mean goodput from the start of the last flow on."""
    flows = frame(results.tables["flows"].select(["run", "flow", "name", "cca"]))
    slots = frame(results.tables["slots"].select(["run", "flow", "t_s", "goodput_mbps"]))
    begun = slots.groupby(["run", "flow"])["t_s"].min().groupby("run").max().rename("begun")
    common = slots.join(begun, on="run")
    common = common[common["t_s"] >= common["begun"]]
    means = common.groupby(["run", "flow"])["goodput_mbps"].mean().reset_index()
    return flows.merge(means, on=["run", "flow"], validate="one_to_one")


def _weighted(values: Sequence[float], segments: Sequence[int]) -> float:
    """Returns the mean weighted by segments, over the connections that have the metric."""
    known = [
        (value, count)
        for value, count in zip(values, segments, strict=True)
        if count and not math.isnan(value)
    ]
    total = sum(count for _, count in known)
    return math.fsum(value * count for value, count in known) / float(total) if total else math.nan


def _interval(values: Sequence[float]) -> dict[str, float | None]:
    found = estimate(values)
    return {"mean": json_value(found.mean), "ci95": found.ci95}


def _difference(best: Sequence[float], other: Sequence[float]) -> dict[str, Any]:
    found = paired_difference(best, other)
    return {"mean": json_value(found.mean), "ci95": found.ci95, "tied": found.includes_zero}
