"""Requirements of applications: the metric of each, and PM with other weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from celltcp._core import outcome_parts, parse_requirement, requirement_kinds, requirement_measure
from celltcp._core import weighted_pm as pm_of_parts
from celltcp.scenarios.cca_mix import parse_mix

if TYPE_CHECKING:
    import pandas as pd

#: The metric by which each requirement ranks; more is better.
REQUIREMENTS = {"goodput": "goodput_mbps", "balanced": "pm_balanced", "delay": "pm_delay"}

#: Requirements whose metrics are computed from RTTs.
DELAY_NEEDS = ("balanced", "delay")

#: Requirements with their own measure instead of PM. A bound follows the at sign.
OWN = tuple(part for part in outcome_parts() if part in requirement_kinds())

#: Requirement of results with video, and its metric: the mean opinion score.
QOE = "qoe"


class Weights(NamedTuple):
    """Weights of the parts of PM (atxutegi2018 §6, eq. 6.1): use of the capacity, delay, losses."""

    alpha: float
    beta: float
    gamma: float

    def __str__(self) -> str:
        return parse_requirement("/".join(map(str, self)))[0]

    @property
    def metric(self) -> str:
        """Name of PM with these weights among the metrics."""
        return f"pm_{self}"

    def measure(self, slots: pd.DataFrame) -> pd.Series:
        """Returns PM with these weights of each slot."""
        return weighted_pm(slots, self)


@dataclass(frozen=True)
class Bounded:
    """A requirement whose measure the native part computes: `goodput@RTT`, `delay@RATE`, `power`."""

    text: str

    @property
    def metric(self) -> str:
        """Name among the metrics."""
        return self.text

    def measure(self, slots: pd.DataFrame) -> pd.Series:
        """Returns the measure of each slot."""
        import pandas as pd

        columns = ["goodput_mbps", "rtt_mean_ms", "a", "b", "c"]
        batch = pa.RecordBatch.from_pandas(slots[columns].astype("float64"), preserve_index=False)
        return pd.Series(requirement_measure(batch, self.text).to_numpy(), index=slots.index)


#: Requirement that flows complete soon, and its metric: completions per second, one over the mean time.
COMPLETION = "fct"
COMPLETIONS = "completions_per_s"


def requirement_of(text: str) -> str:
    """Returns a requirement in its normal form: `"delay"`, `"goodput@100ms"`, or weights as `"1/5/1"`.

    Raises:
        CelltcpError: if it is none.
    """
    return parse_requirement(text)[0]


def metric_of(requirement: str) -> str:
    """Returns the metric of a requirement, as `requirement_of` writes it."""
    if requirement == COMPLETION:
        return COMPLETIONS
    return REQUIREMENTS.get(requirement) or _derived(requirement).metric


def _derived(requirement: str) -> Weights | Bounded:
    return Weights(*parse_requirement(requirement)[1]) if "/" in requirement else Bounded(requirement)


def derived_among(requirements: Iterable[str]) -> list[Weights | Bounded]:
    """Returns the requirements among these that are measured slot by slot, without the named ones."""
    result = (
        requirement
        for requirement in requirements
        if requirement not in REQUIREMENTS and requirement != COMPLETION
    )
    return [_derived(each) for each in dict.fromkeys(result)]


def required_in(lineups: Iterable[str]) -> list[str]:
    """Returns the requirements of the selectors in these line-ups, each once."""
    given = [
        flow.parameters["requirement"]
        for lineup in lineups
        for flow in parse_mix(lineup).flows
        if flow.is_selector and "requirement" in flow.parameters
    ]
    return list(dict.fromkeys(requirement_of(each) for each in given))


def weighted_pm(slots: pd.DataFrame, weights: Weights) -> pd.Series:
    """Returns PM of each slot with these weights, from its parts `a`, `b` and `c`.

    Undefined parts are left out together with their weights; NaN where none with a weight is defined.
    """
    import pandas as pd

    parts = pa.RecordBatch.from_pandas(slots[["a", "b", "c"]], preserve_index=False)
    return pd.Series(pm_of_parts(parts, weights).to_numpy(), index=slots.index)
