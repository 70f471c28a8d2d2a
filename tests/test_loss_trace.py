"""Losses of a link over time, from a file that a scenario names."""

from __future__ import annotations

from pathlib import Path

import pytest

import celltcp as ct

SCENARIO = """
name = "lossy"
duration = "6s"
[path]
rtt = "40ms"
loss = { kind = "trace", file = "loss.csv" }
[path.down]
rate = "10Mbit/s"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "lossy.toml"
    file.write_text(SCENARIO)
    return file


def test_a_file_has_the_same_losses_as_its_steps(scenario: Path) -> None:
    (scenario.parent / "loss.csv").write_text("time_s,loss\n0,0\n2,3%\n3.5,1\n4,0\n")
    steps = [
        {"at": "0s", "loss": 0},
        {"at": "2s", "loss": "3%"},
        {"at": "3.5s", "loss": 1},
        {"at": "4s", "loss": 0},
    ]
    of_file = ct.compare(str(scenario), ["cubic", "bbr"], 2)
    of_steps = ct.compare(str(scenario), ["cubic", "bbr"], 2, set={"path.loss": steps})
    assert of_file.flows.equals(of_steps.flows)
    outages = of_file.results.tables["outages"].to_pylist()
    assert {(row["t_s"], row["duration_s"], row["cause"]) for row in outages} == {(3.5, 0.5, "loss")}
    recoveries = of_file.results.tables["recoveries"].to_pylist()
    assert all(row["dropped_s"] >= 2 for row in recoveries if row["random"])
    assert sum(row["random"] for row in recoveries) > 10


def test_runs_of_a_file_that_has_changed_are_not_used_again(scenario: Path, celltcp) -> None:
    command = ("compare", str(scenario), "--cca", "cubic,bbr", "--runs", "2", "--out", "r", "--quiet")
    file = scenario.parent / "loss.csv"
    file.write_text("0,0\n")
    assert celltcp(*command).returncode == 0
    before = ct.load(scenario.parent / "r").flows["goodput_mbps"].mean()
    file.write_text("0,20%\n")
    refused = celltcp(*command)
    assert refused.returncode == 2
    assert "other runs" in refused.stderr
    assert celltcp(*command, "--overwrite").returncode == 0
    assert ct.load(scenario.parent / "r").flows["goodput_mbps"].mean() < before / 2


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (None, "loss.csv: No such file"),
        ("0,0\n1,7\n", "loss.csv: line 2: loss: 7"),
        ("# nothing\n", "loss.csv: has no line with a time and a loss"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(scenario: Path, text: str | None, part: str) -> None:
    if text is not None:
        (scenario.parent / "loss.csv").write_text(text)
    with pytest.raises(ct.CelltcpError) as refused:
        ct.load_scenario(str(scenario))
    assert part in str(refused.value)
    assert "path.loss" in str(refused.value)
    assert "lossy.toml:6: " in str(refused.value)
