"""Sweep in sentences: trade-offs between values, and the gain by each field and by the CCA."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp.comparison.best_values import Choice, FieldRanking, advice_rankings, is_condition
from celltcp.comparison.linux_lines import cca_line, linux_line
from celltcp.comparison.metrics import APP_METRICS, GOODPUT, METRICS, words_of
from celltcp.comparison.verdict_tables import hint_text
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import join_names, labels

if TYPE_CHECKING:
    from celltcp.comparison.parameter_sweep import Sweep
    from celltcp.comparison.stakes import Stake

#: Name of the congestion control among the fields.
_CCA = "the CCA"
#: Maximum of values that a sentence lists.
_MAX_LISTED_VALUES = 4
#: Maximum of values of a trade-off without a knee, and of changes, that are all listed.
_MAX_OTHERS, _MOST_CHANGES = 5, 4
#: Minimum change of a mean that helps, as a share of the larger of both.
_MIN_CHANGE = 0.02
#: Minimum height of a knee above the straight line between the extremes, as a share of both ranges.
_MIN_KNEE_HEIGHT = 0.2


def field_texts(sweep: Sweep, by: Sequence[str] = ()) -> list[str]:
    """Returns the trade-off between two metrics, helpful changes, and Linux commands for them.

    Changes start from the values of the scenario, or else the first ones given, with the usual
    congestion control; only those that a flow gains from have a line.

    Args:
        sweep: the sweep.
        by: chosen metrics, in place of those that matter most to the flows.
    """
    texts = []
    # Hops and their queues, which commands for shapers need, are the same at most points.
    about = next(iter(sweep.points.values())).results.about
    scenario = tomllib.loads(about["scenario"])
    for ranking in _shown(advice_rankings(sweep)):
        if ranking.decides:
            where = _where(ranking.place)
            sentences = _Sentences(ranking, ranking.deciding(by), sweep.present, scenario)
            texts += [f"{where}{text}" for text in sentences.all()]
    return texts


def _shown(rankings: Sequence[FieldRanking]) -> list[FieldRanking]:
    """Returns the rankings of a scenario's conditions; of many, those of the first and the last one."""
    groups: dict[str | None, list[FieldRanking]] = {}
    for each in rankings:
        groups.setdefault(each.place.get("scenario"), []).append(each)
    few = (
        group if len(group) <= _MAX_LISTED_VALUES else [group[0], group[-1]]
        for group in groups.values()
    )
    return [ranking for each in few for ranking in each]


def _where(place: Mapping[str, str]) -> str:
    """Returns the scenario and the conditions of sentences."""
    parts = (f"{axis}={value}" if is_condition(axis) else value for axis, value in place.items())
    return "".join(f"{part}: " for part in parts)


class _TradeOff(NamedTuple):
    """Values that no other value beats in two metrics; a single one is the best in both."""

    requested: Stake
    goodput: Stake
    #: By the asked metric, the best one first.
    front: list[str]
    #: Knee of the trade-off, or its only value.
    knee: str | None
    beaten: list[str]


class _Sentences:
    """Sentences on the combinations of the values of all fields and congestion controls."""

    def __init__(
        self,
        ranking: FieldRanking,
        stakes: Sequence[Stake],
        present: Mapping[str, str],
        scenario: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._ranking = ranking
        self._scenario = scenario
        self._stakes = [stake for stake in stakes if stake.verdict.leader is not None]
        #: Choices with which an application has finished nothing, by its flow.
        self._void = {
            stake.flow: [name for name in ranking.choices if stake.is_void(name)]
            for stake in stakes
            if stake.metric in APP_METRICS
        }
        self._names = {choice: name for name, choice in ranking.choices.items()}
        self._called = labels(ranking.ccas)
        first = ranking.coordinates(next(iter(self._names)))
        known = {ranking.coordinates(name): name.value for name in self._names}
        chosen_metrics = tuple(
            present.get(field, value) for field, value in zip(ranking.fields, first, strict=True)
        )
        self._start = Choice(known.get(chosen_metrics, known[first]), ranking.usual_cca)
        self._is_present = bool(present) and chosen_metrics in known

    def all(self) -> list[str]:
        """Returns all sentences."""
        ranking = self._ranking
        void = self._void_texts()
        if not self._stakes:
            return void
        if all(map(is_condition, ranking.fields)):
            return self._at_conditions()
        trade_off = self._trade_off()
        texts = [] if trade_off is None else self._trade_off_texts(trade_off)
        changes = self._changes(trade_off)
        helps = [text for stake in self._stakes if (text := self._helps(stake))]
        is_void = any(self._names[self._start] in names for names in self._void.values())
        if not texts and not changes and not is_void:
            changes = [self._nothing()]
        return [*void, *texts, *changes, *helps, *self._lines(trade_off)]

    def _void_texts(self) -> list[str]:
        """Returns the choices under which a flow has finished nothing, a line each."""
        texts = []
        for flow, names in self._void.items():
            if not names:
                continue
            is_all = len(names) == len(self._ranking.choices) > _MAX_LISTED_VALUES
            places = "any of the values" if is_all else "; ".join(map(self._place, names))
            text = self._ranking.without_flow(f"{flow} finished nothing with {places}")
            texts.append(f"{text[0].upper()}{text[1:]}" if text.startswith("finished") else text)
        return texts

    def _place(self, name: str) -> str:
        """Returns a choice as its fields and CCA."""
        ranking = self._ranking
        choice = ranking.choices[name]
        pairs = zip(ranking.fields, ranking.coordinates(choice), strict=True)
        cca = f" with {self._called[choice.cca]}" if len(ranking.ccas) > 1 else ""
        return f"{' and '.join(f'{field}={value}' for field, value in pairs)}{cca}"

    def _at_conditions(self) -> list[str]:
        """Returns the changes by other CCAs under the conditions of the start.

        Nobody sets the RTT of a path or its losses, so that none of their values is an advice.
        """
        _, ccas, _ = self._scopes()
        better = [name for name in dict.fromkeys(ccas) if self._is_better(name)]
        texts = [self._change_text(name) for name in better[:_MOST_CHANGES]]
        lines = (cca_line(self._ranking.choices[name].cca) for name in better[:_MOST_CHANGES])
        return [*texts, *(f"On Linux, {line}" for line in dict.fromkeys(filter(None, lines)))]

    def _is_better(self, name: str) -> bool:
        """Returns whether a flow gains from a choice, against the start."""
        start = self._names[self._start]
        return name != start and any(stake.is_gain(name, start) for stake in self._stakes)

    def _change_text(self, name: str) -> str:
        """Returns a choice in place of the start, with the metrics of the flows under both."""
        start = self._names[self._start]
        figures = (self._ranking.without_flow(stake.text(name, start)) for stake in self._stakes)
        return f"{self._change(self._ranking.choices[name])}: {'; '.join(figures)}"

    def _mean(self, stake: Stake, name: str) -> float:
        """Returns the mean of a metric, of which more is better; a missing one is worst."""
        mean = estimate(stake.values[name]).mean
        return -math.inf if math.isnan(mean) else (-mean if stake.is_less_better else mean)

    def _best(self, stake: Stake, among: Sequence[str]) -> str:
        return max(among, key=lambda name: self._mean(stake, name))

    def _value(self, stake: Stake, name: str, *, unit: bool = True) -> str:
        words, mean = words_of(stake.metric), estimate(stake.values[name]).mean
        return words.value_text(mean) if unit else words.number(mean)

    def _metric_name(self, stake: Stake) -> str:
        return self._ranking.without_flow(f"{stake.flow} {words_of(stake.metric).name}")

    def _trade_off(self) -> _TradeOff | None:
        """Returns the values between which to choose; None where there are no two metrics."""
        goodput = next((stake for stake in self._stakes if stake.metric == GOODPUT), None)
        others = [
            stake
            for stake in self._stakes
            if stake.metric in APP_METRICS or (stake.metric in METRICS and stake.is_less_better)
        ]
        if goodput is None or not others:
            return None
        requested = others[0]
        names = [
            name
            for name in self._ranking.choices
            if all(math.isfinite(self._mean(stake, name)) for stake in (requested, goodput))
        ]
        both = (requested, goodput)
        front = [name for name in names if not any(self._beats(other, name, both) for other in names)]
        front.sort(key=lambda name: (-self._mean(requested, name), -self._mean(goodput, name)))
        front = [
            name
            for at, name in enumerate(front)
            if not any(all(stake.is_tied(name, other) for stake in both) for other in front[:at])
        ]
        beaten = [
            name
            for name in names
            if name not in front
            and any(self._beats(other, name, both) for other in front)
            and not any(all(stake.is_tied(name, other) for stake in both) for other in front)
        ]
        if not any(goodput.is_gain(name, front[0]) for name in front[1:]):
            front = front[:1]
        if not beaten and len(front) < 2:
            return None
        knee = self._knee(front, both) if len(front) > 1 else front[0]
        return _TradeOff(requested, goodput, front, knee, beaten)

    def _beats(self, name: str, other: str, stakes: Sequence[Stake]) -> bool:
        """Returns whether a value is better in one metric, and no worse in the others, by the means."""
        gaps = [self._mean(stake, name) - self._mean(stake, other) for stake in stakes]
        if all(gap >= 0 for gap in gaps):
            return any(gap > 0 for gap in gaps)
        # A lower mean that is as good does not count.
        return any(stake.is_gain(name, other) for stake in stakes) and all(
            gap >= 0 or stake.is_tied(name, other) for gap, stake in zip(gaps, stakes, strict=True)
        )

    def _knee(self, front: Sequence[str], stakes: Sequence[Stake]) -> str | None:
        """Returns the value that is farthest above the line between both ends of the front."""
        ranges = [[self._mean(stake, name) for name in front] for stake in stakes]
        shares = [
            [(value - min(values)) / (max(values) - min(values)) for value in values]
            for values in ranges
        ]
        above = dict(zip(front, (sum(each) - 1 for each in zip(*shares, strict=True)), strict=True))
        knee = max(above, key=above.__getitem__)
        requested = stakes[0]
        # A value that only more runs would separate from the best is not advised.
        is_known = requested.is_gain(front[0], knee) or requested.is_tied(front[0], knee)
        return knee if above[knee] >= _MIN_KNEE_HEIGHT and is_known else None

    def _trade_off_texts(self, trade_off: _TradeOff) -> list[str]:
        requested, goodput, front = trade_off.requested, trade_off.goodput, trade_off.front
        knee = trade_off.knee
        values_to_choose = [front[0], self._best(goodput, front)]
        if knee is not None:
            # The knee is where more of one metric begins to cost much of the other.
            at = front.index(knee)
            values_to_choose = [knee, front[0], *front[at + 1 : at + 2], values_to_choose[-1]]
        elif len(front) <= _MAX_OTHERS:
            values_to_choose = front
        first, *others = dict.fromkeys(values_to_choose)
        figures = (
            f"{self._metric_name(requested)} {self._value(requested, first)} for "
            f"{self._metric_name(goodput)} {self._value(goodput, first)}"
        )
        pairs = [
            f"{name}: {self._value(requested, name)} for {self._value(goodput, name)}"
            for name in others
        ]
        if len(front) == 1:
            return [f"best of both: {self._ranking.field}={first}, with {figures}"]
        head = f"{first} is the knee, with" if knee is not None else f"{first}:"
        if not trade_off.beaten:
            rest = "None is worse than another in both"
        elif len(trade_off.beaten) <= _MAX_LISTED_VALUES:
            rest = f"By their means, others beat {', '.join(trade_off.beaten)} in both"
        else:
            rest = f"By their means, these beat {len(trade_off.beaten)} others in both"
        return [
            f"trade-off of {self._ranking.field}: {'; '.join([f'{head} {figures}', *pairs])}. {rest}."
        ]

    def _changes(self, trade_off: _TradeOff | None) -> list[str]:
        """Returns the changes by choices that are better than the start."""
        return [self._change_text(name) for name in self._better(trade_off)]

    def _better(self, trade_off: _TradeOff | None) -> list[str]:
        """Returns a few choices better than the start: the knee, or the best of each metric."""
        if trade_off is None:
            targets = [target for among in self._scopes() for target in among]
        elif trade_off.knee is not None:
            targets = [trade_off.knee]
        else:
            targets = [trade_off.front[0], self._best(trade_off.goodput, trade_off.front)]
        return [name for name in dict.fromkeys(targets) if self._is_better(name)][:_MOST_CHANGES]

    def _lines(self, trade_off: _TradeOff | None) -> list[str]:
        """Returns the Linux commands for better choices."""
        ranking, start = self._ranking, self._start
        lines = []
        targets = self._better(trade_off)
        for name in targets:
            choice = ranking.choices[name]
            values = zip(
                ranking.fields, ranking.coordinates(choice), ranking.coordinates(start), strict=True
            )
            changes = [f"{field}={new}" for field, new, old in values if new != old]
            set_on_linux = [linux_line(change, self._scenario) for change in changes]
            set_on_linux += [cca_line(choice.cca)] if choice.cca != start.cca else []
            # Commands of two choices cannot be run one after the other.
            of = f" for {name}" if len(targets) > 1 else ""
            lines += [f"On Linux{of}, {line}" for line in set_on_linux if line]
        return list(dict.fromkeys(lines))

    def _scopes(self) -> Iterator[list[str]]:
        """Yields the best choices with the CCA of the start, at the values of the start, and of all."""
        names = self._names
        for among in (
            [name for choice, name in names.items() if choice.cca == self._start.cca],
            [name for choice, name in names.items() if choice.value == self._start.value],
            [*names.values()],
        ):
            yield [self._best(stake, among) for stake in self._stakes]

    def _change(self, choice: Choice) -> str:
        """Returns a choice in place of the start, and in parentheses what stays."""
        ranking, start = self._ranking, self._start
        values = zip(
            ranking.fields, ranking.coordinates(choice), ranking.coordinates(start), strict=True
        )
        changed, unchanged = [], []
        for field, new, old in values:
            if new == old:
                unchanged.append(f"{field}={new}")
            else:
                changed.append(f"{field}={new} instead of {old}")
        if choice.cca != start.cca:
            changed.append(f"{self._called[choice.cca]} instead of {self._called[start.cca]}")
        elif len(ranking.ccas) > 1:
            unchanged.append(self._called[start.cca])
        stays = f" ({', '.join(unchanged)})" if unchanged else ""
        return f"{' and '.join(changed)}{stays}"

    def _helps(self, stake: Stake) -> str:
        """Ranks the fields and the CCA by their gain for a flow, from the worst to the best value.

        Each is that of the best combination with another value of the field, or another CCA.
        """
        ranking = self._ranking
        axes = (*ranking.fields, *([_CCA] if len(ranking.ccas) > 1 else []))
        if len(axes) < 2:
            return ""
        leader = self._best(stake, [*ranking.choices])
        best = ranking.choices[leader]
        called = self._called_values(best)
        worst: dict[str, str] = {}
        without = []
        for at, axis in enumerate(axes):
            among = [
                name
                for choice, name in self._names.items()
                if all(
                    mine == its or index == at
                    for index, (mine, its) in enumerate(
                        zip(self._called_values(choice), called, strict=True)
                    )
                )
            ]
            last = min(among, key=lambda name: self._mean(stake, name))
            if stake.is_gain(leader, last) and self._matters(stake, leader, last):
                worst[axis] = last
            else:
                without.append(axis)
        if not worst:
            return ""
        ordered = sorted(worst, key=lambda axis: self._mean(stake, worst[axis]))
        parts = []
        for axis in ordered:
            at = axes.index(axis)
            old = self._called_values(ranking.choices[worst[axis]])[at]
            end = self._value(stake, leader)
            parts.append(
                f"{self._value(stake, worst[axis], unit=False)} to {end} ({old} to {called[at]})"
            )
        instead = self._instead(stake, leader, axes, without)
        order = self._order(stake, ordered, worst, is_only=not instead)
        head = f"{ranking.question(stake)}: {order}"
        against = " against ".join(parts)
        rest = f"; {' or '.join(instead.values())} alone helps as much" if instead else ""
        if none := [axis for axis in without if axis not in instead]:
            make = "makes" if len(none) == 1 else "make"
            rest += f"; {' and '.join(none)} {make} little difference there"
        each = "each " if len(ordered) > 1 else ""
        return f"{head}: {against}, {each}beside the best of the others{rest}"

    def _instead(
        self, stake: Stake, leader: str, axes: Sequence[str], without: Sequence[str]
    ) -> dict[str, str]:
        """Returns single changes of the start that are as good as the best combination.

        Beside the best of the others a field may change nothing and still do all that they do.

        Args:
            stake: metric of a flow.
            leader: the best combination.
            axes: the fields and the CCA.
            without: those that make no difference with the best of the others.
        """
        start = self._called_values(self._start)
        result = {}
        for axis in without:
            at = axes.index(axis)
            among = [
                name
                for choice, name in self._names.items()
                if self._called_values(choice)[:at] == start[:at]
                and self._called_values(choice)[at + 1 :] == start[at + 1 :]
            ]
            best = self._best(stake, among)
            if stake.is_gain(best, self._names[self._start]) and stake.is_tied(leader, best):
                value = self._called_values(self._ranking.choices[best])[at]
                result[axis] = value if axis == _CCA else f"{axis}={value}"
        return result

    def _matters(self, stake: Stake, best: str, worst: str) -> bool:
        """Returns whether the difference of two means is large enough to mention a field."""
        means = [abs(self._mean(stake, name)) for name in (best, worst)]
        return abs(means[0] - means[1]) >= _MIN_CHANGE * max(means)

    def _order(
        self, stake: Stake, ordered: Sequence[str], worst: Mapping[str, str], *, is_only: bool
    ) -> str:
        """Returns the fields and the CCA by how much they help, in words.

        Args:
            stake: metric of a flow.
            ordered: those that help, the one first that helps most.
            worst: the worst value of each.
            is_only: whether no other helps by itself.
        """
        first, *others = ordered
        if not others:
            return f"{'only ' if is_only else ''}{first} helps"
        if stake.is_gain(worst[others[0]], worst[first]):
            return f"{first} helps more than {', then '.join(others)}"
        if stake.is_tied(worst[first], worst[others[0]]):
            return f"{', '.join(ordered[:-1])} and {ordered[-1]} help alike"
        most = f"{', '.join(ordered[:-1])} or {ordered[-1]}"
        return f"the runs do not decide whether {most} helps more"

    def _called_values(self, choice: Choice) -> list[str]:
        """Returns the values of the fields of a choice, and the label of its CCA."""
        return [*self._ranking.coordinates(choice), self._called[choice.cca]]

    def _nothing(self) -> str:
        """Returns that nothing is better than the start, with the worse and undecided values."""
        start = self._names[self._start]
        others = [name for name in self._ranking.choices if name != start]
        worse = [name for name in others if any(stake.is_gain(start, name) for stake in self._stakes)]
        equal = [
            name
            for name in others
            if name not in worse and all(stake.is_tied(start, name) for stake in self._stakes)
        ]
        undecided = [name for name in others if name not in worse and name not in equal]
        where = "the scenario has it" if self._is_present else "the first one given"
        what = f"{self._ranking.field}={start} ({where})"
        hints = [hint_text(stake.verdict) for stake in self._stakes if stake.verdict.undecided]
        if not worse:
            hint = f"; {hints[0]}" if undecided and hints else ""
            return f"No value differs significantly from {what}{hint}"
        parts = [
            f"No value is significantly better than {what}",
            f"worse: {join_names(worse, _MAX_LISTED_VALUES)}",
        ]
        if equal:
            parts.append(f"as good: {join_names(equal, _MAX_LISTED_VALUES)}")
        if undecided:
            hint = f" ({hints[0]})" if hints else ""
            parts.append(f"undecided: {join_names(undecided, _MAX_LISTED_VALUES)}{hint}")
        return "; ".join(parts)
