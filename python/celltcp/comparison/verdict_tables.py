"""Verdicts as lines and tables: the best CCA for each flow, requirement and chosen metric."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from celltcp.comparison.metrics import JAIN, SHARE, best_by_metric, words_of
from celltcp.present.section import Column, Table, mean_text
from celltcp.scenarios.cca_mix import has_several_flows, labels

if TYPE_CHECKING:
    from celltcp.comparison.by_metric import ChosenBest
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.statistics import Verdict


#: Metrics at most that are named for what is not ranked.
_MOST_OPTIONS = 3


def verdict_text(verdict: Verdict, names: Mapping[str, str]) -> str:
    """Returns a verdict in words."""
    if verdict.leader is None:
        return "undecided"
    if verdict.contradicted_by:
        return f"no verdict, as the application's figures are against it: {verdict.contradicted_by}"
    if verdict.is_same:
        return "the same under all"
    tied = ", ".join(names[cca] for cca in verdict.tied)
    if not verdict.undecided:
        text = f"{names[verdict.leader]}{f' (tied with it: {tied})' if tied else ''}"
        return f"{text}; it costs {verdict.cost.text}" if verdict.cost else text
    among = verdict.ranked
    if len(among) > 6:
        among_text = f"{', '.join(names[cca] for cca in among[:5])} and {len(among) - 5} others"
    else:
        among_text = ", ".join(names[cca] for cca in among)
    return f"undecided among {among_text}; {hint_text(verdict)}"


def hint_text(verdict: Verdict) -> str:
    """Returns the number of runs that would decide undecided CCAs."""
    if verdict.runs_needed:
        return f"--runs {verdict.runs_needed} would likely decide"
    return "more runs are needed"


def rank_word(name: str, verdict: Verdict) -> str:
    """Returns a verdict on a congestion control, or on a value of a field, in a word."""
    if name == verdict.leader:
        return "best" if verdict.best is not None else "leads"
    if name in verdict.tied:
        return "tied"
    return "undecided" if name in verdict.undecided else "worse"


def stake_texts(comparison: Comparison) -> list[str]:
    """Returns the best CCA for each flow of a workload, with the metric."""
    names = labels(comparison.ccas)
    # Line-ups of several flows are not ranked.
    return [
        f"best for {ranked_stake.need}: {verdict_text(ranked_stake.verdict, names)}"
        for ranked_stake in comparison.ranked_stakes
        if ranked_stake.verdict.leader is not None or not comparison.several_flows
    ]


def unranked_text(comparison: Comparison) -> str:
    """Returns the line-ups of several flows, which do not rank, and metrics that rank them.

    It is empty if there are none.
    """
    names = labels(comparison.ccas)
    unranked = ", ".join(names[cca] for cca in comparison.ccas if has_several_flows(cca))
    if not unranked:
        return ""
    metrics = [
        f"{application.ranking.metric}:{application.flow}" for application in comparison.applications
    ]
    known = {application.flow for application in comparison.applications}
    shares = [f"{SHARE}:{flow.name}" for flow in comparison.competing_flows if flow.name not in known]
    options = " or ".join(f"--by {each}" for each in (*metrics, JAIN, *shares)[:_MOST_OPTIONS])
    return f"not ranked, as line-ups of several flows: {unranked}; {options} ranks them"


def identical_text(comparison: Comparison) -> str:
    """Returns the congestion controls with identical runs; empty if there are none."""
    names = labels(comparison.ccas)
    texts = []
    for group in comparison.identical_ccas:
        if len(group) == len(comparison.ccas):
            return "The runs are the same under all: the CCA does not matter here."
        texts.append(f"The runs are the same under {' and '.join(names[cca] for cca in group)}.")
    return " ".join(texts)


def chosen_text(best: ChosenBest, names: Mapping[str, str]) -> str:
    """Returns the best CCA by a chosen metric, with the mean of each."""
    metric, flow = best.chosen
    what = f"{metric} of {flow}" if metric != JAIN else words_of(JAIN).name
    if all(math.isnan(each) for of in best.values.values() for each in of):
        return f"best by {what}: no run has a value"
    digits = words_of(metric).digits
    means = ", ".join(
        f"{names[cca]} {mean_text(values, digits)}" for cca, values in best.values.items()
    )
    return f"best by {what}: {verdict_text(best.verdict, names)} ({means})"


def short_text(verdict: Verdict, names: Mapping[str, str]) -> str:
    """Returns a verdict in few words, for a cell of a table."""
    if verdict.leader is None or verdict.contradicted_by:
        return "-" if verdict.leader is None else "no verdict"
    if verdict.is_same:
        return "the same under all"
    tied = ", ".join(names[cca] for cca in verdict.tied)
    if not verdict.undecided:
        text = f"{names[verdict.leader]}{f' (tied: {tied})' if tied else ''}"
        return f"{text}, {verdict.cost.short}" if verdict.cost else text
    among = ", ".join(names[cca] for cca in verdict.ranked[:5])
    more = f" and {len(verdict.ranked) - 5} others" if len(verdict.ranked) > 5 else ""
    runs = f" (--runs {verdict.runs_needed})" if verdict.runs_needed else " (more runs)"
    return f"{among}{more}?{runs}"


def verdicts_table(
    axes: Sequence[str],
    comparisons: Mapping[tuple[str, ...], Comparison],
    by: Sequence[str] = (),
    ranking_metrics: Mapping[str, str] | None = None,
) -> Table:
    """Returns the verdict of each comparison: by chosen metrics, for each flow, by common requirement.

    A comparison with a single congestion control has no verdict.

    Args:
        axes: names of the coordinates.
        comparisons: by their coordinates.
        by: chosen metrics, as in `Comparison.best_by`.
        ranking_metrics: metric of each flow that ranks it in all comparisons; others use their own.
    """
    columns: dict[str, dict[tuple[str, ...], str]] = {}
    common = set.intersection(*(set(comparison.requirements) for comparison in comparisons.values()))
    for point, comparison in comparisons.items():
        names = labels(comparison.ccas)
        for heading, verdict in _verdicts(comparison, by, common, ranking_metrics or {}).items():
            columns.setdefault(heading, {})[point] = short_text(verdict, names)
    rows = tuple(
        (*point, *(column.get(point, "-") for column in columns.values())) for point in comparisons
    )
    is_open = any("?" in cell for row in rows for cell in row[len(axes) :])
    title = f"Best CCA{' (?: undecided, with the runs that would likely decide)' if is_open else ''}"
    headings = (*(Column(axis, no_wrap=True) for axis in axes), *map(Column, columns))
    return Table(headings, rows, title)


def _verdicts(
    comparison: Comparison,
    by: Sequence[str],
    requirements: Collection[str],
    ranking_metrics: Mapping[str, str],
) -> dict[str, Verdict]:
    """Returns the verdicts of a comparison by the headings of their columns."""
    if len(comparison.ccas) < 2:
        return {}
    chosen = {
        (chosen_best.chosen.flow, chosen_best.chosen.metric): chosen_best
        for chosen_best in map(comparison.best_by, by)
    }
    of_flows = {}
    for stake in comparison.ranked_stakes:
        metric = ranking_metrics.get(stake.flow, stake.metric)
        if (stake.flow, metric) in chosen:
            continue
        verdict = stake.verdict
        if metric != stake.metric:
            values = comparison.best_by(f"{metric}:{stake.flow}").values
            verdict = best_by_metric(metric, values, random=not comparison.decides)
        of_flows[f"for {stake.flow}: {words_of(metric).name}"] = verdict
    of_network = comparison.network_verdicts.items()
    return {
        **{
            f"for {flow}: {words_of(metric).name}"
            if metric != JAIN
            else "for fairness": chosen_best.verdict
            for (flow, metric), chosen_best in chosen.items()
        },
        **of_flows,
        **{f"for {name}": each for name, each in of_network if name in requirements},
    }
