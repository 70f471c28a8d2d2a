"""Verdicts as lines of text and as tables: best CCA for each flow, requirement and chosen metric."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from celltcp.comparison.metrics import JAIN, SHARE, best_by_metric, words_of
from celltcp.present.section import Column, Table
from celltcp.results.statistics import estimate, has_few_runs
from celltcp.scenarios.cca_mix import join_names, labels, ranked_mixes
from celltcp.scenarios.requests import REQUESTS_KEEP_CCA, has_large_requests

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.verdicts.by_metric import ChosenBest
    from celltcp.results.statistics import Verdict


#: Maximum number of options that are suggested for mixes without a ranking.
_MAX_OPTIONS = 3
#: Maximum number of undecided CCAs that a text lists.
_MAX_UNDECIDED = 5


def verdict_text(verdict: Verdict, names: Mapping[str, str]) -> str:
    """Returns a verdict in words; `names` are labels of CCAs."""
    if verdict.leader is None:
        return "undecided"
    if verdict.contradicted_by:
        return f"no verdict, as the application's figures are against it: {verdict.contradicted_by}"
    if verdict.is_same:
        return "the same under all"
    tied = ", ".join(names[cca] for cca in verdict.tied)
    if verdict.are_all_tied and not verdict.cost:
        return f"no difference that matters ({names[verdict.leader]}, {tied})"
    if not verdict.undecided:
        text = f"{names[verdict.leader]}{f' (tied with it: {tied})' if tied else ''}"
        text = "; ".join([text, *verdict.dearer_texts(names)])
        return (
            f"{text}; it costs {verdict.cost.text}{set_instead(verdict, names)}"
            if verdict.cost
            else text
        )
    ranked = [names[cca] for cca in verdict.ranked]
    # A single further CCA is listed, too.
    are_few = len(ranked) <= _MAX_UNDECIDED + 1
    among = ", ".join(ranked) if are_few else join_names(ranked, _MAX_UNDECIDED)
    return f"undecided among {among}{ahead_text(verdict, names)}; {hint_text(verdict)}"


def set_instead(verdict: Verdict, names: Mapping[str, str]) -> str:
    """Returns text on what is set in place of a leader at a cost; empty without it."""
    instead = None if verdict.cost is None else verdict.cost.instead
    return f": set {names[instead]}" if instead else ""


def ahead_text(verdict: Verdict, names: Mapping[str, str]) -> str:
    """Returns in how many of the runs an undecided leader is the best; empty where that says little.

    One of two that are alike is ahead in all of n runs by chance in two of 2^n cases (the sign test).
    """
    if verdict.runs_ahead is None or verdict.leader is None:
        return ""
    ahead, behind, runs = verdict.runs_ahead
    leader = names[verdict.leader]
    if runs < 2 or not (2 * ahead > runs or (ahead and not behind)):
        return ""
    if ahead == runs:
        few = f"which chance gives in 1 of {2 ** (runs - 1)} cases"
        note = few if has_few_runs(runs) else "by amounts that vary"
        return f": {leader} is best in all {runs} runs, {note}"
    return f": {leader} is best in {ahead} of {runs} runs{'' if behind else ' and behind in none'}"


def hint_text(verdict: Verdict) -> str:
    """Returns text on the number of runs for undecided CCAs: likely enough, the next step, or none."""
    if verdict.doubt:
        return verdict.doubt
    if verdict.is_next_step:
        return f"try --runs {verdict.runs_needed} next"
    if verdict.runs_needed:
        return f"--runs {verdict.runs_needed} would likely decide"
    return "more runs are needed"


def rank_word(name: str, verdict: Verdict) -> str:
    """Returns the rank of a congestion control, or of a value of a field, in a word."""
    if name == verdict.leader:
        return "best" if verdict.best is not None else "leads"
    if name in verdict.tied:
        return "tied"
    if name in (each.name for each in verdict.dearer):
        return "dearer"
    return "undecided" if name in verdict.undecided else "worse"


def stake_texts(comparison: Comparison) -> list[str]:
    """Returns a line for each flow of a workload, or for equal flows: metric, and the best CCA."""
    from celltcp.comparison.verdicts.choices import choices_of, setting_text
    from celltcp.comparison.verdicts.equal_flows import joined_stakes
    from celltcp.comparison.verdicts.reversals import ApplicationStatistics, best_reversal_text

    names = labels(comparison.ccas)
    known = ApplicationStatistics(comparison.applications)
    settings = {choice.flows: setting_text(comparison, choice) for choice in choices_of(comparison)}
    # Mixes of several flows are not ranked.
    return [
        "; ".join(
            filter(
                None,
                (
                    f"best for {stake.need}: {verdict_text(stake.verdict, names)}",
                    best_reversal_text(known, stake, names) if comparison.decides else "",
                    settings.get(flows, ""),
                ),
            )
        )
        for stake, flows in joined_stakes(comparison)
        if stake.verdict.leader is not None or not comparison.several_flows
    ]


def unranked_text(comparison: Comparison) -> str:
    """Returns a line on mixes of several flows, which have no verdict, and options to rank them.

    Empty without such mixes.
    """
    names = labels(comparison.ccas)
    ranked = ranked_mixes(comparison.ccas)
    unranked = ", ".join(names[cca] for cca in comparison.ccas if cca not in ranked)
    if not unranked:
        return ""
    metrics = [
        f"{application.ranking.metric}:{application.flow}" for application in comparison.applications
    ]
    flows = {application.flow for application in comparison.applications}
    shares = [f"{SHARE}:{flow.name}" for flow in comparison.competing_flows if flow.name not in flows]
    index = [JAIN] if comparison.has_fairness else []
    options = " or ".join(f"--by {metric}" for metric in (*metrics, *index, *shares)[:_MAX_OPTIONS])
    return f"not ranked, as line-ups of several flows: {unranked}; {options} ranks them"


def identical_text(comparison: Comparison) -> str:
    """Returns sentences on congestion controls with identical runs; empty without any."""
    from celltcp.comparison.verdicts.fixed_ccas import of_tested

    names = labels(comparison.ccas)
    texts = []
    for group in comparison.identical_ccas:
        if len(group) == len(comparison.ccas):
            if has_large_requests(tomllib.loads(comparison.results.about["scenario"])):
                return f"The runs are the same under all: {REQUESTS_KEEP_CCA}."
            return (
                f"The runs are the same under all: the CCA{of_tested(comparison)} does not matter here."
            )
        texts.append(f"The runs are the same under {' and '.join(names[cca] for cca in group)}.")
    return " ".join(texts)


def chosen_text(best: ChosenBest, names: Mapping[str, str]) -> str:
    """Returns a line on the best CCA by a chosen metric, with the mean of each CCA."""
    metric, flow = best.chosen
    metric_text = f"{metric} of {flow}" if metric != JAIN else words_of(JAIN).name
    if all(math.isnan(value) for values in best.values.values() for value in values):
        return f"best by {metric_text}: no run has a value"
    words = words_of(metric).suited(*(estimate(values).mean for values in best.values.values()))
    means = ", ".join(
        f"{names[cca]} {words.with_unit(words.mean_number(values, is_bound=cca in best.bounds))}"
        for cca, values in best.values.items()
    )
    few_text = "; of too few values for a percentile: the largest of a run" if best.maxima else ""
    return f"best by {metric_text}: {verdict_text(best.verdict, names)} ({means}{few_text})"


def short_text(verdict: Verdict, names: Mapping[str, str]) -> str:
    """Returns a verdict in a few words, for a cell of a table; `names` are labels of CCAs."""
    if verdict.leader is None or verdict.contradicted_by:
        return "-" if verdict.leader is None else "no verdict"
    if verdict.is_same:
        return "the same under all"
    tied = ", ".join(names[cca] for cca in verdict.tied)
    if verdict.are_all_tied and not verdict.cost:
        return f"no difference ({names[verdict.leader]}, {tied})"
    if not verdict.undecided:
        dearer = "".join(f"; {names[each.name]}: {each.short}" for each in verdict.dearer)
        note = f"tied: {tied}{dearer}" if tied else f"as good, {dearer[2:]}" if dearer else ""
        text = f"{names[verdict.leader]}{f' ({note})' if note else ''}"
        return f"{text}, {verdict.cost.short}{set_instead(verdict, names)}" if verdict.cost else text
    among = ", ".join(names[cca] for cca in verdict.ranked[:_MAX_UNDECIDED])
    count = len(verdict.ranked) - _MAX_UNDECIDED
    more = f" and {count} others" if count > 0 else ""
    runs = f"--runs {verdict.runs_needed}" if verdict.runs_needed else verdict.doubt or "more runs"
    return f"{among}{more}? ({runs})"


def verdicts_table(
    axes: Sequence[str],
    comparisons: Mapping[tuple[str, ...], Comparison],
    by: Sequence[str] = (),
    ranking_metrics: Mapping[str, str] | None = None,
) -> Table:
    """Returns the verdicts of several comparisons, a row for each.

    The columns are for chosen metrics, for flows, and for requirements of all comparisons. A
    comparison with a single congestion control has no verdict.

    Args:
        axes: names of the coordinates.
        comparisons: by their coordinates.
        by: chosen metrics, as in `Comparison.best_by`.
        ranking_metrics: by flow, the metric that ranks in all comparisons; other flows rank by the
            metric of their stake.
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
    is_undecided = any("?" in cell for row in rows for cell in row[len(axes) :])
    title = f"Best CCA{' (?: undecided, with the runs to try)' if is_undecided else ''}"
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
        (best.chosen.flow, best.chosen.metric): best.verdict for best in map(comparison.best_by, by)
    }
    flow_verdicts = {}
    for stake in comparison.ranked_stakes:
        metric = ranking_metrics.get(stake.flow, stake.metric)
        if (stake.flow, metric) in chosen:
            continue
        verdict = stake.verdict
        if metric != stake.metric:
            values = comparison.best_by(f"{metric}:{stake.flow}").values
            verdict = best_by_metric(metric, values, random=not comparison.decides)
        flow_verdicts[f"for {stake.flow}: {words_of(metric).name}"] = verdict
    return {
        **{
            f"for {flow}: {words_of(metric).name}" if metric != JAIN else "for fairness": verdict
            for (flow, metric), verdict in chosen.items()
        },
        **flow_verdicts,
        **{
            f"for {name}": verdict
            for name, verdict in comparison.network_verdicts.items()
            if name in requirements
        },
    }
