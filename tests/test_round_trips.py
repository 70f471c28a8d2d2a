"""Pages whose time is round trips, not the rate of the link."""

from __future__ import annotations

import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget

PAGE = {"kind": "page", "gap": "500ms"}


def _explained(rate: str, page: dict[str, Any]) -> ExplainedComparison:
    changes = {"path.down": rate, "path.rtt": "100ms", "flows.0.workload": page}
    return ExplainedComparison(ct.compare("steady-20-68", "cubic", 2, duration="20s", set=changes))


def test_a_page_over_a_long_path_is_round_trips_and_requests_at_once_help() -> None:
    explained = _explained("50Mbit/s", PAGE)
    first = explained.ccas[0].causes[0]
    assert first.name == "round_trips"
    found = re.search(r"takes (\d+) round trips of 100 ms \(([\d.]+) s in the median\)", first.text)
    assert found is not None, first.text
    median = explained.comparison.applications[0].means("page_load_p50_s")[0]
    assert float(found[2]) == pytest.approx(median, abs=0.01)
    assert int(found[1]) == pytest.approx(median / 0.1, abs=1)
    # Its bytes pass in a part of that.
    size = explained.comparison.applications[0].means("page_bytes")[0]
    passed = re.search(r"pass the link in ([\d.]+) s", first.text)
    assert passed is not None
    assert float(passed[1]) == pytest.approx(8 * size / 50e6, rel=0.25)
    explained.try_remedies(TrialBudget())
    remedy = explained.remedies[0]
    assert remedy.remedy.changes == ("flows.0.workload.multiplexed=true",)
    assert re.search(r"page load mean [\d.]+ to [\d.]+ s \(-[2-9]\d %\)", remedy.trial)


@pytest.mark.parametrize(
    ("rate", "page"),
    [("2Mbit/s", PAGE), ("50Mbit/s", {**PAGE, "objects": 1, "depth": 1, "document": "10kB"})],
)
def test_pages_of_a_slow_link_and_of_few_objects_are_none(rate: str, page: dict[str, Any]) -> None:
    causes = _explained(rate, page).ccas[0].causes
    assert "round_trips" not in {each.name for each in causes}
