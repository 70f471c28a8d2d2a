"""Findings: which CCA is best for each requirement, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from celltcp.comparison.applications import Application
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.metrics import APP_METRICS, GOODPUT, RANKED, sign_of, words_of
from celltcp.present.palette import colours
from celltcp.present.section import Column, Finding, Table, estimate_text, mean_text, runs_text
from celltcp.results.statistics import Verdict, estimate, paired_gap
from celltcp.scenarios.cca_mix import labels, single_flow_mixes
from celltcp.scenarios.requirements import QOE


class _Ranking(NamedTuple):
    """Verdict by a metric, with the values of the runs."""

    need: str
    metric: str
    verdict: Verdict
    #: By CCA, in the order of the seeds.
    values: Mapping[str, Sequence[float]]

    @property
    def sign(self) -> int:
        """Factor that makes more of the metric better."""
        return sign_of(self.metric) if self.metric in RANKED else 1

    def mean(self, cca: str) -> float:
        """Returns the mean of a CCA."""
        return estimate(self.values[cca]).mean

    def ordered(self, ccas: Iterable[str]) -> list[str]:
        """Returns CCAs by their means, the best one first."""
        return sorted(ccas, key=lambda cca: -self.sign * self.mean(cca))

    def text(self, cca: str) -> str:
        """Returns the mean of a CCA with its interval and unit, and the metric's name if needed."""
        words = words_of(self.metric)
        number = mean_text(self.values[cca], words.digits)
        if self.metric == GOODPUT:
            return words.with_unit(number)
        if self.metric not in APP_METRICS:
            return f"PM {number}"
        return f"{words.name} {number if self.metric == QOE else words.with_unit(number)}"


def findings_of(comparison: Comparison) -> tuple[Finding, ...]:
    """Returns a finding per flow and requirement; none of line-ups, which compete with each other."""
    names, shades = labels(comparison.ccas), colours(comparison.ccas)
    return tuple(_finding(comparison, ranking, names, shades) for ranking in _rankings(comparison))


def requirement_finding(comparison: Comparison, requirement: str) -> Finding:
    """Returns the finding for a requirement."""
    alone = single_flow_mixes(comparison.ccas)
    ranking = _of_requirement(comparison, requirement, alone)
    return _finding(comparison, ranking, labels(comparison.ccas), colours(comparison.ccas))


def _rankings(comparison: Comparison) -> list[_Ranking]:
    """Returns the rankings for the flows of a workload, then those by requirement."""
    alone = single_flow_mixes(comparison.ccas)
    if not alone:
        return []
    if len(alone) == 1 and not comparison.is_competing:
        return [_of_application(application, alone[0]) for application in comparison.applications]
    # A single CCA has metrics, but no verdict.
    verdicts = comparison.network_verdicts if len(alone) > 1 else comparison.verdicts
    if comparison.is_finite and comparison.ranked_stakes:
        verdicts = {}
    return [
        *(
            _Ranking(ranked_stake.need, ranked_stake.metric, ranked_stake.verdict, ranked_stake.values)
            for ranked_stake in comparison.ranked_stakes
        ),
        *(_of_requirement(comparison, name, alone) for name in verdicts),
    ]


def _of_application(application: Application, cca: str) -> _Ranking:
    """Returns the metric of an application under the only congestion control."""
    metric, title, _ = application.ranking
    values = {cca: application.values(metric)[cca]}
    return _Ranking(
        f"{application.flow}, by {title}", metric, application.verdict(random=False), values
    )


def _of_requirement(comparison: Comparison, name: str, ccas: Sequence[str]) -> _Ranking:
    metric = comparison.requirements[name]
    values = {cca: comparison.values(cca, metric) for cca in ccas}
    return _Ranking(name, metric, comparison.verdicts[name], values)


def _finding(
    comparison: Comparison, ranking: _Ranking, names: Mapping[str, str], shades: Mapping[str, str]
) -> Finding:
    question = f"Best for {ranking.need}"
    values, verdict = ranking.values, ranking.verdict
    if verdict.leader is None:
        return Finding(question, "undecided", "no data was delivered", state="undecided")
    leader = verdict.leader
    leader_text = _worth(comparison, leader, ranking)
    if len(values) == 1:
        alone = "the only CCA: nothing to compare it with"
        return Finding(f"{names[leader]}, for {ranking.need}", leader_text, "", alone, "undecided")
    if not comparison.decides:
        why = "one run of a random scenario is not conclusive"
        return Finding(
            question, "undecided", f"{names[leader]} leads with {leader_text}", why, "undecided"
        )
    if verdict.contradicted_by:
        extent = f"{names[leader]} leads with {leader_text}"
        return Finding(question, "no verdict", extent, verdict.contradicted_by, "undecided")
    rest = ranking.ordered(cca for cca in values if cca not in verdict.ranked)
    behind = f"; {_ahead(ranking, leader, rest[0])} {names[rest[0]]}, the next behind" if rest else ""
    based = f"paired differences of {runs_text(int(comparison.results.about['runs']))}"
    if not verdict.undecided:
        tied = _listed([names[cca] for cca in verdict.tied])
        certainty = f"tied with {tied}: within 5 %, by {based}" if tied else f"by {based}"
        state = "tied" if tied else "decided"
        cost = f"; it costs {verdict.cost.text}" if verdict.cost else ""
        extent = f"{leader_text}{behind}{cost}"
        return Finding(question, names[leader], extent, certainty, state, shades[leader])
    among = _listed([names[cca] for cca in verdict.ranked])
    more = f"; {verdict.runs_needed} runs would likely decide" if verdict.runs_needed else ""
    extent = f"{names[leader]} leads with {leader_text}{behind}"
    excluded = "; ".join(
        text for cca in verdict.undecided if (text := _excluded(ranking, leader, cca, names))
    )
    certainty = f"undecided among {among}, by {based}{more}"
    if excluded:
        certainty = f"{certainty}. Excluded with 95 %: {excluded}"
    return Finding(question, f"{names[leader]}?", extent, certainty, "undecided", shades[leader])


def _worth(comparison: Comparison, cca: str, ranking: _Ranking) -> str:
    """Returns the mean of a metric in words; network metrics with goodput and RTT."""
    leader_text = ranking.text(cca)
    if ranking.metric in APP_METRICS and ranking.metric != QOE:
        return leader_text
    rtt = f"at a mean RTT of {mean_text(comparison.values(cca, 'rtt_mean_ms'), 0)} ms"
    if ranking.metric == GOODPUT:
        return f"{leader_text} {rtt}"
    return f"{leader_text}, {mean_text(comparison.values(cca, GOODPUT), 2)} Mbit/s {rtt}"


def _excluded(ranking: _Ranking, leader: str, other: str, names: Mapping[str, str]) -> str:
    """Returns which differences the interval excludes; empty without an interval."""
    gap = paired_gap(ranking.values[leader], ranking.values[other])
    if gap.ci95 is None:
        return ""
    with_unit = words_of(ranking.metric).with_unit
    mean = ranking.sign * gap.mean
    ahead, behind = mean + gap.ci95, gap.ci95 - mean
    text = f"{names[leader]} more than {with_unit(f'{ahead:.2g}')} ahead of {names[other]}"
    return f"{text}, or more than {with_unit(f'{behind:.2g}')} behind" if behind > 0 else text


def _ahead(ranking: _Ranking, best: str, other: str) -> str:
    """Returns the lead of one CCA over another, with the 95 % interval."""
    base = abs(ranking.mean(other))
    result = paired_gap(ranking.values[best], ranking.values[other])
    if not base or math.isnan(result.mean):
        return "ahead of"
    share, half = 100 * ranking.sign * result.mean / base, result.ci95
    word = "more" if ranking.sign > 0 else "less"
    if half is None:
        return f"{share:.1f} % {word} than"
    half = 100 * half / base
    return f"{share:.1f} % {word} ({share - half:.1f} to {share + half:.1f} %) than"


def differences_table(comparison: Comparison) -> Table | None:
    """Returns the difference of each CCA to the leader of each ranking; None without rivals."""
    names = labels(comparison.ccas)
    rows: list[tuple[str, ...]] = []
    ends = set()
    alone = single_flow_mixes(comparison.ccas)
    if len(alone) < 2 or not comparison.decides:
        return None
    for ranking in _rankings(comparison):
        verdict = ranking.verdict
        if verdict.leader is None:
            continue
        digits = words_of(ranking.metric).digits
        base = abs(ranking.mean(verdict.leader)) or math.nan
        for cca in ranking.ordered(alone):
            if cca == verdict.leader:
                continue
            gap = paired_gap(ranking.values[cca], ranking.values[verdict.leader])
            share = gap.mean / base
            state = "tied" if cca in verdict.tied else "undecided"
            rows.append(
                (
                    ranking.need,
                    names[verdict.leader],
                    names[cca],
                    estimate_text(gap, digits),
                    "-" if math.isnan(share) else f"{100 * share:+.1f}",
                    state if cca in verdict.ranked else "worse",
                )
            )
        ends.add(len(rows) - 1)
    headings = (
        *(("for", False), ("leader", False), ("other", False)),
        *(("difference", True), ("difference, %", True), ("verdict", False)),
    )
    columns = tuple(Column(heading, is_number=numeric) for heading, numeric in headings)
    ccas = {names[cca]: cca for cca in alone}
    return Table(columns, tuple(rows), ends=frozenset(ends), ccas=ccas)


def _listed(names: Sequence[str], most: int = 5) -> str:
    """Returns names as a list in words, the first few of many."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} others"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
