"""Best value of a varied field: for each need, under each congestion control and under any of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.applications import Application, Ranking
from celltcp.comparison.by_metric import best_by
from celltcp.comparison.metrics import GOODPUT, MEAN_RTT, best_of
from celltcp.comparison.stakes import Stake
from celltcp.results.columns import numbers
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import labels, of_single_flows
from celltcp.scenarios.ccas import DEFAULT_CCA

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.parameter_sweep import Sweep

_BALANCED = "pm_balanced"
#: Share by which capacity and lowest RTT may differ, so that performance metrics have the same meaning.
_SAME_PATH = 0.02


class Choice(NamedTuple):
    """Value of the field with a congestion control."""

    value: str
    cca: str


class _Points:
    """Comparisons by the values of a field, at one place of the other axes."""

    def __init__(
        self, field: str, place: Mapping[str, str], comparisons: Mapping[str, Comparison]
    ) -> None:
        self.field = field
        #: Coordinates on the other axes.
        self.place = place
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

    @functools.cached_property
    def is_same_path(self) -> bool:
        """Whether capacity and lowest RTT are the same at each value."""
        results = self.comparisons.values()
        slots = (each.results.tables["slots"] for each in results)
        rates = [float(np.nanmean(numbers(each["capacity_mbps"]))) for each in slots]
        rtts = [
            min(estimate(each.values(cca, "rtt_min_ms")).mean for cca in self.ccas) for each in results
        ]
        return all(np.ptp(of) <= _SAME_PATH * max(of) for of in (rates, rtts))


class FieldRanking:
    """Values of a field with some congestion controls, ranked by each need at a place of other axes."""

    def __init__(self, points: _Points, ccas: Sequence[str]) -> None:
        self._points = points
        self.field, self.place = points.field, points.place
        #: Congestion controls that each value is combined with.
        self.ccas = ccas
        #: The only one of them; None where each value stands with each congestion control.
        self.cca = ccas[0] if len(ccas) == 1 else None
        names = labels(ccas)
        #: The combinations by the names that the stakes have.
        self.choices = {
            value if self.cca else f"{value} with {names[cca]}": Choice(value, cca)
            for value in points.comparisons
            for cca in ccas
        }
        seeds = (set(self._values(choice, "seed")) for choice in self.choices.values())
        # All of them but in unfinished sweeps.
        self._common_seeds = set.intersection(*seeds)

    @property
    def has_all_ccas(self) -> bool:
        """Whether the values stand with each congestion control that has run at all of them."""
        return len(self.ccas) == len(self._points.ccas)

    @property
    def decides(self) -> bool:
        """Whether there are enough runs to name a best value."""
        return self._points.decides

    @functools.cached_property
    def stakes(self) -> list[Stake]:
        """What each flow has at stake; without an application goodput, RTT and balance."""
        points = self._points
        if any(each.applications for each in points.comparisons.values()):
            return [each for flow in points.flows if (each := self._of_flow(flow))]
        rankings = [Ranking(GOODPUT, "goodput"), Ranking(MEAN_RTT, "mean RTT")]
        if points.is_same_path:
            rankings.append(Ranking(_BALANCED, "balance of goodput and delay"))
        return [self._network(each) for each in rankings]

    def stakes_by(self, by: Sequence[str]) -> list[Stake]:
        """Returns the stakes after those by metrics of one's choice.

        Args:
            by: the metrics, as those of `Comparison.best_by`.
        """
        return [*map(self._chosen, by), *self.stakes]

    def question(self, stake: Stake) -> str:
        """Returns what a flow wants; without its name if it is the only one."""
        if len(self._points.flows) > 1:
            return stake.question
        return "; ".join(filter(None, (stake.title, stake.note)))

    def without_flow(self, text: str) -> str:
        """Returns a text that begins with the name of a flow without it, if it is the only one."""
        flows = self._points.flows
        return text.removeprefix(f"{self._points.tested} ") if len(flows) == 1 else text

    @property
    def start(self) -> Choice:
        """The choice that changes start from: the first value, with the usual CCA."""
        usual = DEFAULT_CCA if DEFAULT_CCA in self.ccas else self.ccas[0]
        return Choice(next(iter(self._points.comparisons)), usual)

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
        return self._stake(self._points.tested, ranking, values)

    def _chosen(self, by: str) -> Stake:
        chosen = {value: best_by(each, by) for value, each in self._points.comparisons.items()}
        values = {
            name: self._paired(choice, chosen[choice.value].values[choice.cca])
            for name, choice in self.choices.items()
        }
        metric, flow = next(iter(chosen.values())).chosen
        return self._stake(flow, Ranking(metric, metric), values)

    def _of_flow(self, flow: FlowUnderTest) -> Stake | None:
        """Returns the stake of a flow: its application's figure, or goodput where it has none.

        None where values differ in the application of the flow.
        """
        applications = {
            value: next((each for each in result.applications if each.flow == flow.name), None)
            for value, result in self._points.comparisons.items()
        }
        known = {value: each for value, each in applications.items() if each is not None}
        if not known:
            return self._chosen(f"{GOODPUT}:{flow.name}")._replace(title="goodput")
        names = set.intersection(*(set(each.names) for each in known.values()))
        if len(known) < len(applications) or not names:
            return None
        merged = Application(
            flow.name,
            {
                name: {
                    figure: self._paired(choice, known[choice.value].figures[choice.cca][figure])
                    for figure in known[choice.value].names
                    if figure in names
                }
                for name, choice in self.choices.items()
            },
        )
        ranking = merged.ranking
        return self._stake(flow.name, ranking, merged.values(ranking.metric))


def field_rankings(result: Sweep) -> list[FieldRanking]:
    """Returns the rankings of the values of each field: under each congestion control, then under any.

    Values are paired by seeds, as congestion controls are: draws do not depend on the field. Fields
    with a single value are left out.
    """
    return [
        FieldRanking(points, ccas)
        for points in _groups(result)
        for ccas in (
            *([cca] for cca in points.ccas),
            *([points.ccas] if len(points.ccas) > 1 else []),
        )
    ]


def _groups(result: Sweep) -> Iterator[_Points]:
    """Yields the comparisons by the values of each field, at each place of the other axes."""
    for at, field in enumerate(result.axes):
        if field == "scenario":
            continue
        groups: dict[tuple[str, ...], dict[str, Comparison]] = {}
        for point, comparison in result.points.items():
            outer = (*point[:at], *point[at + 1 :])
            groups.setdefault(outer, {})[point[at]] = comparison
        axes = (*result.axes[:at], *result.axes[at + 1 :])
        for outer, comparisons in groups.items():
            if sum(bool(each.ccas) for each in comparisons.values()) > 1:
                points = _Points(field, dict(zip(axes, outer, strict=True)), comparisons)
                if points.ccas:
                    yield points


def field_texts(result: Sweep) -> list[str]:
    """Returns what the best value of a field, the best CCA instead, and both change: a line for each.

    Changes start from the first value with the usual congestion control; only those that a flow gains
    from have a line. Then a line for each flow says whether the field or the CCA helps it more.
    """
    texts = []
    for ranking in result.field_rankings:
        if ranking.has_all_ccas and ranking.decides:
            where = "".join(f"{axis}={value}: " for axis, value in ranking.place.items())
            texts += [f"{where}{text}" for text in _changes(ranking)]
    return texts


def _changes(ranking: FieldRanking) -> list[str]:
    field, start = ranking.field, ranking.start
    names = {choice: name for name, choice in ranking.choices.items()}
    stakes = [each for each in ranking.stakes if each.verdict.leader is not None]
    of_field = [each for each in names if each.cca == start.cca]
    of_cca = [each for each in names if each.value == start.value]
    best = [[_best(stake, among, names) for stake in stakes] for among in (of_field, of_cca, [*names])]
    called = labels(ranking.ccas)
    texts = []
    for choice in dict.fromkeys(each for bests in best for each in bests):
        if choice == start or not any(each.is_gain(names[choice], names[start]) for each in stakes):
            continue
        if choice.cca == start.cca:
            with_cca = f" ({called[start.cca]})" if len(ranking.ccas) > 1 else ""
            what = f"{field}={choice.value} instead of {start.value}{with_cca}"
        elif choice.value == start.value:
            what = f"{called[choice.cca]} instead of {called[start.cca]} ({field}={start.value})"
        else:
            what = f"{field}={names[choice]} instead of {names[start]}"
        changes = "; ".join(
            ranking.without_flow(each.text(names[choice], names[start])) for each in stakes
        )
        texts.append(f"{what}: {changes}")
    if not texts and stakes:
        with_cca = f" with {called[start.cca]}" if len(ranking.ccas) > 1 else ""
        return [f"Nothing is significantly better than {field}={start.value}{with_cca}"]
    if len(of_cca) > 1:
        for stake, value, cca in zip(stakes, *best[:2], strict=True):
            if helps := _which_helps(stake, field, [names[each] for each in (start, value, cca)]):
                texts.append(f"{ranking.question(stake)}: {helps}")
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
