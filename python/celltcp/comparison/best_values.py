"""Best value of a varied field: for each need, under each congestion control and under any of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.applications import Application
from celltcp.comparison.by_metric import best_by
from celltcp.comparison.metrics import best_of
from celltcp.comparison.stakes import GOODPUT, MEAN_RTT, Stake
from celltcp.results.columns import numbers
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import labels, of_single_flows

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.parameter_sweep import Sweep

_BALANCED = "pm_balanced"
#: Share by which capacity and lowest RTT may differ, so that performance metrics have the same meaning.
_SAME_PATH = 0.02
#: Default of Linux, from which changes are told.
_DEFAULT = "cubic"


class Choice(NamedTuple):
    """Value of the field with a congestion control."""

    value: str
    cca: str


@dataclass(frozen=True)
class FieldRanking:
    """Values of a field, ranked by each need at one place of the other axes."""

    field: str
    #: Coordinates on the other axes.
    place: Mapping[str, str]
    #: Congestion control; None where each value stands with each congestion control.
    cca: str | None
    #: What is ranked, by the names that the stakes have.
    choices: Mapping[str, Choice]
    stakes: Sequence[Stake]
    #: Number of flows of the scenario.
    flows: int = 1


class _Points:
    """Comparisons by the values of a field, at one place of the other axes."""

    def __init__(self, comparisons: Mapping[str, Comparison]) -> None:
        #: By value; those in which nothing has run are left out.
        self.comparisons = {value: each for value, each in comparisons.items() if each.ccas}
        known = (set(of_single_flows(each.ccas)) for each in self.comparisons.values())
        common = set.intersection(*known)
        first = next(iter(self.comparisons.values()))
        #: Congestion controls that have run at each value.
        self.ccas = [cca for cca in first.ccas if cca in common]
        self.flows = FlowUnderTest.each(first.results.about)
        self.tested = first.tested.name
        #: Whether there are enough runs to name a best value.
        self.decides = all(each.decides for each in self.comparisons.values())

    def choices(self, ccas: Sequence[str]) -> dict[str, Choice]:
        """Returns the values by their names, each with each of these congestion controls."""
        names = labels(ccas)
        return {
            value if len(ccas) == 1 else f"{value} with {names[cca]}": Choice(value, cca)
            for value in self.comparisons
            for cca in ccas
        }

    def stakes(self, choices: Mapping[str, Choice], by: Sequence[str]) -> list[Stake]:
        """Returns what each flow has at stake; without an application goodput, RTT and balance."""
        common = self._common_seeds(choices)
        stakes = [self._chosen(metric, choices, common) for metric in by]
        if any(each.applications for each in self.comparisons.values()):
            stakes += [each for flow in self.flows if (each := self._of_flow(flow, choices, common))]
            return stakes
        stakes.append(self._network(GOODPUT, "goodput", choices, common))
        stakes.append(self._network(MEAN_RTT, "mean RTT", choices, common))
        if self._is_same_path():
            stakes.append(self._network(_BALANCED, "balance of goodput and delay", choices, common))
        return stakes

    def _common_seeds(self, choices: Mapping[str, Choice]) -> set[float]:
        """Returns the seeds of which each choice has a run: all of them but in unfinished sweeps."""
        seeds = (set(self.comparisons[value].values(cca, "seed")) for value, cca in choices.values())
        return set.intersection(*seeds)

    def _paired(self, choice: Choice, values: Sequence[float], common: set[float]) -> list[float]:
        seeds = self.comparisons[choice.value].values(choice.cca, "seed")
        pairs = zip(seeds, values, strict=True)
        return [value for seed, value in pairs if seed in common]

    def _stake(self, title: tuple[str, str, str, str], values: Mapping[str, list[float]]) -> Stake:
        """Returns a stake: `title` is flow, metric, its name in words, and a note."""
        flow, metric, words, note = title
        best = best_of(metric, values, random=not self.decides)
        return Stake(flow, metric, words, values, best, note)

    def _network(
        self, metric: str, title: str, choices: Mapping[str, Choice], common: set[float]
    ) -> Stake:
        values = {
            name: self._paired(
                choice, self.comparisons[choice.value].values(choice.cca, metric), common
            )
            for name, choice in choices.items()
        }
        return self._stake((self.tested, metric, title, ""), values)

    def _chosen(self, by: str, choices: Mapping[str, Choice], common: set[float]) -> Stake:
        chosen = {value: best_by(each, by) for value, each in self.comparisons.items()}
        values = {
            name: self._paired(choice, chosen[choice.value].values[choice.cca], common)
            for name, choice in choices.items()
        }
        metric, flow = next(iter(chosen.values())).chosen
        return self._stake((flow, metric, metric, ""), values)

    def _of_flow(
        self, flow: FlowUnderTest, choices: Mapping[str, Choice], common: set[float]
    ) -> Stake | None:
        """Returns the stake of a flow: its application's figure, or goodput where it has none.

        None where values differ in the application of the flow.
        """
        applications = {
            value: next((each for each in result.applications if each.flow == flow.name), None)
            for value, result in self.comparisons.items()
        }
        known = {value: each for value, each in applications.items() if each is not None}
        if not known:
            chosen = self._chosen(f"{GOODPUT}:{flow.name}", choices, common)
            return chosen._replace(title="goodput")
        names = set.intersection(*(set(each.names) for each in known.values()))
        if len(known) < len(applications) or not names:
            return None
        merged = Application(
            flow.name,
            {
                name: {
                    figure: self._paired(
                        choice, known[choice.value].figures[choice.cca][figure], common
                    )
                    for figure in known[choice.value].names
                    if figure in names
                }
                for name, choice in choices.items()
            },
        )
        metric, title, note = merged.ranking
        return self._stake((flow.name, metric, title, note), merged.values(metric))

    def _is_same_path(self) -> bool:
        """Returns whether capacity and lowest RTT are the same at each value."""
        results = self.comparisons.values()
        slots = (each.results.tables["slots"] for each in results)
        rates = [float(np.nanmean(numbers(each["capacity_mbps"]))) for each in slots]
        rtts = [
            min(estimate(each.values(cca, "rtt_min_ms")).mean for cca in self.ccas) for each in results
        ]
        return all(np.ptp(of) <= _SAME_PATH * max(of) for of in (rates, rtts))

    def question(self, stake: Stake) -> str:
        """Returns what a flow wants; without its name if it is the only one."""
        return question_of(stake, len(self.flows))

    def without_flow(self, text: str) -> str:
        """Returns a text that begins with the name of a flow without it, if it is the only one."""
        return text.removeprefix(f"{self.tested} ") if len(self.flows) == 1 else text

    @property
    def start(self) -> Choice:
        """The choice from which changes are told: the first value, with the usual CCA."""
        usual = _DEFAULT if _DEFAULT in self.ccas else self.ccas[0]
        return Choice(next(iter(self.comparisons)), usual)


def question_of(stake: Stake, flows: int) -> str:
    """Returns what a flow wants; without its name if there is no other.

    Args:
        stake: that of the flow.
        flows: number of flows.
    """
    return stake.question if flows > 1 else "; ".join(filter(None, (stake.title, stake.note)))


def field_rankings(result: Sweep, by: Sequence[str] = ()) -> list[FieldRanking]:
    """Returns the rankings of the values of each field: under each congestion control, then under any.

    Values are paired by seeds, as congestion controls are: draws do not depend on the field.

    Args:
        result: the sweep; fields with a single value are left out.
        by: further metrics that values rank by, as those of `Comparison.best_by`.
    """
    rankings = []
    for field, place, points in _groups(result):
        each_cca = [[cca] for cca in points.ccas]
        for ccas in (*each_cca, *([points.ccas] if len(points.ccas) > 1 else [])):
            choices = points.choices(ccas)
            cca = ccas[0] if len(ccas) == 1 else None
            stakes = points.stakes(choices, by)
            rankings.append(FieldRanking(field, place, cca, choices, stakes, len(points.flows)))
    return rankings


def _groups(result: Sweep) -> Iterator[tuple[str, dict[str, str], _Points]]:
    """Yields each field with the coordinates on the other axes, and the comparisons by its values."""
    for at, field in enumerate(result.axes):
        if field == "scenario":
            continue
        groups: dict[tuple[str, ...], dict[str, Comparison]] = {}
        for point, comparison in result.points.items():
            outer = (*point[:at], *point[at + 1 :])
            groups.setdefault(outer, {})[point[at]] = comparison
        axes = (*result.axes[:at], *result.axes[at + 1 :])
        for outer, comparisons in groups.items():
            points = _Points(comparisons)
            if len(points.comparisons) > 1 and points.ccas:
                yield field, dict(zip(axes, outer, strict=True)), points


def field_texts(result: Sweep) -> list[str]:
    """Returns what the best value of a field, the best CCA instead, and both change: a line for each.

    Changes are told from the first value with the usual congestion control, where a flow gains from
    them. Then a line for each flow says whether the field or the CCA helps it more.
    """
    texts = []
    for field, place, points in _groups(result):
        where = "".join(f"{axis}={value}: " for axis, value in place.items())
        texts += [f"{where}{text}" for text in _changes(field, points)]
    return texts


def _changes(field: str, points: _Points) -> list[str]:
    choices = points.choices(points.ccas)
    names = {choice: name for name, choice in choices.items()}
    stakes = [each for each in points.stakes(choices, ()) if each.verdict.leader is not None]
    if not points.decides:
        return []
    start = points.start
    of_field = [each for each in names if each.cca == start.cca]
    of_cca = [each for each in names if each.value == start.value]
    best = [[_best(stake, among, names) for stake in stakes] for among in (of_field, of_cca, [*names])]
    called = labels(points.ccas)
    texts = []
    for choice in dict.fromkeys(each for bests in best for each in bests):
        if choice == start or not any(each.is_gain(names[choice], names[start]) for each in stakes):
            continue
        if choice.cca == start.cca:
            with_cca = f" ({called[start.cca]})" if len(points.ccas) > 1 else ""
            what = f"{field}={choice.value} instead of {start.value}{with_cca}"
        elif choice.value == start.value:
            what = f"{called[choice.cca]} instead of {called[start.cca]} ({field}={start.value})"
        else:
            what = f"{field}={names[choice]} instead of {names[start]}"
        changes = "; ".join(
            points.without_flow(each.text(names[choice], names[start])) for each in stakes
        )
        texts.append(f"{what}: {changes}")
    if not texts and stakes:
        with_cca = f" with {called[start.cca]}" if len(points.ccas) > 1 else ""
        return [f"Nothing is significantly better than {field}={start.value}{with_cca}"]
    if len(of_cca) > 1:
        for stake, value, cca in zip(stakes, *best[:2], strict=True):
            if helps := _which_helps(stake, field, [names[each] for each in (start, value, cca)]):
                texts.append(f"{points.question(stake)}: {helps}")
    return texts


def _best(stake: Stake, among: Sequence[Choice], names: Mapping[Choice, str]) -> Choice:
    """Returns the choice with the best mean; the first one of those that are as good."""
    sign = -1 if stake.is_less_better else 1
    means = {each: sign * estimate(stake.values[names[each]]).mean for each in among}
    known = {each: mean for each, mean in means.items() if not np.isnan(mean)}
    return max(known, key=known.__getitem__, default=among[0])


def _which_helps(stake: Stake, field: str, names: Sequence[str]) -> str:
    """Returns whether the field or the CCA helps a flow more; empty where neither does.

    Args:
        stake: that of the flow.
        field: the field.
        names: start, best value with the CCA of the start, best CCA at the value of the start.
    """
    start, value, cca = names
    if not any(each != start and stake.is_gain(each, start) for each in (value, cca)):
        return ""
    if stake.is_gain(value, cca):
        return f"{field} helps more than the CCA"
    if stake.is_gain(cca, value):
        return f"the CCA helps more than {field}"
    if stake.is_tied(value, cca):
        return f"{field} and the CCA help alike"
    return f"the runs do not decide whether {field} or the CCA helps more"
