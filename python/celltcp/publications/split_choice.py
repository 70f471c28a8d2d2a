"""Split choices: gain and cost of a split under each condition, with the best CCA on each leg."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from celltcp.publications.agreement import Outcome, Row
from celltcp.results.statistics import Estimate, estimate, paired_difference

#: Minimum gain at which a split is worth its cost, %.
MIN_GAIN_PERCENT = 5.0


@dataclass(frozen=True)
class Option:
    """A split with CCAs for both legs, compared with the best CCA without a split."""

    cca: str
    #: Gain of goodput, paired by run, %.
    gain: Estimate
    #: Growth of the 95th percentile of the one-way delay, paired by run, ms.
    delay: Estimate
    #: Bytes queued or in flight between split host and phone, kB.
    buffered: Estimate


@dataclass(frozen=True)
class Choice:
    """Options under a condition, the best one first."""

    #: Name of the condition.
    condition: str
    #: Best CCA without a split.
    unsplit_cca: str
    options: list[Option]

    @property
    def verdict(self) -> str:
        """Whether to split, or unclear if the interval of the gain includes the minimum."""
        gain = self.options[0].gain
        half_width = gain.ci95 or 0.0
        if gain.mean - half_width > MIN_GAIN_PERCENT:
            return "split"
        return "do not split" if gain.mean + half_width <= MIN_GAIN_PERCENT else "unclear"


def choices(outcome: Outcome) -> list[Choice]:
    """Returns the choice under each condition of an outcome."""
    by_condition: dict[str, list[Row]] = {}
    for row in outcome.rows:
        by_condition.setdefault(row.published.scenario, []).append(row)
    return [_choice(condition, rows) for condition, rows in by_condition.items()]


def _choice(condition: str, rows: Sequence[Row]) -> Choice:
    values = {(row.published.cca, row.published.quantity): row.values for row in rows}
    goodput = {cca: values[cca, "goodput"] for cca, quantity in values if quantity == "goodput"}
    unsplit_ccas = [cca for cca in goodput if "@" not in cca]
    unsplit_cca = max(unsplit_ccas, key=lambda cca: math.fsum(goodput[cca]))
    options = []
    for cca in [cca for cca in goodput if "@" in cca]:
        pairs = zip(goodput[cca], goodput[unsplit_cca], strict=True)
        gain = estimate([100 * (split / unsplit - 1) for split, unsplit in pairs])
        delay = paired_difference(values[cca, "owd_p95"], values[unsplit_cca, "owd_p95"])
        options.append(Option(cca, gain, delay, estimate(values[cca, "split_buffer"])))
    return Choice(condition, unsplit_cca, sorted(options, key=lambda option: -option.gain.mean))
