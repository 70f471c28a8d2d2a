"""JSON types of celltcp select evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypedDict

from celltcp.comparison.metrics import METRICS
from celltcp.results.json_fields import (
    Cca,
    Cell,
    Ci95,
    Columns,
    Duration,
    Number,
    ScenarioName,
    Seed,
)
from celltcp.selection.outcomes.rows import EvaluationOrigin, Policies

_Policy = Annotated[str, "Policy."]
_Requirement = Annotated[str, "Requirement."]
_Decisions = Annotated[int, "Number of decisions with an expectation."]
_Scenarios = Annotated[int, "Number of scenarios."]
_MeanOverScenarios = Annotated[Number, "Mean over the scenarios."]
_Ci95OverScenarios = Annotated[Number, "Half of its 95 % interval over the scenarios."]
_Ci95OverCases = Annotated[Number, "Half of its 95 % interval over the cases."]

#: Count of cases by outcome of `celltcp.selection.tally.OUTCOMES`.
_Outcomes = TypedDict(
    "_Outcomes",
    {"one from the start": Number, "over 5 %": Number, "up to 5 %": Number, "worse": Number},
)


class TallyRow(_Outcomes):
    """Number of cases of a policy by outcome."""

    policy: Policies
    among: str
    cases: int


class CheckRow(TypedDict):
    """Counts of the cases of a policy and a requirement, and means over them."""

    policy: Policies
    requirement: str
    cases: Annotated[int, "Number of scenarios with this requirement."]
    gain: Annotated[Number, "Mean paired difference to CUBIC, % of CUBIC's mean."]
    gain_ci95: _Ci95OverCases
    regret: Annotated[
        Number,
        "Mean paired difference of the best in hindsight, the fixed CCA with the highest mean of the "
        "case, to the policy, % of the mean of the best.",
    ]
    regret_ci95: _Ci95OverCases
    oracle_regret: Annotated[Number, "The same of the oracle, the best fixed CCA of each run."]
    large_gains: Annotated[Number, "Cases with a gain above 5 %."]
    reached_best: Annotated[Number, "Cases with at least 95 % of the mean of the best in hindsight."]
    better_than_best: Annotated[Number, "Cases with a higher mean than the best in hindsight."]
    won_default: Annotated[Number, "Cases better than CUBIC: the 95 % interval excludes zero."]
    tied_default: Annotated[Number, "Cases in which the interval includes zero."]
    lost_default: Annotated[Number, "Cases worse than CUBIC."]
    won_best: Annotated[Number, "Cases better than the best in hindsight."]
    tied_best: Annotated[Number, "Cases tied with it."]
    lost_best: Annotated[Number, "Cases worse than it."]
    won_oracle: Annotated[Number, "Cases better than the oracle."]
    tied_oracle: Annotated[Number, "Cases tied with it."]
    lost_oracle: Annotated[Number, "Cases worse than it."]
    switches_per_min: Annotated[Number, "Changes of the CCA of running connections, per minute."]
    returns_per_min: Annotated[Number, "Those of them that take an earlier change back."]


class BaselineRow(TypedDict):
    """Regret of a choice among fixed CCAs; each policy adds its distance below it."""

    requirement: str
    baseline: Annotated[
        str,
        "best constant: the fixed CCA with the lowest mean regret over all cases. Family left out: for "
        "each family of scenarios, that of all others; a family is the first word of a name in its "
        "folder. Better of two: the pair of CCAs whose better one per scenario has the lowest mean "
        "regret. Oracle: the best CCA of each run, whose regret is zero or less.",
    ]
    choice: Annotated[str, "The CCAs of the baseline."]
    cases: int
    regret: Annotated[Number, "Mean regret over the cases, %."]
    regret_ci95: _Ci95OverCases
    worst: Annotated[Number, "Highest regret of a case, %."]
    ahead_default: Annotated[Number, "Mean paired difference of its regret to that of the policy, %."]
    ahead_ci95_default: _Ci95OverCases


class WorstRow(TypedDict):
    """Case with a high regret, and its cause."""

    policy: Policies
    scenario: ScenarioName
    requirement: str
    regret: Number
    regret_ci95: Number
    gain: Number
    best_cca: str
    used: str
    cause: Annotated[
        str,
        "Cause of the regret. wrong CCA: as fixed CCAs, those in use have at least half of the "
        "regret. late: the same, but the last of them has less. changes: together they have less than "
        "half.",
    ]


class CalibrationRow(TypedDict):
    """Measures that a policy expected, and measured ones."""

    policy: _Policy
    requirement: _Requirement
    moment: Annotated[str, "start, flight, or all of both."]
    decisions: _Decisions
    scenarios: _Scenarios
    expected: _MeanOverScenarios
    realised: Annotated[
        Number,
        "Measure until the next decision: PM from the mean A, B and C over at most 10 s, or of goodput "
        "the delivered share of the capacity.",
    ]
    error: Annotated[Number, "Realised minus expected, over the scenarios."]
    error_ci95: _Ci95OverScenarios
    absolute_error: Annotated[Number, "Mean of the absolute errors."]
    correlation: Annotated[Number, "Correlation of expected and realised over decisions."]


class ReliabilityRow(TypedDict):
    """Realised measures of a bin of expected ones."""

    policy: _Policy
    requirement: _Requirement
    low: Annotated[Number, "Lower limit of the bin."]
    high: Annotated[Number, "Upper limit of the bin."]
    decisions: _Decisions
    scenarios: _Scenarios
    expected: _MeanOverScenarios
    realised: _MeanOverScenarios
    realised_ci95: _Ci95OverScenarios


class CaseRow(TypedDict):
    """Policy for a requirement on a scenario, compared with fixed CCAs."""

    scenario: ScenarioName
    requirement: str
    policy: Policies
    metric: str
    mean: Annotated[Number, "Mean over the runs."]
    default_mean: Number
    best_cca: str
    best_mean: Number
    oracle_mean: Number
    gain: Number
    gain_ci95: Number
    regret: Number
    regret_ci95: Number
    oracle_regret: Number
    against_default: str
    against_best: str
    against_oracle: str
    switches_per_min: Number
    returns_per_min: Number
    switched: bool


class DuelRow(TypedDict):
    """Policy against a fixed CCA or another policy in a case."""

    scenario: ScenarioName
    requirement: str
    policy: Policies
    rival: str
    percent: Number
    ci95: Ci95
    verdict: str


class HistoryRow(TypedDict):
    """Memory of a policy at the start."""

    scenario: ScenarioName
    policy: Policies
    memory: str


_METRICS = (
    *("goodput_mbps", "pm_balanced", "pm_delay"),
    *("rtt_mean_ms", "rtt_p95_ms", "retransmissions"),
)


def _run_columns() -> Mapping[str, object]:
    return {
        "scenario": ScenarioName,
        "label": str,
        "seed": Seed,
        **{metric: Annotated[Number, METRICS[metric]] for metric in _METRICS},
        "duration_s": Duration,
        "switches": Number,
        "returns": Number,
        "policy": Policies,
        "requirement": str,
    }


#: Row of a run; other requirements add their metrics.
RunRow = Annotated[dict[str, Cell], Columns(_run_columns)]


class _Settings(EvaluationOrigin):
    engine: Annotated[str, "What ran TCP: native or kernel."]
    policies: list[str]
    against: list[str]
    cca: Annotated[list[Cca], "Congestion control, as in --cca."]
    hints: dict[str, bool]
    history: Mapping[str, Number]
    scenarios: dict[str, str]
    digests: dict[str, str]
    runs: int
    seed: Seed


class Settings(_Settings):
    """Settings of an evaluation in its folder."""

    switches: bool


class EvaluationOutcome(_Settings):
    """Outcome of celltcp select evaluate."""

    switches: Annotated[dict[str, object], "Cost of changes by policy, if it was measured."]
    tally_rule: str
    tally_published: Mapping[str, Number]
    tally: list[TallyRow]
    checks: list[CheckRow]
    best_for_all: list[CheckRow]
    baselines: list[BaselineRow]
    worst: list[WorstRow]
    calibration: Annotated[
        list[CalibrationRow],
        "How far the measures that policies expected are from those that came.",
    ]
    reliability: Annotated[
        list[ReliabilityRow], "Reliability diagram: realised measures by bins of expected ones."
    ]
    cases: list[CaseRow]
    duels: list[DuelRow]
    histories: list[HistoryRow]
    runs_table: list[RunRow]
