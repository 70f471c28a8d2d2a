"""Comparison of congestion controls on one scenario: runs, means, verdicts, plots."""

from __future__ import annotations

import collections
import functools
import math
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celltcp._core import CelltcpError
from celltcp.comparison.metrics import (
    APP_METRICS,
    CWND_MAX,
    CWND_MEAN,
    JAIN,
    MEAN_RTT,
    METRICS,
    ONE_WAY_DELAY,
    SHARE,
    WINDOWS,
)
from celltcp.comparison.runs import identical_ccas, run_table
from celltcp.results.columns import array_of, numbers, rows_of, sums_by
from celltcp.results.statistics import Verdict
from celltcp.results.tables import Results, RunTables
from celltcp.results.tested import FlowUnderTest, divided_flows, has_application, joined_slots
from celltcp.scenarios.cca_mix import count_text, has_several_flows, ranked_mixes
from celltcp.scenarios.ccas import middlebox_of, usual_cca
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.requirements import (
    COMPLETION,
    COMPLETIONS,
    QOE,
    REQUIREMENTS,
    RTT_REQUIREMENTS,
    requirement_metric,
    selector_requirements,
    slot_measures,
)

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.applications.application_metrics import MetricValues
    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.outcome import ComparisonOutcome
    from celltcp.comparison.shares import MeanShare, PathShares
    from celltcp.comparison.short_runs import ShortRun
    from celltcp.comparison.verdicts.by_metric import ChosenBest
    from celltcp.comparison.verdicts.stakes import Stake
    from celltcp.comparison.windows import Windows


class Comparison(RunTables):
    """Results of several CCAs on one scenario: runs, means with intervals, verdicts, plots."""

    def __init__(self, results: Results, requirements: Iterable[str] = ()) -> None:
        """Compares results by goodput, delay and balance, `requirements`, and those of selectors."""
        super().__init__(results)
        required_by_selectors = selector_requirements(results.about["cca"])
        #: The requirements by which congestion controls are ranked, and the metric of each.
        self.requirements = {
            requirement: requirement_metric(requirement)
            for requirement in dict.fromkeys([*REQUIREMENTS, *requirements, *required_by_selectors])
        }
        derived = slot_measures(self.requirements)
        completions = COMPLETION in self.requirements
        #: Metrics that are compared, in the order of the table.
        self.metrics = (*METRICS, *(requirement.metric for requirement in derived))
        if completions:
            self.metrics = (*self.metrics, COMPLETIONS)
        #: Flow under test: the first flow of the scenario, which runs, summary and verdicts describe.
        self.tested = FlowUnderTest.of(results.about)
        fairness = self._path_shares.jains_indices() if self._several_connections else {}
        #: Columns of the runs by competing flow.
        self._columns_of_flows: dict[FlowUnderTest, dict[str, list[Any]]] = {}
        self._slots_of_flows: dict[str, pd.DataFrame] = {}
        self._windows: dict[FlowUnderTest, list[Windows]] = {}
        self._application_metrics: dict[str, MetricValues] = {}
        self._frame_kinds: dict[str, dict[str, MetricValues]] = {}
        if has_application(results.about):
            from celltcp.comparison.applications.application_metrics import (
                application_metrics,
                frame_kind_metrics,
            )

            runs = numbers(results.tables["runs"]["run"]).tolist()
            self._application_metrics = application_metrics(results, runs)
            self._frame_kinds = frame_kind_metrics(results, runs)
        tested_metrics = self._application_metrics.get(self.tested.name, {})
        self._columns = run_table(results, derived, tested_metrics, fairness, completions=completions)
        if QOE in self._columns:
            self.requirements[QOE] = QOE
        if self.split_ccas:
            for requirement in RTT_REQUIREMENTS:
                del self.requirements[requirement]
            self.requirements["delay"] = ONE_WAY_DELAY
        #: Metric of the delay between the hosts.
        self.delay_metric = ONE_WAY_DELAY if self.split_ccas else MEAN_RTT
        #: Metrics of the flow's application, such as the score of a video.
        self.application_metrics = tuple(name for name in APP_METRICS if name in self._columns)
        self.metrics = (*self.metrics, *self.application_metrics)

    @functools.cached_property
    def split_ccas(self) -> list[str]:
        """Congestion controls whose connections a middlebox split, so that their RTT ends there."""
        if "legs" not in self.results.tables:
            return []
        split = set(numbers(self.results.tables["legs"]["run"]).tolist())
        runs = zip(self._columns["run"], self._columns["cca"], strict=True)
        return list(dict.fromkeys(cca for run, cca in runs if run in split))

    @functools.cached_property
    def _path_shares(self) -> PathShares:
        """Shares of the path in each run."""
        from celltcp.comparison.shares import path_shares

        return path_shares(self.results)

    def jains_index(self, cca: str) -> list[float]:
        """Returns Jain's index of the competitors of a direction, in the order of the seeds.

        With competitors in both, it is the lower one. Flows that do not compete all of the time,
        such as a game or transfers with pauses, do not count.
        """
        left_out = {*self.intermittent_flows, *self.pausing_flows}
        if not left_out:
            return self.values(cca, JAIN)
        fairness = self._path_shares.jains_indices(left_out)
        return self._in_seed_order(cca, [fairness.get(run, math.nan) for run in self._columns["run"]])

    @functools.cached_property
    def intermittent_flows(self) -> dict[str, None]:
        """Names of the flows that do not compete for the path, such as a game."""
        return dict.fromkeys(each.flow for each in self.applications if each.is_intermittent)

    @property
    def pausing_flows(self) -> set[str]:
        """Names of the flows with pauses between their transfers, in which others have the path."""
        return self._path_shares.pausing_flows

    @functools.cached_property
    def _several_connections(self) -> bool:
        """Whether any run has several connections."""
        runs = self.results.tables["flows"]["run"].to_pylist()
        return len(set(runs)) < len(runs)

    @property
    def ccas(self) -> list[str]:
        """The congestion controls, in the requested order."""
        return list(self.results.about["cca"])

    @functools.cached_property
    def ranked_ccas(self) -> list[str]:
        """The congestion controls that rank, without mixes; none where `is_other_path`."""
        from celltcp.results.captured_limits import is_other_path

        return [] if is_other_path(self.results) else ranked_mixes(self.ccas)

    def middlebox(self, cca: str) -> str:
        """Returns the middleboxes on the path of a congestion control; `"none"` without any."""
        return middlebox_of(cca, self.results.about.get("middleboxes", ()))

    @functools.cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run: the metrics of the flow under test, and the fairness of all flows."""
        import pandas as pd

        return pd.DataFrame(self._columns)

    def values(self, cca: str, metric: str) -> list[float]:
        """Returns a column of `runs` or of windows for a CCA, in the order of the seeds."""
        if metric in WINDOWS:
            return self.windows_of(self.tested, cca)[metric]
        return self._in_seed_order(cca, self._columns[metric])

    def _in_seed_order(self, cca: str, column: Sequence[float]) -> list[float]:
        """Returns the values of a CCA or mix in a column of the runs, in the order of the seeds."""
        return [float(column[index]) for index in self._indices.get(cca, ())]

    @functools.cached_property
    def _indices(self) -> dict[str, list[int]]:
        """Indices of the runs of each CCA in the columns of the runs, in the order of the seeds."""
        seeds = self._columns["seed"]
        indices: dict[str, list[int]] = {}
        for index in sorted(range(len(seeds)), key=seeds.__getitem__):
            indices.setdefault(self._columns["cca"][index], []).append(index)
        return indices

    @functools.cached_property
    def tested_flows(self) -> pd.DataFrame:
        """Connections of the flow under test, a row per run and connection."""
        flows = self.flows
        return flows[self.tested.has(flows["name"])]

    @property
    def tested_slots(self) -> pd.DataFrame:
        """Slots of the flow under test, a row per run and slot.

        For connections at the same time, bytes, rates and windows are sums, and RTT and PM are means.
        """
        return self.slots_of(self.tested.name)

    def slots_of(self, flow: str) -> pd.DataFrame:
        """Returns the slots of a flow, or of that of a connection such as `web-2`, as `tested_slots`.

        Raises:
            CelltcpError: if there is no such flow.
        """
        if flow not in self._slots_of_flows:
            chosen = FlowUnderTest.of_connection(self.results.about, flow)
            self._slots_of_flows[flow] = joined_slots(chosen, self.flows, self.slots)
        return self._slots_of_flows[flow]

    @functools.cached_property
    def units(self) -> pd.DataFrame:
        """One row per response, page, frame, segment of video and transfer of the applications."""
        from celltcp.comparison.applications.units_of_work import units_of_work

        return units_of_work(self.results)

    @property
    def connections(self) -> int:
        """Maximum number of connections of the flow under test in a run."""
        flows = rows_of(self.results.tables["flows"], "run", "name")
        runs = (run for run, name in flows if self.tested.includes(name))
        return max(collections.Counter(runs).values(), default=0)

    @property
    def subject(self) -> str:
        """Text that names the flow under test; empty if it is the only flow and has one connection."""
        several = f"{self.connections} connections of " if self.connections > 1 else ""
        flows = rows_of(self.results.tables["flows"], "name")
        is_alone = all(self.tested.includes(name) for (name,) in flows)
        return "" if is_alone and not several else f"{several}{self.tested.name}"

    @property
    def summary(self) -> pd.DataFrame:
        """Mean, half width of its 95 % interval, `is_lower_bound` if any is; see `summary_frame`."""
        from celltcp.comparison.summary_frame import summary_frame

        frame = summary_frame({(cca,): metrics for cca, metrics in self.series().items()})
        return frame.set_index(frame.index.get_level_values(0).rename("cca"))

    @property
    def flow_summary(self) -> pd.DataFrame:
        """Summary of each flow: its share of the path if it competes, and its application's metrics.

        A row per CCA and flow; NaN for metrics that it lacks, and for percentiles of too few values.
        """
        from celltcp.comparison.summary_frame import summary_frame

        network = (*METRICS, SHARE) if self.competing_flows else METRICS
        applications = {application.flow: application.metrics for application in self.applications}
        rows = {
            (cca, flow.name): {
                **{metric: self.values_of(flow, cca, metric) for metric in network},
                **applications.get(flow.name, {}).get(cca, {}),
            }
            for cca in self.ccas
            for flow in FlowUnderTest.each(self.results.about)
        }
        return summary_frame(rows).rename_axis(["cca", "flow"])

    @property
    def recommendation(self) -> dict[str, list[str]]:
        """The best congestion control by need, followed by those that may be as good.

        Needs are METRIC:FLOW for each flow with an application, and the requirements, unless the flow
        under test does not compete. The list is empty for one run of a random scenario, and where the
        application's metrics contradict. Mixes of several flows are left out, as their CCAs compete.
        """
        return {
            need: [*verdict.without_dearer] if self.decides and not verdict.contradicted_by else []
            for need, verdict in self._verdicts_of_needs.items()
        }

    @property
    def _verdicts_of_needs(self) -> dict[str, Verdict]:
        has_needs = self.is_competing or QOE in self.requirements
        verdicts = {**(self.verdicts if has_needs else self.network_verdicts)}
        for stake in self.ranked_stakes:
            if stake.metric not in self.requirements.values():
                verdicts[f"{stake.metric}:{stake.flow}"] = stake.verdict
        return verdicts

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Verdict for each requirement: the best CCA, those as good, and its contradiction."""
        return dict(self._verdicts)

    @functools.cached_property
    def _verdicts(self) -> dict[str, Verdict]:
        from celltcp.comparison.applications.application import values_by_criterion, verdicts_by_metric
        from celltcp.comparison.applications.applications import completion_times
        from celltcp.comparison.verdicts.prices import with_prices_of_goodput
        from celltcp.results.captured_limits import with_open_bounds

        series = {cca: each for cca, each in self.series().items() if cca in self.ranked_ccas}
        indices = {cca: self._indices.get(cca, []) for cca in series}
        verdicts = verdicts_by_metric(
            self.requirements,
            series,
            values_by_criterion(self._columns, indices),
            completion_times(self.applications, self.tested.name, series),
            random=not self.decides,
            competes=self.is_competing,
        )
        return with_open_bounds(with_prices_of_goodput(verdicts, self), self.results)

    @functools.cached_property
    def applications(self) -> list[Application]:
        """The applications of all flows: their metrics under each CCA, and the best CCA by them."""
        if not self._application_metrics:
            return []
        from celltcp.comparison.applications.applications import applications_of

        divided = divided_flows(self.results.about)
        return applications_of(self._application_metrics, self._indices, divided, self._frame_kinds)

    @functools.cached_property
    def stakes(self) -> list[Stake]:
        """Ranking metric of each flow, with its values; without applications only of ranked mixes."""
        if not self.applications and not any(map(has_several_flows, self.ranked_ccas)):
            return []
        from celltcp.comparison.verdicts.stakes import stakes_of

        return stakes_of(self)

    @property
    def ranked_stakes(self) -> list[Stake]:
        """The stakes without the goodput of the flow under test, which `verdicts` rank."""
        applications = {application.flow for application in self.applications}
        return [
            stake
            for stake in self.stakes
            if stake.flow in applications or stake.flow != self.tested.name
        ]

    @property
    def is_competing(self) -> bool:
        """Whether the flow under test competes for the path, so that goodput and PM rank the CCAs."""
        return not any(
            application.is_intermittent
            for application in self.applications
            if application.flow == self.tested.name
        )

    @property
    def is_finite(self) -> bool:
        """Whether the flow under test has transfers with an end, which rank by their completion."""
        return any(
            application.ranking.metric.startswith("complet")
            for application in self.applications
            if application.flow == self.tested.name
        )

    @property
    def network_verdicts(self) -> dict[str, Verdict]:
        """Verdicts by network metrics, without goodput and PM unless the flow under test sends on.

        A video ranks by its score, and a transfer with an end by its time, which are in `stakes`. A
        single congestion control has no verdicts.
        """
        if len(self.ccas) < 2 or len(self.ranked_ccas) < 2:
            return {}
        has_own = QOE in self.requirements or not self.is_competing or self.is_finite
        hidden = {*REQUIREMENTS, QOE} if has_own else set()
        return {name: verdict for name, verdict in self.verdicts.items() if name not in hidden}

    @property
    def trade_offs(self) -> list[str]:
        """Texts on gains and losses of each flow, where flows have different best CCAs."""
        if not self.applications and not self.competing_flows:
            return []
        from celltcp.comparison.verdicts.stakes import trade_off_texts

        return trade_off_texts(self)

    def best_by(self, metric: str) -> ChosenBest:
        """Returns the best congestion control by a metric of a flow, and the values of the runs.

        Args:
            metric: METRIC or METRIC:FLOW, such as `"response_p99_s:game"`. The default flow is the flow
                under test, or the only flow whose application has the metric.

        Raises:
            CelltcpError: if there is no such metric or flow, or the flow has no such metric.
        """
        from celltcp.comparison.verdicts.by_metric import best_by

        return best_by(self, metric)

    @functools.cached_property
    def usual_cca(self) -> str:
        """The congestion control in use before a change: that of the scenario if it is compared."""
        return usual_cca(self.ccas, tomllib.loads(self.results.about["scenario"]))

    @property
    def decides(self) -> bool:
        """Whether enough runs are there to name a best CCA: two, or one if nothing is random."""
        return not self.randomness or int(self.results.about["runs"]) > 1

    @property
    def shares(self) -> pd.DataFrame:
        """Shares of the path while all flows run, as `shares_frame` has them."""
        from celltcp.comparison.shares import shares_frame

        return shares_frame(self.mean_shares())

    def mean_shares(self) -> list[MeanShare]:
        """Returns the shares of the path, a mean over the runs for each mix and flow."""
        from celltcp.comparison.shares import mean_shares

        mixes = dict(zip(self._columns["run"], self._columns["cca"], strict=True))
        return mean_shares(self._path_shares.shares, mixes)

    def windows_of(self, flow: FlowUnderTest, cca: str) -> dict[str, list[float]]:
        """Returns the mean and the largest cwnd of a flow by metric, in the order of the seeds."""
        if flow not in self._windows:
            from celltcp.comparison.windows import windows_of

            self._windows[flow] = windows_of(self.results, flow, self._columns["run"])
        windows = self._windows[flow]
        return {
            CWND_MEAN: self._in_seed_order(cca, [window.mean for window in windows]),
            CWND_MAX: self._in_seed_order(cca, [window.largest for window in windows]),
        }

    def competing_shares(self) -> list[MeanShare]:
        """Returns the shares of flows that compete for the path; a game or web pages do not."""
        return [share for share in self.mean_shares() if share.flow not in self.intermittent_flows]

    @functools.cached_property
    def competing_flows(self) -> list[FlowUnderTest]:
        """The flow under test and the flows that share the path with it; empty without a rival."""
        if not self.has_competition:
            return []
        names = {share.flow for share in self.competing_shares()}
        flows = [
            flow for flow in FlowUnderTest.each(self.results.about) if any(map(flow.includes, names))
        ]
        return flows if len(flows) > 1 and self.tested in flows else []

    def values_of(self, flow: FlowUnderTest, cca: str, metric: str) -> list[float]:
        """Returns a network metric of a flow for a CCA, in the order of the seeds.

        A share is NaN in runs in which the flows were never active at the same time.
        """
        if metric == SHARE:
            shares = sums_by(
                [share.run for share in self._path_shares.shares if flow.includes(share.flow)],
                [share.goodput_mbps for share in self._path_shares.shares if flow.includes(share.flow)],
            )
            return self._in_seed_order(cca, [shares.get(run, math.nan) for run in self._columns["run"]])
        if flow == self.tested:
            return self.values(cca, metric)
        if metric in WINDOWS:
            return self.windows_of(flow, cca)[metric]
        if flow not in self._columns_of_flows:
            self._columns_of_flows[flow] = run_table(self.results, (), {}, {}, flow=flow)
        return self._in_seed_order(cca, self._columns_of_flows[flow][metric])

    @property
    def has_competition(self) -> bool:
        """Whether several flows, or connections of a flow, compete for the path."""
        counts = collections.Counter[str]()
        for share in self.competing_shares():
            counts[share.mix] += share.connections
        return self.several_flows and max(counts.values(), default=0) > 1

    @property
    def has_fairness(self) -> bool:
        """Whether flows or connections share a link all of the time, so that they have Jain's index."""
        return any(not math.isnan(index) for cca in self.ccas for index in self.jains_index(cca))

    @property
    def has_shares(self) -> bool:
        """Whether flows compete, or the goodput of a flow other than that under test matters."""
        if not self.several_flows or self.has_competition:
            return self.several_flows
        other_flows = (not self.tested.includes(share.flow) for share in self.competing_shares())
        return bool(self.applications) and any(other_flows)

    def only(self, ccas: Sequence[str]) -> Comparison:
        """Returns the comparison of some of the congestion controls.

        Raises:
            CelltcpError: if one of them was not compared.
        """
        for cca in ccas:
            if cca not in self.ccas:
                name = self.results.about["name"]
                raise CelltcpError(f"cca: {cca!r} is not in {name}; there are {', '.join(self.ccas)}")
        import pyarrow.compute as pc

        runs = zip(self._columns["run"], self._columns["cca"], strict=True)
        selected_runs = array_of(np.array([run for run, cca in runs if cca in ccas], np.uint32))
        tables = {
            name: table.filter(pc.is_in(table["run"], value_set=selected_runs))
            for name, table in self.results.tables.items()
        }
        return Comparison(Results(tables, {**self.results.about, "cca": list(ccas)}))

    def __getitem__(self, cca: str) -> Comparison:
        """Returns the comparison of one congestion control alone."""
        return self.only([cca])

    @functools.cached_property
    def identical_ccas(self) -> list[list[str]]:
        """Groups of congestion controls or mixes under which the runs are the same, seed by seed."""
        columns = self._columns
        return identical_ccas(self.results, columns["run"], columns["seed"], self._indices)

    @property
    def several_flows(self) -> bool:
        """Whether several flows, or simultaneous connections of a flow, shared the path."""
        if not self._several_connections:
            return False
        flows = set(rows_of(self.results.tables["flows"], "run", "name"))
        flow_counts = collections.Counter(run for run, _ in flows)
        competitor_counts = map(len, self._path_shares.competitors.values())
        return max((*flow_counts.values(), *competitor_counts), default=0) > 1

    @property
    def randomness(self) -> list[str]:
        """The parts of the scenario that are random; empty without one."""
        return list(self.results.about["randomness"])

    #: Plots, `celltcp.comparison.plots.accessors.ComparisonPlots`: `throughput_delay()`,
    #: `ecdf(metric)`, `time_series()`, `startup()`, `overview()`.
    plot = LazyAttribute()

    def save(self, folder: str | Path) -> Path:
        """Writes the tables as Parquet files into `folder`."""
        return self.results.save(folder)

    def to_json(self, by: Sequence[str] = ()) -> ComparisonOutcome:
        """Returns runs, summary, paired differences and recommendation; the same for the same seeds.

        Args:
            by: further metrics to rank CCAs by, as in `best_by`.
        """
        from celltcp.comparison.json_outcome import comparison_outcome

        return comparison_outcome(self, by)

    def run_rows(self) -> list[dict[str, Any]]:
        """Returns the rows of `runs`, in the order of the results."""
        rows = zip(*self._columns.values(), strict=True)
        return [dict(zip(self._columns, row, strict=True)) for row in rows]

    @property
    def warnings(self) -> list[str]:
        """Warnings about causes of the metrics other than the CCAs."""
        return list(self._warnings)

    @functools.cached_property
    def short_runs(self) -> tuple[ShortRun, ...]:
        """The bulk flows whose sawtooth is longer than a run."""
        if not self.results.has_recoveries:
            return ()
        from celltcp.comparison.short_runs import short_runs

        return tuple(short_runs(self.results))

    @functools.cached_property
    def _warnings(self) -> list[str]:
        from celltcp.comparison.warnings import warnings_of

        return warnings_of(self)

    def series(self) -> dict[str, dict[str, list[float]]]:
        """Returns the values of each metric by congestion control, in the order of the seeds."""
        return {cca: {metric: self.values(cca, metric) for metric in self.metrics} for cca in self.ccas}

    def __repr__(self) -> str:
        about = self.results.about
        text = f"{count_text(about['runs'], 'run')} of {', '.join(self.ccas)}"
        verdicts = self._verdicts_of_needs.items() if len(self.ccas) > 1 and self.decides else ()
        best = [f"{verdict.best} for {need}" for need, verdict in verdicts if verdict.best]
        undecided = [need for need, verdict in verdicts if verdict.undecided]
        parts = {"leading": best, "undecided": undecided}.items()
        text += "".join(f"; {word}: {', '.join(needs)}" for word, needs in parts if needs)
        return f"<Comparison {about['name']}: {text}>"

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(float_format="{:.3g}".format))
