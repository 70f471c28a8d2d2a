"""Rankings of the values of varied fields, under each congestion control and over all of them."""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from celltcp.comparison.applications.applications import Application, RankingMetric, has_too_few
from celltcp.comparison.equal_shares import EqualShare, equal_shares
from celltcp.comparison.metrics import (
    APP_METRICS,
    BALANCED,
    GOODPUT,
    JAIN,
    MEAN_RTT,
    ONE_WAY_DELAY,
    best_of,
    words_of,
)
from celltcp.comparison.retransmitted import ResentShare, resent_share, retransmitted_text
from celltcp.comparison.sweep.parameter_sweep import SCENARIO
from celltcp.comparison.utilisation import link_loads
from celltcp.comparison.verdicts.by_metric import best_by
from celltcp.comparison.verdicts.costs import with_cost
from celltcp.comparison.verdicts.prices import TiePrices, has_prices, hides_delay, with_prices
from celltcp.comparison.verdicts.reversals import mean_decides
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.results.columns import numbers
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import cca_of_all_flows, labels, ranked_mixes
from celltcp.scenarios.ccas import usual_cca

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.sweep.parameter_sweep import Sweep
    from celltcp.results.tables import Results

#: Maximum relative difference of capacity and lowest RTT up to which PMs at different values of a field
#: may be compared.
_PATH_TOLERANCE = 0.02
#: Conditions: fields of the network and of workloads that nobody can set.
#: Other fields can be set: buffers, queues, shapers and policers, hosts, CCAs, how applications send.
_CONDITION = re.compile(
    r"(?:path|links)\.(?:(?:wired\.)?\d+\.)?"
    r"(?:rtt|delay|loss|uplink_loss|jitter|blackouts|cross_traffic|down|up)\b"
    r"|radio\.(?:ues|cells|fading|propagation|frequency)\b"
    r"|flows\.\d+\.(?:start|count|from|to)\b"
    r"|flows\.\d+\.workload\.(?:bytes|size|gap|request|response|think|objects?|document|parse|on|off"
    r"|pause|length|period|deadline)\b"
    r"|(?:duration|slot|samples|variation)\b"
)
#: Fields of the network, and of hosts.
_NETWORK = re.compile(r"(?:path|links)\.(?:(?:wired\.)?\d+\.)?(?:rate|queue|buffer|policer)\b")
_HOST = re.compile(r"(?:tcp|flows)\.")


def is_condition(field: str) -> bool:
    """Returns whether a field is a condition: nobody can set it, so no value of it is recommended."""
    return _CONDITION.match(field) is not None


def tail_metrics(metric: str) -> list[str]:
    """Returns the 99th percentile and the maximum of a metric that is a percentile."""
    names = dict.fromkeys(re.sub(r"_p\d+(?=_)", tail, metric) for tail in ("_p99", "_max"))
    return [name for name in names if name != metric]


def is_network(field: str) -> bool:
    """Returns whether a field is of a network, whose operator does not set the hosts."""
    return _NETWORK.match(field) is not None


def conditions_among(fields: Sequence[str]) -> set[str]:
    """Returns the fields of which no value is recommended beside the others.

    They are conditions, and fields of the network beside those of hosts: who sets one of them does not
    set the other.
    """
    has_hosts = any(map(_HOST.match, fields))
    return {field for field in fields if is_condition(field) or (has_hosts and is_network(field))}


class Choice(NamedTuple):
    """Value of the varied fields, combined with a congestion control."""

    value: str
    cca: str


class _Points:
    """Comparisons by the values of some fields, at fixed coordinates on the other axes."""

    def __init__(
        self,
        fields: Sequence[str],
        fixed: Mapping[str, str],
        comparisons: Mapping[tuple[str, ...], Comparison],
    ) -> None:
        #: The field; names of several are joined with commas, as are their values.
        self.field = ", ".join(fields)
        self.fields = fields
        #: Value of each field, by the joined values.
        self.coordinates = {", ".join(values): values for values in comparisons}
        #: Coordinates on the other axes.
        self.fixed = fixed
        #: Comparisons by the joined values, without those that have no runs.
        self.comparisons = {
            ", ".join(values): comparison
            for values, comparison in comparisons.items()
            if comparison.ccas
        }
        first = next(iter(self.comparisons.values()))
        #: Congestion controls and mixes with runs at each value.
        self.ccas = [
            cca
            for cca in first.ccas
            if all(cca in comparison.ccas for comparison in self.comparisons.values())
        ]
        self.flows = FlowUnderTest.each(first.results.about)
        self.tested = first.tested.name
        #: Whether there are enough runs to name a best value.
        self.decides = all(comparison.decides for comparison in self.comparisons.values())

    @functools.cached_property
    def rivals(self) -> list[str]:
        """Names of the flows that compete with the flow under test at every value."""
        names = [
            {flow.name for flow in each.competing_flows} - {self.tested}
            for each in self.comparisons.values()
        ]
        return [flow.name for flow in self.flows if flow.name in set.intersection(*names)]

    @property
    def comparable_ccas(self) -> list[list[str]]:
        """Congestion controls that are ranked together; each mix, whose flows differ, is apart."""
        single = ranked_mixes(self.ccas)
        return [*([single] if single else []), *([mix] for mix in self.ccas if mix not in single)]

    @functools.cached_property
    def is_same_path(self) -> bool:
        """Whether capacity and lowest RTT are the same at each value."""
        comparisons = self.comparisons.values()
        slots = (comparison.results.tables["slots"] for comparison in comparisons)
        rates = [float(np.nanmean(numbers(each["capacity_mbps"]))) for each in slots]
        rtts = [
            min(estimate(comparison.values(cca, "rtt_min_ms")).mean for cca in self.ccas)
            for comparison in comparisons
        ]
        return all(np.ptp(each) <= _PATH_TOLERANCE * max(each) for each in (rates, rtts))


class FieldRanking:
    """Ranking of the values of some fields for each stake; other axes have fixed coordinates."""

    def __init__(
        self,
        points: _Points,
        ccas: Sequence[str],
        ranking_metrics: Mapping[str, RankingMetric] | None = None,
    ) -> None:
        """Ranks all combinations of the values of fields with some congestion controls.

        Flows without one in `ranking_metrics` choose a metric by the values of these points.
        """
        self._points = points
        self._ranking_metrics = ranking_metrics or {}
        self.field, self.fixed = points.field, points.fixed
        self.ccas = ccas
        #: The only congestion control; None if there are several.
        self.cca = ccas[0] if len(ccas) == 1 else None
        names = labels(ccas)
        #: Combinations of values and congestion controls, by their names in the stakes.
        self.choices = {
            value if self.cca else f"{value} with {names[cca]}": Choice(value, cca)
            for value in points.comparisons
            for cca in ccas
        }
        seeds = (set(self._values(choice, "seed")) for choice in self.choices.values())
        # These are all seeds, except in an unfinished sweep.
        self._common_seeds = set.intersection(*seeds)

    @property
    def fields(self) -> Sequence[str]:
        """The fields: one, or all fields of a sweep in the ranking of all combinations."""
        return self._points.fields

    def coordinates(self, choice: Choice) -> tuple[str, ...]:
        """Returns the value of each field in a choice."""
        return self._points.coordinates[choice.value]

    @property
    def decides(self) -> bool:
        """Whether there are enough runs to name a best value."""
        return self._points.decides

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario, parsed, at the fixed coordinates and the first of the values."""
        return self.scenario_at(next(iter(self._points.comparisons)))

    def scenario_at(self, value: str) -> dict[str, Any]:
        """Returns the scenario, parsed, at the fixed coordinates and a value."""
        scenario: dict[str, Any] = tomllib.loads(self.results_at(value).about["scenario"])
        return scenario

    def results_at(self, value: str) -> Results:
        """Returns the results at the fixed coordinates and a value."""
        return self._points.comparisons[value].results

    def equal_shares(self, name: str) -> list[EqualShare]:
        """Returns the shares of the flows that compete with a choice, as multiples of an equal one."""
        choice = self.choices[name]
        return equal_shares(self._points.comparisons[choice.value], choice.cca)

    def by_cca(self) -> list[FieldRanking]:
        """Returns the ranking under each congestion control alone, by the same metrics."""
        metrics = self.ranking_metrics
        return [FieldRanking(self._points, [cca], metrics) for cca in self.ccas]

    def tail_values(self, stake: Stake) -> list[dict[str, list[float]]]:
        """Returns the 99th percentiles and maxima of all choices for a stake of percentiles."""
        tails = (self.application_values(stake.flow, name) for name in tail_metrics(stake.metric))
        return [
            values
            for values in tails
            if values and all(0 < value < np.inf for each in values.values() for value in each)
        ]

    def application_values(
        self, flow: str, metric: str, *, has_enough: bool = False
    ) -> dict[str, list[float]]:
        """Returns the values of a metric of a flow's application by choice; empty if some lack it.

        With `has_enough`, percentiles of too few values are missing, too.
        """
        values = {
            name: self._paired(choice, application.metrics[choice.cca][metric])
            for name, choice in self.choices.items()
            for application in self._points.comparisons[choice.value].applications
            if application.flow == flow
            and metric in application.names
            and not (has_enough and has_too_few(metric, application.metrics[choice.cca]))
        }
        return values if len(values) == len(self.choices) else {}

    @functools.cached_property
    def stakes(self) -> list[Stake]:
        """Stake of each flow: the metric of its application, or else goodput, delay and balance.

        Where congestion controls compete, what one flow gains another one loses: Jain's index ranks.
        """
        points = self._points
        if (index := self._fairness_values()) is not None:
            return [self._stake(points.tested, RankingMetric(JAIN, words_of(JAIN).name), index)]
        if any(comparison.applications for comparison in points.comparisons.values()):
            return [stake for flow in points.flows if (stake := self._flow_stake(flow))]
        delay = self.delay_metric
        metrics = [RankingMetric(GOODPUT, "goodput"), RankingMetric(delay, words_of(delay).name)]
        if points.is_same_path and delay == MEAN_RTT:
            metrics.append(RankingMetric(BALANCED, "balance of goodput and delay"))
        stakes = [self._network_stake(metric) for metric in metrics]
        # What one flow gains, another one may lose.
        return [*stakes, *map(self._goodput_stake, points.rivals)]

    def _fairness_values(self) -> dict[str, list[float]] | None:
        """Returns Jain's index of a mix by choice; None unless CCAs differ and all flows compete."""
        comparisons = self._points.comparisons
        if len(self.ccas) > 1 or cca_of_all_flows(self.ccas[0]):
            return None
        if not all(each.has_fairness for each in comparisons.values()):
            return None
        return {
            name: self._paired(choice, comparisons[choice.value].jains_index(choice.cca))
            for name, choice in self.choices.items()
        }

    def stakes_by(self, by: Sequence[str]) -> list[Stake]:
        """Returns the stakes by chosen metrics, as in `Comparison.best_by`, and then all others."""
        return [*map(self._chosen_stake, by), *self.stakes]

    def deciding_stakes(self, by: Sequence[str]) -> list[Stake]:
        """Returns the stakes by chosen metrics, and those of flows without a chosen metric.

        Stakes in goodput are always included, as others may cost goodput.
        """
        chosen = [self._chosen_stake(metric) for metric in by]
        flows = {stake.flow for stake in chosen}
        keys = {(stake.flow, stake.metric) for stake in chosen}
        others = (
            stake
            for stake in self.stakes
            if stake.flow not in flows
            or (stake.metric == GOODPUT and (stake.flow, stake.metric) not in keys)
        )
        return [*chosen, *others]

    def question(self, stake: Stake) -> str:
        """Returns the stake in words; without the name of the flow if it is the only one."""
        if len(self._points.flows) > 1:
            return stake.question
        return "; ".join(filter(None, (stake.title, stake.note)))

    def without_flow(self, text: str) -> str:
        """Returns a text that begins with the name of a flow without it, if it is the only flow."""
        flows = self._points.flows
        return text.removeprefix(f"{self._points.tested} ") if len(flows) == 1 else text

    @property
    def ranking_metrics(self) -> dict[str, RankingMetric]:
        """The metrics that matter most to the flows with an application."""
        return {
            stake.flow: RankingMetric(stake.metric, stake.title, stake.note)
            for stake in self.stakes
            if stake.metric in APP_METRICS
        }

    @property
    def usual_cca(self) -> str:
        """The congestion control in use before a change: that of the scenario if compared."""
        return usual_cca(self.ccas, self.scenario)

    def _values(self, choice: Choice, metric: str) -> list[float]:
        return self._points.comparisons[choice.value].values(choice.cca, metric)

    def _paired(self, choice: Choice, values: Sequence[float]) -> list[float]:
        """Returns the values of a choice for the seeds that all choices have."""
        pairs = zip(self._values(choice, "seed"), values, strict=True)
        return [value for seed, value in pairs if seed in self._common_seeds]

    def network_values(self, metric: str) -> dict[str, list[float]]:
        """Returns the values of a network metric of the flow under test by the name of the choice."""
        return {
            name: self._paired(choice, self._values(choice, metric))
            for name, choice in self.choices.items()
        }

    @property
    def delay_metric(self) -> str:
        """Metric of the delay between the hosts."""
        is_split = any(comparison.split_ccas for comparison in self._points.comparisons.values())
        return ONE_WAY_DELAY if is_split else MEAN_RTT

    @property
    def is_finite(self) -> bool:
        """Whether the flow under test has transfers with an end, whose delay is in their time."""
        return any(comparison.is_finite for comparison in self._points.comparisons.values())

    def retransmitted_text(self, name: str) -> str:
        """Returns the share of the flow's retransmissions in parentheses; empty without any."""
        value, cca = self.choices[name]
        comparison = self._points.comparisons[value]
        return retransmitted_text(comparison, comparison.tested, cca)

    @property
    def tested(self) -> str:
        """Name of the flow under test."""
        return self._points.tested

    def link_goodput(self, name: str) -> float:
        """Returns the goodput of all flows on the link of the flow under test, Mbit/s."""
        value, cca = self.choices[name]
        loads = link_loads(self._points.comparisons[value])[cca]
        return estimate([load.goodput_mbps for load in loads]).mean

    def resent_shares(self, flow_name: str = "") -> dict[str, ResentShare]:
        """Returns the share of the segments that a flow, by default the tested one, sends again.

        It is by the name of the choice.
        """
        flow_name = flow_name or self._points.tested
        flow = self._flow(flow_name)
        shares = {}
        for name, choice in self.choices.items():
            share = resent_share(self._points.comparisons[choice.value], flow, choice.cca)
            shares[name] = ResentShare(share.total, self._paired(choice, share.of_runs))
        return shares

    def _flow(self, name: str) -> FlowUnderTest:
        """Returns a flow by its name."""
        return next(each for each in self._points.flows if each.name == name)

    def _stake(self, flow: str, metric: RankingMetric, values: Mapping[str, list[float]]) -> Stake:
        # With draws and a single run, `decides` is false.
        best = best_of(metric.metric, values, random=not self.decides)
        return Stake(flow, metric.metric, metric.title, values, best, metric.note)

    def _network_stake(self, metric: RankingMetric) -> Stake:
        tested = self._points.tested
        stake = self._stake(tested, metric, self.network_values(metric.metric))
        if not self.decides:
            return stake
        stake = self._priced(stake, tested)
        # Choices are shown by their own names.
        names = {name: name for name in self.choices}
        goodput = self.network_values(GOODPUT)
        return stake._replace(verdict=with_cost(stake.verdict, metric.metric, goodput, {}, names))

    def _chosen_stake(self, by: str) -> Stake:
        """Returns the stake by a chosen metric, METRIC or METRIC:FLOW."""
        bests = {
            value: best_by(comparison, by) for value, comparison in self._points.comparisons.items()
        }
        values = {
            name: self._paired(choice, bests[choice.value].values[choice.cca])
            for name, choice in self.choices.items()
        }
        metric, flow = next(iter(bests.values())).chosen
        stake = self._stake(flow, RankingMetric(metric, words_of(metric).name), values)
        return self._priced(stake, flow)

    def _priced(self, stake: Stake, flow_name: str) -> Stake:
        """Returns a stake of a flow with the prices of the choices that are as good as the best."""
        if not has_prices(stake.metric):
            return stake
        delays = {}
        if hides_delay(stake.metric):
            flow = self._flow(flow_name)
            for name, choice in self.choices.items():
                comparison = self._points.comparisons[choice.value]
                values = comparison.values_of(flow, choice.cca, self.delay_metric)
                delays[name] = self._paired(choice, values)
        prices = TiePrices(self.resent_shares(flow_name), delays, self.delay_metric)
        names = {name: name for name in self.choices}
        return stake._replace(verdict=with_prices(stake.verdict, stake.values, prices, names))

    def _goodput_stake(self, flow: str) -> Stake:
        """Returns the stake of a flow in its goodput."""
        return self._chosen_stake(f"{GOODPUT}:{flow}")._replace(title="goodput")

    def _flow_stake(self, flow: FlowUnderTest) -> Stake | None:
        """Returns the stake of a flow: its application's metric, or goodput without an application.

        None if the flow has an application only at some values, or other metrics at each of them.
        """
        applications = {
            value: application
            for value, comparison in self._points.comparisons.items()
            for application in comparison.applications
            if application.flow == flow.name
        }
        if not applications:
            return self._goodput_stake(flow.name)
        names = set.intersection(*(set(application.names) for application in applications.values()))
        if len(applications) < len(self._points.comparisons) or not names:
            return None
        merged = Application(
            flow.name,
            {
                name: {
                    metric: self._paired(choice, values)
                    for metric, values in applications[choice.value].metrics[choice.cca].items()
                    if metric in names
                }
                for name, choice in self.choices.items()
            },
            any(application.is_divided for application in applications.values()),
        )
        metric = self._ranking_metrics.get(flow.name, merged.ranking)
        if metric.metric not in names:
            metric = merged.ranking
        stake = self._priced(self._stake(flow.name, metric, merged.values(metric.metric)), flow.name)
        stake = stake._replace(bounds=merged.bounds(metric.metric))
        if flow.name not in self._ranking_metrics and mean_decides(merged, stake):
            ranking = RankingMetric("response_s", "mean response time; its p95 and median disagree")
            stake = self._stake(flow.name, ranking, merged.values(ranking.metric))
            stake = self._priced(stake, flow.name)
        return self._in_tail(stake, merged) or stake

    def _in_tail(self, stake: Stake, application: Application) -> Stake | None:
        """Returns the stake by a higher percentile that differs, where all tie by the 95th.

        What changes one response in a thousand, such as a lower RTO, shows in no lower percentile.
        """
        if "_p95_" not in stake.metric or len(stake.verdict.tied) < len(stake.values) - 1:
            return None
        for short, title in (("_p99_", "99th"), ("_p999_", "99.9th")):
            metric = stake.metric.replace("_p95_", short)
            columns = application.metrics.values()
            if any(metric not in each or has_too_few(metric, each) for each in columns):
                continue
            ranking = RankingMetric(metric, stake.title.replace("95th", title), stake.note)
            higher = self._stake(stake.flow, ranking, application.values(metric))
            if any(higher.is_gain(one, other) for one in higher.values for other in higher.values):
                return higher
        return None


def field_rankings(sweep: Sweep) -> list[FieldRanking]:
    """Returns the rankings of the values of each field: under each congestion control, then over all.

    Values are paired by seeds, as congestion controls are: draws do not depend on the field. Fields
    with a single value are left out. A flow ranks by the same metric in all rankings of a scenario.
    """
    metrics = _ranking_metrics(overall_rankings(sweep))
    return [
        FieldRanking(points, ccas, metrics.get(points.fixed.get(SCENARIO)))
        for field in sweep.axes
        if field != SCENARIO
        for points in _points_by(sweep, [field])
        if len(points.comparisons) > 1
        for ccas in (
            *([cca] for cca in points.ccas),
            *(ccas for ccas in points.comparable_ccas if len(ccas) > 1),
        )
    ]


def overall_rankings(sweep: Sweep) -> list[FieldRanking]:
    """Returns for each scenario the ranking of all combinations of values and congestion controls.

    Each mix has one of its own, after that of the congestion controls of a single flow.
    """
    fields = [axis for axis in sweep.axes if axis != SCENARIO]
    every = _points_by(sweep, fields) if fields else ()
    return [
        FieldRanking(points, ccas)
        for points in every
        if len(points.comparisons) > 1
        for ccas in points.comparable_ccas
    ]


def advice_rankings(sweep: Sweep) -> list[FieldRanking]:
    """Returns the rankings of all combinations of settable fields, one for each of the conditions.

    The best values at one loss rate need not be the best at another, and nobody can choose a loss rate.
    A sweep of conditions only, or without any, has its overall rankings.
    """
    overall = overall_rankings(sweep)
    conditions = conditions_among(sweep.axes)
    fields = [axis for axis in sweep.axes if axis != SCENARIO and axis not in conditions]
    if not fields or not conditions:
        return overall
    metrics = _ranking_metrics(overall)
    # A field with one value is still combined with several congestion controls.
    return [
        FieldRanking(points, ccas, metrics.get(points.fixed.get(SCENARIO)))
        for points in _points_by(sweep, fields)
        for ccas in points.comparable_ccas
        if len(points.comparisons) * len(ccas) > 1
    ]


def _ranking_metrics(
    overall: Sequence[FieldRanking],
) -> dict[str | None, dict[str, RankingMetric]]:
    """Returns the metric of each flow with an application, by the scenario if there are several."""
    # The first ranking of a scenario decides.
    return {ranking.fixed.get(SCENARIO): ranking.ranking_metrics for ranking in reversed(overall)}


def _points_by(sweep: Sweep, fields: Sequence[str]) -> Iterator[_Points]:
    """Yields the comparisons by the values of some axes, for all coordinates on the other axes."""
    groups: dict[tuple[str, ...], dict[tuple[str, ...], Comparison]] = {}
    inside = [axis in fields for axis in sweep.axes]
    outside = [axis not in fields for axis in sweep.axes]
    for point, comparison in sweep.points.items():
        values = tuple(itertools.compress(point, inside))
        groups.setdefault(tuple(itertools.compress(point, outside)), {})[values] = comparison
    axes = list(itertools.compress(sweep.axes, outside))
    for outer, comparisons in groups.items():
        if any(comparison.ccas for comparison in comparisons.values()):
            points = _Points(fields, dict(zip(axes, outer, strict=True)), comparisons)
            if points.ccas:
                yield points
