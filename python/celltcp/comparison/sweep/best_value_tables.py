"""Tables, texts and JSON of the best values of varied fields, with paired differences to others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from celltcp.comparison.json_outcome import best_outcome
from celltcp.comparison.metrics import estimate_of, metric_gap, words_of
from celltcp.comparison.sweep.best_values import conditions_among, is_condition
from celltcp.comparison.sweep.condition_texts import condition_texts
from celltcp.comparison.verdicts.reversals import best_reversal_text
from celltcp.comparison.verdicts.verdict_tables import hint_text, rank_word, set_instead
from celltcp.present.section import Column, Table
from celltcp.results.rows import interval_json
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import join_names, labels
from celltcp.scenarios.quantities import quantities

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.metrics import MetricText
    from celltcp.comparison.outcome import FieldOutcome, FieldRow
    from celltcp.comparison.sweep.best_values import FieldRanking
    from celltcp.comparison.sweep.parameter_sweep import Sweep
    from celltcp.comparison.verdicts.stakes import Stake

#: Maximum number of values that a cell lists.
_MAX_LISTED_VALUES = 3
#: Text between value and congestion control in the name of a choice.
_WITH_CCA = " with "
#: Label of the row over all congestion controls.
_ANY_CCA = "any"
#: Relative distance from the best mean above which a value is undecided only for its wide interval.
_FAR_SHARE = 0.5

#: Ranking of the values of a field, with one of its stakes.
_Row = tuple["FieldRanking", "Stake"]


def best_values_tables(sweep: Sweep, by: Sequence[str] = ()) -> list[Table]:
    """Returns for each field and metric the best value under each CCA and over all of them.

    Metrics in which values do not differ significantly have no table, nor those with a single row;
    `best_values_texts` has these. `by` are further ranking metrics, as in `Comparison.best_by`.
    """
    names = labels(sweep.ccas)
    has_ccas = len(sweep.ccas) > 1
    tables = []
    for field, rows in _by_metric(sweep, by):
        if not _differs(rows) or len(rows) < 2:
            continue
        ranking, stake = rows[0]
        cells, words = [], _words_of_best(rows)
        for row_ranking, row_stake in rows:
            cca = row_ranking.cca
            label = [names[cca] if cca else _ANY_CCA] if has_ccas else []
            *texts, next_worse = _cells(row_stake, words)
            next_worse = "; ".join(
                filter(None, (next_worse, best_reversal_text(row_ranking, row_stake)))
            )
            cells.append((*row_ranking.fixed.values(), *label, *texts, next_worse))
        axes = list(ranking.fixed)
        ends = {
            index
            for index, (row, next_row) in enumerate(itertools.pairwise(cells))
            if row[: len(axes)] != next_row[: len(axes)]
        }
        columns = (
            *(Column(axis, no_wrap=True) for axis in axes),
            *([Column("CCA", no_wrap=True)] if has_ccas else []),
            Column("best", no_wrap=True),
            Column("mean", is_number=True, no_wrap=True),
            Column("not significantly worse"),
            Column("next, with paired difference"),
        )
        title = f"Best value of {field} for {ranking.question(stake)}"
        tables.append(Table(columns, tuple(cells), title, frozenset(ends)))
    return tables


def best_values_texts(sweep: Sweep, by: Sequence[str] = ()) -> list[str]:
    """Returns lines on the best values that have no table, and on fields without a difference.

    The first lines are on the change of metrics with conditions, which have no best value. `by` are
    further ranking metrics, as in `Comparison.best_by`.
    """
    texts = condition_texts(sweep, by)
    has_ccas = len(sweep.ccas) > 1
    alike: dict[tuple[str, str], list[str]] = {}
    undecided: dict[tuple[str, str], list[str]] = {}
    for field, rows in _by_metric(sweep, by):
        ranking, stake = rows[0]
        if not _differs(rows):
            verdicts = [each.verdict for _, each in rows if each.verdict.undecided]
            # Undecided values are not called equal: the hint has the largest number of runs needed.
            verdict = max(verdicts, key=lambda each: each.runs_needed or math.inf, default=None)
            hint = f" ({hint_text(verdict)})" if verdict else ""
            if verdict and not ranking.decides:
                texts.append(f"{_single_run_text(field, rows, labels(sweep.ccas))}{hint}")
                continue
            pair = _decided_pair(rows, labels(sweep.ccas)) if verdict else ""
            if pair:
                question = ranking.question(stake)
                texts.append(f"Best value of {field} for {question} undecided{hint}; but {pair}")
                continue
            by_field = undecided if verdict else alike
            by_field.setdefault((field, hint), []).append(ranking.question(stake))
        elif len(rows) == 1:
            best, mean, as_good, next_worse = _cells(stake, _words_of_best(rows))
            under = f" under {labels(sweep.ccas)[ranking.cca]}" if ranking.cca and has_ccas else ""
            parts = [
                f"Best value of {field}{under} for {ranking.question(stake)}: {best}, {mean}",
                *([f"not significantly worse: {as_good}"] if as_good != "-" else []),
                *([f"next: {next_worse}"] if next_worse != "-" else []),
                best_reversal_text(ranking, stake),
            ]
            texts.append("; ".join(filter(None, parts)))
    texts += [
        f"No difference that matters between values of {field} for {'; '.join(questions)}"
        for (field, _), questions in alike.items()
    ]
    texts += [
        f"No value of {field} is significantly better than another for {'; '.join(questions)}{hint}"
        for (field, hint), questions in undecided.items()
    ]
    return texts


def _single_run_text(field: str, rows: Sequence[_Row], names: Mapping[str, str]) -> str:
    """Returns the best value and the next one under each CCA, in one run of what is random."""
    texts = []
    for ranking, stake in rows:
        if ranking.cca is None:
            continue
        ordered = sorted(stake.values, key=stake.signed_mean, reverse=True)[:2]
        values = ", then ".join(f"{name} ({stake.value_text(name)})" for name in ordered)
        fixed = [f"{axis}={value}" for axis, value in ranking.fixed.items()]
        where = ", ".join([*fixed, *([f"under {names[ranking.cca]}"] if len(names) > 1 else [])])
        texts.append(f"{where}: {values}" if where else values)
    question = rows[0][0].question(rows[0][1])
    return f"{field} for {question} in one run, which is not conclusive: {'; '.join(texts)}"


def _by_metric(sweep: Sweep, by: Sequence[str]) -> Iterator[tuple[str, list[_Row]]]:
    """Yields the rankings of each field by each metric of a flow.

    Conditions are left out, as nobody can set the loss of a path; `condition_texts` is about them.
    """
    conditions = conditions_among(sweep.axes)
    for field, group in itertools.groupby(sweep.field_rankings, key=lambda each: each.field):
        if field in conditions:
            continue
        by_metric: dict[tuple[str, str], list[_Row]] = {}
        for ranking in group:
            for stake in ranking.deciding_stakes(by):
                # If nothing finished under any value, none is as good as another.
                if not all(map(stake.is_void, ranking.choices)):
                    by_metric.setdefault((stake.flow, stake.metric), []).append((ranking, stake))
        for rows in by_metric.values():
            yield field, rows


def _differs(rows: Sequence[_Row]) -> bool:
    """Returns whether a value is significantly worse than another, under the same CCA."""
    return any(
        set(stake.values) - set(stake.verdict.ranked)
        for ranking, stake in rows
        if ranking.cca is not None and stake.verdict.leader is not None
    )


def _decided_pair(rows: Sequence[_Row], names: Mapping[str, str]) -> str:
    """Returns two values of which one is significantly better under the same CCA; empty without any.

    The best mean may be that of a value with a wide interval, which hides them.
    """
    for ranking, stake in rows:
        ordered = sorted(stake.values, key=stake.signed_mean, reverse=True)
        pairs = itertools.combinations(ordered, 2) if ranking.cca else ()
        for better, worse in pairs:
            if stake.is_gain(better, worse):
                under = f" under {names[ranking.cca]}" if ranking.cca and len(names) > 1 else ""
                return f"{better} is better than {worse}{under}"
    return ""


def _words_of_best(rows: Sequence[_Row]) -> MetricText:
    """Returns the metric with a unit that suits the best means of all rows."""
    stakes = [stake for _, stake in rows if stake.verdict.leader is not None]
    means = (estimate(each.values[str(each.verdict.leader)]).mean for each in stakes)
    return words_of(rows[0][1].metric).suited(*means)


def _cells(stake: Stake, words: MetricText) -> tuple[str, str, str, str]:
    """Returns the best values, their best mean, others that may be as good, and the next worse one.

    Values of one congestion control that are as good as the best one are named with it. `words` has
    the unit.
    """
    verdict = stake.verdict
    leader = verdict.leader
    if leader is None:
        return "-", "-", "-", "-"
    sign = 1 if stake.is_less_better else -1
    others = [name for name in stake.values if name != leader]
    others.sort(key=lambda name: sign * estimate(stake.values[name]).mean)
    alike = as_good_values(stake)
    dearer = {each.name: each.short for each in verdict.dearer}
    candidates = [
        name for name in others if name in verdict.ranked and name not in alike and name not in dearer
    ]
    worse = [name for name in others if name not in verdict.ranked]
    far = [name for name in candidates if _is_far(stake, name, worse)]
    near = [name for name in candidates if name not in far]
    texts = []
    runs = f"--runs {verdict.runs_needed}" if verdict.runs_needed else "more runs"
    if near:
        is_undecided = any(name in verdict.undecided for name in near) and not far
        texts.append(
            f"{join_names(near, _MAX_LISTED_VALUES)}{f' (undecided: {runs})' if is_undecided else ''}"
        )
    if far:
        need = "needs" if len(far) == 1 else "need"
        count = f" ({runs})" if verdict.runs_needed else ""
        texts.append(f"{join_names(far, _MAX_LISTED_VALUES)} {need} more runs{count}")
    if dearer:
        texts.append(join_names([f"{name}: {dearer[name]}" for name in dearer], _MAX_LISTED_VALUES))
    next_worse = "-"
    if worse:
        pairs = zip(stake.values[worse[0]], stake.values[leader], strict=True)
        unlimited = words._replace(limits=(-math.inf, math.inf))
        gap = unlimited.mean_number([value - best for value, best in pairs])
        next_worse = f"{worse[0]} {gap if gap[0] in '-∞' else f'+{gap}'}"
    # The cost is that of the leader alone.
    cost = ""
    if verdict.cost and not alike:
        cost = f" ({verdict.cost.short}{set_instead(verdict, {name: name for name in stake.values})})"
    mean = words.mean_number(stake.values[leader], is_bound=leader in stake.bounds)
    return f"{best_text(stake)}{cost}", words.with_unit(mean), "; ".join(texts) or "-", next_worse


def as_good_values(stake: Stake) -> list[str]:
    """Returns the choices that are as good as the leader under the same congestion control."""
    leader = stake.verdict.leader or ""
    return [name for name in stake.verdict.tied if _cca_part(name) == _cca_part(leader)]


def best_text(stake: Stake) -> str:
    """Returns the leader, with the values that are as good under the same congestion control."""
    return range_text([stake.verdict.leader or "-", *as_good_values(stake)], [*stake.values])


def _cca_part(name: str) -> str:
    """Returns the congestion control in the name of a choice; empty if there is a single one."""
    return name.partition(_WITH_CCA)[2]


def range_text(names: Sequence[str], every: Sequence[str]) -> str:
    """Returns values of one congestion control as text: as a range if they are neighbouring amounts.

    Args:
        names: names of the choices with these values.
        every: names of all choices.
    """
    if len(names) < 2:
        return names[0]
    cca = _cca_part(names[0])
    values = [name.partition(_WITH_CCA)[0] for name in every if _cca_part(name) == cca]
    chosen = {name.partition(_WITH_CCA)[0] for name in names}
    amounts = quantities(values)
    if amounts is None:
        text = join_names([value for value in values if value in chosen], _MAX_LISTED_VALUES)
    else:
        ordered = [value for _, value in sorted(zip(amounts, values, strict=True))]
        places = [place for place, value in enumerate(ordered) if value in chosen]
        is_range = places[-1] - places[0] == len(places) - 1
        ends = (ordered[places[0]], ordered[places[-1]])
        text = " to ".join(ends) if is_range else ", ".join(ordered[place] for place in places)
    return f"{text}{_WITH_CCA}{cca}" if cca else text


def _is_far(stake: Stake, name: str, worse: Sequence[str]) -> bool:
    """Returns whether a value is undecided only because of its wide interval."""
    if name not in stake.verdict.undecided:
        return False
    sign = 1 if stake.is_less_better else -1
    mean, best = (estimate(stake.values[each]).mean for each in (name, stake.verdict.leader or name))
    is_behind_worse = any(sign * estimate(stake.values[each]).mean < sign * mean for each in worse)
    return is_behind_worse or abs(mean - best) > _FAR_SHARE * abs(best)


def best_values_json(sweep: Sweep, by: Sequence[str]) -> list[FieldOutcome]:
    """Returns the best values as JSON; `by` are further ranking metrics, as in `Comparison.best_by`."""
    return [
        _outcome(ranking, stake) for ranking in sweep.field_rankings for stake in ranking.stakes_by(by)
    ]


def best_values_frame(sweep: Sweep) -> pd.DataFrame:
    """Returns a row per field, need, congestion control and value."""
    import pandas as pd

    rows = []
    for ranking in sweep.field_rankings:
        for stake in ranking.stakes:
            head = {"field": ranking.field, **ranking.fixed, "ranked_under": ranking.cca}
            need = {"flow": stake.flow, "metric": stake.metric}
            rows += [
                {
                    **head,
                    **need,
                    **_row(ranking, stake, name),
                    "verdict": rank_word(name, stake.verdict),
                }
                for name in ranking.choices
            ]
    return pd.DataFrame(rows)


def _outcome(ranking: FieldRanking, stake: Stake) -> FieldOutcome:
    verdict = stake.verdict
    return {
        "field": ranking.field,
        "is_condition": is_condition(ranking.field),
        "at": dict(ranking.fixed),
        "cca": ranking.cca,
        "flow": stake.flow,
        "metric": stake.metric,
        **best_outcome(verdict),
        "runs_needed": verdict.runs_needed,
        "values": [_row(ranking, stake, name) for name in ranking.choices],
    }


def _row(ranking: FieldRanking, stake: Stake, name: str) -> FieldRow:
    leader = stake.verdict.leader
    gap = metric_gap(stake.metric, stake.values[name], stake.values[leader]) if leader else None
    value, cca = ranking.choices[name]
    return {
        "name": name,
        "value": value,
        "cca": cca,
        **interval_json(estimate_of(stake.metric, stake.values[name])),
        "difference": gap.mean if gap else None,
        "difference_ci95": gap.ci95 if gap else None,
    }
