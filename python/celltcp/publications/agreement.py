"""Outcome of an experiment: published and simulated values row by row, and their agreement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from celltcp.publications.measured_values import measured_values, slot_interval
from celltcp.publications.measurements import Measured
from celltcp.publications.outcome import FigureRow
from celltcp.publications.published_table import Published, Table
from celltcp.publications.ranks import (
    HALF_WIDTH,
    RankCorrelation,
    joint_p_value,
    mean_correlation,
    rank_correlation,
)
from celltcp.publications.replication import Figure, Replication, replicate
from celltcp.results.rows import json_value
from celltcp.results.statistics import Estimate, estimate, student_quantile

#: Fewest CCAs whose ranks are correlated.
_MIN_RANKED = 3


@dataclass(frozen=True)
class Row:
    """A published value and the mean of our runs."""

    table: Table
    published: Published
    #: Simulated CCA: that of the table, or its variant in the kernel of the experiments.
    ran: str
    values: list[float]
    #: Mean, with an interval of the kind that the table has.
    ours: Estimate
    #: Values of the runs, for pictures.
    source: Measured = field(repr=False)
    #: Whether the claim holds; None without one.
    holds: bool | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether the claim holds, or else whether one figure lies in the interval of the other.

        That is ours in the published interval or, without one, the published figure in ours.
        """
        if self.published.claim is not None:
            return self.holds
        half = self.ours.ci95 if self.published.ci95 is None else self.published.ci95
        if half is None or self.published.value is None or math.isnan(self.ours.mean):
            return None
        return abs(self.ours.mean - self.published.value) <= half

    @property
    def error(self) -> float:
        """Difference of our mean from the published value, as a share of that."""
        figure = self.published.value
        return self.ours.mean / figure - 1 if figure else math.nan

    @property
    def replication(self) -> Figure | None:
        """The published value with its scatter and that of our mean; None where that is not known.

        The scatter of our runs is taken as a share of the mean. A published interval of slots becomes
        one of means by the ratio that both have here.
        """
        figure, again = self.published.value, estimate(self.values)
        if figure is None or again.ci95 is None or not again.mean:
            return None
        quantile = student_quantile(sum(not math.isnan(value) for value in self.values) - 1)
        ours = again.ci95 / quantile * abs(figure / again.mean)
        if self.published.ci95 is None:
            return Figure(figure, math.hypot(ours, ours))
        of_means = self.published.ci95 / HALF_WIDTH
        if self.table.interval == "slots":
            if not self.ours.ci95:
                return None
            of_means *= again.ci95 / self.ours.ci95
        return Figure(figure, math.hypot(of_means, ours))

    def to_json(self) -> FigureRow:
        """Returns the row for `celltcp papers --json`."""
        kind = {"slots": "intervals are of slots, averaged over the run"}.get(self.table.interval, "")
        as_ran = f"ran as {self.ran}" if self.ran != self.published.cca else ""
        claim = f"claim: {self.published.claim.text}" if self.published.claim else ""
        notes = (claim, self.published.note, self.table.note, kind, as_ran)
        part = f", {self.published.part}" if self.published.part else ""
        return {
            "publication": self.table.publication,
            "experiment": self.table.experiment,
            "figure": self.table.figure,
            "scenario": self.published.scenario,
            "cca": self.published.cca,
            "quantity": self.published.quantity + part,
            "unit": self.published.unit,
            "published": self.published.value,
            "published_ci95": self.published.ci95,
            "here": json_value(self.ours.mean),
            "here_ci95": self.ours.ci95,
            "runs": len(self.source.runs_of(self.published)),
            "agrees": self.agrees,
            "note": "; ".join(note for note in notes if note),
        }


@dataclass(frozen=True)
class Group:
    """Rows of one scenario, quantity and phase, whose CCAs have ranks."""

    scenario: str
    quantity: str
    unit: str
    #: Phase, window and zone.
    part: str
    rows: list[Row]
    #: None for fewer than three CCAs.
    ranks: RankCorrelation | None

    @property
    def title(self) -> str:
        """Title of the rows: the scenario, and the part of the run."""
        return f"{self.scenario}, {self.part}" if self.part else self.scenario


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
    #: CCA without which the mean of the rank correlations is highest, and that mean; None with fewer
    #: than four CCAs.
    without: tuple[str, float] | None = None
    #: Agreement that a second measurement of the published values would have; None if unknown.
    again: Replication | None = None


@dataclass(frozen=True)
class Outcome:
    """Outcome of an experiment: its rows, and the agreement with the publication."""

    table: Table
    groups: list[Group]

    @property
    def claims(self) -> tuple[int, int]:
        """Number of claims that hold, and number of those that could be judged."""
        judged = [row.holds for row in self.rows if row.holds is not None]
        return sum(judged), len(judged)

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for group in self.groups for row in group.rows]

    @property
    def agreements(self) -> list[Agreement]:
        """Agreement by quantity with published values."""
        numbered = [
            group for group in self.groups if any(row.published.value is not None for row in group.rows)
        ]
        return [
            _agreement(quantity, [group for group in numbered if group.quantity == quantity])
            for quantity in dict.fromkeys(group.quantity for group in numbered)
        ]


def outcome(table: Table, measured: Mapping[str, Measured]) -> Outcome:
    """Returns the values of a table with those measured, by place; others are left out."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for entry in table.entries:
        if entry.source in measured and entry.cca in measured[entry.source].ran:
            key = (entry.scenario, entry.quantity, entry.part)
            groups.setdefault(key, []).append(_row(table, entry, measured))
    return Outcome(table, [_group(rows) for rows in groups.values()])


def _row(table: Table, figure: Published, measured: Mapping[str, Measured]) -> Row:
    source = measured[figure.source]
    values = measured_values(source, figure)
    result = estimate(values)
    if table.interval == "slots":
        result = Estimate(result.mean, slot_interval(source, figure))
    holds = _holds(figure, values, measured)
    return Row(table, figure, source.ran[figure.cca], values, result, source, holds)


def _holds(figure: Published, values: list[float], measured: Mapping[str, Measured]) -> bool | None:
    """Returns whether the claim of an entry holds for these values; None if others are missing."""

    def of(cca: str | None, scenario: str | None) -> Sequence[float]:
        other = replace(figure, cca=cca or figure.cca, scenario=scenario or figure.scenario)
        source = measured.get(other.source)
        if source is None or other.cca not in source.ran:
            return [math.nan]
        return measured_values(source, other)

    if figure.claim is None:
        return None
    others = {cca: of(cca, None) for cca in measured[figure.scenario].ran}
    return figure.claim.holds(figure.cca, values, others, of)


def _group(rows: list[Row]) -> Group:
    first = rows[0].published
    ranks = rank_correlation(
        {row.published.cca: row.values for row in rows},
        {
            row.published.cca: (row.published.value, row.published.ci95 or 0.0)
            for row in rows
            if row.published.value is not None
        },
    )
    return Group(first.scenario, first.quantity, first.unit, first.part, rows, ranks)


def _agreement(quantity: str, groups: list[Group]) -> Agreement:
    rhos = [group.ranks.rho for group in groups if group.ranks is not None]
    known = [0.0 if math.isnan(rho) else rho for rho in rhos]
    rows = [row for group in groups for row in group.rows]
    errors = [abs(row.error) for row in rows if not math.isnan(row.error)]
    judged = [row for row in rows if row.agrees is not None and row.published.claim is None]
    orders = []
    for group in groups:
        pairs = [
            (row.ours.mean, row.published.value)
            for row in group.rows
            if row.published.value is not None
        ]
        if group.ranks is not None:
            orders.append(([mine for mine, _ in pairs], [figure for _, figure in pairs]))
    return Agreement(
        quantity,
        math.fsum(known) / len(known) if known else math.nan,
        joint_p_value(orders),
        math.fsum(errors) / len(errors) if errors else math.nan,
        sum(bool(row.agrees) for row in judged),
        len(judged),
        len(rhos),
        _without_one(groups),
        _measured_again(groups),
    )


def _without_one(groups: list[Group]) -> tuple[str, float] | None:
    """Returns the CCA without which the ranks agree best, and the mean of their correlations then."""
    pairs = [
        {
            row.published.cca: (row.ours.mean, row.published.value)
            for row in group.rows
            if row.published.value is not None
        }
        for group in groups
        if group.ranks is not None
    ]
    result = {}
    for cca in dict.fromkeys(cca for pair in pairs for cca in pair):
        fewer = [[mean for name, mean in pair.items() if name != cca] for pair in pairs]
        if all(len(each) >= _MIN_RANKED for each in fewer):
            result[cca] = mean_correlation(fewer)
    return max(result.items(), key=lambda each: each[1]) if result else None


def _measured_again(groups: list[Group]) -> Replication | None:
    """Returns the agreement of a second measurement; None unless all scatters are known."""
    rows = [[row for row in group.rows if row.published.value is not None] for group in groups]
    figures = [[row.replication for row in mine] for mine in rows]
    known = [[each for each in mine if each is not None] for mine in figures]
    return replicate(known) if known == figures else None
