"""Best value of a varied field by requirement, with each congestion control and with any."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.applications import Application, Ranking
from celltcp.comparison.by_metric import best_by
from celltcp.comparison.costs import with_cost
from celltcp.comparison.metrics import (
    APP_METRICS,
    GOODPUT,
    MEAN_RTT,
    ONE_WAY_DELAY,
    best_of,
    words_of,
)
from celltcp.comparison.stakes import Stake
from celltcp.results.columns import numbers
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import labels, single_flow_mixes
from celltcp.scenarios.ccas import DEFAULT_CCA

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.parameter_sweep import Sweep

_SCENARIO = "scenario"
_BALANCED = "pm_balanced"
#: Share by which capacity and lowest RTT may differ, so that performance metrics have the same meaning.
_PATH_TOLERANCE = 0.02
#: Conditions: fields of the network and of workloads that nobody can set.
#: The others are choices: buffers, queues, shapers and policers, hosts, CCAs, how applications send.
_CONDITION = re.compile(
    r"(?:path|links)\.(?:(?:wired\.)?\d+\.)?"
    r"(?:rtt|delay|loss|uplink_loss|jitter|blackouts|cross_traffic|down|up)\b"
    r"|radio\.(?:ues|cells|fading|propagation|frequency)\b"
    r"|flows\.\d+\.(?:start|count|from|to)\b"
    r"|flows\.\d+\.workload\.(?:bytes|size|gap|request|response|think|objects?|document|parse|on|off"
    r"|pause|length|period|deadline)\b"
    r"|(?:duration|slot|samples|variation)\b"
)


def is_condition(field: str) -> bool:
    """Returns whether a field is a condition that nobody can set, so that no value is an advice."""
    return _CONDITION.match(field) is not None


class Choice(NamedTuple):
    """Value of the field with a congestion control."""

    value: str
    cca: str


class _Points:
    """Comparisons by the values of a field, at one place of the other axes."""

    def __init__(
        self,
        fields: Sequence[str],
        place: Mapping[str, str],
        comparisons: Mapping[tuple[str, ...], Comparison],
    ) -> None:
        #: The field; names of several are joined with commas, as are their values.
        self.field = ", ".join(fields)
        self.fields = fields
        #: Values of the fields by value.
        self.coordinates = {", ".join(values): values for values in comparisons}
        #: Coordinates on the other axes.
        self.place = place
        #: Comparisons by value, without those that have no runs.
        self.comparisons = {
            ", ".join(of): comparison for of, comparison in comparisons.items() if comparison.ccas
        }
        known = (set(single_flow_mixes(comparison.ccas)) for comparison in self.comparisons.values())
        common = set.intersection(*known)
        first = next(iter(self.comparisons.values()))
        #: Congestion controls with runs at each value.
        self.ccas = [cca for cca in first.ccas if cca in common]
        self.flows = FlowUnderTest.each(first.results.about)
        self.tested = first.tested.name
        #: Whether there are enough runs to name a best value.
        self.decides = all(comparison.decides for comparison in self.comparisons.values())

    @functools.cached_property
    def is_same_path(self) -> bool:
        """Whether capacity and lowest RTT are the same at each value."""
        results = self.comparisons.values()
        slots = (comparison.results.tables["slots"] for comparison in results)
        rates = [float(np.nanmean(numbers(slot["capacity_mbps"]))) for slot in slots]
        rtts = [
            min(estimate(comparison.values(cca, "rtt_min_ms")).mean for cca in self.ccas)
            for comparison in results
        ]
        return all(np.ptp(of) <= _PATH_TOLERANCE * max(of) for of in (rates, rtts))


class FieldRanking:
    """Values of a field with some congestion controls, ranked by each need at a place of other axes."""

    def __init__(
        self, points: _Points, ccas: Sequence[str], rankings: Mapping[str, Ranking] | None = None
    ) -> None:
        """Ranks the values of a field at these points.

        Args:
            points: comparisons by value.
            ccas: congestion controls.
            rankings: ranking metric of each flow with an application; where None, chosen by the
                values of these points.
        """
        self._points = points
        self._rankings = rankings or {}
        self.field, self.place = points.field, points.place
        #: Congestion controls that each value is combined with.
        self.ccas = ccas
        #: The only one of them; None if each value is combined with each congestion control.
        self.cca = ccas[0] if len(ccas) == 1 else None
        names = labels(ccas)
        #: Combinations by their names in the stakes.
        self.choices = {
            value if self.cca else f"{value} with {names[cca]}": Choice(value, cca)
            for value in points.comparisons
            for cca in ccas
        }
        seeds = (set(self._values(choice, "seed")) for choice in self.choices.values())
        # All of them but in unfinished sweeps.
        self._common_seeds = set.intersection(*seeds)

    @property
    def fields(self) -> Sequence[str]:
        """The fields: one, or all fields of a sweep in the ranking of all combinations."""
        return self._points.fields

    def coordinates(self, choice: Choice) -> tuple[str, ...]:
        """Returns the values of the fields of a choice."""
        return self._points.coordinates[choice.value]

    @property
    def decides(self) -> bool:
        """Whether there are enough runs to name a best value."""
        return self._points.decides

    @functools.cached_property
    def stakes(self) -> list[Stake]:
        """Stake of each flow: the metric of its application, or else goodput, RTT and balance."""
        points = self._points
        if any(comparison.applications for comparison in points.comparisons.values()):
            return [each for flow in points.flows if (each := self._of_flow(flow))]
        is_split = any(comparison.split_ccas for comparison in points.comparisons.values())
        delay = ONE_WAY_DELAY if is_split else MEAN_RTT
        rankings = [Ranking(GOODPUT, "goodput"), Ranking(delay, words_of(delay).name)]
        if points.is_same_path and not is_split:
            rankings.append(Ranking(_BALANCED, "balance of goodput and delay"))
        return [self._network(ranking) for ranking in rankings]

    def stakes_by(self, by: Sequence[str]) -> list[Stake]:
        """Returns the stakes by chosen metrics, and then all others.

        Args:
            by: the metrics, as those of `Comparison.best_by`.
        """
        return [*map(self._chosen, by), *self.stakes]

    def deciding(self, by: Sequence[str]) -> list[Stake]:
        """Returns the stakes by chosen metrics, and those of flows without a chosen metric.

        Goodput stays, as the cost of the others.
        """
        chosen = [self._chosen(each) for each in by]
        flows = {stake.flow for stake in chosen}
        requested = {(stake.flow, stake.metric) for stake in chosen}
        others = (
            stake
            for stake in self.stakes
            if stake.flow not in flows
            or (stake.metric == GOODPUT and (stake.flow, stake.metric) not in requested)
        )
        return [*chosen, *others]

    def question(self, stake: Stake) -> str:
        """Returns the stake in words; without the name of the flow if it is the only one."""
        if len(self._points.flows) > 1:
            return stake.question
        return "; ".join(filter(None, (stake.title, stake.note)))

    def without_flow(self, text: str) -> str:
        """Returns a text that begins with the name of a flow without it, if it is the only one."""
        flows = self._points.flows
        return text.removeprefix(f"{self._points.tested} ") if len(flows) == 1 else text

    @property
    def rankings(self) -> dict[str, Ranking]:
        """The metrics that matter most to the flows with an application."""
        return {
            stake.flow: Ranking(stake.metric, stake.title, stake.note)
            for stake in self.stakes
            if stake.metric in APP_METRICS
        }

    @property
    def usual_cca(self) -> str:
        """The reference congestion control of changes."""
        return DEFAULT_CCA if DEFAULT_CCA in self.ccas else self.ccas[0]

    def _values(self, choice: Choice, metric: str) -> list[float]:
        return self._points.comparisons[choice.value].values(choice.cca, metric)

    def _paired(self, choice: Choice, values: Sequence[float]) -> list[float]:
        pairs = zip(self._values(choice, "seed"), values, strict=True)
        return [value for seed, value in pairs if seed in self._common_seeds]

    def _stake(self, flow: str, ranking: Ranking, values: Mapping[str, list[float]]) -> Stake:
        best = best_of(ranking.metric, values, random=not self.decides)
        return Stake(flow, ranking.metric, ranking.title, values, best, ranking.note)

    def _network(self, ranking: Ranking) -> Stake:
        values = {
            name: self._paired(choice, self._values(choice, ranking.metric))
            for name, choice in self.choices.items()
        }
        stake = self._stake(self._points.tested, ranking, values)
        if not self.decides:
            return stake
        goodput = {
            name: self._paired(choice, self._values(choice, GOODPUT))
            for name, choice in self.choices.items()
        }
        names = {name: name for name in self.choices}
        return stake._replace(verdict=with_cost(stake.verdict, ranking.metric, goodput, {}, names))

    def _chosen(self, by: str) -> Stake:
        chosen = {
            value: best_by(comparison, by) for value, comparison in self._points.comparisons.items()
        }
        values = {
            name: self._paired(choice, chosen[choice.value].values[choice.cca])
            for name, choice in self.choices.items()
        }
        metric, flow = next(iter(chosen.values())).chosen
        return self._stake(flow, Ranking(metric, words_of(metric).name), values)

    def _of_flow(self, flow: FlowUnderTest) -> Stake | None:
        """Returns the stake of a flow: its application's metric, or goodput where it has none.

        None where values differ in the application of the flow.
        """
        applications = {
            value: next(
                (application for application in result.applications if application.flow == flow.name),
                None,
            )
            for value, result in self._points.comparisons.items()
        }
        known = {
            value: application for value, application in applications.items() if application is not None
        }
        if not known:
            return self._chosen(f"{GOODPUT}:{flow.name}")._replace(title="goodput")
        names = set.intersection(*(set(application.names) for application in known.values()))
        if len(known) < len(applications) or not names:
            return None
        merged = Application(
            flow.name,
            {
                name: {
                    metric: self._paired(choice, known[choice.value].metrics[choice.cca][metric])
                    for metric in known[choice.value].names
                    if metric in names
                }
                for name, choice in self.choices.items()
            },
        )
        ranking = self._rankings.get(flow.name, merged.ranking)
        if ranking.metric not in merged.names:
            ranking = merged.ranking
        return self._stake(flow.name, ranking, merged.values(ranking.metric))


def field_rankings(sweep: Sweep) -> list[FieldRanking]:
    """Returns the rankings of the values of each field: under each congestion control, then under any.

    Values are paired by seeds, as congestion controls are: draws do not depend on the field. Fields
    with a single value are left out. A flow has the same metric in all of them.
    """
    rankings = {
        tuple(overall_ranking.place.values()): overall_ranking.rankings
        for overall_ranking in overall_rankings(sweep)
    }
    return [
        FieldRanking(points, ccas, rankings.get(_scenario_of(points)))
        for field in sweep.axes
        if field != _SCENARIO
        for points in _points_by(sweep, [field])
        if len(points.comparisons) > 1
        for ccas in (
            *([cca] for cca in points.ccas),
            *([points.ccas] if len(points.ccas) > 1 else []),
        )
    ]


def overall_rankings(sweep: Sweep) -> list[FieldRanking]:
    """Returns for each scenario the ranking of all combinations of values and congestion controls."""
    fields = [axis for axis in sweep.axes if axis != _SCENARIO]
    every = _points_by(sweep, fields) if fields else ()
    return [FieldRanking(points, points.ccas) for points in every if len(points.comparisons) > 1]


def advice_rankings(sweep: Sweep) -> list[FieldRanking]:
    """Returns the rankings of all combinations, apart under each condition of the network.

    The best values under one loss rate are no advice under another, and a loss rate is none at all. A
    sweep of conditions only, or of none, has its overall rankings.
    """
    overall = overall_rankings(sweep)
    fields = [axis for axis in sweep.axes if axis != _SCENARIO and not is_condition(axis)]
    if not fields or not any(map(is_condition, sweep.axes)):
        return overall
    rankings = {
        tuple(field_ranking.place.values()): field_ranking.rankings for field_ranking in overall
    }
    # A field with one value is still combined with several congestion controls.
    return [
        FieldRanking(points, points.ccas, rankings.get(_scenario_of(points)))
        for points in _points_by(sweep, fields)
        if len(points.comparisons) * len(points.ccas) > 1
    ]


def _scenario_of(points: _Points) -> tuple[str, ...]:
    return tuple(value for axis, value in points.place.items() if axis == _SCENARIO)


def _points_by(sweep: Sweep, fields: Sequence[str]) -> Iterator[_Points]:
    """Yields the comparisons by the values of some axes, at each place of the other axes."""
    groups: dict[tuple[str, ...], dict[tuple[str, ...], Comparison]] = {}
    inside = [axis in fields for axis in sweep.axes]
    outside = [axis not in fields for axis in sweep.axes]
    for point, comparison in sweep.points.items():
        values = tuple(itertools.compress(point, inside))
        groups.setdefault(tuple(itertools.compress(point, outside)), {})[values] = comparison
    axes = list(itertools.compress(sweep.axes, outside))
    for outer, comparisons in groups.items():
        if any(each.ccas for each in comparisons.values()):
            points = _Points(fields, dict(zip(axes, outer, strict=True)), comparisons)
            if points.ccas:
                yield points
