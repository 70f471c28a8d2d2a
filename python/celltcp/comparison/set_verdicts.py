"""Verdicts over all scenarios of a set, by the ratios of congestion controls on each of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.choices import NEED_TEXTS
from celltcp.comparison.metrics import sign_of, words_of
from celltcp.comparison.report.settings_lines import linux_commands
from celltcp.comparison.tables_of_several import ratio_text
from celltcp.results.statistics import mean_ratio, relative_difference
from celltcp.scenarios.cca_mix import count_text, labels, single_flow_mixes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from celltcp.comparison.scenario_set import ScenarioSet

#: Minimum number of scenarios, and of ratios, for a verdict over all of them.
_MIN_SCENARIOS = 3
#: Mean difference below which congestion controls are alike, as a share.
_MIN_DIFFERENCE = 0.005


class SetVerdict(NamedTuple):
    """Best congestion control over all scenarios of a set, for a need."""

    #: A requirement, such as `balanced`, or a flow and its metric in words.
    need: str
    metric: str
    #: Congestion controls, the best one first, by the geometric mean of their ratios.
    ranked: list[str]
    #: Other congestion controls whose interval against the first one has zero, or a tiny mean.
    tied: list[str]
    #: Differences of the first one relative to each other one on each scenario, as shares.
    differences: dict[str, list[float]]

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
            f"{ratio_text(self.differences[other])} against {names[other]}" for other in others
        )
        state = names[first]
        if self.tied:
            state = f"undecided among {', '.join(names[each] for each in (first, *self.tied))}"
        return f"{state} ({metric} of {names[first]} {gains})"


def set_verdicts(scenario_set: ScenarioSet) -> list[SetVerdict]:
    """Returns a verdict for each need that all scenarios have; none for fewer than three scenarios."""
    ccas = single_flow_mixes(scenario_set.ccas)
    comparisons = list(scenario_set.comparisons.values())
    if len(ccas) < 2 or len(comparisons) < _MIN_SCENARIOS:
        return []
    verdicts = []
    flows = [{each.flow: each for each in comparison.applications} for comparison in comparisons]
    for flow, application in flows[0].items():
        ranking = application.ranking
        same = [each.get(flow) for each in flows]
        if all(each is not None and each.ranking.metric == ranking.metric for each in same):
            values = [each.values(ranking.metric) for each in same if each is not None]
            verdicts.append(_verdict(f"{flow} ({ranking.title})", ranking.metric, values, ccas))
    for requirement in comparisons[0].network_verdicts:
        metric = comparisons[0].requirements[requirement]
        if all(requirement in comparison.network_verdicts for comparison in comparisons):
            values = [
                {cca: comparison.values(cca, metric) for cca in ccas} for comparison in comparisons
            ]
            verdicts.append(_verdict(requirement, metric, values, ccas))
    return [verdict for verdict in verdicts if verdict is not None]


def _verdict(
    need: str, metric: str, values: Sequence[Mapping[str, Sequence[float]]], ccas: Sequence[str]
) -> SetVerdict | None:
    """Returns the verdict by a metric; None where most scenarios have no ratios.

    Args:
        need: need in words.
        metric: metric by which the congestion controls rank.
        values: for each scenario, the values of the runs by congestion control.
        ccas: congestion controls.
    """

    def differences(cca: str, base: str) -> list[float]:
        return [relative_difference(each[cca], each[base]) for each in values]

    base, *others = ccas
    gains = {base: 0.0}
    for cca in others:
        shares = differences(cca, base)
        if 2 * sum(map(math.isfinite, shares)) < len(shares):
            return None
        gains[cca] = sign_of(metric) * math.log1p(mean_ratio(shares).mean)
    if not all(map(math.isfinite, gains.values())):
        return None
    ranked = sorted(ccas, key=lambda cca: -gains[cca])
    first, *rest = ranked
    by_other = {cca: differences(first, cca) for cca in rest}
    return SetVerdict(need, metric, ranked, [cca for cca in rest if _is_tied(by_other[cca])], by_other)


def _is_tied(differences: Sequence[float]) -> bool:
    """Returns whether the interval of relative differences has zero, or their mean is tiny."""
    mean, low, high = mean_ratio(differences)
    if low is None or high is None or abs(mean) < _MIN_DIFFERENCE:
        return True
    return low <= 0 <= high


def over_all_text(scenario_set: ScenarioSet) -> str:
    """Returns the number of scenarios that the verdicts are over, as text."""
    return f"over all {count_text(len(scenario_set.comparisons), 'scenario')}"


def verdict_lines(scenario_set: ScenarioSet) -> list[str]:
    """Returns a line for each verdict over all scenarios."""
    over_all = over_all_text(scenario_set)
    return [f"best {over_all} for {each.need}: {each.text}" for each in scenario_set.verdicts]


def first_decided(scenario_set: ScenarioSet) -> SetVerdict | None:
    """Returns the verdict of the first need that the scenarios decide; None without one.

    Needs of flows come first, then those of `NEED_TEXTS` in their order.
    """
    order = list(NEED_TEXTS)
    verdicts = sorted(
        scenario_set.verdicts,
        key=lambda each: order.index(each.need) if each.need in order else -1,
    )
    return next((each for each in verdicts if each.best is not None), None)


def setting_lines(scenario_set: ScenarioSet) -> list[str]:
    """Returns lines that set the best CCA over all scenarios on Linux; none without one."""
    verdict = first_decided(scenario_set)
    commands = linux_commands(verdict.ranked[0]) if verdict else ()
    if verdict is None or not commands:
        return []
    name = labels(verdict.ranked)[verdict.ranked[0]]
    need = NEED_TEXTS.get(verdict.need, verdict.need)
    over_all = over_all_text(scenario_set)
    heading = f"On Linux, the sender sets {name}, best for {need} {over_all}:"
    return [heading, *(f"  {line}" for line in commands)]
