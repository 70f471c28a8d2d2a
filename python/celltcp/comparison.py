"""Comparing congestion controls on one scenario."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from celltcp import __version__
from celltcp._core import CelltcpError, Scenario, jain
from celltcp.campaign import Progress, jobs_for, run_jobs
from celltcp.ccas import chosen as chosen_ccas
from celltcp.engines import Engine
from celltcp.engines import engine as find_engine
from celltcp.radio.coverage import uncovered
from celltcp.requirements import REQUIREMENTS as REQUIREMENTS
from celltcp.requirements import (
    Weights,
    metric_of,
    required_in,
    weighted_pm,
    weights_among,
)
from celltcp.results import Results, require_own
from celltcp.scenarios import load_scenario
from celltcp.selection.hints import unheard
from celltcp.selection.used import used_in
from celltcp.statistics import best_and_ties, estimate, paired_difference

if TYPE_CHECKING:
    from celltcp.plots import ComparisonPlots

#: Congestion controls that are compared unless others are named.
DEFAULT_CCAS = ("cubic", "bbr", "reno")

#: What is compared, in the order of the table.
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


class Recorded:
    """Results, and those of their tables that are there only if something wrote them."""

    def __init__(self, results: Results) -> None:
        self.results = results

    @property
    def radio(self) -> pd.DataFrame:
        """The radio, per TTI and direction, if it was logged."""
        return frame(self.results.radio)

    @property
    def decisions(self) -> pd.DataFrame:
        """When and why selectors chose which congestion control."""
        return frame(self.results.decisions)

    @property
    def estimates(self) -> pd.DataFrame:
        """What selectors saw of the network, per connection and slot."""
        return frame(self.results.estimates)


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
        #: What is compared, in the order of the table.
        self.metrics = (*METRICS, *(each.metric for each in weights))
        self.runs = _runs(results, weights)

    @property
    def ccas(self) -> list[str]:
        """The congestion controls, in the order in which they were asked for."""
        return list(self.results.about["cca"])

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
        """For each requirement the best congestion control, followed by those tied with it.

        Line-ups of several flows compete with each other, and are left out.
        """
        series = {cca: values for cca, values in self._series() if "+" not in cca}
        return {
            requirement: best_and_ties({cca: values[metric] for cca, values in series.items()})
            for requirement, metric in self.requirements.items()
        }

    @property
    def shares(self) -> pd.DataFrame:
        """How flows share the path while all of them run: per line-up and flow CCA and mean goodput.

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
        """What these congestion controls have to do with it.

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
        """What differs between the runs of the scenario; empty if nothing does."""
        return list(self.results.about["randomness"])

    @property
    def plot(self) -> ComparisonPlots:
        """Plots: `throughput_delay()`, `ecdf(metric)`, `time_series()`, `startup()`."""
        from celltcp.plots import ComparisonPlots

        return ComparisonPlots(self)

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
            "randomness": self.randomness,
            "runs": json_rows(self.runs),
            "summary": [
                {"cca": cca, **{metric: _interval(values) for metric, values in metrics.items()}}
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
            **({"selection": [each.to_json() for each in selected]} if selected else {}),
            "warnings": self.warnings,
        }

    @property
    def warnings(self) -> list[str]:
        """What makes the figures mean less than they seem to.

        UEs that no cell reached, and selectors that asked a radio that is not there.
        """
        return [*uncovered(self.results), *unheard(self.results)]

    def _series(self) -> list[tuple[str, dict[str, list[float]]]]:
        """Per congestion control the values of each metric, in the order of the seeds."""
        series = []
        for cca in self.ccas:
            mine = self.runs[self.runs["cca"] == cca].sort_values("seed")
            series.append(
                (cca, {metric: mine[metric].astype(float).tolist() for metric in self.metrics})
            )
        return series

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
    engine: str = "native",
    kernel: str | None = None,
    uplink: str | Path | None = None,
    set: Mapping[str, object] | Sequence[str] = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    radio_log: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Runs every congestion control over the same channel realisations.

    Args:
        scenario: built-in name, scenario file, link trace, or a loaded scenario.
        cca: names of congestion controls, with parameters (`"cubic:hystart=off"`) or several flows at
            a time (`"cubic+bbr"`); `"all"` for all that the engine has, `"own"` for
            that of the scenario itself.
        runs: runs of each; run i has `seed + i`.
        seed: of the first run.
        duration: length of a run, such as `"60s"`.
        jobs: runs at a time; all cores unless given.
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel, such as `"7.3"`; the newest that is built unless given.
        uplink: link trace of the uplink.
        set: scenario fields to override, such as `{"path.buffer": "2bdp"}`.
        out: folder to keep finished runs in while the campaign goes on, and to save to.
        radio_log: whether to record every TTI of the radio; only for scenarios that have one.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    if runs < 1:
        raise CelltcpError(f"runs: {runs} is not a number from 1 on")
    if out is not None:
        require_own(out, "compare")
    chosen_engine = find_engine(engine, kernel)
    loaded = load_scenario(scenario, uplink=uplink, duration=duration, changes=set)
    if radio_log:
        loaded = loaded.with_radio_log()
    chosen = chosen_ccas(cca, chosen_engine.ccas, loaded.lineup)
    planned = jobs_for(loaded, chosen, runs, seed, chosen_engine)
    tables = run_jobs(planned, workers=jobs, folder=out, progress=progress)
    comparison = Comparison(Results(tables, about(loaded, chosen, runs, seed, chosen_engine)))
    if out is not None:
        comparison.save(out)
    return comparison


def about(
    scenario: Scenario, ccas: Sequence[str], runs: int, seed: int, engine: Engine
) -> dict[str, Any]:
    """What results say of how they were made."""
    return {
        "version": __version__,
        "engine": engine.key,
        "name": scenario.name,
        "hash": scenario.hash,
        "scenario": scenario.to_toml(),
        "randomness": scenario.randomness,
        "slot_s": scenario.slot_s,
        "cca": list(ccas),
        "runs": runs,
        "seed": seed,
    }


def frame(table: pa.Table) -> pd.DataFrame:
    """An Arrow table as a data frame."""
    data: pd.DataFrame = table.to_pandas()
    return data


def json_rows(data: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as JSON has them."""
    return [
        {str(key): json_value(value) for key, value in row.items()} for row in data.to_dict("records")
    ]


def json_value(value: Any) -> Any:
    """A value as JSON has it, which knows neither NaN nor infinity: None for these."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _runs(results: Results, weights: Sequence[Weights]) -> pd.DataFrame:
    """One row per run: the flow under test, which is the first of the scenario, and how fair all are.

    Parallel connections of that flow add up: goodput and retransmissions as sums, RTTs and PM as
    means weighted by segments, the 95th percentile as the largest.
    """
    flows = results.tables["flows"].to_pylist()
    for each in weights:
        _add_pm(results, flows, each)
    shares = _together(results).groupby("run")["goodput_mbps"].apply(list).to_dict()
    rows = []
    for run in results.tables["runs"].to_pylist():
        mine = [flow for flow in flows if flow["run"] == run["run"]]
        tested = [flow for flow in mine if flow["name"] == mine[0]["name"]]
        rows.append(
            {
                "run": run["run"],
                "cca": run["cca"],
                "seed": run["seed"],
                "goodput_mbps": math.fsum(flow["goodput_mbps"] for flow in tested),
                "rtt_mean_ms": _weighted(tested, "rtt_mean_ms"),
                "rtt_p95_ms": max(flow["rtt_p95_ms"] for flow in tested),
                "rtt_min_ms": min(flow["rtt_min_ms"] for flow in tested),
                "induced_delay_ms": _weighted(tested, "induced_delay_ms"),
                "owd_p95_ms": max(flow["owd_p95_ms"] for flow in tested),
                "retransmissions": sum(flow["retransmissions"] for flow in tested),
                "pm_balanced": _weighted(tested, "pm_balanced"),
                "pm_delay": _weighted(tested, "pm_delay"),
                **{each.metric: _weighted(tested, each.metric) for each in weights},
                "fairness": jain(shares.get(run["run"], [])),
                "duration_s": run["duration_s"],
            }
        )
    return pd.DataFrame(rows)


def _add_pm(results: Results, flows: list[dict[str, Any]], weights: Weights) -> None:
    """Adds PM with these weights to each connection: the mean over its slots."""
    slots: pd.DataFrame = results.tables["slots"].select(["run", "flow", "a", "b", "c"]).to_pandas()
    means = weighted_pm(slots, weights).groupby([slots["run"], slots["flow"]]).mean()
    for flow in flows:
        flow[weights.metric] = float(means.get((flow["run"], flow["flow"]), math.nan))


def _together(results: Results) -> pd.DataFrame:
    """Per run and connection its name, CCA, and mean goodput from the start of the last flow on."""
    flows = frame(results.tables["flows"])[["run", "flow", "name", "cca"]]
    slots = frame(results.tables["slots"])[["run", "flow", "t_s", "goodput_mbps"]]
    begun = slots.groupby(["run", "flow"])["t_s"].min().groupby("run").max().rename("begun")
    common = slots.join(begun, on="run")
    common = common[common["t_s"] >= common["begun"]]
    means = common.groupby(["run", "flow"])["goodput_mbps"].mean().reset_index()
    return flows.merge(means, on=["run", "flow"], validate="one_to_one")


def _weighted(flows: Sequence[dict[str, Any]], metric: str) -> float:
    """Mean weighted by segments, over the connections that have the metric."""
    known = [flow for flow in flows if not math.isnan(flow[metric]) and flow["segments"]]
    segments = sum(int(flow["segments"]) for flow in known)
    if not segments:
        return math.nan
    return math.fsum(flow[metric] * flow["segments"] for flow in known) / float(segments)


def _interval(values: Sequence[float]) -> dict[str, float | None]:
    found = estimate(values)
    return {"mean": json_value(found.mean), "ci95": found.ci95}


def _difference(best: Sequence[float], other: Sequence[float]) -> dict[str, Any]:
    found = paired_difference(best, other)
    return {"mean": json_value(found.mean), "ci95": found.ci95, "tied": found.includes_zero}
