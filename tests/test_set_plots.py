"""Pictures of several scenarios: distributions of their means, in compare, show and reports."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import celltcp as ct
from celltcp.comparison.plots.sweep import PanelMetric
from celltcp.comparison.report.scenario_set import set_part
from celltcp.comparison.sets.scenario_set import ScenarioSet, compare_all
from celltcp.comparison.sets.verdicts import MIN_SCENARIOS

if TYPE_CHECKING:
    from conftest import Celltcp


@pytest.fixture(scope="module")
def compared() -> ScenarioSet:
    names = ["steady-5-18", "steady-5-68", "steady-20-68", "steady-20-18"]
    return compare_all(names, ["cubic", "bbr"], 1, duration="5s")


def test_curves_are_the_shares_of_scenarios_up_to_each_mean(compared: ScenarioSet) -> None:
    panels = compared.plot().axes
    assert [axes.get_xlabel() for axes in panels] == ["goodput, Mbit/s", "mean RTT, ms"]
    for axes, metric in zip(panels, ("goodput_mbps", "rtt_mean_ms"), strict=True):
        curves = {line.get_label(): line for line in axes.get_lines()}
        assert list(curves) == ["cubic", "bbr"]
        for cca, curve in curves.items():
            means = [np.mean(each.values(cca, metric)) for each in compared.comparisons.values()]
            values, shares = curve.get_data()
            for value, share in zip(values[1:], shares[1:], strict=True):
                assert share == pytest.approx(np.mean(np.array(means) <= value + 1e-9))


def test_a_chosen_metric_has_the_only_panel(compared: ScenarioSet) -> None:
    (axes,) = compared.plot(["rtt_p95_ms"]).axes
    assert axes.get_xlabel() == "p95 RTT, ms"
    with pytest.raises(ct.CelltcpError, match="is not a metric"):
        compared.plot(["colour"])


def test_compare_show_and_reports_have_the_distributions(
    compared: ScenarioSet, celltcp: Celltcp, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    command = [
        "compare",
        *compared.comparisons,
        "--cca",
        "cubic,bbr",
        "--runs",
        "1",
        "--duration",
        "5s",
    ]
    done = celltcp(*command, "--out", str(folder))
    assert done.returncode == 0, done.stderr
    assert f"picture: {folder / 'ecdf.png'}" in done.stdout + done.stderr
    shown = celltcp("show", str(folder), "--plot", "ecdf", "--metric", "goodput")
    assert shown.returncode == 0, shown.stderr
    refused = celltcp("show", str(folder), "--plot", "overview")
    assert refused.returncode == 2
    assert "allowed here: ecdf-grid, spider, throughput-delay, window, ecdf" in refused.stderr
    assert any(each.title == "Distribution over the scenarios" for each in set_part(compared).sections)
    few = ScenarioSet(dict(list(compared.comparisons.items())[: MIN_SCENARIOS - 1]))
    assert not any(each.title.startswith("Distribution") for each in set_part(few).sections)


def test_a_cca_without_a_value_has_a_curve_at_zero(
    compared: ScenarioSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames that never arrive under a CCA have an infinite delay on each scenario."""
    values = {"cubic": [1.0, 2.0], "bbr": [math.inf, math.inf]}
    monkeypatch.setattr(PanelMetric, "values", lambda *_: values)
    for axes in compared.plot().axes:
        curves = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
        assert max(curves["cubic"]) == 1.0
        assert max(curves["bbr"]) == 0.0
