"""Baselines that a policy has to undercut, and the causes of its worst cases."""

from __future__ import annotations

import pandas as pd
import pytest

from celltcp.present.terminal import Terminal
from celltcp.selection.baselines import baselines_of, family_of
from celltcp.selection.cases import cases_of
from celltcp.selection.tables.baseline import print_baselines
from celltcp.selection.worst_cases import worst_cases_of
from made_up import evaluation_of, made_up

#: Five scenarios of two families. CUBIC is the best of `a`, Reno that of `b`.
SCENARIOS = ("s/a-1", "s/a-2", "s/a-3", "s/b-1", "s/b-2")


def runs_with(policy: list[float]) -> pd.DataFrame:
    """Runs of a policy that gets these shares of the best of each scenario, which is 20 and 21."""
    parts = []
    for scenario, share in zip(SCENARIOS, policy, strict=True):
        high, low = [20.0, 21.0], [10.0, 10.5]
        cubic, reno = (high, low) if scenario.startswith("s/a") else (low, high)
        parts.append(made_up([share * each for each in high], 1, cubic, reno).assign(scenario=scenario))
    return pd.concat(parts, ignore_index=True)


def decisions_with(*decided: tuple[str, float, str]) -> pd.DataFrame:
    """Decisions of both runs: scenario, time in s, CCA."""
    rows = [
        {"scenario": scenario, "policy": "p", "requirement": "goodput", "seed": seed}
        | {"t_ns": int(t * 1e9), "to_cca": cca}
        for scenario, t, cca in decided
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows)


def test_a_family_is_the_first_word_of_a_name_in_its_folder() -> None:
    names = (
        "stress/buffer-0.1",
        "stress/buffer-20",
        "mobility/forward-60-4g",
        "drive",
        "r/4G_train.csv",
        "short/10m@20ms+5mbps",
    )
    assert [family_of(name) for name in names] == [
        *("stress/buffer", "stress/buffer", "mobility/forward", "/drive", "r/4G"),
        "short/10m",
    ]


def test_each_baseline_has_its_regret_and_the_lead_of_the_policy() -> None:
    rows = baselines_of(runs_with([1.0, 1.0, 1.0, 1.0, 0.9])).set_index("baseline")
    assert list(rows.index) == [
        *("", "best constant", "best constant, family left out", "better of two", "oracle")
    ]
    assert list(rows["choice"]) == ["p", "cubic", "reno, cubic", "cubic or reno", "best of each run"]
    # CUBIC loses half in two of five. Chosen by the other family, every choice is the wrong one.
    expected = [2.0, 20.0, 50.0, 0.0, 0.0]
    assert list(rows["regret"]) == pytest.approx(expected)
    assert list(rows["ahead_p"]) == pytest.approx([each - 2.0 for each in expected])
    assert list(rows["worst"]) == pytest.approx([10.0, 50.0, 50.0, 0.0, 0.0])
    # Student's t for five cases, of which two lose half: 2.776 * sqrt(750 / 5).
    assert rows.loc["best constant", "regret_ci95"] == pytest.approx(34.0, abs=0.01)


def test_a_scenario_in_which_no_choice_meets_the_requirement_is_left_out() -> None:
    nowhere = made_up([0.0, 0.0], 1, [0.0, 0.0], [0.0, 0.0]).assign(scenario="s/c-1")
    some = runs_with([1.0, 1.0, 0.9, 1.0, 0.8])
    with_it = baselines_of(pd.concat([some, nowhere], ignore_index=True))
    pd.testing.assert_frame_equal(with_it, baselines_of(some))


def test_the_cause_of_a_regret_is_a_choice_its_time_or_the_changes() -> None:
    runs = runs_with([0.5, 0.8, 0.7, 1.0, 1.0])
    decisions = decisions_with(
        ("s/a-1", 0.0, "reno"),
        *(("s/a-2", 0.0, "reno"), ("s/a-2", 15.0, "cubic")),
        ("s/a-3", 0.0, "cubic"),
    )
    worst = worst_cases_of(cases_of(runs), runs, decisions)
    assert list(worst["scenario"]) == ["s/a-1", "s/a-3", "s/a-2"]
    assert list(worst["cause"]) == [
        "wrong CCA: reno, which alone loses 50.0 %",
        "changes: its CCAs alone lose 0.0 %; 2.0 a minute, 0.0 taken back",
        "late: cubic, which alone loses 0.0 %, came after 15.0 s",
    ]
    assert list(worst["used"]) == ["reno 100 %", "cubic 100 %", "reno 50 %, cubic 50 %"]


def test_baselines_and_worst_cases_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    result = evaluation_of(runs_with([1.0, 1.0, 0.5, 1.0, 1.0]), "goodput")
    print_baselines(result, Terminal())
    printed = " ".join(capsys.readouterr().out.split())
    for words in (
        "family left out",
        "cubic or reno",
        "p: worst cases",
        "s/a-3",
        "no decision is recorded",
    ):
        assert words in printed
    document = result.to_json()
    assert [row["baseline"] for row in document["baselines"]][1] == "best constant"
    assert document["worst"][0]["scenario"] == "s/a-3"
