"""Choices: gain and cost of a split at each place, with the best CCA on each leg."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from celltcp.publications.agreement import Outcome, Row
from celltcp.results.statistics import Estimate, estimate, paired_difference

#: Minimum gain for which a split pays, %.
MIN_GAIN_PERCENT = 5.0


@dataclass(frozen=True)
class Option:
    """A split with CCAs for both legs, compared with the best CCA without a split."""

    cca: str
    #: Gain of goodput, %, and growth of the 95th percentile of the one-way delay, ms; paired by run.
    gain: Estimate
    delay: Estimate
    #: Bytes queued or in flight between split host and phone, kB.
    buffered: Estimate


@dataclass(frozen=True)
class Choice:
    """Options at a place, the best one first."""

    place: str
    #: Best CCA without a split.
    plain: str
    options: list[Option]

    @property
    def verdict(self) -> str:
        """Whether to split: yes, no, or unclear if the interval includes both."""
        best = self.options[0].gain
        half = best.ci95 or 0.0
        if best.mean - half > MIN_GAIN_PERCENT:
            return "split"
        return "do not split" if best.mean + half <= MIN_GAIN_PERCENT else "unclear"


def choices(outcome: Outcome) -> list[Choice]:
    """Returns the options of each place of an outcome."""
    by_place: dict[str, list[Row]] = {}
    for row in outcome.rows:
        by_place.setdefault(row.published.scenario, []).append(row)
    return [_choice(place, rows) for place, rows in by_place.items()]


def _choice(place: str, rows: Sequence[Row]) -> Choice:
    values = {(row.published.cca, row.published.quantity): row.values for row in rows}
    goodput = {cca: values[cca, "goodput"] for cca, quantity in values if quantity == "goodput"}
    alone = [cca for cca in goodput if "@" not in cca]
    plain = max(alone, key=lambda cca: math.fsum(goodput[cca]))
    options = [
        Option(
            cca,
            estimate(
                [100 * (mine / base - 1) for mine, base in zip(each, goodput[plain], strict=True)]
            ),
            paired_difference(values[cca, "owd_p95"], values[plain, "owd_p95"]),
            estimate(values[cca, "split_buffer"]),
        )
        for cca, each in goodput.items()
        if "@" in cca
    ]
    return Choice(place, plain, sorted(options, key=lambda option: -option.gain.mean))
