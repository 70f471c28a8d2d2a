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
    RankCorrelation,
    joint_p_value,
    mean_correlation,
    rank_correlation,
)
from celltcp.publications.replication import Replication, UncertainMean, replicate
from celltcp.results.rows import json_value
from celltcp.results.statistics import NORMAL_HALF_WIDTH, Estimate, estimate, student_quantile

#: Minimum number of CCAs whose ranks are correlated.
_MIN_RANKED = 3


@dataclass(frozen=True)
class Row:
    """A published value or claim, and the simulated values."""

    table: Table
    published: Published
    #: Simulated CCA: that of the table, or its variant in the kernel of the experiments.
    simulated_cca: str
    #: Values of the runs.
    values: list[float]
    #: Mean of our runs, with an interval of the table's kind.
    ours: Estimate
    #: Runs from which the values are computed, for pictures.
    source: Measured = field(repr=False)
    #: Whether the claim holds; None without a claim, or if that is unknown.
    holds: bool | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether the claim holds, or our mean is in the published interval.

        Without a published interval: whether the published value is in ours. None if that is unknown.
        """
        if self.published.claim is not None:
            return self.holds
        half_width = self.ours.ci95 if self.published.ci95 is None else self.published.ci95
        if half_width is None or self.published.value is None or math.isnan(self.ours.mean):
            return None
        return abs(self.ours.mean - self.published.value) <= half_width

    @property
    def error(self) -> float:
        """Difference of our mean from the published value, as a share of the published value."""
        published = self.published.value
        return self.ours.mean / published - 1 if published else math.nan

    @property
    def replication(self) -> UncertainMean | None:
        """The published value with the standard deviation of a second measurement's difference.

        It is None if that is unknown. The standard error of our mean is scaled to the published value.
        A published interval of slots is converted to one of means by the ratio of ours.
        """
        published, mean = self.published.value, estimate(self.values)
        if published is None or mean.ci95 is None or not mean.mean:
            return None
        quantile = student_quantile(sum(not math.isnan(value) for value in self.values) - 1)
        our_error = mean.ci95 / quantile * abs(published / mean.mean)
        if self.published.ci95 is None:
            return UncertainMean(published, math.hypot(our_error, our_error))
        published_error = self.published.ci95 / NORMAL_HALF_WIDTH
        if self.table.interval == "slots":
            if not self.ours.ci95:
                return None
            published_error *= mean.ci95 / self.ours.ci95
        return UncertainMean(published, math.hypot(published_error, our_error))

    def to_json(self) -> FigureRow:
        """Returns the row for `celltcp papers --json`."""
        slots = (
            "intervals are of slots, averaged over the run" if self.table.interval == "slots" else ""
        )
        cca = f"ran as {self.simulated_cca}" if self.simulated_cca != self.published.cca else ""
        claim = f"claim: {self.published.claim.text}" if self.published.claim else ""
        notes = (claim, self.published.note, self.table.note, slots, cca)
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
    """Rows of one condition, quantity and part of the run, whose CCAs have ranks."""

    scenario: str
    quantity: str
    unit: str
    #: Phase, window and zone, see `Published.part`.
    part: str
    rows: list[Row]
    #: Correlation with the published ranks; None for fewer than three CCAs.
    ranks: RankCorrelation | None

    @property
    def title(self) -> str:
        """Title of the rows: the scenario, and the part of the run."""
        return f"{self.scenario}, {self.part}" if self.part else self.scenario


@dataclass(frozen=True)
class Agreement:
    """Agreement of the rows of one quantity."""

    quantity: str
    #: Mean of the rank correlations, of which those between ties only count as 0.
    rho: float
    #: p-value of the mean: the share of random orders that agree as well.
    p_value: float
    #: Mean of the absolute errors of its rows (`Row.error`).
    error: float
    #: Number of rows that agree.
    agreeing_count: int
    #: Number of rows of which it is known whether they agree.
    judged_count: int
    #: Number of groups with ranks.
    group_count: int
    #: CCA without which the mean of the rank correlations is highest, and that mean; None with fewer
    #: than four CCAs.
    without: tuple[str, float] | None = None
    #: Agreement that a second measurement of the published values would have; None if unknown.
    replication_baseline: Replication | None = None


@dataclass(frozen=True)
class Outcome:
    """Outcome of an experiment: its rows, and the agreement with the publication."""

    table: Table
    groups: list[Group]

    @property
    def claims(self) -> tuple[int, int]:
        """Number of claims that hold, and number of claims of which that is known."""
        judged = [row.holds for row in self.rows if row.holds is not None]
        return sum(judged), len(judged)

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for group in self.groups for row in group.rows]

    @property
    def agreements(self) -> list[Agreement]:
        """Agreement of each quantity with published values."""
        by_quantity: dict[str, list[Group]] = {}
        for group in self.groups:
            if any(row.published.value is not None for row in group.rows):
                by_quantity.setdefault(group.quantity, []).append(group)
        return [_agreement(quantity, groups) for quantity, groups in by_quantity.items()]


def outcome(table: Table, measured: Mapping[str, Measured]) -> Outcome:
    """Returns the outcome of a table for the measured conditions, given by name."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for entry in table.entries:
        if entry.source in measured and entry.cca in measured[entry.source].simulated_ccas:
            key = (entry.scenario, entry.quantity, entry.part)
            groups.setdefault(key, []).append(_row(table, entry, measured))
    return Outcome(table, [_group(rows) for rows in groups.values()])


def _row(table: Table, entry: Published, measured: Mapping[str, Measured]) -> Row:
    source = measured[entry.source]
    values = measured_values(source, entry)
    mean = estimate(values)
    if table.interval == "slots":
        mean = Estimate(mean.mean, slot_interval(source, entry))
    holds = _holds(entry, values, measured)
    return Row(table, entry, source.simulated_ccas[entry.cca], values, mean, source, holds)


def _holds(entry: Published, values: list[float], measured: Mapping[str, Measured]) -> bool | None:
    """Returns whether the claim of an entry holds for its values; None if that is unknown."""

    def get(cca: str | None, condition: str | None) -> Sequence[float]:
        other = replace(entry, cca=cca or entry.cca, scenario=condition or entry.scenario)
        source = measured.get(other.source)
        if source is None or other.cca not in source.simulated_ccas:
            return [math.nan]
        return measured_values(source, other)

    if entry.claim is None:
        return None
    all_values = {cca: get(cca, None) for cca in measured[entry.scenario].simulated_ccas}
    return entry.claim.holds(entry.cca, values, all_values, get)


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
    numbers = [0.0 if math.isnan(rho) else rho for rho in rhos]
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
            orders.append(([ours for ours, _ in pairs], [published for _, published in pairs]))
    return Agreement(
        quantity,
        math.fsum(numbers) / len(numbers) if numbers else math.nan,
        joint_p_value(orders),
        math.fsum(errors) / len(errors) if errors else math.nan,
        sum(bool(row.agrees) for row in judged),
        len(judged),
        len(rhos),
        _best_without_one(groups),
        _replication_baseline(groups),
    )


def _best_without_one(groups: list[Group]) -> tuple[str, float] | None:
    """Returns the CCA without which the ranks agree best, and the mean correlation without it."""
    means = [
        {
            row.published.cca: (row.ours.mean, row.published.value)
            for row in group.rows
            if row.published.value is not None
        }
        for group in groups
        if group.ranks is not None
    ]
    correlations = {}
    for cca in dict.fromkeys(cca for by_cca in means for cca in by_cca):
        others = [[pair for name, pair in by_cca.items() if name != cca] for by_cca in means]
        if all(len(pairs) >= _MIN_RANKED for pairs in others):
            correlations[cca] = mean_correlation(others)
    return max(correlations.items(), key=lambda item: item[1]) if correlations else None


def _replication_baseline(groups: list[Group]) -> Replication | None:
    """Returns the agreement of a second measurement; None unless all its deviations are known."""
    rows = [[row for row in group.rows if row.published.value is not None] for group in groups]
    means = [[row.replication for row in group_rows] for group_rows in rows]
    known = [[mean for mean in group_means if mean is not None] for group_means in means]
    return replicate(known) if known == means else None
