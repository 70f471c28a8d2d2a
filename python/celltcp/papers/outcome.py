"""Outcome of an experiment: published figures and ours, row by row, and how far they agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celltcp.papers.measured import Measured
from celltcp.papers.published import Published, Table
from celltcp.papers.ranks import RankCorrelation, joint_chance, rank_correlation
from celltcp.results.frames import json_value
from celltcp.statistics import Estimate, estimate


@dataclass(frozen=True)
class Row:
    """A published figure beside the mean of our runs."""

    table: Table
    theirs: Published
    #: What ran: the CCA of the table, or as the kernel of the experiments had it.
    ran: str
    values: list[float]
    #: Mean, with an interval of the kind that the table has.
    here: Estimate

    @property
    def agrees(self) -> bool | None:
        """Whether our mean lies in the published interval or, without one, the figure in ours."""
        half = self.here.ci95 if self.theirs.ci95 is None else self.theirs.ci95
        if half is None or self.theirs.value is None or math.isnan(self.here.mean):
            return None
        return abs(self.here.mean - self.theirs.value) <= half

    @property
    def error(self) -> float:
        """Difference of our mean from the published figure, as a share of that."""
        theirs = self.theirs.value
        return self.here.mean / theirs - 1 if theirs else math.nan

    def to_json(self) -> dict[str, Any]:
        """The row as `celltcp papers --json` has it."""
        kind = {"slots": "intervals are of slots, averaged over the run"}.get(self.table.interval, "")
        as_ran = f"ran as {self.ran}" if self.ran != self.theirs.cca else ""
        notes = (self.table.note, self.theirs.note, kind, as_ran)
        phase = f", {self.theirs.phase}" if self.theirs.phase else ""
        return {
            "publication": self.table.publication,
            "experiment": self.table.experiment,
            "figure": self.table.figure,
            "scenario": self.theirs.scenario,
            "cca": self.theirs.cca,
            "quantity": self.theirs.quantity + phase,
            "unit": self.theirs.unit,
            "published": self.theirs.value,
            "published_ci95": self.theirs.ci95,
            "here": json_value(self.here.mean),
            "here_ci95": self.here.ci95,
            "runs": len(self.values),
            "agrees": self.agrees,
            "note": "; ".join(note for note in notes if note),
        }


@dataclass(frozen=True)
class Group:
    """Rows of one scenario, quantity and phase, whose CCAs have ranks."""

    scenario: str
    quantity: str
    unit: str
    phase: str
    rows: list[Row]
    #: None for fewer than three CCAs.
    ranks: RankCorrelation | None

    @property
    def title(self) -> str:
        """Scenario and phase."""
        return f"{self.scenario}, {self.phase}" if self.phase else self.scenario


@dataclass(frozen=True)
class Agreement:
    """Agreement of the rows of one quantity."""

    quantity: str
    #: Mean of the rank correlations; where all CCAs are tied, that is 0.
    rho: float
    #: p-value of the mean: the share of random orders that agree as well.
    chance: float
    #: Mean of the errors, without signs.
    error: float
    #: Rows inside the intervals, of those that have one.
    inside: int
    judged: int
    groups: int


@dataclass(frozen=True)
class Outcome:
    """What an experiment comes to."""

    table: Table
    groups: list[Group]

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for group in self.groups for row in group.rows]

    @property
    def agreements(self) -> list[Agreement]:
        """Agreement by quantity of which something is published."""
        numbered = [
            each for each in self.groups if any(row.theirs.value is not None for row in each.rows)
        ]
        return [
            _agreement(quantity, [each for each in numbered if each.quantity == quantity])
            for quantity in dict.fromkeys(each.quantity for each in numbered)
        ]


def outcome(table: Table, measured: Mapping[str, Measured]) -> Outcome:
    """Returns the figures of a table beside those measured, by scenario; others are left out."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for each in table.entries:
        if each.scenario in measured:
            key = (each.scenario, each.quantity, each.phase)
            groups.setdefault(key, []).append(_row(table, each, measured[each.scenario]))
    return Outcome(table, [_group(rows) for rows in groups.values()])


def _row(table: Table, theirs: Published, here: Measured) -> Row:
    values = here.values(theirs)
    found = estimate(values)
    if table.interval == "slots":
        found = Estimate(found.mean, here.slot_interval(theirs))
    return Row(table, theirs, here.ran[theirs.cca], values, found)


def _group(rows: list[Row]) -> Group:
    first = rows[0].theirs
    ranks = rank_correlation(
        {row.theirs.cca: row.values for row in rows},
        {
            row.theirs.cca: (row.theirs.value, row.theirs.ci95 or 0.0)
            for row in rows
            if row.theirs.value is not None
        },
    )
    return Group(first.scenario, first.quantity, first.unit, first.phase, rows, ranks)


def _agreement(quantity: str, groups: list[Group]) -> Agreement:
    rhos = [each.ranks.rho for each in groups if each.ranks is not None]
    known = [0.0 if math.isnan(rho) else rho for rho in rhos]
    rows = [row for each in groups for row in each.rows]
    errors = [abs(row.error) for row in rows if not math.isnan(row.error)]
    judged = [row for row in rows if row.agrees is not None]
    orders = []
    for each in groups:
        pairs = [(row.here.mean, row.theirs.value) for row in each.rows if row.theirs.value is not None]
        if each.ranks is not None:
            orders.append(([mine for mine, _ in pairs], [theirs for _, theirs in pairs]))
    return Agreement(
        quantity,
        math.fsum(known) / len(known) if known else math.nan,
        joint_chance(orders),
        math.fsum(errors) / len(errors) if errors else math.nan,
        sum(bool(row.agrees) for row in judged),
        len(judged),
        len(rhos),
    )
