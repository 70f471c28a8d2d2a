"""Findings: which CCA is best for each requirement, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from celltcp.comparison.comparison import Comparison
from celltcp.present.palette import colours
from celltcp.present.section import Column, Finding, Table, mean_text, runs_text
from celltcp.results.statistics import Verdict, estimate, paired_difference
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.requirements import QOE

#: Spelling of goodput, and digits of other metrics, which have no unit.
_GOODPUT = "goodput_mbps"


def findings_of(result: Comparison) -> tuple[Finding, ...]:
    """Returns a finding per requirement; none of line-ups, which compete with each other."""
    alone = [cca for cca in result.ccas if "+" not in cca]
    if not alone:
        return ()
    names, shades = labels(result.ccas), colours(result.ccas)
    found = []
    for requirement, verdict in result.verdicts.items():
        metric = result.requirements[requirement]
        values = {cca: values_of(result, cca, metric) for cca in alone}
        found.append(_finding(result, requirement, metric, verdict, values, names, shades))
    return tuple(found)


def values_of(result: Comparison, cca: str, metric: str) -> list[float]:
    """Returns the values of a metric of a CCA, in the order of the seeds."""
    mine = result.runs[result.runs["cca"] == cca].sort_values("seed")
    return mine[metric].astype(float).tolist()


def _finding(
    result: Comparison,
    requirement: str,
    metric: str,
    verdict: Verdict,
    values: Mapping[str, list[float]],
    names: Mapping[str, str],
    shades: Mapping[str, str],
) -> Finding:
    question = f"Best for {requirement}"
    if verdict.leader is None:
        return Finding(question, "undecided", "nobody got anything", state="open")
    leader = verdict.leader
    here = _worth(result, leader, metric)
    if len(values) == 1:
        return Finding(question, names[leader], here, "nothing to compare it with", "open")
    if not result.decides:
        why = "one run of a random scenario is not conclusive"
        return Finding(question, "undecided", f"{names[leader]} leads with {here}", why, "open")
    if verdict.contradicted_by:
        extent = f"{names[leader]} leads with {here}"
        return Finding(question, "no verdict", extent, verdict.contradicted_by, "open")
    rest = [cca for cca in values if cca not in verdict.ranked]
    rest.sort(key=lambda cca: -_mean(values[cca]))
    behind = (
        f"; {_ahead(values[leader], values[rest[0]])} {names[rest[0]]}, the next behind" if rest else ""
    )
    based = f"paired differences of {runs_text(int(result.results.about['runs']))}"
    if not verdict.undecided:
        tied = _listed([names[cca] for cca in verdict.tied])
        certainty = f"tied with {tied}: within 5 %, by {based}" if tied else f"by {based}"
        state = "tied" if tied else "sure"
        return Finding(question, names[leader], f"{here}{behind}", certainty, state, shades[leader])
    among = _listed([names[cca] for cca in verdict.ranked])
    more = f"; {verdict.runs_needed} runs would likely tell" if verdict.runs_needed else ""
    extent = f"{names[leader]} leads with {here}{behind}"
    excluded = "; ".join(
        text for cca in verdict.undecided if (text := _excluded(metric, leader, cca, values, names))
    )
    certainty = f"undecided among {among}, by {based}{more}"
    if excluded:
        certainty = f"{certainty}. Excluded with 95 %: {excluded}"
    return Finding(question, f"{names[leader]}?", extent, certainty, "open", shades[leader])


def _worth(result: Comparison, cca: str, metric: str) -> str:
    """Returns the mean of a metric in words, with goodput and RTT beside it."""
    goodput = mean_text(values_of(result, cca, _GOODPUT), 2)
    rtt = mean_text(values_of(result, cca, "rtt_mean_ms"), 0)
    plain = f"{goodput} Mbit/s at a mean RTT of {rtt} ms"
    if metric == _GOODPUT:
        return plain
    name = "QoE" if metric == QOE else "PM"
    return f"{name} {mean_text(values_of(result, cca, metric), 3)}, {plain}"


def _excluded(
    metric: str,
    leader: str,
    other: str,
    values: Mapping[str, list[float]],
    names: Mapping[str, str],
) -> str:
    """Returns which differences the interval excludes; empty without an interval."""
    gap = paired_difference(values[leader], values[other])
    if gap.ci95 is None:
        return ""
    unit = " Mbit/s" if metric == _GOODPUT else ""
    ahead, behind = gap.mean + gap.ci95, gap.ci95 - gap.mean
    text = f"{names[leader]} more than {ahead:.2g}{unit} ahead of {names[other]}"
    return f"{text}, or more than {behind:.2g}{unit} behind" if behind > 0 else text


def _ahead(best: Sequence[float], other: Sequence[float]) -> str:
    """Returns how far one is ahead of another, with the 95 % interval."""
    base = abs(_mean(other))
    result = paired_difference(best, other)
    if not base or math.isnan(result.mean):
        return "ahead of"
    share, half = 100 * result.mean / base, result.ci95
    if half is None:
        return f"{share:.1f} % more than"
    half = 100 * half / base
    return f"{share:.1f} % more ({share - half:.1f} to {share + half:.1f} %) than"


def differences_table(result: Comparison) -> Table | None:
    """Returns the difference of each CCA to the leader of each requirement; None without rivals."""
    names = labels(result.ccas)
    rows: list[tuple[str, ...]] = []
    ends = set()
    alone = [cca for cca in result.ccas if "+" not in cca]
    if len(alone) < 2 or not result.decides:
        return None
    for requirement, verdict in result.verdicts.items():
        if verdict.leader is None:
            continue
        metric = result.requirements[requirement]
        best = values_of(result, verdict.leader, metric)
        digits = 2 if metric == _GOODPUT else 3
        for cca in sorted(alone, key=lambda cca: -_mean(values_of(result, cca, metric))):
            if cca == verdict.leader:
                continue
            mine = values_of(result, cca, metric)
            pairs = [one - other for one, other in zip(mine, best, strict=True)]
            base = abs(_mean(best)) or math.nan
            share = _mean(pairs) / base
            state = "tied" if cca in verdict.tied else "undecided"
            rows.append(
                (
                    requirement,
                    names[verdict.leader],
                    names[cca],
                    mean_text(pairs, digits),
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


def _mean(values: Sequence[float]) -> float:
    return estimate(values).mean


def _listed(names: Sequence[str], most: int = 5) -> str:
    """Returns names as a list in words, the first few of many."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} others"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
