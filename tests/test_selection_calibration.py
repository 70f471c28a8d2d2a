"""Calibration of policies: expected measures of choices beside those that came of them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import Job
from celltcp.present.terminal import Terminal
from celltcp.scenarios.scenarios import ScenarioSource
from celltcp.selection import Evaluation, evaluate
from celltcp.selection.calibration import (
    calibration_of,
    expectations_of,
    expected_measure,
    reliability_of,
)
from celltcp.selection.plots.reliability import draw_reliability
from celltcp.selection.slot_measures import MEASURED_COLUMNS
from celltcp.selection.tables.calibration import print_calibration
from made_up import evaluation_of, made_up


def test_the_expectation_is_that_of_the_cca_that_was_taken() -> None:
    changed = "capacity 40.8 < 99 (confidence 0.7): 0.900 expected of bbr3, 0.778 of illinois: gain 0"
    assert expected_measure(changed, "bbr3") == 0.9
    stayed = "bdp unknown: 0.900 expected of bbr, 0.880 of illinois: too little"
    assert expected_measure(stayed, "illinois") == 0.88
    unknown = "flow_size unknown: 0.897 expected of illinois, nothing known of cubic"
    assert expected_measure(unknown, "illinois") == 0.897
    assert math.isnan(expected_measure(unknown, "cubic"))
    assert math.isnan(expected_measure("0.5 of cubic is enough", "cubic"))


def _tables(a: list[float], decided: list[tuple[float, str, str]]) -> dict[str, pa.Table]:
    """Slots of 100 ms of the first flow, with these A, B of 0.5 and C of 1, and decisions."""
    slots = pd.DataFrame(
        {"run": 0, "flow": 0, "t_s": np.arange(len(a)) / 10, "a": a, "b": 0.5, "c": 1.0}
        | {"rtt_mean_ms": 40.0}
    )
    slots = slots.assign(capacity_mbps=np.where(slots["t_s"] < 2, 30.0, 10.0))
    slots["goodput_mbps"] = slots["a"] * slots["capacity_mbps"]
    assert set(MEASURED_COLUMNS) <= set(slots)
    decisions = [
        {"run": 0, "flow": 0, "t_ns": int(t * 1e9), "cause": "change" if number else "establishment"}
        | {"to_cca": cca, "reason": reason}
        for number, (t, cca, reason) in enumerate(decided)
    ]
    tables = {"slots": slots, "decisions": pd.DataFrame(decisions)}
    return {name: pa.Table.from_pandas(each, preserve_index=False) for name, each in tables.items()}


def _expected(tables: dict[str, pa.Table], requirement: str) -> pd.DataFrame:
    source = ScenarioSource("steady-5-18")
    job = Job(0, "auto:p", 3, source.scenario, engine())
    assert source.scenario.slot_s == pytest.approx(0.1)
    return expectations_of(tables, [job], {"auto:p": requirement})


def test_what_came_is_measured_until_the_next_decision() -> None:
    tables = _tables(
        [0.2] * 40 + [0.8] * 160,
        [
            (0.0, "copa", ": 0.600 expected of copa, nothing known of cubic"),
            (4.0, "cdg", "x: 0.700 expected of cdg, 0.600 of copa: gain 0.1, margin 0"),
            (4.5, "copa", "goodput fell by 30 %"),
            (5.0, "cdg", "x: 0.900 expected of cdg, 0.600 of copa: gain 0.3, margin 0"),
        ],
    )
    result = _expected(tables, "balanced")
    # The choice that lasted half a second and the return are left out; the last one is cut at 10 s.
    assert list(result["moment"]) == ["start", "flight"]
    assert list(result["expected"]) == [0.6, 0.9]
    assert list(result["seconds"]) == pytest.approx([4.0, 10.0])
    assert list(result["realised"]) == pytest.approx([(0.2 + 0.5 + 1) / 3, (0.8 + 0.5 + 1) / 3])
    delay = _expected(tables, "delay")
    assert delay["realised"].iloc[1] == pytest.approx((0.8 + 10 * 0.5 + 1) / 12)


def test_goodput_is_the_share_of_the_capacity_over_the_whole_time() -> None:
    tables = _tables([1.0] * 20 + [0.5] * 180, [(0.0, "bbr", ": 0.600 expected of bbr")])
    (row,) = _expected(tables, "goodput").to_dict("records")
    # 60 Mbit of 60 in the first 2 s, 90 of 180 after; the mean of A would be 0.55.
    assert row["seconds"] == pytest.approx(20.0)
    assert row["realised"] == pytest.approx(150 / 240)


@pytest.mark.parametrize("requirement", ["goodput@50ms", "delay@1Mbps", "power"])
def test_what_is_expected_relative_to_the_best_is_not_compared(requirement: str) -> None:
    assert _expected(_tables([0.5] * 50, [(0.0, "bbr", ": 0.600 expected of bbr")]), requirement).empty


def test_without_expectations_there_are_no_rows() -> None:
    rules = _tables([1.0] * 50, [(0.0, "bbr", "finding 1: bbr is robust")])
    for tables in (rules, {"slots": rules["slots"]}):
        assert _expected(tables, "delay").empty


def _made_case() -> pd.DataFrame:
    """Two scenarios; expectations of 0.62 come true on average, those of 0.91 are 0.2 too high."""
    rows = [
        ("a", "flight", 0.62, 0.5),
        ("a", "flight", 0.62, 0.7),
        ("b", "start", 0.62, 0.64),
        ("a", "flight", 0.91, 0.8),
        ("a", "flight", 0.91, 0.6),
        ("b", "start", 0.91, 0.72),
    ]
    result = pd.DataFrame(rows, columns=["scenario", "moment", "expected", "realised"])
    return result.assign(policy="p", requirement="balanced", seed=1, to_cca="cubic", label="auto:p")


def test_a_made_case_has_the_error_and_the_correlation_that_it_was_made_with() -> None:
    rows = calibration_of(_made_case()).set_index("moment")
    assert list(rows.index) == ["start", "flight", "all"]
    every = rows.loc["all"]
    assert (every["decisions"], every["scenarios"]) == (6, 2)
    # Scenario a: 0.765 expected, 0.65 realised; b: 0.765 and 0.68.
    assert every["expected"] == pytest.approx(0.765)
    assert every["realised"] == pytest.approx(0.665)
    assert every["error"] == pytest.approx(-0.1)
    # Student's t for two values: 12.706 * 0.015.
    assert every["error_ci95"] == pytest.approx(0.19059, abs=1e-4)
    assert every["absolute_error"] == pytest.approx((0.155 + 0.105) / 2)
    expected = np.corrcoef(_made_case()["expected"], _made_case()["realised"])[0, 1]
    assert every["correlation"] == pytest.approx(expected)
    assert rows.loc["start", "scenarios"] == 1
    assert math.isnan(rows.loc["start", "error_ci95"])


def test_bins_hold_each_expectation_once() -> None:
    bins = reliability_of(_made_case())
    assert list(bins["low"]) == pytest.approx([0.6, 0.9])
    assert list(bins["high"]) == pytest.approx([0.65, 0.95])
    assert list(bins["decisions"]) == [3, 3]
    assert list(bins["realised"]) == pytest.approx([0.62, 0.71])
    # A value on a limit belongs to the upper bin, and 1 to the last one.
    edges = _made_case().assign(expected=[0.0, 0.05, 0.15, 0.3, 0.95, 1.0])
    assert list(reliability_of(edges)["low"]) == pytest.approx([0.0, 0.05, 0.15, 0.3, 0.95])


def _evaluation(expectations: pd.DataFrame | None) -> Evaluation:
    made = evaluation_of(made_up([20.0, 21.0], 0, cubic=[20.0, 21.0], reno=[10.0, 11.0]), "balanced")
    frames = {"runs": made.runs, "decisions": made.decisions, "histories": made.histories}
    if expectations is not None:
        frames["expectations"] = expectations
    return Evaluation(frames, made.about)


def test_tables_and_json_have_the_calibration(capsys: pytest.CaptureFixture[str]) -> None:
    result = _evaluation(_made_case())
    print_calibration(result, Terminal())
    printed = " ".join(capsys.readouterr().out.split())
    assert "-0.100 ± 0.191 0.130" in printed
    assert "0.90-0.95 3 2 0.910 0.710" in printed
    document = result.to_json()
    assert [row["decisions"] for row in document["reliability"]] == [3, 3]
    assert document["calibration"][-1]["moment"] == "all"
    json.dumps(document, allow_nan=False)


def test_policies_that_expect_nothing_have_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_calibration(_evaluation(None), Terminal())
    assert capsys.readouterr().out == ""


def test_the_picture_has_a_panel_per_requirement_and_a_point_per_bin() -> None:
    both = [_made_case(), _made_case().assign(requirement="delay")]
    bins = reliability_of(pd.concat(both, ignore_index=True))
    picture = draw_reliability(bins, ["p"], ["goodput", "balanced", "delay"])
    assert [axes.get_title(loc="left") for axes in picture.axes] == ["for balanced", "for delay"]
    points = picture.axes[0].containers[0].lines[0]
    assert list(points.get_xdata()) == pytest.approx([0.62, 0.91])
    assert list(points.get_ydata()) == pytest.approx([0.62, 0.71])


def test_an_evaluation_keeps_the_expectations_of_its_policies(tmp_path: Path) -> None:
    result = evaluate(
        "default", "steady-5-18", 2, "delay", "cubic", against="", set=["duration=4s"], out=tmp_path
    )
    assert set(result.expectations["policy"]) == {"default"}
    assert result.expectations["realised"].between(0, 1).all()
    again = evaluate(
        "default", "steady-5-18", 2, "delay", "cubic", against="", set=["duration=4s"], out=tmp_path
    )
    pd.testing.assert_frame_equal(again.calibration, result.calibration)


def test_an_evaluation_needs_no_library_of_training() -> None:
    code = "import sys, celltcp.selection.evaluation; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
