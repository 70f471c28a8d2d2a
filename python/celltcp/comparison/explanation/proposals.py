"""Proposals: the remedies of the causes of a comparison that can be tried, as commands, best first."""

from __future__ import annotations

import functools
import itertools
import re
import shlex
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from celltcp._core import CelltcpError
from celltcp.comparison.explanation.remedies import REMEDIES
from celltcp.comparison.linux_lines import cca_line, host_text, linux_lines, other_system_lines
from celltcp.comparison.socket_options import socket_option_texts
from celltcp.scenarios.cca_mix import has_several_flows
from celltcp.scenarios.scenario_files import read_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from celltcp._core import Scenario
    from celltcp.comparison.explanation.cause import Cause
    from celltcp.comparison.explanation.evidence import Evidence
    from celltcp.comparison.explanation.remedy import Remedy
    from celltcp.comparison.explanation.trials import Trial

#: Maximum number of remedies in the explanation of a comparison.
MAX_REMEDIES = 3
#: Minimum weight of a cause that gets remedies.
_MIN_WEIGHT = 0.01


class ProposedRemedy(NamedTuple):
    """A remedy, its cause, the congestion controls with that cause, and the outcome of a trial."""

    cause: str
    remedy: Remedy
    #: Congestion controls whose explanation names the cause.
    ccas: tuple[str, ...]
    #: Scenario, parsed from its file.
    scenario: Mapping[str, object]
    #: Text with the metrics before and after in a trial; empty without a trial.
    trial: str = ""
    #: Gain in the trial, as the sum of logarithms of ratios.
    gain: float = 0.0
    #: Text with the main metrics of the trial.
    brief: str = ""
    #: By CCA, the gain in the trial with that in goodput beside it.
    net_gains: Mapping[str, float] = MappingProxyType({})
    #: Texts on trials of other values whose net gains are smaller.
    other_values: tuple[str, ...] = ()
    #: CCAs of `ccas` that lead, or are as good as the leader.
    leading: frozenset[str] = frozenset()

    def with_trial(self, trial: Trial) -> ProposedRemedy:
        """Returns the remedy with the outcome of its trial, for the CCAs that it helped."""
        return self._replace(
            ccas=trial.helped_ccas,
            trial=trial.text,
            gain=trial.gain,
            brief=trial.brief,
            net_gains=trial.net_gains,
        )

    @property
    def helps_leader(self) -> bool:
        """Whether the remedy is for a CCA that leads, or is as good as the leader."""
        return not self.leading.isdisjoint(self.ccas)

    @property
    def replacement_ccas(self) -> list[str]:
        """Congestion controls to run in a trial in place of each of `ccas`."""
        remedy = self.remedy
        if remedy.cca:
            return [remedy.cca] * len(self.ccas)
        if remedy.parameter:
            return [_with_parameter(cca, remedy.parameter) for cca in self.ccas]
        middlebox = remedy.middlebox.rpartition(",")[2]
        return [f"{cca}@{middlebox}" if middlebox else cca for cca in self.ccas]

    @property
    def options(self) -> str:
        """Options of `celltcp compare` that try the remedy."""
        remedy = self.remedy
        ccas = [*self.ccas, *([remedy.cca] if remedy.cca else [])]
        if remedy.parameter:
            ccas += [_with_parameter(cca, remedy.parameter) for cca in self.ccas]
        arguments = ["--cca", ",".join(ccas)]
        arguments += ["--middlebox", remedy.middlebox] if remedy.middlebox else []
        arguments += itertools.chain.from_iterable(("--set", change) for change in remedy.changes)
        return shlex.join(arguments)

    @property
    def curve_options(self) -> str:
        """Options of `celltcp sweep` that compare values of a field of the remedy; empty without."""
        remedy = self.remedy
        if not remedy.curve:
            return ""
        field = remedy.curve.partition("=")[0]
        others = [change for change in remedy.changes if change.partition("=")[0] != field]
        arguments = itertools.chain.from_iterable(("--set", change) for change in others)
        return shlex.join([*arguments, "--vary", remedy.curve, "--cca", ",".join(self.ccas)])

    @property
    def text(self) -> str:
        """Text with the effect to avoid, lines for Linux, and the outcome of a trial or the cost."""
        remedy = self.remedy
        changes = linux_lines(remedy.changes, self.scenario)
        others = itertools.chain.from_iterable(map(other_system_lines, remedy.changes))
        options = socket_option_texts(remedy.changes, self.scenario)
        sender = f"{host_text('sender', self.scenario)}: "
        own = (re.sub("^sender: ", sender, text) for text in remedy.linux.split("; "))
        parts = [*own, *changes, cca_line(remedy.cca, self.scenario), *others, *options]
        lines = "; ".join(filter(None, parts))
        network = f"; {remedy.network}" if remedy.network else ""
        text = f"against {remedy.against}{network}{f'; Linux, {lines}' if lines else ''}"
        if self.trial:
            return "; ".join([f"{text}; tried {self.trial}", *self.other_values])
        return f"{text}; price: {remedy.price}" if remedy.price else text


def remedies_of(
    causes: Iterable[tuple[Evidence, Cause, bool]], compared_ccas: Sequence[str]
) -> list[ProposedRemedy]:
    """Returns the remedies of causes, sorted by rank.

    The first remedies of all causes come before the second ones. Then remedies under leading CCAs come
    first, then those of causes with larger weights.

    Args:
        causes: evidence, cause, and whether the CCA leads or is as good as the leader.
        compared_ccas: congestion controls in the results.
    """
    ranks: dict[tuple[str, Remedy], tuple[int, bool, float]] = {}
    ccas: dict[tuple[str, Remedy], list[str]] = {}
    leading: dict[tuple[str, Remedy], set[str]] = {}
    scenario: Mapping[str, object] = {}
    first_of_variants: dict[tuple[object, ...], tuple[str, Remedy]] = {}
    # A scenario of a log takes long to read.
    load = functools.cache(_loaded_scenario)
    for evidence, cause, leads in causes:
        rule = REMEDIES.get(cause.name)
        base = load(evidence.scenario_text) if rule else None
        # The evidence on a split connection is that of its first leg alone.
        is_skipped = cause.weight < _MIN_WEIGHT or evidence.has_middleboxes
        if rule is None or base is None or is_skipped:
            continue
        scenario = evidence.scenario
        new_remedies = (
            remedy for remedy in rule(evidence, cause) if _is_new(remedy, base, evidence, compared_ccas)
        )
        for index, remedy in enumerate(new_remedies):
            # Computed values differ a little from CCA to CCA; the first one stands for all.
            variant = remedy.changed_fields, remedy.is_variant
            key = first_of_variants.setdefault(variant, (cause.name, remedy))
            rank = index, not leads, -cause.weight
            ranks[key] = min(ranks.get(key, rank), rank)
            leading.setdefault(key, set()).update([evidence.cca] if leads else [])
            if evidence.cca not in ccas.setdefault(key, []):
                ccas[key].append(evidence.cca)
    return [
        ProposedRemedy(*key, tuple(ccas[key]), scenario, leading=frozenset(leading[key]))
        for key in sorted(ranks, key=ranks.__getitem__)
    ]


def best_first(remedies: Sequence[ProposedRemedy]) -> list[ProposedRemedy]:
    """Returns the remedy with the largest gain for each set of changed fields, sorted by gain.

    Remedies that help a leading CCA come first. Remedies without a trial keep their positions.
    Variants without a trial are left out.
    """
    best: dict[tuple[object, ...], ProposedRemedy] = {}
    other_values: dict[tuple[object, ...], list[str]] = {}

    def rank(proposed: ProposedRemedy) -> tuple[bool, float, bool]:
        gains = list(proposed.net_gains.values()) or [proposed.gain]
        return not proposed.trial, -sum(gains) / len(gains), proposed.remedy.is_variant

    for proposed in sorted(remedies, key=rank):
        if proposed.trial or not proposed.remedy.is_variant:
            fields = proposed.remedy.changed_fields
            is_other = best.setdefault(fields, proposed) is not proposed
            if is_other and proposed.remedy.curve and proposed.brief:
                other_values.setdefault(fields, []).append(_other_value_text(proposed))
    best_ids = set(map(id, best.values()))
    selected = [
        proposed._replace(other_values=tuple(other_values.get(proposed.remedy.changed_fields, ())))
        for proposed in remedies
        if id(proposed) in best_ids
    ]
    with_trial = [proposed for proposed in selected if proposed.trial]
    ordered = iter(sorted(with_trial, key=lambda item: (not item.helps_leader, -item.gain)))
    return [next(ordered) if proposed.trial else proposed for proposed in selected]


def _other_value_text(proposed: ProposedRemedy) -> str:
    """Returns the value of the field of a sweep in a remedy, with the main metrics of its trial."""
    field = proposed.remedy.curve.partition("=")[0]
    values = dict(change.split("=", 1) for change in proposed.remedy.changes)
    return f"with {values[field]}, {proposed.brief}"


def lines_of(text: str) -> list[str]:
    """Returns a line of `remedy_commands` in several: the command, then each part of its comment."""
    command, _, comment = text.partition("  # ")
    return [command, *(f"  # {part}" for part in comment.split("; "))]


def _loaded_scenario(text: str) -> Scenario | None:
    """Returns the scenario of results; None if it names a file that no longer exists."""
    try:
        return read_scenario(text, "results", Path())
    except CelltcpError:
        return None


def _is_new(remedy: Remedy, base: Scenario, evidence: Evidence, compared_ccas: Sequence[str]) -> bool:
    """Returns whether a remedy can be tried, and is not in the results already."""
    cca = _with_parameter(evidence.cca, remedy.parameter) if remedy.parameter else remedy.cca
    if cca and (cca in compared_ccas or has_several_flows(evidence.cca)):
        return False
    try:
        return not remedy.changes or base.with_changes(list(remedy.changes)).hash != base.hash
    except CelltcpError:
        return False


def _with_parameter(cca: str, setting: str) -> str:
    """Returns the specification of a congestion control with a parameter, before its middleboxes."""
    name, at_sign, middleboxes = cca.partition("@")
    return f"{name}{',' if ':' in name else ':'}{setting}{at_sign}{middleboxes}"
