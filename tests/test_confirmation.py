"""Confirmation: what leads in a few runs is advised only if other runs, or their number, show it."""

from __future__ import annotations

import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.alternatives import Alternative, Need
from celltcp.comparison.explanation.trials.confirmation import Confirmation
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget, Trials
from celltcp.comparison.verdicts.choices import choices_of
from celltcp.results.statistics import Estimate, estimate, p_value

_TICKS = {"kind": "request-response", "request": "60B", "response": "120B", "gap": "50ms"}
#: Alternatives of which the best of three runs is chosen.
_ALTERNATIVES = 20


@pytest.mark.parametrize(
    ("count", "ratio", "p"),
    [(3, 9.925 / 4.303, 0.01), (4, 5.841 / 3.182, 0.01), (10, 3.250 / 2.262, 0.01)],
)
def test_p_values_are_those_of_the_tables_of_student(count: int, ratio: float, p: float) -> None:
    """The two-sided 5 % and 1 % points of Student's t distribution, of count - 1 degrees of freedom."""
    unit = estimate([float(each) for each in range(count)])
    assert unit.ci95 is not None
    at_t = Estimate(unit.ci95, unit.ci95)
    assert p_value(at_t, count) == pytest.approx(0.05, abs=1e-9)
    assert p_value(Estimate(ratio * unit.ci95, unit.ci95), count) == pytest.approx(p, rel=2e-3)


def test_values_without_spread_leave_no_chance() -> None:
    assert p_value(estimate([2.0, 2.0]), 2) == 0.0
    assert p_value(estimate([0.0, 0.0]), 2) == 1.0


@pytest.fixture(scope="module")
def need() -> Need:
    """Ticks beside a download on a link that varies, whose queue BBR keeps short."""
    flows = [{"name": "bulk"}, {"name": "ticks", "cca": "cubic", "workload": _TICKS}]
    down = {"generate": {"mean": "20Mbit/s", "variability": 0.35, "correlation": "2s"}}
    path = {"rtt": "40ms", "down": down, "up": {"rate": "10Mbit/s"}, "buffer": "1MB"}
    scenario = {"name": "varying", "duration": "15s", "path": path, "flows": flows}
    result = ct.compare(scenario, ["cubic", "reno"], 3)
    return Need(result, choices_of(result)[0], None)


def _row(need: Need, cca: str, values: list[float]) -> Alternative:
    """Returns an alternative that is another congestion control of the download, with its values."""
    remedy = ProposedRemedy("queue", Remedy("a queue", cca=cca), ("cubic",), {})
    places = ("sender (server)",)
    gain = need.gain(need.values(need.comparison, "cubic"), values)
    return Alternative(cca, remedy, need.comparison, places, values, gain, ())


def test_a_lead_that_other_runs_do_not_show_does_not_hold(need: Need) -> None:
    """Three fortunate runs of a congestion control as bad as the one in use."""
    before = need.values(need.comparison, "cubic")
    lucky = [share * each for share, each in zip((0.4, 0.7, 0.55), before, strict=True)]
    confirmation = Confirmation(Trials(need.comparison, TrialBudget()), _ALTERNATIVES)
    assert not confirmation.holds(need, _row(need, "reno", lucky), "cubic")
    (text,) = confirmation.texts_for(need)
    assert text.startswith("reno leads for ticks (")
    assert re.search(
        r" in 3 runs \(.*, cubic .*\), which 7 others do not show \(.*, cubic .*\)\.$", text
    )
    assert confirmation.refused_ccas == {"reno"}


def test_a_lead_that_other_runs_show_holds(need: Need) -> None:
    """The same three values under BBR, which keeps the queue short in any run."""
    before = need.values(need.comparison, "cubic")
    lucky = [share * each for share, each in zip((0.4, 0.7, 0.55), before, strict=True)]
    confirmation = Confirmation(Trials(need.comparison, TrialBudget()), _ALTERNATIVES)
    assert confirmation.holds(need, _row(need, "bbr", lucky), "cubic")
    assert confirmation.texts_for(need) == []


def test_a_lead_beyond_the_chance_of_all_alternatives_needs_no_other_runs(need: Need) -> None:
    before = need.values(need.comparison, "cubic")
    confirmation = Confirmation(Trials(need.comparison, TrialBudget()), _ALTERNATIVES)
    steady = [each - 0.4 * min(before) for each in before]
    # Reno would not hold in other runs.
    assert confirmation.holds(need, _row(need, "reno", steady), "cubic")
