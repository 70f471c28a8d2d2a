"""Best value of a varied field as tables and as JSON, with paired differences to the other values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from celltcp.comparison.metrics import words_of
from celltcp.comparison.verdict_tables import verdict_text, word_of
from celltcp.present.section import Column, Table, mean_text
from celltcp.results.rows import json_interval
from celltcp.results.statistics import estimate, paired_difference
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.best_values import FieldRanking
    from celltcp.comparison.outcome import FieldOutcome, FieldRow
    from celltcp.comparison.parameter_sweep import Sweep
    from celltcp.comparison.stakes import Stake

#: Most values whose differences to the best one a row has.
_MOST = 3
#: Name of the row in which each value stands with each congestion control.
_ANY = "any"


def best_values_tables(result: Sweep, by: Sequence[str] = ()) -> list[Table]:
    """Returns a table for each field: its best value for each need, with each CCA and with any.

    Args:
        result: the sweep.
        by: further metrics that values rank by, as those of `Comparison.best_by`.
    """
    names = labels(result.ccas)
    tables = []
    for field, group in itertools.groupby(result.field_rankings, key=lambda each: each.field):
        rankings = list(group)
        places = list(rankings[0].place)
        has_ccas = len(result.ccas) > 1
        order = {tuple(each.place.values()): None for each in rankings}
        at = {place: number for number, place in enumerate(order)}
        # All rows of a need stand together, so that congestion controls can be compared; values stand
        # in the order given.
        rows = sorted(
            (
                (tuple(each.place.values()), number, each.cca or "", (each, stake))
                for each in rankings
                for number, stake in enumerate(each.stakes_by(by))
            ),
            key=lambda row: (at[row[0]], row[1]),
        )
        cells = []
        for place, _, cca, (ranking, stake) in rows:
            who = ([names[cca] if cca else _ANY]) if has_ccas else []
            cells.append((*place, ranking.question(stake), *who, *_cells(ranking, stake)))
        ends = {
            number
            for number, (row, after) in enumerate(itertools.pairwise(rows))
            if row[:2] != after[:2]
        }
        columns = (
            *(Column(axis, no_wrap=True) for axis in places),
            Column("for"),
            *([Column("CCA", no_wrap=True)] if has_ccas else []),
            Column(f"best {field}"),
            Column("mean", is_number=True, no_wrap=True),
            Column("paired differences to it", folds=False),
        )
        title = f"Best value of {field}"
        tables.append(Table(columns, tuple(cells), title, frozenset(ends)))
    return tables


def _cells(ranking: FieldRanking, stake: Stake) -> tuple[str, str, str]:
    """Returns the best value, its mean, and the paired differences of others to it."""
    best = verdict_text(stake.verdict, {name: name for name in ranking.choices})
    leader = stake.verdict.leader
    if leader is None:
        return best, "-", "-"
    digits = words_of(stake.metric).digits
    others = [name for name in _ordered(stake) if name != leader]
    gaps = [
        f"{name} {_signed(mean_text(_difference(stake, name, leader), digits))}"
        for name in others[:_MOST]
    ]
    more = [f"{len(others) - _MOST} more"] if len(others) > _MOST else []
    return best, stake.value_text(leader), "; ".join([*gaps, *more]) or "-"


def _signed(text: str) -> str:
    return text if text[0] in "-∞" else f"+{text}"


def _ordered(stake: Stake) -> list[str]:
    """Returns the names of the values by their means, the best one first."""
    sign = 1 if stake.is_less_better else -1
    return sorted(stake.values, key=lambda name: sign * estimate(stake.values[name]).mean)


def _difference(stake: Stake, name: str, leader: str) -> list[float]:
    pairs = zip(stake.values[name], stake.values[leader], strict=True)
    return [value - best for value, best in pairs]


def best_values_json(result: Sweep, by: Sequence[str] = ()) -> list[FieldOutcome]:
    """Returns the best values of the fields as JSON has them.

    Args:
        result: the sweep.
        by: further metrics that values rank by, as those of `Comparison.best_by`.
    """
    return [
        _outcome(ranking, stake) for ranking in result.field_rankings for stake in ranking.stakes_by(by)
    ]


def best_values_frame(result: Sweep) -> pd.DataFrame:
    """Returns a row per field, need, congestion control and value."""
    import pandas as pd

    rows = []
    for ranking in result.field_rankings:
        for stake in ranking.stakes:
            outcome = _outcome(ranking, stake)
            head = {"field": ranking.field, **ranking.place, "ranked_under": ranking.cca}
            need = {"flow": stake.flow, "metric": stake.metric}
            rows += [
                {**head, **need, **row, "verdict": word_of(row["name"], stake.verdict)}
                for row in outcome["values"]
            ]
    return pd.DataFrame(rows)


def _outcome(ranking: FieldRanking, stake: Stake) -> FieldOutcome:
    verdict = stake.verdict
    return {
        "field": ranking.field,
        "at": dict(ranking.place),
        "cca": ranking.cca,
        "flow": stake.flow,
        "metric": stake.metric,
        "best": verdict.best,
        "leader": verdict.leader,
        "tied": list(verdict.tied),
        "undecided": list(verdict.undecided),
        "runs_needed": verdict.runs_needed,
        "values": [_row(ranking, stake, name) for name in ranking.choices],
    }


def _row(ranking: FieldRanking, stake: Stake, name: str) -> FieldRow:
    leader = stake.verdict.leader
    gap = paired_difference(stake.values[name], stake.values[leader]) if leader else None
    value, cca = ranking.choices[name]
    return {
        "name": name,
        "value": value,
        "cca": cca,
        **json_interval(stake.values[name]),
        "difference": gap.mean if gap else None,
        "difference_ci95": gap.ci95 if gap else None,
    }
