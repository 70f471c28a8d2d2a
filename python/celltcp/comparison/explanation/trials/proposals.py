"""Proposals: the remedies of the causes of a comparison that can be tried, as commands, best first."""

from __future__ import annotations

import itertools
import re
import shlex
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from celltcp._core import CelltcpError, describe_cca, native_ccas
from celltcp.comparison.explanation.kinds import KINDS
from celltcp.comparison.lines.linux_lines import cca_line, host_text, linux_lines, other_system_lines
from celltcp.comparison.lines.socket_options import has_own_scale, socket_option_texts
from celltcp.scenarios.cca_mix import has_several_flows, parse_mix
from celltcp.scenarios.stored import read_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from celltcp._core import Scenario
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.causes.cause import Cause
    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.remedies.remedy import Remedy
    from celltcp.comparison.explanation.trials.trials import Trial

#: Maximum number of remedies in the explanation of a comparison.
MAX_REMEDIES = 3
#: Factor by which the gain of the best remedy of a cause counts more, so that more causes have one.
_FIRST_FACTOR = 2.0
#: Minimum weight of a cause that gets remedies.
_MIN_WEIGHT = 0.01
#: End of a part of a text; semicolons in parentheses separate no parts.
_PARTS_END = re.compile(r"; (?![^(]*\))")


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
    #: CCAs of `ccas` that lead, or are as good as the leader, or better with the remedy.
    leading: frozenset[str] = frozenset()
    #: Whether the trial helps frames alone, of which most are late all the same.
    leaves_most_late: bool = False
    #: Results of the trial.
    after: Comparison | None = None

    def with_trial(self, trial: Trial) -> ProposedRemedy:
        """Returns the remedy with the outcome of its trial, for the CCAs that it helped."""
        return self._replace(
            ccas=trial.helped_ccas,
            trial=trial.text,
            gain=trial.gain,
            brief=trial.brief,
            net_gains=trial.net_gains,
            leaves_most_late=trial.leaves_most_late,
            after=trial.after,
        )

    @property
    def run_count(self) -> int:
        """Number of runs of the trial under each congestion control; 0 without one."""
        return 0 if self.after is None else int(self.after.results.about["runs"])

    @property
    def helps_leader(self) -> bool:
        """Whether the remedy is for a CCA that leads, or is as good as the leader, also by it."""
        return not self.leading.isdisjoint(self.ccas)

    @property
    def replacement_ccas(self) -> list[str]:
        """Congestion controls to run in a trial in place of each of `ccas`."""
        remedy = self.remedy
        if remedy.cca:
            return [remedy.cca] * len(self.ccas)
        if remedy.parameter:
            return [_with_parameter(cca, remedy.parameter) for cca in self.ccas]
        if remedy.middlebox:
            return [f"{cca.partition('@')[0]}@{remedy.middlebox}" for cca in self.ccas]
        return list(self.ccas)

    def under(self, cca: str) -> ProposedRemedy:
        """Returns the remedy for the first congestion control that is `cca` with it."""
        pairs = zip(self.ccas, self.replacement_ccas, strict=True)
        return self._replace(ccas=tuple(own for own, replacement in pairs if replacement == cca)[:1])

    @property
    def options(self) -> str:
        """Options of `celltcp compare` that try the remedy."""
        remedy = self.remedy
        ccas = [*self.ccas, *([remedy.cca] if remedy.cca else [])]
        if remedy.parameter:
            ccas += [_with_parameter(cca, remedy.parameter) for cca in self.ccas]
        if remedy.middlebox:
            is_split = any("@" in cca for cca in ccas)
            ccas = [cca.partition("@")[0] for cca in ccas]
        arguments = ["--cca", ",".join(ccas)]
        if remedy.middlebox:
            arguments += ["--middlebox", remedy.middlebox if is_split else f"none,{remedy.middlebox}"]
        arguments += itertools.chain.from_iterable(("--set", change) for change in remedy.changes)
        return shlex.join([*_file_options(ccas), *arguments])

    @property
    def curve_options(self) -> str:
        """Options of `celltcp sweep` that compare values of a field of the remedy; empty without."""
        remedy = self.remedy
        if not remedy.curve:
            return ""
        field = remedy.curve.partition("=")[0]
        others = [change for change in remedy.changes if change.partition("=")[0] != field]
        arguments = itertools.chain.from_iterable(("--set", change) for change in others)
        ccas = ["--cca", ",".join(self.ccas)]
        return shlex.join([*_file_options(self.ccas), *arguments, "--vary", remedy.curve, *ccas])

    @property
    def lines(self) -> list[str]:
        """Lines for Linux and other systems, each with its host."""
        remedy = self.remedy
        changes = linux_lines(remedy.changes, self.scenario, remedy.direction)
        others = itertools.chain.from_iterable(map(other_system_lines, remedy.changes))
        options = socket_option_texts(remedy.changes, self.scenario)
        sender = f"{host_text('sender', self.scenario)}: "
        own = (re.sub("^sender: ", sender, text) for text in remedy.linux.split("; "))
        # Of a CCA mix, one flow has another CCA than before, whose host `linux` names.
        cca = "" if has_several_flows(remedy.cca) else cca_line(remedy.cca, self.scenario)
        parts = [*own, *changes, cca, *others, *options]
        if has_own_scale(self.scenario):
            # Scaling is on already.
            parts = [*own, *options, *changes, cca, *(each for each in others if "netsh" in each)]
        return _PARTS_END.split("; ".join(filter(None, parts)))

    @property
    def purpose(self) -> str:
        """Text with the effect to avoid."""
        return f"against {self.remedy.against}"

    @property
    def text(self) -> str:
        """Text with the effect to avoid, lines for Linux, and the outcome of a trial or the cost."""
        remedy, lines = self.remedy, "; ".join(self.lines)
        network = f"; {remedy.network}" if remedy.network else ""
        text = f"{self.purpose}{network}{f'; Linux, {lines}' if lines else ''}"
        if self.trial:
            return "; ".join([f"{text}; tried {self.trial}", *self.other_values])
        return f"{text}; price: {remedy.price}" if remedy.price else text


@dataclass
class _Candidate:
    """A remedy of a cause, with what the causes and CCAs that have it say of it."""

    cause: str
    remedy: Remedy
    scenario: Mapping[str, object]
    #: Position among the remedies of its cause, whether no such CCA leads, and negative weight.
    rank: tuple[int, bool, float]
    #: Directions of the queues that it is for.
    directions: set[str] = field(default_factory=set)
    #: For each CCA with the cause, whether it leads, or is as good as the leader.
    leads_under: dict[str, bool] = field(default_factory=dict)

    def proposed(self) -> ProposedRemedy:
        """Returns the remedy for all of its CCAs, without a direction if it is for both."""
        is_one = len(self.directions) == 1
        remedy = self.remedy if is_one else self.remedy._replace(direction="")
        leading = frozenset(cca for cca, leads in self.leads_under.items() if leads)
        return ProposedRemedy(
            self.cause, remedy, tuple(self.leads_under), self.scenario, leading=leading
        )


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
    candidates: dict[tuple[object, ...], _Candidate] = {}
    # A scenario of a log takes long to read.
    loaded: dict[str, Scenario | None] = {}
    for evidence, cause, leads in causes:
        kind = KINDS[cause.name]
        rule = kind.split_remedies if evidence.is_split else kind.remedies
        text = evidence.scenario_text
        if rule and text not in loaded:
            loaded[text] = _loaded_scenario(evidence.metadata)
        base = loaded[text] if rule else None
        has_other_boxes = evidence.has_middleboxes and not evidence.is_split
        is_skipped = cause.weight < _MIN_WEIGHT or has_other_boxes
        if rule is None or base is None or is_skipped:
            continue
        of_flow = (_for_own_flow(each, evidence) for each in rule(evidence, cause))
        new_remedies = (
            remedy
            for each in of_flow
            if not _is_of_others(each, evidence.scenario)
            and _is_new(remedy := _without_boxes(each, evidence.cca), base, evidence, compared_ccas)
        )
        for index, remedy in enumerate(new_remedies):
            # Computed values differ a little from CCA to CCA; the first one stands for all.
            variant = remedy.changed_fields, remedy.variant, remedy.fallback
            rank = index, not leads, -cause.weight
            first = _Candidate(cause.name, remedy, evidence.scenario, rank)
            candidate = candidates.setdefault(variant, first)
            candidate.rank = min(candidate.rank, rank)
            candidate.directions.add(remedy.direction)
            candidate.leads_under[evidence.cca] = (
                candidate.leads_under.get(evidence.cca, False) or leads
            )
    return [each.proposed() for each in sorted(candidates.values(), key=lambda each: each.rank)]


def best_first(
    remedies: Sequence[ProposedRemedy], advised: Sequence[tuple[str, ...]] = ()
) -> list[ProposedRemedy]:
    """Returns `MAX_REMEDIES` remedies, sorted by gain.

    For each set of changed fields there is the remedy with the first of the `advised` changes, or else
    with the largest gain. The best remedy of a cause replaces others with up to `_FIRST_FACTOR` times
    its gain. Remedies that help a leading CCA come first. Those without a trial keep their positions,
    or are left out if they are variants.
    """
    best: dict[tuple[object, ...], ProposedRemedy] = {}
    other_values: dict[tuple[object, ...], list[str]] = {}

    places = {changes: index for index, changes in reversed([*enumerate(advised)])}

    def rank(proposed: ProposedRemedy) -> tuple[bool, int, float, int]:
        gains, remedy = list(proposed.net_gains.values()) or [proposed.gain], proposed.remedy
        place = places.get(remedy.changes, len(advised))
        return not proposed.trial, place, -sum(gains) / len(gains), remedy.variant

    for proposed in sorted(remedies, key=rank):
        if proposed.trial or not (proposed.remedy.variant or proposed.remedy.fallback):
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
    firsts = {each.cause: id(each) for each in sorted(selected, key=lambda item: item.gain)}

    def by_gain(item: ProposedRemedy) -> tuple[bool, float]:
        return not item.helps_leader, -item.gain

    def by_gain_and_cause(item: ProposedRemedy) -> tuple[bool, float]:
        is_first = id(item) == firsts[item.cause]
        return not item.helps_leader, -item.gain * (_FIRST_FACTOR if is_first else 1.0)

    shown = _with_trials_sorted(selected, by_gain_and_cause)[:MAX_REMEDIES]
    return _with_trials_sorted(shown, by_gain)


def _with_trials_sorted(
    remedies: Sequence[ProposedRemedy], key: Callable[[ProposedRemedy], tuple[bool, float]]
) -> list[ProposedRemedy]:
    """Returns remedies of which those with a trial are sorted; others keep their positions."""
    ordered = iter(sorted((each for each in remedies if each.trial), key=key))
    return [next(ordered) if each.trial else each for each in remedies]


def _other_value_text(proposed: ProposedRemedy) -> str:
    """Returns the value of the field of a sweep in a remedy, with the main metrics of its trial."""
    field = proposed.remedy.curve.partition("=")[0]
    values = dict(change.split("=", 1) for change in proposed.remedy.changes)
    return f"with {values[field]}, {proposed.brief}"


def lines_of(text: str) -> list[str]:
    """Returns a line of `remedy_commands` in several: the command, then each part of its comment."""
    command, _, comment = text.partition("  # ")
    return [command, *(f"  # {part}" for part in _PARTS_END.split(comment))]


def _loaded_scenario(about: Mapping[str, object]) -> Scenario | None:
    """Returns the scenario of results; None if it names a file that no longer exists."""
    try:
        return read_stored(about)
    except CelltcpError:
        return None


def _for_own_flow(remedy: Remedy, evidence: Evidence) -> Remedy:
    """Returns a remedy by a CCA or parameter as a change of the flow that has the cause.

    The option --cca sets the congestion control of the first flow alone, unless it has mixes.
    """
    cca = _with_parameter(evidence.own_cca, remedy.parameter) if remedy.parameter else remedy.cca
    is_first = evidence.flow_index == 0 or remedy.is_for_first_flow
    if not cca or is_first or has_several_flows(evidence.cca):
        return remedy
    changes = (*remedy.changes, f"flows.{evidence.flow_index}.cca={cca}")
    return remedy._replace(cca="", parameter="", changes=changes)


def _is_of_others(remedy: Remedy, scenario: Mapping[str, Any]) -> bool:
    """Returns whether a remedy is a setting of other people: of flows with several applications.

    Those are beside the first flow, which is that of who asks; several transfers may be its own.
    """
    flows = dict(enumerate(scenario.get("flows", ())))
    changed = [change.split(".") for change in remedy.changes if change.startswith("flows.")]
    others = [flows.get(int(parts[1]), {}) for parts in changed if int(parts[1]) > 0]
    return any(
        int(flow.get("count", 1)) > 1 and flow.get("workload", {}).get("kind", "bulk") != "bulk"
        for flow in others
    )


def _without_boxes(remedy: Remedy, cca: str) -> Remedy:
    """Returns a remedy whose CCA has no middleboxes, as the one that it replaces."""
    none = "@none"
    is_without = remedy.cca and cca.endswith(none) and "@" not in remedy.cca
    return remedy._replace(cca=f"{remedy.cca}{none}") if is_without else remedy


def _is_new(remedy: Remedy, base: Scenario, evidence: Evidence, compared_ccas: Sequence[str]) -> bool:
    """Returns whether a remedy can be tried, and is not in the results already."""
    cca = _with_parameter(evidence.cca, remedy.parameter) if remedy.parameter else remedy.cca
    is_of_all = has_several_flows(evidence.cca) and not has_several_flows(remedy.cca)
    if cca and (cca in compared_ccas or is_of_all):
        return False
    try:
        return not remedy.changes or base.with_changes(list(remedy.changes)).hash != base.hash
    except CelltcpError:
        return False


def _file_options(ccas: Iterable[str]) -> list[str]:
    """Returns the option with the file of the user's own congestion controls, if some are.

    Results have the names of those, and not their files.
    """
    names = {flow.name for cca in ccas for flow in parse_mix(cca).flows if not flow.is_selector}
    registered = native_ccas()
    own = [each for each in names if each not in registered or describe_cca(each)["family"] == "user"]
    return ["--cca-file", "FILE"] if own else []


def _with_parameter(cca: str, setting: str) -> str:
    """Returns the specification of a congestion control with a parameter, before its middleboxes."""
    name, at_sign, middleboxes = cca.partition("@")
    return f"{name}{',' if ':' in name else ':'}{setting}{at_sign}{middleboxes}"
