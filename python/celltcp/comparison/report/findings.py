"""Findings of a comparison: the best CCA by each metric, its lead, and how certain that is."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from celltcp.comparison.applications.applications import Application
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.metrics import (
    APP_METRICS,
    GOODPUT,
    MEAN_RTT,
    RANKED,
    metric_gap,
    metric_text,
    range_of,
    sign_of,
    words_of,
)
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.comparison.verdicts.reversals import ApplicationStatistics, best_reversal_text
from celltcp.comparison.verdicts.verdict_tables import ahead_text, hint_text, rank_word
from celltcp.present.palette import colours
from celltcp.present.section import (
    Column,
    Finding,
    Table,
    estimate_text,
    number_columns,
    runs_text,
)
from celltcp.results.statistics import Verdict, estimate
from celltcp.scenarios.cca_mix import join_names, labels, ranked_mixes
from celltcp.scenarios.requirements import QOE

#: Maximum number of names that a list in words has, unless there is only one more.
_MAX_LISTED = 5


class _Ranking(NamedTuple):
    """Verdict by a metric, with the values of the runs."""

    #: Flow and metric, or requirement, in words.
    need: str
    metric: str
    verdict: Verdict
    #: By CCA, in the order of the seeds.
    values: Mapping[str, Sequence[float]]
    #: CCAs under which they are lower bounds.
    bounds: Collection[str] = ()
    #: Statistic by which another CCA is better than the leader, in words; empty without one.
    reversal: str = ""

    @property
    def sign(self) -> int:
        """1 if more of the metric is better, -1 if less is."""
        return sign_of(self.metric) if self.metric in RANKED else 1

    def mean(self, cca: str) -> float:
        """Returns the mean of a CCA."""
        return estimate(self.values[cca]).mean

    def ordered(self, ccas: Iterable[str]) -> list[str]:
        """Returns CCAs by their means, the best one first."""
        return sorted(ccas, key=lambda cca: -self.sign * self.mean(cca))

    def text(self, cca: str) -> str:
        """Returns the mean of a CCA with interval and unit; goodput has no name of the metric."""
        words = words_of(self.metric).suited(*map(self.mean, self.values))
        number = words.mean_number(self.values[cca], is_bound=cca in self.bounds)
        if self.metric == GOODPUT:
            return words.with_unit(number)
        if self.metric not in APP_METRICS:
            return f"PM {number}"
        return f"{words.name} {number if self.metric == QOE else words.with_unit(number)}"


def findings_of(comparison: Comparison, by: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Returns a finding per flow and requirement; mixes have none, as their CCAs compete.

    Metrics of applications in `by`, as in `Comparison.best_by`, come first.
    """
    names, shades = labels(comparison.ccas), colours(comparison.ccas)
    rankings = [*_chosen_rankings(comparison, by), *_rankings(comparison)]
    return tuple(_finding(comparison, ranking, names, shades) for ranking in rankings)


def _chosen_rankings(comparison: Comparison, by: Sequence[str]) -> Iterator[_Ranking]:
    """Yields the rankings by chosen metrics of applications, without those that rank in any case."""
    usual = {(stake.flow, stake.metric) for stake in comparison.ranked_stakes}
    for (metric, flow), values, verdict, bounds, maxima in map(comparison.best_by, by):
        if metric in APP_METRICS and (flow, metric) not in usual and verdict.leader is not None:
            note = " (too few values: the largest)" if maxima else ""
            need = f"{flow}, by {words_of(metric).name}{note}"
            yield _Ranking(need, metric, verdict, values, bounds)


def requirement_finding(comparison: Comparison, requirement: str) -> Finding:
    """Returns the finding for a requirement."""
    single_ccas = ranked_mixes(comparison.ccas)
    ranking = _requirement_ranking(comparison, requirement, single_ccas)
    return _finding(comparison, ranking, labels(comparison.ccas), colours(comparison.ccas))


def _rankings(comparison: Comparison) -> list[_Ranking]:
    """Returns the rankings for the flows of a workload, then those by requirement."""
    single_ccas = comparison.ranked_ccas
    if not single_ccas:
        return []
    if len(single_ccas) == 1 and not comparison.is_competing:
        return [
            _application_ranking(application, single_ccas[0]) for application in comparison.applications
        ]
    # A single CCA has metrics, but no verdict.
    verdicts = comparison.network_verdicts if len(single_ccas) > 1 else comparison.verdicts
    if comparison.is_finite and comparison.ranked_stakes:
        verdicts = {}
    known, names = ApplicationStatistics(comparison.applications), labels(comparison.ccas)
    return [
        *(
            _Ranking(
                *(stake.need, stake.metric, stake.verdict, stake.values, stake.bounds),
                best_reversal_text(known, stake, names),
            )
            for stake in comparison.ranked_stakes
        ),
        *(_requirement_ranking(comparison, name, single_ccas) for name in verdicts),
    ]


def _application_ranking(application: Application, cca: str) -> _Ranking:
    """Returns the metric of an application under the only congestion control."""
    metric, title, _ = application.ranking
    need, verdict = f"{application.flow}, by {title}", application.verdict(random=False)
    values = {cca: application.values(metric)[cca]}
    return _Ranking(need, metric, verdict, values, application.bounds(metric))


def _requirement_ranking(comparison: Comparison, name: str, ccas: Sequence[str]) -> _Ranking:
    metric = comparison.requirements[name]
    values = {cca: comparison.values(cca, metric) for cca in ccas}
    return _Ranking(name, metric, comparison.verdicts[name], values)


def _finding(
    comparison: Comparison, ranking: _Ranking, names: Mapping[str, str], shades: Mapping[str, str]
) -> Finding:
    question = f"Best for {ranking.need}"
    values, verdict, words = ranking.values, ranking.verdict, words_of(ranking.metric)
    if verdict.leader is None:
        return Finding(question, "undecided", "no data was delivered", state="undecided")
    leader = verdict.leader
    text = _means_text(comparison, leader, ranking)
    if len(values) == 1:
        note = "the only CCA: nothing to compare it with"
        return Finding(f"{names[leader]}, for {ranking.need}", text, "", note, "undecided")
    lead = f"{names[leader]} leads with {text}"
    reversal = f"; {ranking.reversal}" if ranking.reversal else ""
    if not comparison.decides:
        reason = "one run of a random scenario is not conclusive"
        return Finding(question, "undecided", lead, reason, "undecided")
    if verdict.contradicted_by:
        return Finding(question, "no verdict", lead, verdict.contradicted_by, "undecided")
    worse = ranking.ordered(cca for cca in values if cca not in verdict.ranked)
    gap = (
        f"; {_lead_text(ranking, leader, worse[0])} {names[worse[0]]}, the next behind" if worse else ""
    )
    basis = f"paired differences of {runs_text(int(comparison.results.about['runs']))}"
    if not verdict.undecided:
        tied = _listed([names[cca] for cca in verdict.tied])
        bound = (
            f" or {words.factor * least:g} {words.unit}".rstrip()
            if (least := min_difference(ranking.metric))
            else ""
        )
        certainty = f"tied with {tied}: within 5 %{bound}, by {basis}" if tied else f"by {basis}"
        certainty = "; ".join([*verdict.dearer_texts(names), certainty])
        state = "tied" if tied else "decided"
        cost = f"; it costs {verdict.cost.text}" if verdict.cost else ""
        effect = f"{text}{gap}{cost}{reversal}"
        return Finding(question, names[leader], effect, certainty, state, shades[leader])
    among = _listed([names[cca] for cca in verdict.ranked])
    more = f"; {hint_text(verdict)}" if verdict.runs_needed or verdict.doubt else ""
    bounds = "; ".join(
        text for cca in verdict.undecided if (text := _bounds_text(ranking, leader, cca, names))
    )
    certainty = f"undecided among {among}, by {basis}{ahead_text(verdict, names)}{more}"
    if bounds:
        certainty = f"{certainty}. With 95 % confidence {bounds}"
    return Finding(
        question, f"{names[leader]}?", f"{lead}{gap}{reversal}", certainty, "undecided", shades[leader]
    )


def _means_text(comparison: Comparison, cca: str, ranking: _Ranking) -> str:
    """Returns the mean of the metric; for network metrics and QoE, with goodput and RTT."""
    text = ranking.text(cca)
    if ranking.metric in APP_METRICS and ranking.metric != QOE:
        return text
    rtt = f"at a mean RTT of {metric_text(MEAN_RTT, comparison.values(cca, MEAN_RTT), 0)} ms"
    if ranking.metric == GOODPUT:
        return f"{text} {rtt}"
    return f"{text}, {metric_text(GOODPUT, comparison.values(cca, GOODPUT), 2)} Mbit/s {rtt}"


def _bounds_text(ranking: _Ranking, leader: str, other: str, names: Mapping[str, str]) -> str:
    """Returns how far two CCAs are apart at most, by the 95 % interval; empty without an interval."""
    gap = metric_gap(ranking.metric, ranking.values[leader], ranking.values[other])
    if gap.ci95 is None:
        return ""
    words = words_of(ranking.metric)
    mean = ranking.sign * gap.mean
    ahead, behind = (words.factor * each for each in (mean + gap.ci95, gap.ci95 - mean))
    text = f"{names[leader]} is at most {words.with_unit(f'{ahead:.2g}')} ahead of {names[other]}"
    return f"{text}, and at most {words.with_unit(f'{behind:.2g}')} behind" if behind > 0 else text


def _lead_text(ranking: _Ranking, best: str, other: str) -> str:
    """Returns the lead of one CCA over another in percent, with the 95 % interval."""
    base = abs(ranking.mean(other))
    gap = metric_gap(ranking.metric, ranking.values[best], ranking.values[other])
    if not base or math.isnan(gap.mean):
        return "ahead of"
    share, half = 100 * ranking.sign * gap.mean / base, gap.ci95
    word = "more" if ranking.sign > 0 else "less"
    if other in ranking.bounds:
        return f"at least {share:.1f} % {word} than"
    if half is None:
        return f"{share:.1f} % {word} than"
    half = 100 * half / base
    # No time or share can be less by more than all of it.
    most = 100.0 if word == "less" and range_of(ranking.metric)[0] == 0 else math.inf
    return f"{share:.1f} % {word} ({share - half:.1f} to {min(share + half, most):.1f} %) than"


def differences_table(comparison: Comparison) -> Table | None:
    """Returns the difference of each CCA to the leader by each metric; None without a comparison."""
    names = labels(comparison.ccas)
    rows: list[tuple[str, ...]] = []
    ends = set()
    single_ccas = ranked_mixes(comparison.ccas)
    if len(single_ccas) < 2 or not comparison.decides:
        return None
    for ranking in _rankings(comparison):
        verdict = ranking.verdict
        if verdict.leader is None:
            continue
        words = words_of(ranking.metric)
        base = abs(ranking.mean(verdict.leader)) or math.nan
        for cca in ranking.ordered(single_ccas):
            if cca == verdict.leader:
                continue
            gap = metric_gap(ranking.metric, ranking.values[cca], ranking.values[verdict.leader])
            share = gap.mean / base
            rows.append(
                (
                    ranking.need,
                    names[verdict.leader],
                    names[cca],
                    estimate_text(
                        replace(gap.scaled(words.factor), is_bound=cca in ranking.bounds), words.digits
                    ),
                    "-" if math.isnan(share) else f"{100 * share:+.1f}",
                    rank_word(cca, verdict),
                )
            )
        ends.add(len(rows) - 1)
    columns = (
        *map(Column, ("for", "leader", "other")),
        *number_columns("difference", "difference, %"),
        Column("verdict"),
    )
    ccas = {names[cca]: cca for cca in single_ccas}
    return Table(columns, tuple(rows), group_ends=frozenset(ends), cca_of_cell=ccas)


def _listed(names: Sequence[str]) -> str:
    """Returns names as a list in words; of many, the first ones and the number of others."""
    if len(names) > _MAX_LISTED + 1:
        return join_names(names, _MAX_LISTED)
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
