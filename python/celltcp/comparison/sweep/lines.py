"""Linux lines of a sweep: commands for those settings of a choice that help, with its needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celltcp.comparison.lines.linux_lines import cca_line, linux_lines, other_places
from celltcp.comparison.lines.socket_options import socket_option_texts
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.comparison.sweep.best_values import Choice, FieldRanking
    from celltcp.comparison.verdicts.stakes import Stake

#: Name of the congestion control among the settings of a choice.
CCA = "cca"


@dataclass(frozen=True)
class SweepLines:
    """Linux lines for choices of a ranking."""

    ranking: FieldRanking
    #: Scenario, parsed from its file.
    scenario: Mapping[str, Any]
    #: Stakes of the flows whose applications work with some choice.
    stakes: Sequence[Stake]
    #: Choice that changes start from, and the values of the scenario by field.
    start: Choice
    present: Mapping[str, str]
    #: Choices with which an application fails.
    unusable: set[str]
    #: Needs by choice, and the flows of a trade-off, which gain whatever the need; empty without one.
    needs: Mapping[str, Sequence[str]]
    trade_off_flows: tuple[str, ...]

    def texts(self, names: Iterable[str]) -> list[str]:
        """Returns the commands for some choices, with the needs that they serve."""
        texts = []
        ccas = labels(self.ranking.ccas)
        helping = {name: factors for name in names if (factors := self._helping(name))}
        for name, factors in helping.items():
            values = self._settings(name)
            changes = [
                f"{field}={value}"
                for field, value in values.items()
                if field != CCA and (field in factors or self._may_matter(name, field))
            ]
            lines = linux_lines(changes, self.scenario)
            lines += socket_option_texts(changes, self.scenario)
            if CCA in factors:
                cca = values[CCA]
                lines.append(cca_line(cca, self.scenario) or f"{ccas[cca]} is no CCA of Linux")
            # Commands of two choices cannot be run one after the other.
            head = f"On Linux for {name}," if len(helping) > 1 else "On Linux,"
            need = ""
            if name in self.needs:
                need = f"{name} for {' and '.join(self.needs[name])}: "
                head = f"On Linux, {need}".rstrip()
            texts += [f"{head} {line}" for line in lines if line]
            texts += [f"{need}{text}" for text in other_places(changes, self.scenario)]
        return list(dict.fromkeys(texts))

    def _settings(self, name: str) -> dict[str, str]:
        """Returns the value of each field in a choice, and its congestion control as `CCA`."""
        choice = self.ranking.choices[name]
        values = self.ranking.coordinates(choice)
        return {**dict(zip(self.ranking.fields, values, strict=True)), CCA: choice.cca}

    def _helping(self, name: str) -> set[str]:
        """Returns the settings whose values in a choice are better than those before them.

        All that change are among them if only their combination is better.
        """
        settings = self._settings(name)
        helping = {
            factor
            for factor in settings
            if any(self._gains(name, old) for old in self._before(name, factor))
        }
        start = next(name for name, choice in self.ranking.choices.items() if choice == self.start)
        if helping or not self._gains(name, start):
            return helping
        old = self._settings(start)
        return {factor for factor, value in settings.items() if value != old[factor]}

    def _may_matter(self, name: str, field: str) -> bool:
        """Returns whether a choice is not as good with each other value of a field that nobody has set.

        The figures of the choice hold with its value.
        """
        if field in self.present:
            return False
        others = self._differing(name, field).values()
        return not all(stake.is_tied(other, name) for other in others for stake in self.stakes)

    def _differing(self, name: str, factor: str) -> dict[str, str]:
        """Returns the choices that differ in a setting alone, by their value of it."""
        own = self._settings(name)
        return {
            value: other
            for other in self.ranking.choices
            for value in [self._settings(other)[factor]]
            if value != own[factor] and {**self._settings(other), factor: ""} == {**own, factor: ""}
        }

    def _before(self, name: str, factor: str) -> list[str]:
        """Returns the choices that differ in a setting alone: with its present value, or else all."""
        own, before = self._settings(name), self._differing(name, factor)
        present = self.start.cca if factor == CCA else self.present.get(factor)
        if present in before or present == own[factor]:
            return [before[present]] if present in before else []
        # Nobody need have a value with which an application fails.
        return [other for other in before.values() if other not in self.unusable]

    def _gains(self, name: str, other: str) -> bool:
        """Returns whether a flow gains from one of two choices: one of its needs, if it has some."""
        needs = self.needs.get(name) if self.trade_off_flows else None
        return any(
            stake.is_gain(name, other)
            for stake in self.stakes
            if needs is None
            or stake.flow in self.trade_off_flows
            or any(need.startswith(stake.flow) for need in needs)
        )
