"""Requirements of applications, and their metrics: goodput, the performance metric PM, and others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from celltcp._core import (
    outcome_parts,
    parse_requirement,
    requirement_kinds,
    requirement_measure,
    weighted_pm,
)
from celltcp.scenarios.cca_mix import parse_mix

if TYPE_CHECKING:
    import pandas as pd

#: The metric of each named requirement; a higher value is better.
REQUIREMENTS = {"goodput": "goodput_mbps", "balanced": "pm_balanced", "delay": "pm_delay"}

#: Requirements whose metrics are computed from RTTs.
RTT_REQUIREMENTS = ("balanced", "delay")

#: Requirements with a measure other than PM. A bound follows the at sign.
OTHER_MEASURES = tuple(part for part in outcome_parts() if part in requirement_kinds())

#: Requirement of video sessions, and its metric: the mean opinion score.
QOE = "qoe"


class Weights(NamedTuple):
    """Weights of the parts of PM (atxutegi2018 §6, eq. 6.1): capacity use, delay and losses."""

    alpha: float
    beta: float
    gamma: float

    def __str__(self) -> str:
        return parse_requirement("/".join(map(str, self)))[0]

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return f"pm_{self}"

    def measure(self, slots: pd.DataFrame) -> pd.Series:
        """Returns PM of each slot, computed from its parts `a`, `b` and `c`.

        The weights of undefined parts are left out. PM is NaN if no part with a weight is defined.
        """
        import pandas as pd

        parts = pa.RecordBatch.from_pandas(slots[["a", "b", "c"]], preserve_index=False)
        return pd.Series(weighted_pm(parts, self).to_numpy(), index=slots.index)


class OtherMeasure(NamedTuple):
    """A requirement of the kinds in `OTHER_MEASURES`: `goodput@RTT`, `delay@RATE`, `power`."""

    #: The requirement, which is also the name of the metric.
    metric: str

    def measure(self, slots: pd.DataFrame) -> pd.Series:
        """Returns the measure of each slot."""
        import pandas as pd

        columns = ["goodput_mbps", "rtt_mean_ms", "a", "b", "c"]
        batch = pa.RecordBatch.from_pandas(slots[columns].astype("float64"), preserve_index=False)
        return pd.Series(requirement_measure(batch, self.metric).to_numpy(), index=slots.index)


#: Requirement of short flow completion times. Its metric is 1 / (mean completion time in s).
COMPLETION = "fct"
COMPLETIONS = "completions_per_s"


def normalize_requirement(text: str) -> str:
    """Returns the normal form of a requirement: `"delay"`, `"goodput@100ms"`, weights like `"1/5/1"`.

    Raises:
        CelltcpError: if the text is no requirement.
    """
    return parse_requirement(text)[0]


def requirement_metric(requirement: str) -> str:
    """Returns the metric of a requirement in its normal form."""
    if requirement == COMPLETION:
        return COMPLETIONS
    return REQUIREMENTS.get(requirement) or slot_measure(requirement).metric


def slot_measure(requirement: str) -> Weights | OtherMeasure:
    """Returns the measure of slots of a requirement that has no name in `REQUIREMENTS`."""
    if "/" in requirement:
        return Weights(*parse_requirement(requirement)[1])
    return OtherMeasure(requirement)


def slot_measures(requirements: Iterable[str]) -> list[Weights | OtherMeasure]:
    """Returns the measures of those requirements whose metrics are not columns of every run."""
    return [
        slot_measure(requirement)
        for requirement in dict.fromkeys(requirements)
        if requirement not in REQUIREMENTS and requirement != COMPLETION
    ]


def selector_requirements(mixes: Iterable[str]) -> list[str]:
    """Returns the requirements of the selectors in CCA mixes, each once."""
    requirements = (
        normalize_requirement(flow.parameters["requirement"])
        for mix in mixes
        for flow in parse_mix(mix).flows
        if flow.is_selector and "requirement" in flow.parameters
    )
    return list(dict.fromkeys(requirements))
