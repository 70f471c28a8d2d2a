"""Verdicts over all scenarios of a set, by the differences of congestion controls on each of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.lines.settings_lines import linux_commands
from celltcp.comparison.metrics import LATE_RESPONSES, best_by_metric, sign_of, words_of
from celltcp.comparison.sets.differences import (
    SetDifference,
    has_ratios,
    ratio_interval,
    set_difference,
    set_interval,
)
from celltcp.comparison.verdicts.choices import NEED_TEXTS
from celltcp.scenarios.cca_mix import count_text, join_names, labels, ranked_mixes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from celltcp.comparison.applications.applications import Application, RankingMetric
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.outcome import SetVerdictRow
    from celltcp.comparison.sets.scenario_set import ScenarioSet
    from celltcp.results.statistics import Verdict

#: Minimum number of scenarios for a verdict over all of them.
MIN_SCENARIOS = 3
#: Maximum number of scenarios that a line names.
_MAX_NAMES = 40
#: Ranking metrics that differ among scenarios, the one that matters most first.
_PRECEDENCE = (
    "late_share",
    LATE_RESPONSES,
    "completed_share",
    "completion_least_s",
    "response_p95_s",
)


class SetVerdict(NamedTuple):
    """Best congestion control over all scenarios of a set, for a need."""

    #: A requirement, such as `balanced`, or a flow and its metric in words.
    need: str
    metric: str
    #: Congestion controls, the best one first, by the mean of their differences.
    ranked: list[str]
    #: Other congestion controls whose interval against the first one has zero, or a tiny mean.
    tied: list[str]
    #: Difference of the first one to each other one.
    differences: dict[str, SetDifference]
    #: Verdict of each scenario alone.
    by_scenario: Mapping[str, Verdict]

    @property
    def is_of_flow(self) -> bool:
        """Whether the need is that of the application of a flow."""
        return self.need not in NEED_TEXTS

    def may_be_best(self, cca: str) -> bool:
        """Returns whether a congestion control is the best, or not decided to be worse."""
        return cca in (self.ranked[0], *self.tied)

    @property
    def places(self) -> dict[str, list[str]]:
        """By place of the first one where each scenario is alone, the scenarios of that place."""
        places: dict[str, list[str]] = {"worse": [], "best": [], "tied": [], "undecided": []}
        for scenario, verdict in self.by_scenario.items():
            places[_place(self.ranked[0], verdict)].append(scenario)
        return places

    @property
    def place_lines(self) -> list[str]:
        """On which scenarios the first one is worse, best, tied or undecided, a line for each place.

        Only needs of flows have them where the first one is not decided to be the best.
        """
        if self.best is None and not self.is_of_flow:
            return []
        names = labels(self.ranked)
        lines = []
        for place, scenarios in self.places.items():
            of_each = list(scenarios)
            if place == "worse":
                leaders = [self.by_scenario[each].leader for each in scenarios]
                better = [names.get(str(leader), str(leader)) for leader in leaders]
                pairs = zip(scenarios, better, strict=True)
                of_each = [f"{scenario} (best: {leader})" for scenario, leader in pairs]
            if scenarios or place == "worse":
                count = f"{len(scenarios)} of {len(self.by_scenario)}" if scenarios else "none"
                which = f": {join_names(of_each, _MAX_NAMES)}" if scenarios else ""
                lines.append(f"  {names[self.ranked[0]]} is {place} on {count}{which}")
        return lines

    @property
    def best(self) -> str | None:
        """The best congestion control; None unless it is better than all others."""
        return None if self.tied else self.ranked[0]

    @property
    def text(self) -> str:
        """The best congestion control, or those among which it is undecided, with its gains."""
        names = labels(self.ranked)
        first, *others = self.ranked
        metric = words_of(self.metric).name
        gains = ", ".join(
            f"{self.differences[other].text_with_unit} against {names[other]}" for other in others
        )
        state = names[first]
        if self.tied:
            state = f"undecided among {', '.join(names[each] for each in (first, *self.tied))}"
        return f"{state} ({metric} of {names[first]} {gains})"

    def to_json(self) -> SetVerdictRow:
        """Returns the verdict as JSON, with the interval of each difference."""
        differences = self.differences.items()
        return {
            "need": self.need,
            "metric": self.metric,
            "best": self.best,
            "ranked": self.ranked,
            "tied": self.tied,
            "places": self.places,
            "gains": {
                name: ratio_interval(each.values) for name, each in differences if each.is_relative
            },
            "differences": {
                name: set_interval(each.values) for name, each in differences if not each.is_relative
            },
        }


def set_verdicts(scenario_set: ScenarioSet) -> list[SetVerdict]:
    """Returns a verdict for each need that all scenarios have; none for fewer than three scenarios."""
    ccas = ranked_mixes(scenario_set.ccas)
    by_name = scenario_set.comparisons.items()
    comparisons = [comparison for _, comparison in by_name]
    are_ranked = all(comparison.ranked_ccas for comparison in comparisons)
    if len(ccas) < 2 or len(comparisons) < MIN_SCENARIOS or not are_ranked:
        return []
    verdicts = []
    flows = [{each.flow: each for each in comparison.applications} for comparison in comparisons]
    for flow in flows[0]:
        applications = [by_flow[flow] for by_flow in flows if flow in by_flow]
        ranking = _shared_ranking(applications) if len(applications) == len(flows) else None
        if ranking is not None:
            metric = ranking.metric
            values = [each.values(_metric_of(each, metric)) for each in applications]
            alone = {
                name: _verdict_of_flow(comparison, flow, metric, runs)
                for (name, comparison), runs in zip(by_name, values, strict=True)
            }
            need = f"{flow} ({ranking.title})"
            verdicts.append(verdict_over_scenarios(need, metric, values, ccas, alone))
    for requirement in comparisons[0].network_verdicts:
        metric = comparisons[0].requirements[requirement]
        if all(requirement in comparison.network_verdicts for comparison in comparisons):
            values = [
                {cca: comparison.values(cca, metric) for cca in ccas} for comparison in comparisons
            ]
            alone = {name: each.network_verdicts[requirement] for name, each in by_name}
            verdicts.append(verdict_over_scenarios(requirement, metric, values, ccas, alone))
    return [verdict for verdict in verdicts if verdict is not None]


def _place(cca: str, verdict: Verdict) -> str:
    """Returns the place of a congestion control on one scenario, in a word."""
    if verdict.leader is not None and cca not in verdict.ranked:
        return "worse"
    if verdict.best is None:
        return "undecided"
    return "best" if verdict.ranked == (cca,) else "tied"


def _verdict_of_flow(
    comparison: Comparison, flow: str, metric: str, values: Mapping[str, Sequence[float]]
) -> Verdict:
    """Returns the verdict on one scenario by a metric of a flow."""
    for stake in comparison.ranked_stakes:
        if (stake.flow, stake.metric) == (flow, metric):
            return stake.verdict
    return best_by_metric(metric, values, random=not comparison.decides)


def _shared_ranking(applications: Sequence[Application]) -> RankingMetric | None:
    """Returns the metric by which an application ranks over all scenarios; None without one.

    Where scenarios rank by different ones, such as frames by their delay where none is late, it is the
    one that matters most and that all have.
    """
    rankings = {each.ranking.metric: each.ranking for each in applications}
    if len(rankings) == 1:
        return next(iter(rankings.values()))
    return next(
        (
            rankings[metric]
            for metric in _PRECEDENCE
            if metric in rankings
            and all(_metric_of(each, metric) in each.names for each in applications)
        ),
        None,
    )


def _metric_of(application: Application, metric: str) -> str:
    """Returns a metric, or that of complete transfers in place of cut ones where none is cut."""
    is_complete = metric == "completion_least_s" and metric not in application.names
    return "completion_s" if is_complete else metric


def verdict_over_scenarios(
    need: str,
    metric: str,
    values: Sequence[Mapping[str, Sequence[float]]],
    ccas: Sequence[str],
    by_scenario: Mapping[str, Verdict],
) -> SetVerdict | None:
    """Returns the verdict by a metric; None where most scenarios have no differences.

    Args:
        need: need in words.
        metric: metric by which they rank.
        values: for each scenario, the values of the runs by congestion control, or by ABR algorithm.
        ccas: congestion controls, or ABR algorithms.
        by_scenario: verdict of each scenario alone.
    """
    base, *others = ccas
    is_relative = has_ratios(metric, {cca: [each[cca] for each in values] for cca in ccas})

    def difference(cca: str, other: str) -> SetDifference:
        runs, other_runs = ([each[name] for each in values] for name in (cca, other))
        return set_difference(metric, runs, other_runs, is_relative=is_relative)

    gains = {base: 0.0}
    for cca in others:
        to_base = difference(cca, base)
        if 2 * sum(map(math.isfinite, to_base.values)) < len(values):
            return None
        mean = to_base.interval[0]
        gains[cca] = sign_of(metric) * (math.log1p(mean) if is_relative else mean)
    if not all(map(math.isfinite, gains.values())):
        return None
    ranked = sorted(ccas, key=lambda cca: -gains[cca])
    first, *rest = ranked
    by_other = {cca: difference(first, cca) for cca in rest}
    tied = [cca for cca in rest if by_other[cca].is_tied]
    return SetVerdict(need, metric, ranked, tied, by_other, by_scenario)


def over_all_text(scenario_set: ScenarioSet) -> str:
    """Returns the number of scenarios that the verdicts are over, as text."""
    return f"over all {count_text(len(scenario_set.comparisons), 'scenario')}"


def verdict_lines(scenario_set: ScenarioSet) -> list[str]:
    """Returns a line for each verdict over all scenarios, and those of the places of the best one."""
    over_all = over_all_text(scenario_set)
    return [
        line
        for each in scenario_set.verdicts
        for line in (f"best {over_all} for {each.need}: {each.text}", *each.place_lines)
    ]


def first_decided(verdicts: Sequence[SetVerdict]) -> SetVerdict | None:
    """Returns the verdict of the first need that the scenarios decide; None without one.

    Needs of flows come first, then those of `NEED_TEXTS` in their order, unless their best one is worse
    for a flow.
    """
    order = list(NEED_TEXTS)
    ordered = sorted(
        verdicts,
        key=lambda each: order.index(each.need) if each.need in order else -1,
    )
    of_flows = [each for each in verdicts if each.is_of_flow]
    return next(
        (
            each
            for each in ordered
            if each.best is not None and all(flow.may_be_best(each.best) for flow in of_flows)
        ),
        None,
    )


def setting_lines(scenario_set: ScenarioSet) -> list[str]:
    """Returns lines that set the best CCA over all scenarios on Linux; none without one."""
    verdict = first_decided(scenario_set.verdicts)
    commands = linux_commands(verdict.ranked[0]) if verdict else ()
    if verdict is None or not commands:
        return []
    name = labels(verdict.ranked)[verdict.ranked[0]]
    need = NEED_TEXTS.get(verdict.need, verdict.need)
    over_all = over_all_text(scenario_set)
    heading = f"On Linux, the sender sets {name}, best for {need} {over_all}:"
    return [heading, *(f"  {line}" for line in commands)]
