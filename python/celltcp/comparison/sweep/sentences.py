"""Sentences on the combinations of field values and congestion controls of a sweep."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celltcp.comparison.lines.linux_lines import cca_line
from celltcp.comparison.metrics import APP_METRICS, GOODPUT, words_of
from celltcp.comparison.sweep.best_values import Choice, is_condition
from celltcp.comparison.sweep.factor_effects import FactorEffects
from celltcp.comparison.sweep.failures import failures_of
from celltcp.comparison.sweep.lines import CCA, SweepLines
from celltcp.comparison.sweep.needs import needs_by_choice, needs_of_flows, with_goodput_share
from celltcp.comparison.sweep.trade_off_texts import MAX_LISTED_VALUES, ChoiceTexts, TradeOffTexts
from celltcp.comparison.sweep.trade_offs import (
    MIN_GOODPUT_SHARE,
    TradeOff,
    relative_gain,
    trade_off_of,
)
from celltcp.comparison.verdicts.prices import of_least_delay, price_texts
from celltcp.comparison.verdicts.reversals import change_reversal_text
from celltcp.comparison.verdicts.verdict_tables import hint_text
from celltcp.results.statistics import MARGIN, NEGLIGIBLE, estimate
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantities import quantities

if TYPE_CHECKING:
    from celltcp.comparison.sweep.best_values import FieldRanking
    from celltcp.comparison.verdicts.stakes import Stake

#: Maximum number of changes.
_MAX_CHANGES = 4


def _ratio(new: float, old: float) -> float:
    """Returns the larger of two means by the smaller one; infinite without the old one."""
    small, large = sorted((abs(new), abs(old)))
    return large / small if small > 0 and not math.isnan(large) else math.inf


def _log_ratios(new: Sequence[float], old: Sequence[float]) -> list[float]:
    """Returns the log ratios of the runs; NaN where a value is zero, negative or infinite."""
    pairs = zip(new, old, strict=True)
    return [
        math.log(a / b) if all(0 < each < math.inf for each in (a, b)) else math.nan for a, b in pairs
    ]


class Sentences:
    """Sentences on the combinations of field values and congestion controls of a ranking."""

    def __init__(
        self,
        ranking: FieldRanking,
        stakes: Sequence[Stake],
        present: Mapping[str, str],
        scenario: Mapping[str, Any],
        *,
        origin: str = "as in the scenario",
        count_by: int = 0,
    ) -> None:
        """Prepares sentences on these stakes.

        `present` are the values of the scenario itself by field, or those that stand for them, as the
        text `origin` says; `scenario` is parsed from its file. Advice is for the first `count_by`
        stakes, the chosen ones, or for all if there are none; the others are its costs.
        """
        self._origin = origin
        self._ranking = ranking
        self._scenario = scenario
        self._stakes = [stake for stake in stakes if stake.verdict.leader is not None]
        #: Stakes that decide on the advice.
        self._deciding = [stake for stake in self._stakes if not count_by or stake in stakes[:count_by]]
        #: Names of the choices with which an application finished nothing, by its flow.
        self._void = {
            stake.flow: [name for name in ranking.choices if stake.is_void(name)]
            for stake in stakes
            if stake.metric in APP_METRICS
        }
        failures = failures_of(ranking, stakes)
        self._failures = failures
        #: Choices that are not recommended, as an application fails with them and not with others.
        self._unusable = {name for each in failures if not each.is_everywhere for name in each.names}
        if len(self._unusable) == len(ranking.choices):
            self._unusable = set()
        self._names = {choice: name for name, choice in ranking.choices.items()}
        self._labels = labels(ranking.ccas)
        self._choices = ChoiceTexts(ranking)
        values = {ranking.coordinates(choice): choice.value for choice in self._names}
        first = next(iter(values))
        present_values = tuple(
            present.get(field, value) for field, value in zip(ranking.fields, first, strict=True)
        )
        self._present = present
        #: Choice that changes start from, and whether the scenario itself has it.
        self._start = Choice(values.get(present_values, values[first]), ranking.usual_cca)
        self._is_present = bool(present) and present_values in values
        if self._is_unset and self.trade_off is None and self._needs:
            # Nobody has the first value given: changes start from what costs another flow most.
            start = ranking.choices[list(self._needs)[-1]]
            self._start = start if start.cca == self._start.cca else self._start

    @property
    def _is_unset(self) -> bool:
        """Whether nobody has the start: the scenario has none of the values of a single field."""
        return not self._is_present and len(self._ranking.fields) == 1

    def all(self) -> list[str]:
        """Returns all sentences."""
        void, failures = self.void_texts(), self.failure_texts()
        if not self._stakes:
            return void
        if all(map(is_condition, self._ranking.fields)):
            return self.cca_texts()
        trade_off = self.trade_off
        texts = [] if trade_off is None else TradeOffTexts(self._ranking, self._stakes).texts(trade_off)
        better = self._better_choices(trade_off)
        # In place of a value that nobody has, a change is none.
        shown = [] if self._is_unset and texts else better
        changes = [self._change_text(name) for name in shown if name not in self._figured]
        # The tables of a single field have the best values beside each CCA.
        has_effects = len(self._ranking.fields) > 1
        helps = FactorEffects(self._ranking, self._deciding, self._start).texts() if has_effects else []
        is_void = any(self._names[self._start] in names for names in self._void.values())
        if not texts and not better and not is_void:
            # `best_values_texts` has a line on a field whose values are all as good, or undecided.
            is_single = len(self._ranking.fields) == len(self._ranking.ccas) == 1
            if is_single and all(set(each.values) == set(each.verdict.ranked) for each in self._stakes):
                return [*void, *failures, *helps]
            return [*void, self._no_change_text(), *failures, *helps]
        return [*void, *texts, *changes, *failures, *helps, *self._linux_texts(better)]

    @property
    def _figured(self) -> tuple[str, ...]:
        """Choices whose figures are those of the trade-off, which has a knee: the best of a flow."""
        trade_off = self.trade_off
        if trade_off is None or trade_off.knee.name is None:
            return ()
        return tuple(name for name in trade_off.front if name != trade_off.knee.name)

    @property
    def has_front(self) -> bool:
        """Whether more of one metric costs the other one."""
        return self.trade_off is not None and len(self.trade_off.front) > 1

    @property
    def advised(self) -> list[tuple[str, ...]]:
        """Values to set: of the knee and of further needs, or those that are best for applications.

        Without applications they are the front of a trade-off, or the best ones. A single run of what
        is random decides on no value: all that are undecided are among them.
        """
        ranking, names = self._ranking, []
        of_applications = [each for each in self._deciding if each.metric in APP_METRICS]
        both = self.trade_off if ranking.decides else None
        if both is not None and both.knee.name is not None:
            names = [both.knee.name, *self._needs]
        elif both is not None and not of_applications:
            names = both.front
        else:
            for stake in of_applications or self._deciding:
                rivals = () if ranking.decides else stake.verdict.undecided
                names += filter(None, (stake.verdict.leader, *rivals))
        return list(dict.fromkeys(ranking.coordinates(ranking.choices[name]) for name in names))

    def value_texts(self) -> list[str]:
        """Returns the trade-off of the values, or else the better ones, or that there are none."""
        if not self._stakes:
            return []
        if self.trade_off is not None:
            return TradeOffTexts(self._ranking, self._stakes).texts(self.trade_off)
        better = self._better_choices(None)
        return [self._change_text(name) for name in better] or [self._no_change_text()]

    def linux_texts(self) -> list[str]:
        """Returns the Linux commands for the better choices, or for one of a trade-off."""
        if not self._stakes:
            return []
        better = self._better_choices(self.trade_off)
        return self._linux_texts(better) if better or self.trade_off is not None else []

    def void_texts(self) -> list[str]:
        """Returns a line for each flow on the choices with which it finished nothing."""
        texts = []
        for flow, names in self._void.items():
            if not names:
                continue
            is_all = len(names) == len(self._ranking.choices) > MAX_LISTED_VALUES
            choices = "any of the values" if is_all else "; ".join(map(self._choices.text, names))
            text = self._ranking.without_flow(f"{flow} finished nothing with {choices}")
            texts.append(f"{text[0].upper()}{text[1:]}" if text.startswith("finished") else text)
        return texts

    def failure_texts(self) -> list[str]:
        """Returns a line for each flow on the choices with which its application is unusable."""
        listed = self._choices.listed
        return [
            self._ranking.without_flow(
                f"{flow} fails with {'every value' if is_everywhere else listed(names)}: {text}"
                f"{' at best' if len(names) > 1 else ''}"
            )
            for flow, names, text, is_everywhere in self._failures
        ]

    def cca_texts(self) -> list[str]:
        """Returns the changes by other CCAs, at the values of the start and where one gains most.

        Nobody can set the RTT of a path or its loss rate, so that none of their values is recommended.
        A host has one CCA under all conditions: Linux commands are for one that is better over all.
        """
        _, names, _ = self._best_names()
        are_conditions = all(map(is_condition, self._ranking.fields))
        left_out = set() if are_conditions else self._unusable
        better = [name for name in dict.fromkeys(names) if self._is_better(name)]
        better = [name for name in better if name not in left_out][:_MAX_CHANGES]
        starts = dict.fromkeys(better, self._names[self._start])
        if are_conditions:
            starts.update(self._largest_gain_by_cca())
        ccas = list(dict.fromkeys(self._ranking.choices[name].cca for name in starts))
        losses = []
        if are_conditions:
            losses = [text for cca in ccas for text in self._worse_texts(cca)]
            ccas = [cca for cca in ccas if self._is_better_over_all(cca)]
        lines = (cca_line(cca, self._scenario) for cca in ccas)
        linux_texts = (f"On Linux, {line}" for line in dict.fromkeys(filter(None, lines)))
        changes = (self._change_text(name, start) for name, start in starts.items())
        return [*changes, *losses, *linux_texts]

    def _pairs(self, cca: str) -> list[tuple[str, str]]:
        """Returns the choices with a CCA, each with that of the usual CCA at the same values."""
        values = dict.fromkeys(choice.value for choice in self._names)
        return [
            (self._names[Choice(value, cca)], self._names[Choice(value, self._start.cca)])
            for value in values
        ]

    def _gained(self, cca: str) -> Stake:
        """Returns the first stake in which a CCA gains anywhere."""
        pairs = self._pairs(cca)
        gained = (stake for stake in self._deciding if any(stake.is_gain(*pair) for pair in pairs))
        return next(gained)

    def _worse_texts(self, cca: str) -> list[str]:
        """Returns where a CCA loses most of the metric in which it gains elsewhere, if it does."""
        stake, pairs = self._gained(cca), self._pairs(cca)
        worse = [pair for pair in pairs if stake.is_gain(pair[1], pair[0])]
        if not worse:
            return []
        name, start = max(worse, key=lambda pair: _ratio(*stake.means(*pair)))
        values = self._ranking.coordinates(self._ranking.choices[name])
        where = ", ".join(map("=".join, zip(self._ranking.fields, values, strict=True)))
        return [
            f"{self._labels[cca]} is worse than {self._labels[self._start.cca]} under {len(worse)} of "
            f"{len(pairs)} conditions, {'most ' if len(worse) > 1 else ''}with {where}: "
            f"{self._ranking.without_flow(stake.text(name, start))}"
        ]

    def _is_better_over_all(self, cca: str) -> bool:
        """Returns whether a CCA is as good under all conditions, or better by their geometric mean."""
        stake = self._gained(cca)
        # Anything is as good as what finishes nothing.
        pairs = [pair for pair in self._pairs(cca) if not stake.is_void(pair[1])]
        if all(stake.is_gain(*pair) or stake.is_tied(*pair) for pair in pairs):
            return True
        runs = zip(
            *(_log_ratios(*(stake.values[name] for name in pair)) for pair in pairs), strict=True
        )
        mean = estimate([math.fsum(ratios) for ratios in runs])
        return mean.mean * (-1 if stake.is_less_better else 1) > 0 and not mean.includes_zero

    def _largest_gain_by_cca(self) -> dict[str, str]:
        """Returns the choice that gains most by its CCA under any condition, with what it replaces.

        A CCA may be worth its change under other conditions than those of the start. The gain is that
        in the first metric that any CCA improves; empty without one.
        """
        starts = dict(pair for cca in self._ranking.ccas for pair in self._pairs(cca))
        for stake in self._deciding:
            gains = {
                pair[0]: _ratio(*stake.means(*pair)) for pair in starts.items() if stake.is_gain(*pair)
            }
            if gains:
                name = max(gains, key=gains.__getitem__)
                return {name: starts[name]}
        return {}

    def _is_better(self, name: str) -> bool:
        """Returns whether a flow gains from a choice in place of the start."""
        start = self._names[self._start]
        gains = [stake for stake in self._deciding if name != start and stake.is_gain(name, start)]
        if not gains or self._loses_more(name):
            return False
        return any(stake.metric in APP_METRICS for stake in gains) or not self._halves_goodput(
            name, start
        )

    def _loses_more(self, name: str) -> bool:
        """Returns whether a choice loses more than it gains in place of the start, by the ratios.

        Where nobody has the start, that is in place of the usual CCA at the same value.
        """
        start = self._names[self._start]
        if self._is_unset:
            start = self._names[Choice(self._ranking.choices[name].value, self._start.cca)]
        changes = [
            relative_gain(stake, name, start)
            for stake in self._stakes
            if stake in self._deciding or stake.metric == GOODPUT
            # A balance counts goodput and delay once more.
            if stake.metric in APP_METRICS or stake.metric in (GOODPUT, self._ranking.delay_metric)
            if stake.is_gain(name, start) or stake.is_gain(start, name)
        ]
        return math.inf not in changes and math.fsum(changes) < -NEGLIGIBLE

    def _halves_goodput(self, name: str, start: str) -> bool:
        """Returns whether a choice takes most of the first flow's goodput in place of the start."""
        rates = [stake.means(name, start) for stake in self._stakes if stake.metric == GOODPUT]
        return bool(rates) and rates[0][0] < MIN_GOODPUT_SHARE * rates[0][1]

    def _change_text(self, name: str, start: str = "") -> str:
        """Returns a choice in place of another one, with the metrics of the flows under both."""
        start = start or self._names[self._start]
        texts = [
            self._ranking.without_flow(stake.text(name, start))
            + change_reversal_text(self._ranking, stake, name, start)
            + self._link_text(stake, name, start)
            for stake in self._stakes
        ]
        shown = {stake.metric for stake in self._stakes}
        # A start with which a flow finished nothing has no values to compare with.
        if not any(start in names for names in self._void.values()):
            texts += price_texts(self._ranking, name, start, shown)
        choices = self._ranking.choices
        return f"{self._change(choices[name], choices[start])}: {'; '.join(texts)}"

    def _link_text(self, stake: Stake, name: str, start: str) -> str:
        """Returns the goodput of all flows on a link where one loses; empty where it is alone there."""
        if stake.metric != GOODPUT or stake.flow != self._ranking.tested or name == start:
            return ""
        own, total = stake.means(name, start), [*map(self._ranking.link_goodput, (name, start))]
        if not stake.is_gain(start, name) or not own[1] < (1 - NEGLIGIBLE) * total[1]:
            return ""
        new, old = map(words_of(GOODPUT).number, total)
        change = f"{100 * (total[0] / total[1] - 1):+.0f} %"
        return f", with the other flows on its link {new} instead of {old} ({change})"

    def _best(self, stake: Stake, among: Sequence[str]) -> str:
        """Returns the best choice, or the one that is set in its place for what it costs."""
        best, cost = max(among, key=lambda name: stake.signed_mean(name)), stake.verdict.cost
        instead = cost.instead if cost and best == stake.verdict.leader else None
        return best if instead is None or instead not in among else instead

    @functools.cached_property
    def trade_off(self) -> TradeOff | None:
        """The trade-off of goodput and another metric; None if the choices have none."""
        stakes = [stake for stake in self._stakes if stake in self._deciding or stake.metric == GOODPUT]
        resent = self._ranking.resent_shares()
        return trade_off_of(self._ranking, stakes, self._simplest, self._unusable, resent)

    def _better_choices(self, trade_off: TradeOff | None) -> list[str]:
        """Returns a few choices better than the start: the knee, or the best of each metric."""
        if trade_off is None:
            names = [
                self._simplest(name, self._stakes) for group in self._best_names() for name in group
            ]
        elif len(trade_off.front) == 1:
            # The best is undecided without more runs, and the start is no setting of the scenario.
            names = [] if trade_off.undecided and self._is_unset else [*trade_off.front, *self._needs]
        else:
            knee = trade_off.knee
            first = trade_off.front[0] if not knee.possible else None
            names = [each for each in (knee.name or first, *self._needs) if each]
        better = [
            name
            for name in dict.fromkeys(map(self._with_fewest_settings, names))
            if self._is_better(name) and name not in self._unusable
        ]
        # A change of more settings that gains nothing beyond one of fewer is no advice.
        return [
            name
            for name in better
            if not any(
                self._changed(other) < self._changed(name)
                and not any(stake.is_gain(name, other) for stake in self._stakes)
                for other in better
            )
        ][:_MAX_CHANGES]

    @functools.cached_property
    def _needs(self) -> dict[str, list[str]]:
        """Needs of the choices of a trade-off, or of flows; empty if one choice serves all."""
        trade_off = self.trade_off
        if trade_off is None:
            return needs_of_flows(self._deciding)
        needs = needs_by_choice(self._deciding, trade_off)
        flow = trade_off.goodput.flow
        if failing := [each.flow for each in self._failures if not each.is_everywhere]:
            # The most goodput of all is that of a choice which is left out.
            works = f"{flow} where {' and '.join(failing)} {'works' if len(failing) == 1 else 'work'}"
            needs = {name: [works if of == flow else of for of in each] for name, each in needs.items()}
        merged: dict[str, list[str]] = {}
        for name, of in needs.items():
            # Of choices that are as good for all, one serves the needs of each.
            simplest = self._with_fewest_settings(self._simplest(name, self._stakes))
            merged.setdefault(simplest, []).extend(
                with_goodput_share(each, trade_off.goodput, simplest) for each in of
            )
        return merged if len(merged) > 1 or len(trade_off.front) > 1 else {}

    def _simplest(self, name: str, stakes: Sequence[Stake]) -> str:
        """Returns the choice with the smallest change of those that are as good as one.

        It changes fewest settings, and amounts by the smallest factors where the start is known, but
        one of as few settings has a far lower delay of the flow under test, unless that has an end.
        """
        changed = self._changed(name)
        as_good = [
            other
            for other in self._ranking.choices
            if self._changed(other) <= changed and all(stake.is_tied(other, name) for stake in stakes)
        ]
        ordered = sorted(
            [name, *as_good], key=lambda other: (len(self._changed(other)), self._distance(other))
        )
        simplest = ordered[0]
        if self._ranking.is_finite:
            return simplest
        rivals = [
            each
            for each in self._ranking.choices
            if self._changed(each) <= changed
            and len(self._changed(each)) == len(self._changed(simplest))
            and all(_is_alike(stake, each, name) for stake in stakes)
        ]
        delays = self._ranking.network_values(self._ranking.delay_metric)
        return of_least_delay([simplest, *rivals], delays)

    def _with_fewest_settings(self, name: str) -> str:
        """Returns a choice without settings that gain no more than a few per cent beside the others."""
        changed = self._changed(name)
        fewer = [
            other
            for other in self._ranking.choices
            if set() < self._changed(other) < changed
            and all(relative_gain(stake, name, other) <= MARGIN for stake in self._stakes)
        ]
        return min([*fewer, name], key=lambda other: len(self._changed(other)))

    def _distance(self, name: str) -> float:
        """Returns the sum of the log ratios of amounts in a choice to those in a known start."""
        choice = self._ranking.choices[name]
        pairs = (
            [] if self._is_unset else [(a, b) for _, a, b in self._field_values(choice, self._start)]
        )
        amounts = [quantities(pair) for pair in pairs if pair[0] != pair[1]]
        return sum(abs(math.log(a / b)) for a, b in filter(None, amounts) if a > 0 and b > 0)

    def _changed(self, name: str) -> set[str]:
        """Returns the fields, and `CCA`, whose values in a choice are not those of the start."""
        choice = self._ranking.choices[name]
        changed = {field for field, new, old in self._field_values(choice, self._start) if new != old}
        return changed | ({CCA} if choice.cca != self._start.cca else set())

    def _linux_texts(self, names: Sequence[str]) -> list[str]:
        """Returns the Linux commands for some choices, with the needs that they serve."""
        # A start that nobody has may be the best of a flow.
        with_need = [
            name
            for name in self._needs
            if name in names or (self._is_unset and not self._loses_more(name))
        ]
        failing = {failure.flow for failure in self._failures if failure.is_everywhere}
        both = self.trade_off
        lines = SweepLines(
            self._ranking,
            self._scenario,
            [stake for stake in self._deciding if stake.flow not in failing],
            self._start,
            self._present,
            self._unusable,
            self._needs,
            () if both is None else (both.other.flow, both.goodput.flow),
        )
        return lines.texts(dict.fromkeys((*with_need, *names)))

    def _best_names(self) -> Iterator[list[str]]:
        """Yields the best choices by stake: with the CCA of the start, with its values, and of all."""
        names = self._names
        for every in (
            [name for choice, name in names.items() if choice.cca == self._start.cca],
            [name for choice, name in names.items() if choice.value == self._start.value],
            [*names.values()],
        ):
            group = [name for name in every if name not in self._unusable] or every
            yield [self._best(stake, group) for stake in self._deciding]

    def _field_values(self, choice: Choice, start: Choice) -> Iterator[tuple[str, str, str]]:
        """Returns each field with its value in a choice, and in the one that it replaces."""
        ranking = self._ranking
        old_values = ranking.coordinates(start)
        return zip(ranking.fields, ranking.coordinates(choice), old_values, strict=True)

    def _change(self, choice: Choice, start: Choice) -> str:
        """Returns a choice in place of another one, and in parentheses the values that stay."""
        changed, unchanged = [], []
        for field, new, old in self._field_values(choice, start):
            if new == old:
                unchanged.append(f"{field}={new}")
            else:
                changed.append(f"{field}={new} instead of {old}")
        old_cca = self._labels[start.cca]
        if choice.cca != start.cca:
            changed.append(f"{self._labels[choice.cca]} instead of {old_cca}")
        elif len(self._ranking.ccas) > 1:
            unchanged.append(old_cca)
        stays = f" ({', '.join(unchanged)})" if unchanged else ""
        return f"{' and '.join(changed)}{stays}"

    def _no_change_text(self) -> str:
        """Returns a line that nothing is better than the start, with the worse and undecided values."""
        start = self._names[self._start]
        names = [name for name in self._ranking.choices if name != start]
        stakes = self._deciding
        losing = [name for name in names if any(stake.is_gain(start, name) for stake in stakes)]
        dear = [name for name in names if any(stake.is_gain(name, start) for stake in stakes)]
        worse = [name for name in losing if name not in dear]
        # With more goodput, a choice with which a call fails is no better.
        others = [name for name in names if name in losing or name not in self._unusable]
        dear = [name for name in dear if name in others]
        equal = [
            name
            for name in others
            if name not in (*losing, *dear) and all(stake.is_tied(start, name) for stake in stakes)
        ]
        undecided = [name for name in others if name not in (*losing, *dear, *equal)]
        origin = self._origin if self._is_present else "the first one given"
        start_text = f"{self._choices.text(start)} ({origin})"
        if not others:
            works = " and ".join(each.flow for each in self._failures if not each.is_everywhere)
            return f"{works} works with no other value than {start_text}"
        hints = [hint_text(stake.verdict) for stake in stakes if stake.verdict.undecided]
        if not (worse or dear or undecided):
            return f"No value differs by an amount that matters from {start_text}"
        if not (worse or dear):
            hint = f"; {hints[0]}" if hints else ""
            return f"No value differs significantly from {start_text}{hint}"
        better = "worth what it costs in place of" if dear else "significantly better than"
        parts = [f"No value is {better} {start_text}"]
        if dear:
            parts.append(f"a gain at a larger loss: {self._choices.listed(dear)}")
        if worse:
            parts.append(f"worse: {self._choices.listed(worse)}")
        if equal:
            parts.append(f"as good: {self._choices.listed(equal)}")
        if undecided:
            hint = f" ({hints[0]})" if hints else ""
            parts.append(f"undecided: {self._choices.listed(undecided)}{hint}")
        return "; ".join(parts)


def _is_alike(stake: Stake, name: str, other: str) -> bool:
    """Returns whether no run sets two choices apart, and their means are within the margin of a tie."""
    if stake.is_tied(name, other):
        return True
    new, old = stake.means(name, other)
    are_near = abs(new - old) <= MARGIN * max(abs(new), abs(old))
    return are_near and not (stake.is_gain(name, other) or stake.is_gain(other, name))
