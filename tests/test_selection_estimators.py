"""Accuracy of the estimators of selectors."""

import json
from pathlib import Path

import pandas as pd
import pytest

from celltcp.cli.select.estimators import print_accuracy
from celltcp.present.terminal import Terminal
from celltcp.selection.estimators import Accuracy, check_estimators

#: With the long queue on which the bounds of the tests were measured.
SCENARIOS = ("mobility/forward-120-low@ns3", "mobility/backward-120-4g@ns3")


@pytest.fixture(scope="module")
def accuracy():
    return check_estimators(SCENARIOS, "cubic,vegas,bbr", runs=2)


def test_movement_latency_phase_capacity_and_buffer_are_seen(accuracy) -> None:
    right = accuracy.overall.set_index("estimator")["right"]
    assert right["movement"] >= 0.9
    assert right["latency"] == 1
    assert right["phase"] >= 0.8
    assert right["capacity"] >= 0.8
    assert right["buffer"] >= 0.9


def test_windows_are_of_5_s_after_the_first_5_s(accuracy) -> None:
    """30 s have five of them; two scenarios, three congestion controls, two runs."""
    answers = accuracy.overall.set_index("estimator")["answers"]
    assert answers["movement"] == 5 * 2 * 3 * 2


def test_every_congestion_control_is_in_the_table(accuracy) -> None:
    movement = accuracy.table[accuracy.table["estimator"] == "movement"]
    assert set(movement["cca"]) == {"cubic", "vegas", "bbr"}
    assert (
        movement["answers"].sum() == accuracy.overall.set_index("estimator").loc["movement", "answers"]
    )


def test_who_is_sure_is_right_more_often(accuracy) -> None:
    phase = accuracy.checks[accuracy.checks["estimator"] == "phase"]
    sure = phase["confidence"] > 0.8
    assert phase.loc[sure, "right"].mean() > phase.loc[~sure, "right"].mean()


def test_a_phone_that_stays_is_seen_to_stay() -> None:
    result = check_estimators(["static/mid-cell", "steady-20-68"], "cubic,reno,bbr", runs=1)
    assert result.overall.set_index("estimator").loc["movement", "right"] > 0.9


def test_the_command_prints_a_table_and_json(celltcp) -> None:
    small = (
        "--scenarios",
        "mobility/backward-300-low",
        "--cca",
        "cubic,auto:policy=rules",
        "--runs",
        "1",
    )
    done = celltcp("select", "estimators", *small)
    assert done.returncode == 0, done.stderr
    assert "movement" in done.stdout
    document = json.loads(celltcp("select", "estimators", *small, "--json", "-").stdout)
    assert document["cca"] == ["cubic", "auto:policy=rules"]
    assert {row["estimator"] for row in document["overall"]} >= {"movement", "phase", "capacity"}


def test_names_can_be_read_at_100_columns(capsys: pytest.CaptureFixture[str]) -> None:
    ccas = ("illinois", "auto:policy=thesis-inflight,requirement=balanced")
    told = ("buffer", "capacity", "latency", "movement", "phase", "queue", "speed")
    rows = [
        {"estimator": each, "family": family, "cca": cca, "right": True, "confidence": 0.6}
        for each in told
        for family in ("mobility/backward", "static/testing")
        for cca in ccas
    ]
    answers = pd.DataFrame(rows * 9_999)
    print_accuracy(Accuracy(answers, ccas, {"left_out": []}), Terminal(100))
    printed = capsys.readouterr().out
    for name in ("mobility/backward", "static/testing", "illinois", *told):
        assert name in printed
    assert "…" not in printed
    # Longer than what is left: folded, not cut.
    for word in ("auto", "thesis-inflight", "balanced"):
        assert word in printed
    assert "100 (9999)" in printed
    assert "100 (40k)" in printed


def test_scenarios_can_be_patterns_and_folders(tmp_path: Path) -> None:
    (tmp_path / "good.down").write_text("".join(f"{t}\n" for t in range(1, 7000)))
    (tmp_path / "bad.down").write_text("no trace\n")
    given = f"steady-20-*,{tmp_path}"
    result = check_estimators(given, "cubic", runs=1, out=tmp_path / "kept").about
    assert result["scenarios"] == ["steady-20-18", "steady-20-68", str(tmp_path / "good.down")]
    assert [reason for reason in result["left_out"] if "bad.down" in reason] == result["left_out"] != []


@pytest.mark.parametrize(
    ("option", "value", "part"),
    [
        ("--scenarios", "mobility/sideways", "mobility/sideways"),
        ("--scenarios", ",", "one scenario at least"),
        ("--cca", "cubic+bbr", "several flows"),
        ("--cca", "cubic:hystart=off", "has parameters"),
        ("--cca", "qubic", "qubic"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line(celltcp, option: str, value: str, part: str) -> None:
    done = celltcp("select", "estimators", option, value, "--runs", "1", "--out", "out")
    assert done.returncode == 2
    assert part in done.stderr
    assert "Traceback" not in done.stderr
