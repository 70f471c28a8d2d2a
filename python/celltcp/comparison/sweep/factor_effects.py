"""Effects of the factors of a sweep, its fields and the CCA, beside each other's values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from celltcp.scenarios.cca_mix import join_names, labels

if TYPE_CHECKING:
    from celltcp.comparison.sweep.best_values import Choice, FieldRanking
    from celltcp.comparison.verdicts.stakes import Stake

#: Name of the congestion control among the factors.
_CCA = "the CCA"
#: Texts on values of a factor that are tied, and on the only one of an unfinished sweep.
_NO_EFFECT, _ONLY_VALUE = "no difference that matters", "no other value was run"
#: Minimum change of a mean that helps, as a share of the larger mean.
_MIN_CHANGE = 0.02
#: Maximum number of choices that a text lists.
_MAX_LISTED = 2


class _Effect(NamedTuple):
    """Means of a metric over the values of a factor, with fixed values of the other factors."""

    #: Names of all choices that differ in the factor only.
    names: Sequence[str]
    best: str
    #: Choice with the worst mean that is significantly worse than the best one; None without any.
    worse: str | None
    #: Choices that the runs do not distinguish from the best one, and that are not tied with it.
    undecided: Sequence[str]


class FactorEffects:
    """Sentences on the best combination of several fields for each metric, and each factor's effect."""

    def __init__(self, ranking: FieldRanking, stakes: Sequence[Stake], start: Choice) -> None:
        """Prepares sentences; `start` has the values of the scenario, or the first ones given."""
        self._ranking = ranking
        self._stakes = stakes
        self._names = {choice: name for name, choice in ranking.choices.items()}
        self._labels = labels(ranking.ccas)
        self._start = start
        self._factors = (*ranking.fields, *([_CCA] if len(ranking.ccas) > 1 else []))

    def texts(self) -> list[str]:
        """Returns a text for each metric on which a factor has an effect."""
        return [text for stake in self._stakes if (text := self._text(stake))]

    def _text(self, stake: Stake) -> str:
        best = self._best(stake, [*self._ranking.choices])
        place = self._values(best)
        effects = [self._effect(stake, index, place) for index in range(len(self._factors))]
        if not any(effect.worse for effect in effects):
            return ""
        order = sorted(range(len(effects)), key=lambda index: -self._gain(stake, effects[index]))
        sentences = [
            f"{self._ranking.question(stake)}: best mean {stake.mean_text(best)} with "
            f"{self._values_text(place)}{self._rivals_text(stake, best)}",
            *(self._factor_text(stake, index, effects[index]) for index in order),
        ]
        return ". ".join(sentences)

    def _effect(self, stake: Stake, index: int, place: Sequence[str]) -> _Effect:
        names = [
            name
            for name in self._ranking.choices
            if all(
                own == value or factor == index
                for factor, (own, value) in enumerate(zip(self._values(name), place, strict=True))
            )
        ]
        best = self._best(stake, names)
        others = sorted(
            (name for name in names if name != best), key=lambda name: stake.signed_mean(name)
        )
        worse = [name for name in others if self._is_notable_gain(stake, best, name)]
        open_ones = [
            name
            for name in others
            if not stake.is_gain(best, name)
            and not stake.is_tied(best, name)
            and not (stake.is_void(best) and stake.is_void(name))
        ]
        return _Effect(names, best, worse[0] if worse else None, open_ones)

    def _factor_text(self, stake: Stake, index: int, effect: _Effect) -> str:
        """Returns what a factor does beside the best values of the others."""
        factor = self._factors[index]
        name = f"{factor[0].upper()}{factor[1:]}" if factor == _CCA else factor
        return f"{name}: {self._effect_text(stake, index, effect)}"

    def _effect_text(self, stake: Stake, index: int, effect: _Effect) -> str:
        if len(effect.names) < 2:
            return _ONLY_VALUE

        def value(name: str) -> str:
            return self._values(name)[index]

        def listed(names: Sequence[str]) -> str:
            pairs = [f"{value(name)} {stake.number(name)}" for name in names]
            return join_names(pairs, _MAX_LISTED + 1)

        best_text = f"{value(effect.best)} {stake.mean_text(effect.best)}"
        if effect.worse is not None:
            text = (
                f"{stake.number(effect.worse)} to {stake.mean_text(effect.best)} "
                f"({value(effect.worse)} to {value(effect.best)})"
            )
            return f"{text}, undecided against {listed(effect.undecided)}" if effect.undecided else text
        if effect.undecided:
            return f"undecided ({listed(effect.undecided)}, {best_text})"
        worst = min(effect.names, key=lambda name: stake.signed_mean(name))
        worst_text, best_text = (stake.mean_text(name) for name in (worst, effect.best))
        range_text = f" ({stake.number(worst)} to {best_text})" if worst_text != best_text else ""
        return f"{_NO_EFFECT}{range_text}"

    def _rivals_text(self, stake: Stake, best: str) -> str:
        """Returns the choices that are, or may be, as good as the best mean."""
        start = self._names[self._start]
        # What needs no change comes first.
        others = [name for name in dict.fromkeys((start, *self._ranking.choices)) if name != best]
        dearer = [each.name for each in stake.verdict.dearer]
        others = [name for name in others if name not in dearer]
        alike = [name for name in others if stake.is_tied(best, name)]
        open_ones = [name for name in others if name not in alike and not stake.is_gain(best, name)]
        text = f"; as good: {self._names_text(alike)}" if alike else ""
        return f"{text}; undecided against {self._names_text(open_ones)}" if open_ones else text

    def _names_text(self, names: Sequence[str]) -> str:
        return join_names([self._values_text(self._values(name)) for name in names], _MAX_LISTED)

    def _is_notable_gain(self, stake: Stake, name: str, other: str) -> bool:
        return stake.is_gain(name, other) and self._is_change(stake, name, other, _MIN_CHANGE)

    def _is_change(self, stake: Stake, name: str, other: str, share: float) -> bool:
        """Returns whether the difference of two means is at least a share of the larger one."""
        means = [abs(stake.signed_mean(each)) for each in (name, other)]
        return not math.isfinite(max(means)) or abs(means[0] - means[1]) >= share * max(means)

    def _gain(self, stake: Stake, effect: _Effect) -> float:
        """Returns the gain of a factor in the mean; 0 unless significant, infinity from no value."""
        if effect.worse is None:
            return 0.0
        return stake.signed_mean(effect.best) - stake.signed_mean(effect.worse)

    def _best(self, stake: Stake, among: Sequence[str]) -> str:
        """Returns the best of some choices: the leader, of the least price, or the best mean."""
        leader = stake.verdict.leader
        if leader is not None and leader in among:
            return leader
        return max(among, key=lambda name: stake.signed_mean(name))

    def _values(self, name: str) -> tuple[str, ...]:
        """Returns the values of the fields in a choice, and the label of its CCA if it is a factor."""
        choice = self._ranking.choices[name]
        ccas = [self._labels[choice.cca]] if _CCA in self._factors else []
        return (*self._ranking.coordinates(choice), *ccas)

    def _values_text(self, values: Sequence[str]) -> str:
        """Returns values of factors in words; several fields have names."""
        parts = [
            value if factor == _CCA else f"{factor}={value}"
            for factor, value in zip(self._factors, values, strict=True)
        ]
        return " and ".join(parts)
